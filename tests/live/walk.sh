#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: all
# host: no kernel probes
#
# The walk for kernels that keep no stacks: the workload knows how often it called, and from where.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_kprobes || skip_all "kernel probes"

FUNCTION=${CALL}getppid
N=10000

# walked NAME WANTED OPTION...: two threads on two CPUs call it N times each, and WANTED is what every line must have
walked()
{
    name=$1 wanted=$2
    shift 2
    start_workload one calls -w -k -t 2 -n $N
    start_stackbox stackcount --collect walk -f "$@" "$FUNCTION"
    go one
    finish_stackbox
    is "$name: each call is counted" "$(folded_sum "$scratch/out" "$wanted") of $(calls_of one)" "$((2 * N)) of $((2 * N))"
    finish_workload one
}

walked "both stacks" 'main'
head -5 "$scratch/out"
cat "$scratch/err"
