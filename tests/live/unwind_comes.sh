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

# calls_it NAME: lets it make its calls, and waits for its end
calls_it()
{
    kill -s USR2 "$(pid_of "$1")"
    wait "$(pid_of "$1")"
}

# stacks_of NAME: how many of its events have the right stack
stacks_of()
{
    grep -E "^$1;$STACK [0-9]+\$" "$scratch/out" | awk '{ n += $NF } END { print n + 0 }'
}

start_stackbox stackcount -U --unwind tables -f t:syscalls:sys_enter_getppid || fail "starts" \
    "$(cat "$scratch/err")"
for name in one two three; do
    fresh "$name"
done
# stackbox looks for new programs many times a second.
sleep 1
for name in one two three; do
    calls_it "$name"
done
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
    start_stackbox stackcount --by name -U --unwind tables -f "$@" -r 't:syscalls:sys_enter_(pread64|getppid)' ||
        fail "starts" "$(cat "$scratch/err")"
    fresh late
    sleep 1
    calls_it late
    finish_stackbox
    grep '^tracer[;-]' "$scratch/out" | awk '{ n += $NF } END { print n + 0 }'
}

is "the process that makes tables is not traced" "$(reads_of)" 0
own=$(reads_of --include-self)
[ "$own" -gt 0 ] && pass "but with --include-self it is" || fail "but with --include-self it is" "no reads"
