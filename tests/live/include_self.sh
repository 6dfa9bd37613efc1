#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.1,newest
# host: yes
#
# stackbox leaves out its own events, and those of its reader and its opener: each of them calls
# prctl(2) as it starts, at every report with names. With --include-self they count. In a pid
# namespace, the pids of stackbox's processes differ from the kernel's.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

N=50
# No other processes have these names.
NAME=s$$ OWN=o$$
cp "$STACKBOX" "$scratch/$OWN"

reports()
{
    [ "$(grep -c "^$NAME;" "$scratch/out")" -ge 3 ]
}

# traced NAME OPTION...: makes three reports while calls go on
traced()
{
    traced=$1
    shift
    STACKBOX=$scratch/$OWN start_stackbox stackcount -f -i 0.5 "$@" "$EVENT" \
        "${EVENT%getppid}prctl" || fail "$traced: starts" "$(cat "$scratch/err")"
    : >"$scratch/goes"
    while [ -f "$scratch/goes" ]; do
        "$WORKLOADS/calls" -n $N -N $NAME >/dev/null
    done &
    calls=$!
    wait_until "$LIMIT" reports || fail "$traced: three reports" "$(cat "$scratch/out")"
    rm "$scratch/goes"
    wait $calls
    finish_stackbox
    is "$traced: exit status" "$status" 0
    own=$(folded_sum "$scratch/out" "^$OWN;")
}

where=${1:+, in a pid namespace}
traced "by default$where"
is "by default$where: none of stackbox's own events" "$own" 0
traced "--include-self$where" --include-self
between "--include-self$where: stackbox's own events are there" "$own" 2 100000

[ "$1" ] && exit
if "$WORKLOADS/deny" --pid-namespace -- true 2>"$scratch/why"; then
    "$WORKLOADS/deny" --pid-namespace -- sh "$0" inside || fail "a pid namespace" "see above"
else
    skip "in a pid namespace" "$(cat "$scratch/why")"
fi
