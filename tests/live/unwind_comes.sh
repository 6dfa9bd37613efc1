#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
#
# Programs that first run after tracing began get tables during the run, and stackbox does not trace
# the process that makes them.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_tables || skip_all "$NO_TABLES"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

STACK='_start;[^;]*__libc_start_main[^;]*;__libc_start_call_main;main;outer;middle;inner;leaf'

# fresh NAME: starts a new program as a workload of that name, which waits
fresh()
{
    cp "$WORKLOADS/bare" "$scratch/$1.new" && mv "$scratch/$1.new" "$scratch/$1" &&
        start_workload "$1" "$scratch/$1" -w calls 1000
}

# stacks_of NAME: how many of its events have the right stack
stacks_of()
{
    folded_sum "$scratch/out" "^$1;$STACK [0-9]+\$"
}

start_tracing stackcount -U --unwind tables -f t:syscalls:sys_enter_getppid
for name in one two three; do
    fresh "$name"
done
# stackbox looks for new programs many times a second.
sleep 1
finish_workload one two three
finish_stackbox
for name in one two three; do
    is "a new program has its stacks: $name" "$(stacks_of "$name")" 1000
done

# Another stackbox may run, which is traced.
cp "$STACKBOX" "$scratch/tracer"
STACKBOX=$scratch/tracer

# reads_of ARG...: how many file reads are stackbox's own, while a new program appears, whose calls need its table
reads_of()
{
    start_tracing stackcount --by name -U --unwind tables -f "$@" -r 't:syscalls:sys_enter_(pread64|getppid)'
    fresh late
    sleep 1
    finish_workload late
    finish_stackbox
    folded_sum "$scratch/out" '^tracer[;-]'
}

is "the process that makes tables is not traced" "$(reads_of)" 0
own=$(reads_of --include-self)
[ "$own" -gt 0 ] && pass "but with --include-self it is" || fail "but with --include-self it is" "no reads"
