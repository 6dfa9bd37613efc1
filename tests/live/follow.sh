#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
#
# -p PID --follow: traces the process and everything that it forks from then on, in any way; no
# other processes, and none that it forked before.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

# No other process has this name; it makes the same calls all the time.
while :; do
    "$WORKLOADS/calls" -n 1000 -N noise$$ >/dev/null
    [ -z "$GUEST" ] || sleep 0.3 # in emulation it would leave little CPU time
done &
kill_at_end $!

# held WORD...: a shell that waits for $scratch/go to become this command; a child that it has forked before
# makes 700 calls at $scratch/go, too
held()
{
    rm -f "$scratch/go" "$scratch/forked" "$scratch/earlier"
    SCRATCH=$scratch WORKLOADS=$WORKLOADS sh -c '
        (while [ ! -e "$SCRATCH/go" ]; do sleep 0.05; done
         "$WORKLOADS/calls" -n 700 -N before >"$SCRATCH/earlier") &
        : >"$SCRATCH/forked"
        while [ ! -e "$SCRATCH/go" ]; do sleep 0.05; done
        exec "$@"' held "$@" >"$scratch/made" 2>"$scratch/made.err" &
    held=$!
    kill_at_end "$held"
    wait_until 20 test -e "$scratch/forked"
}

# traced APPLET OPTION...: traces the held process, with what it forks, until it ends
traced()
{
    applet=$1
    shift
    # Copies of user stacks would fill the rings: the noise makes thousands within milliseconds.
    start_tracing "$applet" -p "$held" --unwind fp "$@"
    touch "$scratch/go"
    wait_stackbox
    wait_until 20 test -s "$scratch/earlier"
}

made()
{
    sed -n 's/^done CALLS=//p' "$scratch/made"
}

for collect in bpf rings; do
    held "$WORKLOADS/family"
    traced stackcount -f --follow --collect $collect $EVENT
    is "$collect: a whole family is counted" "$status $(folded_sum "$scratch/out")" "0 $(made)"
    lacks "$collect: no events were skipped" "$scratch/err" "missed"
    held "$WORKLOADS/family"
    traced stackcount -f --by process --follow --collect $collect $EVENT
    is "$collect: each process has its own count" \
        "$(folded_sum "$scratch/out") $(grep -c '^before\|^noise' "$scratch/out")" "$(made) 0"
    held "$WORKLOADS/family"
    traced stackcount -f --collect $collect $EVENT
    between "$collect: without --follow only the process is counted" \
        "$(folded_sum "$scratch/out")" 1 $(($(made) / 2))
    held "$WORKLOADS/family"
    traced stacksnoop --follow --collect $collect $EVENT
    is "$collect: stacksnoop prints each event" "$(grep -c '^[0-9]' "$scratch/out")" "$(made)"

    held "$WORKLOADS/brief" -n 30 -c 5 -f
    traced stackcount -f --follow --collect $collect "$WORKLOADS/brief:brief_inner"
    is "$collect: a function is counted in children" "$(folded_sum "$scratch/out")" 150
    # On a busy machine, records of other processes may crowd out those of these.
    if grep -q 'mmap/exec records were lost' "$scratch/err"; then
        skip "$collect: with their stacks" "mmap/exec records were reported lost"
    else
        is "$collect: with their stacks" "$(folded_sum "$scratch/out" 'live;brief_outer;brief_inner')" 150
    fi
    held "$WORKLOADS/brief" -n 30 -c 5
    traced stackcount -f --follow --collect $collect "$WORKLOADS/brief:brief_inner"
    is "$collect: a function is counted in programs that children execute" "$(folded_sum "$scratch/out")" 150
done

# Two processes, both followed.
start_workload one calls -w -n 300
held "$WORKLOADS/family"
start_tracing stackcount -f -p "$held,$(pid_of one)" --follow $EVENT
go one
touch "$scratch/go"
finish_workload one
wait_stackbox
is "two processes are both followed" "$(folded_sum "$scratch/out")" "$(($(made) + 300))"
