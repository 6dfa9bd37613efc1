#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.12,newest
# host: yes
#
# stackbox makes a table only when a stack needs it, except for processes given by -p; and then the
# stacks are whole, even if many come at once.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_tables || skip_all "$NO_TABLES"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"
# Where less is free for each CPU, all tables are made before; and with one CPU, where much is.
[ "$(nproc)" -gt 1 ] || [ "$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)" -lt 240 ] ||
    skip_all "one CPU, and much memory"
[ "$(awk -v cpus="$(nproc)" '/^MemAvailable:/ { print int($2 / 1024 / cpus) }' /proc/meminfo)" -ge 24 ] ||
    skip_all "too little memory is free"

STACK='_start;[^;]*__libc_start_main[^;]*;__libc_start_call_main;main;outer;middle;inner;leaf'
PROGRAM=p$$

# made: the line about tables that were made because stacks needed them
made()
{
    grep 'made once a stack needed them' "$scratch/err"
}

cp "$WORKLOADS/bare" "$scratch/$PROGRAM"
start_workload "$PROGRAM" "$scratch/$PROGRAM" -w calls 20000
start_workload other calls -w -k -n 100 -N o$$
# Nothing calls it.
run_stackbox stackcount --debug -D 0.2 --unwind tables t:syscalls:sys_enter_acct
between "a run without events makes the vDSO's table alone" \
    "$(sed -n 's/.*: \([0-9]*\) functions have rows from unwind tables.*/\1/p' "$scratch/err")" 0 50
start_tracing stackcount -U -f --debug --unwind tables t:syscalls:sys_enter_getppid
go other
finish_stackbox
is "others' events" "$(folded_sum "$scratch/out" "^o$$;")" "$(calls_of other)"
is "the table of a program that sleeps is not made" "$(made | grep -c "$PROGRAM")" 0

start_tracing stackcount -U -f --debug --unwind tables t:syscalls:sys_enter_getppid
finish_workload "$PROGRAM"
finish_stackbox
is "it is made once a stack needs it" "$(made | grep -c "$PROGRAM")" 1
is "all of its events have whole stacks" "$(folded_sum "$scratch/out" "^$PROGRAM;$STACK [0-9]+\$")" 20000

# For a process given by -p, stackbox makes the table before.
start_workload "$PROGRAM" "$scratch/$PROGRAM" -w calls 100
start_tracing stackcount -U -f --debug --unwind tables -p "$(pid_of "$PROGRAM")" t:syscalls:sys_enter_getppid
finish_workload "$PROGRAM"
wait_stackbox
is "with -p it is made before" "$(made | grep -c "$PROGRAM")" 0
is "with -p: its events" "$(folded_sum "$scratch/out" "^$PROGRAM;$STACK [0-9]+\$")" 100
finish_workload other
