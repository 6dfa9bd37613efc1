#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: no
#
# Machines whose programs have whole stacks by perf's rings alone: events, waits and samples of code
# without frame pointers. MIPS: kernels walk no user stacks, so stackbox chooses rings, and Linux
# 6.1's probes of kernel functions kill threads: none here. LoongArch: Debian's kernel has no BTF.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_bare.sh"

case $(uname -m) in
mips*) start=__start thread='\[truncated\]' RINGS= ;;
loongarch64) start=_start thread='__thread_start[0-9]*' RINGS='--collect rings' ;;
*) skip_all "this test is for MIPS and LoongArch" ;;
esac

START="$start;__libc_start_main[^;]*;__libc_start_call_main;main"
STACK='outer;middle;inner'
LEAF=$WORKLOADS/bare:leaf

of bare calls 1000 stackcount $RINGS "$LEAF"
all "a function" "$START;$STACK;leaf" 1000
[ "$RINGS" ] || contains "a line says who collects" "$scratch/err" \
    "stacks are collected by perf's rings, as programs get no user stacks from this kernel"
lacks "no stack ends early" "$scratch/err" "end early"
of bare calls 1000 stackcount $RINGS "r:$LEAF"
is "returns: all are counted" "$(folded_sum "$scratch/folded")" 1000
of bare calls 1000 stackcount $RINGS --depth 3 "$LEAF"
all "--depth" "middle;inner;leaf" 1000
of bare forks 100 stackcount $RINGS "$LEAF"
all "children" "$START;outer;middle;inner;leaf" 100
of bare threads 100 stackcount $RINGS "$LEAF"
all "a thread" "$thread;start_thread;run_thread;$STACK;leaf" 100
of bare signals 100 stackcount $RINGS "$LEAF"
all "a signal handler" "$START;[^;]*kill;.*;handle;$STACK;leaf" 100
of bare naps 10 offcputime $RINGS -U
is "waits" "$(cut -d ' ' -f 1 "$scratch/folded" | grep -cE "^bare;$START;$STACK;nap;.*nanosleep.*")" 1
# shellcheck disable=SC2086 # words
run_stackbox stacksnoop $RINGS -U "$LEAF" -- "$WORKLOADS/bare" calls 100
is "single events have whole stacks" "$(grep -cE '^	(leaf|inner|middle|outer|main|_?_start)$' "$scratch/out")" 600
of bare spins 500 profile $RINGS -U -F 499
is "samples have whole stacks" "$(sed -n '/;spin /s/ [0-9]*$//p' "$scratch/folded" | grep -cE "^bare;$START;$STACK;spin\$")" 1
is "samples: no callers are made up" "$(grep -vE "^bare;(\[truncated\];.*|$START(;.*)?|$start(;.*)?|\[no user stack\]) [0-9]+\$" "$scratch/folded")" ""

# Without the kernel's walk and tables, a stack has the function, and its caller by a register.
case $(uname -m) in
mips*)
    of bare calls 1000 stackcount $RINGS --collect rings --unwind fp "$LEAF"
    all "without tables" "inner;leaf" 1000
    ;;
esac

RINGS=
of bare calls 1000 stackcount $RINGS --if 'comm == "bare"' "$LEAF"
is "--if: programs count" "$(folded_sum "$scratch/folded")" 1000
