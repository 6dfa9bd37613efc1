#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10,6.1,6.12
# host: yes
#
# Stacks of a kernel function include its caller, even if the return address is still in a register
# at the function's first instruction; and no frame of a single call appears twice.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
N=40
WRITES="i=0; while [ \$i -lt $N ]; do echo; i=\$((i + 1)); done >/dev/null"

# callers: of each stack in $scratch/out that ends with vfs_write, the two frames before it, and its
# count
callers()
{
    awk '/;vfs_write [0-9]+$/ {
        count = $NF
        sub(/ [0-9]+$/, "")
        frames = split($0, name, ";")
        sum[name[frames - 2] " " name[frames - 1]] += count
    } END { for (one in sum) print one, sum[one] }' "$scratch/out"
}

# written NAME OPTION...: write(2) calls vfs_write by way of one more function
written()
{
    name=$1
    shift
    run_stackbox stackcount -K -f "$@" vfs_write -- sh -c "$WRITES"
    is "$name: exit status" $status 0
    is "$name: no stack lacks the caller" \
        "$(callers | grep -vc '^[^ ]* \(ksys_write\|[a-z0-9_]*sys_write\) ')" 0
    between "$name: the calls are counted" \
        "$(callers | awk '{ sum += $NF } END { print sum + 0 }')" $N $((2 * N))
}

if have_kprobes; then
    written "by the default way"
    written "by PMU events" --attach-by pmu
    written "by tracefs" --attach-by tracefs
    written "few frames" --depth 3
    run_stackbox stackcount -K -f sys_getppid vfs_write t:sched:sched_kthread_stop -- "$WORKLOADS/calls" -n 100
    is "kinds of probes together: exit status" $status 0
    is "kinds of probes together: callers are right" \
        "$(folded_sum "$scratch/out" '^[^ ]*;[a-z0-9_]*sys_getppid ')" 100
    run_stackbox stackcount -K -f r::vfs_write -- sh -c "$WRITES"
    is "returns: there is no frame of the function itself" "$(grep -c ';vfs_write [0-9]*$' "$scratch/out")" 0
    run_stackbox stacksnoop -K --max $N vfs_write -- sh -c "$WRITES"
    is "stacksnoop: callers are right" \
        "$(awk '/^\tvfs_write$/ { getline; if (/sys_write$/) right++ } END { print right + 0 }' \
        "$scratch/out")" $N
else
    skip "functions" "this kernel has no kprobes"
fi

# twice FILE: folded stacks whose last two frames are the same instruction
twice()
{
    grep -E '(^|;)([^;]*);\2 [0-9]+$' "$1" | head -n 1
}

# pauses: gives up the CPU, and gets it back, often
pauses="i=0; while [ \$i -lt 20 ]; do sleep 0.01; i=\$((i + 1)); done"
if have_switches; then
    for applet in "stackcount t:sched:sched_switch" "stackcount t:sched:sched_switch t:sched:sched_waking" \
        offcputime wakeuptime; do
        # shellcheck disable=SC2086 # words
        run_stackbox $applet -K -f -s -- sh -c "$pauses"
        is "$applet: exit status" $status 0
        is "$applet: no frame is there twice" "$(twice "$scratch/out")" ""
        is "$applet: there are stacks" "$(grep -c ';' "$scratch/out" | sed 's/[1-9][0-9]*/some/')" some
    done
    run_stackbox stacksnoop -K -s --max 20 t:sched:sched_switch -- sh -c "$pauses"
    is "stacksnoop: no frame is there twice" \
        "$(awk '/^\t/ { if ($1 == last) print; last = $1; next } { last = "" }' "$scratch/out" | head -n 1)" ""
else
    skip "tracepoints" "this kernel has no sched:sched_switch"
fi
