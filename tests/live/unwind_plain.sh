#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10,6.12
# host: yes
#
# A program with neither frame pointers nor unwind tables knows its stack: stackbox finds it from
# the code alone, by BPF programs and by rings.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

STACK='outer;middle;inner'

# of WAY NUMBER ARG...: leaves its lines in $folded
of()
{
    way=$1 number=$2
    shift 2
    run_stackbox "$@" $collect -U --unwind tables -f -- "$WORKLOADS/bare-plain" "$way" "$number"
    grep '^bare-plain[;-]' "$scratch/out" >"$scratch/folded"
}

# all NAME REGEX NUMBER: all lines match, and add up to NUMBER
all()
{
    is "$1: there is no other stack" "$(grep -vE "^bare-plain;($2) [0-9]+\$" "$scratch/folded" | head -n 2)" ""
    is "$1: all events have it" "$(awk '{ n += $NF } END { print n + 0 }' "$scratch/folded")" "$3"
}

# share_of REGEX: the percentage of those lines
share_of()
{
    awk -v those="$1" '$0 ~ those { n += $NF } { all += $NF } END { print all ? int(n * 100 / all) : 0 }' "$scratch/folded"
}

traces()
{
    # Not more than are kept until there is a table, which takes a while in an emulated machine.
    of calls 100 stackcount t:syscalls:sys_enter_getppid
    all "system calls$by" "_start;([^;]*;)*main;$STACK;leaf" 100
    of threads 100 stackcount t:syscalls:sys_enter_getppid
    # glibc's tables mark the function before as the end.
    all "a thread$by" "((\\[truncated\\];)?start_thread|[^[;]*(;[^;]*)*);run_thread;$STACK;leaf" 100
    of signals 100 stackcount t:syscalls:sys_enter_getppid
    all "a signal handler$by" "_start;([^;]*;)*main;([^;]*;)*handle;$STACK;leaf" 100
    deaf=
    [ -z "$by" ] || deaf=$(deaf_cpu)
    if [ "$deaf" ]; then
        skip "waits$by" "perf(1) sees no switch from the idle task of CPU $deaf either"
    else
        of naps 10 offcputime
        is "waits$by" "$(grep -cE "^bare-plain;_start;([^;]*;)*main;$STACK;nap;.*nanosleep.* [0-9]+\$" "$scratch/folded")" 1
    fi
    of spins 1000 profile -F 499
    between "percent of the samples$by that are whole" "$(share_of '^bare-plain;(_start;|.no user stack|.exec)')" 97 100
    between "percent of the samples$by in the function that spins" "$(share_of "main;$STACK;spin")" 90 100
}

if have_tables; then
    collect='' by=''
    traces
else
    skip "by BPF programs" "$NO_TABLES"
fi
collect='--collect rings' by=' by rings'
traces
