#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
# beside
#
# CPython's perf trampolines, in anonymous memory, between functions with tables. On most machines
# they keep no frame pointer, or one that does not give the caller's stack pointer: their code does.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"
have_tables || skip_all "$NO_TABLES"
"$WORKLOADS/jit" -n 0 -s trampoline >"$scratch/probe"
grep -q '^skip' "$scratch/probe" && skip_all "$(cat "$scratch/probe")"

# No other process has this name.
NAME=jit$$
N=3000
CHAIN="main;jit_outer_0;jit_evaluate;jit_inner_0;jit_target"
EVENT=t:syscalls:sys_enter_getppid

run_stackbox stackcount -f -U $EVENT -- "$WORKLOADS/jit" -n $N -N $NAME -s trampoline
is "each call has its callers" "$(grep "^$NAME;" "$scratch/out" | sed 's/.*;main;/main;/')" "$CHAIN $N"
lacks "none is cut" "$scratch/out" "[truncated]"
# stackbox walks the stacks of rings later, and reads the code then: the process must still live.
for by in bpf rings; do
    start_workload one jit -w -k -n $N -N $NAME -s trampoline
    trace_workload one stackcount -f -U --collect $by -p "$(pid_of one)" $EVENT
    is "$by: a running process" "$(grep "^$NAME;" "$scratch/out" | sed 's/.*;main;/main;/')" "$CHAIN $N"
done

# sampled FREQUENCY ARG...: by ptrace
sampled()
{
    frequency=$1
    shift
    run_stackbox profile -f -U --collect ptrace -F "$frequency" -- "$WORKLOADS/jit" -N $NAME -s trampoline "$@"
    all=$(folded_sum "$scratch/out" ';jit_target ')
    whole=$(folded_sum "$scratch/out" ";$CHAIN ")
    between "ptrace: $*: there are samples" "$all" 5 100000
    is "ptrace: $*: each has its callers" "$whole" "$all"
    [ "$whole" = "$all" ] || grep "^$NAME;" "$scratch/out"
}

rounds=4000000
[ ! "$GUEST" ] || rounds=500000
sampled 199 -n $rounds
# Memory for code that is mapped a moment after the mappings were read
sampled 997 -b 6 -n $((rounds / 4))
