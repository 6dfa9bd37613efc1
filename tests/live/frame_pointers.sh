#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
#
# Along frame pointers, which all of this code keeps but libc's calls: which functions are in a stack, and which
# one the kernel's own walk loses ($FRAME_WALK). Of all else nothing is lost, and no event ever is.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event
[ "$FRAME_WALK" ] || skip_all "the kernel finds no frames of programs of this machine"

N=300 M=200

# traced PROGRAM WORDS PATTERN: its user stacks, from main or a thread's start on, are in $scratch/stacks
traced()
{
    : >"$scratch/stacks"
    # shellcheck disable=SC2086 # words
    start_workload one "$1" -w -k $2
    if start_stackbox stackcount -f -U --unwind fp -p "$(pid_of one)" "$3"; then
        go one
        finish_stackbox
        finish_workload one
        user_stacks "$scratch/out" >"$scratch/stacks"
    else
        fail "$3" "did not start: $(cat "$scratch/err")"
        drop_workload one
    fi
}

# both NAME BEFORE LEAF: each call by its chain, a and b in place of X
both()
{
    is "$1" "$(sed 's/;_*\(getpgid\) /;\1 /' "$scratch/stacks")" "$(
        echo "main$2$3 $N" | sed 's/X/a/g'
        echo "thread_b$2$3 $M" | sed 's/X/b/g')"
}

# by RECORD REGISTER: that of this machine
by()
{
    case $FRAME_WALK in
    record) echo "$1" ;;
    register) echo "$2" ;;
    esac
}

traced chains "-n $N -m $M" "$EVENT"
both "in a function that has called nobody yet" ';chain_X1;chain_X2' ';target'
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

# The function calls another after each of these: from the second on its register has an address of its own.
choose_event
traced calls "-y -n $N" "$EVENT"
is "in a function that has called others" "$(sed 's/.*;\([^;]*;make_calls\) /\1 /' "$scratch/out" | sort)" \
    "$(by "work;make_calls $N" "make_calls;make_calls $((N - 1))
work;make_calls 1")"
