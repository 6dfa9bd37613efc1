#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10
# host: no
#
# Text probes are visible in all pid namespaces. A run in another namespace, which does not see the
# maker's process, leaves probes of a live run alone, and removes those of a killed one. Only on
# expendable machines: kernels have crashed when a probe was removed while a program ran through it.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_uprobes || skip_all "this kernel has no user probes"

MANY=$WORKLOADS/many
mkdir "$scratch/tracefs"
mount -t tracefs tracefs "$scratch/tracefs" || skip_all "tracefs cannot be mounted"

# probes: how many of this program's probes tracefs lists
probes()
{
    grep -c "^p:stackbox_" "$scratch/tracefs/uprobe_events"
}

# locks: how many makers there are
locks()
{
    find /run/stackbox /dev/shm/stackbox -type f 2>/dev/null | grep -c .
}

# elsewhere: starts a run in a pid namespace of its own
elsewhere()
{
    unshare -p -f --mount-proc "$STACKBOX" stackcount -D 0.1 --attach-by tracefs "$MANY:many_010" \
        >"$scratch/elsewhere" 2>&1
}

start_workload one many -w -k -n 7
start_stackbox stackcount -f -U -p "$(pid_of one)" --attach-by tracefs "$MANY:many_00*"
is "a run has its probes" "$(probes) $(locks)" "10 1"
elsewhere
is "another one elsewhere succeeds" "$? $(grep -v "collected by perf's rings" "$scratch/elsewhere" | grep cannot)" "0 "
is "and left the first one's probes alone" "$(probes) $(locks)" "10 1"
go one
finish_workload one
finish_stackbox
sed -n 's/.*;main;many_[0-9]* \([0-9]*\)$/\1/p' "$scratch/out" | sort | uniq -c >"$scratch/counts"
is "the first one counts all calls" "$status $(awk '{ print $1 " of " $2 }' "$scratch/counts")" "0 10 of 7"
is "and nothing is left" "$(probes) $(locks)" "0 0"

start_stackbox stackcount --attach-by tracefs "$MANY:many_00*"
finish_stackbox KILL 2>/dev/null
is "a killed run leaves its probes" "$(probes) $(locks)" "10 1"
elsewhere
is "the next one removes them" "$? $(probes) $(locks)" "0 0 0"
umount "$scratch/tracefs"
