#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10
# host: no
#
# Two tracepoints in one run, one of them a system call's: since Linux 7.2 its program can be preempted, and
# the other may run in the middle of it. One program makes calls and yields after each, two do nothing but
# yield: each call is counted once, for its own program.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"
have_switches || skip_all "this kernel has no tracepoint of switches"

N=20000

# All run on the first CPU. The stack of a switch goes through the scheduler; that of a call does not.
start_workload one calls -w -k -y -n $N -N caller
start_workload two calls -w -n 1000000000 -c sched_yield -N yielder
start_workload three calls -w -n 1000000000 -c sched_yield -N yielder
start_stackbox stackcount -f -K -P t:syscalls:sys_enter_getppid t:sched:sched_switch
kill -s USR2 "$(pid_of two)" "$(pid_of three)"
go one
finish_stackbox
drop_workload two three
finish_workload one
is "exit status" $status 0
grep -v schedule "$scratch/out" >"$scratch/calls"
is "the caller's calls are counted" "$(folded_sum "$scratch/calls" '^caller \(')" $N
is "the other process has no calls" "$(grep '^yielder ' "$scratch/calls")" ""
lacks "no events are missing" "$scratch/err" "not counted"
