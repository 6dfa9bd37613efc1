#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
#
# A library is unloaded, and another one is mapped at its address. A report that covers both has
# ambiguous names; reports before and after, and events with times, have the right ones.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"
[ -x "$WORKLOADS/dynamic/loads" ] || skip_all "no compiler for dynamic programs is installed"

# No other process has this name.
NAME=swap$$
N=200
EVENT=t:syscalls:sys_enter_getppid
NORTH=$WORKLOADS/dynamic/libnorth.so SOUTH=$WORKLOADS/dynamic/libsouth.so

# loaded N: have N libraries been loaded, and their calls been made?
loaded()
{
    [ "$(grep -c '^loaded' "$scratch/one.out")" -ge "$1" ]
}

# next N: lets it load the next library
next()
{
    kill -s USR2 "$(pid_of one)"
    wait_until 20 loaded "$1" || fail "library $1" "$(cat "$scratch/one.out")"
}

written()
{
    [ "$(grep -c "^$NAME;" "$scratch/out")" -gt "$1" ]
}

# report: makes a report of everything until now; its stacks go to $scratch/stacks
report()
{
    before=$(grep -c "^$NAME;" "$scratch/out")
    kill -s USR1 "$stackbox"
    wait_until 20 written "$before" || fail "a report" "$(cat "$scratch/err")"
    grep "^$NAME;" "$scratch/out" | tail -n +$((before + 1)) >"$scratch/stacks"
}

start_workload one dynamic/loads -w -c -s -k -n $N -N $NAME "$NORTH" "$SOUTH" "$SOUTH" "$NORTH"
start_tracing stackcount -f -U $EVENT
next 1
report
is "reports before the swap have the first library's names" "$(user_stacks "$scratch/stacks")" \
    "main;call_inside;north_lib_outer;north_lib_inner $N"
next 2
report
both="[libnorth.so or libsouth.so]"
is "in one report both are named" "$(user_stacks "$scratch/stacks")" "main;$both;$both;$both $N"
next 3
report
is "reports after the swap have the second library's names" "$(user_stacks "$scratch/stacks")" \
    "main;call_inside;south_lib_outer;south_lib_inner $N"
go one
finish_stackbox
finish_workload one
is "both were at one address" \
    "$(sed -n 's/^loaded .* //p' "$scratch/one.out" | sort -u | grep -c .)" 1

# ---- Single events, whose times are known

# events NAME OPTION...
events()
{
    local what=$1
    shift
    start_workload one dynamic/loads -w -c -k -n $N -N $NAME "$NORTH" "$SOUTH" "$NORTH" "$SOUTH"
    trace_workload one stacksnoop -U "$@" -p "$(pid_of one)" $EVENT
    is "$what: the first library's are named" "$(grep -c '^.north_lib_inner$' "$scratch/out")" $((2 * N))
    is "$what: the second library's are named" "$(grep -c '^.south_lib_inner$' "$scratch/out")" $((2 * N))
    is "$what: none is ambiguous" "$(grep -c ' or ' "$scratch/out")" 0
}

events events
events "stops at system calls" --collect ptrace
