#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10,6.12
# host: yes
#
# A program with neither frame pointers nor unwind tables knows its stack: stackbox finds it from
# the code alone, by BPF programs and by rings.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_bare.sh"

have_root || skip_all "tracing needs root"

STACK='outer;middle;inner'

traces()
{
    # Not more than are kept until there is a table, which takes a while in an emulated machine.
    of bare-plain calls 100 stackcount $how t:syscalls:sys_enter_getppid
    all "system calls$by" "_start;([^;]*;)*main;$STACK;leaf" 100
    of bare-plain threads 100 stackcount $how t:syscalls:sys_enter_getppid
    # glibc's tables mark the function before as the end.
    all "a thread$by" "((\\[truncated\\];)?start_thread|[^[;]*(;[^;]*)*);run_thread;$STACK;leaf" 100
    of bare-plain signals 100 stackcount $how t:syscalls:sys_enter_getppid
    all "a signal handler$by" "_start;([^;]*;)*main;([^;]*;)*handle;$STACK;leaf" 100
    if [ -z "$by" ] || ! skip_deaf "waits$by"; then
        of bare-plain naps 10 offcputime $how
        is "waits$by" "$(grep -cE "^bare;_start;([^;]*;)*main;$STACK;nap;.*nanosleep.* [0-9]+\$" "$scratch/folded")" 1
    fi
    of bare-plain spins 1000 profile $how -F 499
    between "percent of the samples$by that are whole" "$(share_of '^bare;(_start;|.no user stack|.exec)')" 97 100
    between "percent of the samples$by in the function that spins" "$(share_of "main;$STACK;spin")" 90 100
}

if have_tables; then
    how='-U --unwind tables' by=''
    traces
else
    skip "by BPF programs" "$NO_TABLES"
fi
how='--collect rings -U --unwind tables' by=' by rings'
traces
