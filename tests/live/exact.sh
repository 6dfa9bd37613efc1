#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10,6.1,6.12
# host: yes
#
# The count is the number of calls: not one more, not one less. The workload makes an exact number of calls
# from two threads on two CPUs, and counts them itself.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

# No other process has this name.
NAME=calls$$
# Other architectures, in emulation, have less of the same.
N=20000
[ "$(uname -m)" = x86_64 ] || N=7000
BOTH=$((2 * N))
CPUS=$(nproc)

# With rings and a stack copy in each event, an emulated CPU reads more slowly than another one
# writes: stackbox reports the losses, see live/rings_lost.
way=
if [ "$GUEST" ] && older_than 4.18; then
    way="--unwind fp"
fi

# counted: the workload's sum in the report in $scratch/out
counted()
{
    folded_sum "$scratch/out" "^$NAME[ ;]"
}

# instead: the pattern that stackbox recommends as exact, if the given one is not
instead()
{
    sed -n 's/.*may miss events on this kernel if .*; "\(.*\)" misses none$/\1/p' "$scratch/err"
}

# all_of_them NAME PATTERN COUNT SHARED: COUNT, of a run with --debug, is right
#
# On the newest kernels a program on a system call's tracepoint can be preempted, and meanwhile the
# kernel skips events of other threads on that CPU. If threads share a CPU (SHARED is 1), counted +
# missing = calls, and stackbox says beforehand which pattern is exact, $better. Otherwise, and
# always for functions, the count alone is right.
all_of_them()
{
    better=$(instead)
    case $2/$(missed)/$4 in
    t:*/[1-9]*/1)
        is "$1: that events may be missed was said before" "${better:+said}" said
        between "$1: counted + missed = calls" $(($3 + $(missed))) $BOTH $((2 * BOTH)) ;;
    *) is "$1" "$3" $BOTH ;;
    esac
}

# exact NAME PATTERN OPTION...: one run, from before the first call to after the last
exact()
{
    name=$1 pattern=$2
    shift 2
    start_workload one calls -w -k -t 2 -n $N -N $NAME
    # shellcheck disable=SC2086 # words, or none
    trace_workload one stackcount $way -f --debug "$@" "$pattern" || return
    is "$name: the workload's own count" "$(calls_of one)" $BOTH
    all_of_them "$name" "$pattern" "$(counted)" $((CPUS < 2))
    is "$name: exit status" $status 0
}

# own NAME PATTERN: -p counts the calls of one of two processes that make them at the same time. If that
# may miss some, the pattern that is exact is tried, too.
own()
{
    better=
    start_workload one calls -w -k -t 2 -n $N
    start_workload other calls -w -k -t 2 -n $N
    # shellcheck disable=SC2086 # words, or none
    start_tracing stackcount $way -f --debug -P -p "$(pid_of one)" "$2"
    kill -s USR2 "$(pid_of other)"
    go one
    wait_until "$LIMIT" grep -q '^done' "$scratch/other.out"
    finish_stackbox
    own=$(folded_sum "$scratch/out" "^calls \\($(pid_of one)\\);")
    is "$1: no other events are counted" "$(folded_sum "$scratch/out")" "$own"
    all_of_them "$1" "$2" "$own" 1
    finish_workload one other
    [ -z "$better" ] || own "$1, by the pattern said to be exact" "$better"
}

# intervals NAME PATTERN: with reports all the time, each call is in exactly one of them
intervals()
{
    start_workload one calls -w -k -t 2 -n $N -N $NAME
    # shellcheck disable=SC2086 # words, or none
    trace_workload one stackcount $way -f --debug -i 0.1 "$2"
    all_of_them "$1" "$2" "$(counted)" $((CPUS < 2))
}

if have_kprobes; then
    exact "a kernel function" ${CALL}getppid
    exact "kernel stacks only, by process" ${CALL}getppid -K -P
    intervals "a kernel function, over intervals" ${CALL}getppid
    own "a kernel function, one process of two" ${CALL}getppid
    if [ "$NO_RETURNS" ]; then
        refuses_returns
    else
        exact "returns" r::${CALL}getppid
    fi
    if [ -d /sys/bus/event_source/devices/kprobe ]; then
        exact "by PMU events" ${CALL}getppid --attach-by pmu
    else
        skip "by PMU events" "this kernel has none (4.17)"
    fi
    exact "by tracefs" ${CALL}getppid --attach-by tracefs
else
    skip "kernel functions" "this kernel has no kprobes"
fi

if have_syscall_tracepoints; then
    exact "a tracepoint" t:syscalls:sys_enter_getppid
    intervals "a tracepoint, over intervals" t:syscalls:sys_enter_getppid
    own "a tracepoint, one process of two" t:syscalls:sys_enter_getppid
    own "a tracepoint of returns, one process of two" t:syscalls:sys_exit_getppid
else
    skip "tracepoints" "this kernel has no tracepoints of system calls"
fi
