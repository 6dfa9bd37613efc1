#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: all
# kernels: 5.10,6.1,newest
# host: yes
#
# Children of a run that has ended detach its events: nothing is left in the kernel, however they
# end. In a pid namespace, whose first process may not wait for orphans, there are none.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_left.sh"

have_root || skip_all "tracing needs root"
have_switches || skip_all "this kernel has no tracepoints of the scheduler"
left_begins || skip_all "tracefs cannot be mounted"

# orphans: the children of the last run, which had a session of its own
orphans()
{
    sed -n "s/^\\([0-9]*\\) (stackbox) [^ ]* [^ ]* [^ ]* $stackbox .*/\\1/p" /proc/[0-9]*/stat 2>/dev/null
}

no_orphans()
{
    [ -z "$(orphans)" ]
}

# run_some: counts until there were events, and is interrupted
run_some()
{
    start_stackbox stackcount -f 't:sched:sched_process_*'
    true | true
    finish_stackbox
}

run_some
is "a run is interrupted" "$status" 0
wait_until 20 no_orphans
is "its children end by themselves" "$(orphans)" ""

run_some
# shellcheck disable=SC2046 # words
kill -s KILL $(orphans) 2>/dev/null
wait_until 20 no_orphans
is "killed, they are gone as well" "$(orphans)" ""
nothing_left ", though its children were killed"
left_ends

if unshare -pf --mount-proc true 2>/dev/null; then
    unshare -pf --mount-proc sh -c '"$0" stackcount -f -D 0.2 "t:sched:sched_process_*" >"$1" 2>&1
        grep -l "^Name:.stackbox" /proc/[0-9]*/status' "$STACKBOX" "$scratch/out" >"$scratch/left"
    is "in a pid namespace, none is left when a run has ended" "$(cat "$scratch/left")" ""
else
    skip "in a pid namespace" "there is no unshare that makes one"
fi
