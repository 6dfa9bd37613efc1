#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.12,newest
# host: yes
#
# The unwind table of a large program that only sleeps is not made before tracing begins, but once it has an
# event; and then its stacks are whole, however many come at once.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_tables || skip_all "$NO_TABLES"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"
# Where less is free, all tables are made before.
[ "$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)" -ge 300 ] ||
    skip_all "too little memory is free"

STACK='_start;[^;]*__libc_start_main[^;]*;__libc_start_call_main;main;outer;middle;inner;leaf'
LARGE=large$$

# grown NAME: a program of more than a megabyte, whose file no other process has
grown()
{
    cp "$WORKLOADS/bare" "$scratch/$1" && dd if=/dev/zero bs=1024 count=1024 >>"$scratch/$1" 2>/dev/null
}

# sleeps NAME: it has used the CPU for less than a hundredth of its life
sleeps()
{
    awk -v up="$(cut -d' ' -f1 /proc/uptime)" '{ exit !(($14 + $15) * 200 < up * 100 - $22) }' \
        "/proc/$(pid_of "$1")/stat"
}

# made: the line about tables that were made because stacks needed them
made()
{
    grep 'made once a stack needed them' "$scratch/err"
}

grown "$LARGE"
start_workload "$LARGE" "$scratch/$LARGE" -w calls 20000
wait_until "$LIMIT" sleeps "$LARGE"
start_workload other calls -w -k -n 100 -N o$$
start_stackbox stackcount -U -f --debug --unwind tables t:syscalls:sys_enter_getppid ||
    fail "starts" "$(cat "$scratch/err")"
go other
finish_stackbox
is "others' events" "$(folded_sum "$scratch/out" "^o$$;")" "$(calls_of other)"
is "the table of a program that sleeps is not made" "$(made | grep -c "$LARGE")" 0

start_stackbox stackcount -U -f --debug --unwind tables t:syscalls:sys_enter_getppid ||
    fail "starts" "$(cat "$scratch/err")"
kill -s USR2 "$(pid_of "$LARGE")"
wait "$(pid_of "$LARGE")"
finish_stackbox
is "it is made once a stack needs it" "$(made | grep -c "$LARGE")" 1
is "all of its events have whole stacks" "$(grep -E "^$LARGE;$STACK [0-9]+\$" "$scratch/out" |
    awk '{ n += $NF } END { print n + 0 }')" 20000

# Of a process that is asked for it is made before.
start_workload "$LARGE" "$scratch/$LARGE" -w calls 100
start_stackbox stackcount -U -f --debug --unwind tables -p "$(pid_of "$LARGE")" t:syscalls:sys_enter_getppid ||
    fail "starts" "$(cat "$scratch/err")"
kill -s USR2 "$(pid_of "$LARGE")"
wait "$(pid_of "$LARGE")"
wait_stackbox
is "with -p it is made before" "$(made | grep -c "$LARGE")" 0
is "with -p: its events" "$(grep -E "^$LARGE;$STACK [0-9]+\$" "$scratch/out" |
    awk '{ n += $NF } END { print n + 0 }')" 100
finish_workload other
