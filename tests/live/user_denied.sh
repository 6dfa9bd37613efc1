#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 6.12
# host: yes
#
# If the kernel refuses what is needed only for names of processes that exit or exec, stackbox does
# without: counts are right, and so are the names of processes that still run.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
grep -q ' bpf_uprobe_multi_link_attach$' /proc/kallsyms || skip_all "this kernel has no uprobe.multi"

N=200

# without WHAT NAME TEXT: traces as if the kernel denied WHAT; TEXT is what --debug says then
without()
{
    start_workload one chains -w -k -n $N
    under="$WORKLOADS/deny --syscall $1 --"
    trace_workload one stackcount -f -U --debug -p "$(pid_of one)" "$WORKLOADS/chains:target"
    under=
    is "$2" "$(user_stacks "$scratch/out")" "main;chain_a1;chain_a2;target $(count_of one a)
thread_b;chain_b1;chain_b2;target $(count_of one b)"
    contains "$2: --debug says so" "$scratch/err" "$3"
}

without perf_event_open:EACCES "without records of what processes do" \
    "processes are only looked up in /proc"
# 17 is BPF_RAW_TRACEPOINT_OPEN.
without bpf/17:EPERM "without counting execs and ends" "cannot track execs and exits"
