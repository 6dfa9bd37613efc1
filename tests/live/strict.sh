#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: newest
# host: yes
# own clock
#
# Some machines lack unaligned access, and their kernels' verifiers refuse it, as on riscv64. Here
# the kernel loads every program under this rule, and counts are the same as without it.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
TARGET=$WORKLOADS/chains:target
N=20

# run_strict NAME WORD...: fails unless every program was loaded that way
run_strict()
{
    name=$1
    shift
    under=$WORKLOADS/strict
    run_stackbox "$@"
    under=
    is "$name: exit status" "$status $(grep 'verifier\|cannot' "$scratch/err" | head -n 1)" "0 "
    wait_until 5 grep -q '^strict [1-9]' "$scratch/err" || fail "$name" "no program was loaded so"
    cp "$scratch/out" "$scratch/strict"
}

# same NAME PATTERN OPTION...: both threads of a program hit it, each through its own functions
same()
{
    name=$1 pattern=$2
    shift 2
    run_strict "$name" stackcount -f "$@" "$pattern" -- "$WORKLOADS/chains" -n $N -m $N
    for thread in a b; do
        is "$name: counts of thread $thread are right" \
            "$(folded_sum "$scratch/strict" "^chains.*;chain_${thread}1;chain_${thread}2(;| )")" $N
    done
}

# exits NAME OPTION...: a tracepoint that each of two threads hits once
exits()
{
    name=$1
    shift
    run_strict "$name" stackcount -f "$@" t:sched:sched_process_exit -- "$WORKLOADS/chains" -n $N -m $N
    is "$name: counts are right" "$(folded_sum "$scratch/strict" '^chains[ ;].*do_exit')" 2
}

# waits APPLET REGEX TRUTH WORKLOAD...: TRUTH is awk that finds `least` and `most` in the workload's output
waits()
{
    applet=$1 regex=$2 truth=$3
    shift 3
    run_strict "$applet" "$applet" -f -- "$@"
    # shellcheck disable=SC2046 # two numbers
    between "$applet" "$(folded_sum "$scratch/strict" "$regex")" \
        $(awk "$truth"' END { print int(least - 1000), int(most + 1000) }' "$scratch/strict" "$scratch/err")
}

# events NAME OPTION...: single events
events()
{
    run_strict "$@" "$TARGET" -- "$WORKLOADS/chains" -n $N -m $N
    is "$1: all are printed" "$(grep -c '^[0-9.]*  *chains .* target$' "$scratch/strict")" $((2 * N))
}

for way in multi pmu tracefs; do
    if have_kprobes; then
        same "a kernel function by $way" sys_getppid --attach-by $way
        same "its returns by $way" r::sys_getppid --attach-by $way
    else
        skip "functions of the kernel by $way" "this kernel has no kprobes"
    fi
    same "a function by $way" "$TARGET" --attach-by $way
done
same "returns from a function" "r:$TARGET"
exits "a tracepoint"
exits "a tracepoint, few frames" --depth 3
exits "a tracepoint, kernel stacks alone" -K -P
exits "a tracepoint, threads" --by thread
exits "a tracepoint, along frame pointers" --unwind fp
same "along frame pointers" "$TARGET" --unwind fp
same "a function, names" "$TARGET" --by name
events "events in a ring" stacksnoop
events "events in perf buffers" stacksnoop --buffer perf
run_strict "samples" profile -f -F 997 -- "$WORKLOADS/burn" -s 40
between "samples" "$(folded_sum "$scratch/strict" '^burn;')" 5 80
waits offcputime '^nap;.*;nap_inner;' '$1 == "thread" { least = $6 - $10; most = $6 + $11 }' \
    "$WORKLOADS/sleeps" -n 3 -u 20000 -o nap
waits wakeuptime ';pipe_wakes;' '$1 == "wait" && $2 == "w1" { least = $8 - $11; most = $7 + $12 }' \
    "$WORKLOADS/wakes" -n 3 -u 20000 pipe
waits offwaketime ';pipe_waits;.*;pipe_wakes;' '$1 == "wait" && $2 == "w1" { least = $7 - $11; most = $7 + $12 }' \
    "$WORKLOADS/wakes" -n 3 -u 20000 pipe
