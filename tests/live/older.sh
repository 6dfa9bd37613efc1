#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.1
# kernels: 5.10,6.12,newest
# host: yes
#
# Counts and stacks stay the same if calls that older kernels lack fail as on these kernels.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

N=2000

# older NAME COMMAND...: traces without these commands of bpf(2)
older()
{
    local name=$1 command
    shift
    under="$WORKLOADS/deny"
    for command in "$@"; do
        under="$under --syscall bpf/$command:EINVAL"
    done
    under="$under --"
    start_workload one calls -w -n $N
    trace_workload one stackcount -f -p "$(pid_of one)" "$EVENT"
    is "$name: each call is counted" "$(folded_sum "$scratch/out")" "$(calls_of one)"
    is "$name: exit status" $status 0
    under=
}

older "without batches (5.6)" 24 25
older "without links (5.7)" 28
older "without types of programs (4.18)" 18
older "without runs of programs (4.12)" 10
older "without raw tracepoints (4.17)" 17
older "without all of these" 10 17 18 24 25 28
