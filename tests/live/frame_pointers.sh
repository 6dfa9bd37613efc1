#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
#
# Stacks by frame pointers, which all of this code keeps except libc's system calls: which functions are in
# them, and which one the kernel's own walk misses ($FRAME_WALK). No other frame is missing, and no event is
# lost.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event
[ "$FRAME_WALK" ] || skip_all "this kernel finds no frames in programs of this machine"

N=300 M=200

# traced PROGRAM WORDS PATTERN: leaves its user stacks, from main or a thread's start on, in
# $scratch/stacks
traced()
{
    : >"$scratch/stacks"
    # shellcheck disable=SC2086 # words
    start_workload one "$1" -w -k $2
    trace_workload one stackcount -f -U --unwind fp -p "$(pid_of one)" "$3"
    user_stacks "$scratch/out" >"$scratch/stacks"
}

# both NAME BEFORE LEAF: each call has its chain, with a and b in place of X
both()
{
    is "$1" "$(sed 's/;_*\(getpgid\) /;\1 /' "$scratch/stacks")" "$(
        echo "main$2$3 $N" | sed 's/X/a/g'
        echo "thread_b$2$3 $M" | sed 's/X/b/g')"
}

# by RECORD REGISTER: the one that applies to this machine
by()
{
    case $FRAME_WALK in
    record) echo "$1" ;;
    register) echo "$2" ;;
    esac
}

traced chains "-n $N -m $M" "$EVENT"
both "in a function that has not called any other yet" ';chain_X1;chain_X2' ';target'
if have_uprobes; then
    traced chains "-n $N -m $M" "$WORKLOADS/chains:target"
    both "at a function's first instruction" "$(by ';chain_X1;chain_X2' ';chain_X2')" ';target'
    traced chains "-n $N -m $M" "r:$WORKLOADS/chains:target"
    is "at returns: each is counted" "$(folded_sum "$scratch/out")" $((N + M))
else
    skip "functions" "this kernel has no user probes"
fi
choose_event getpgid
traced chains "-l -n $N -m $M" "$EVENT"
both "in a function without a frame" "$(by ';chain_X1;chain_X2' ';chain_X1;target')" ';getpgid'

# The function calls another after each of these: from the second on, the register has an address in itself.
choose_event
traced calls "-y -n $N" "$EVENT"
is "in a function that has called others" "$(sed 's/.*;\([^;]*;make_calls\) /\1 /' "$scratch/out" | sort)" \
    "$(by "work;make_calls $N" "make_calls;make_calls $((N - 1))
work;make_calls 1")"
