#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
#
# A library is unloaded, and another one is mapped at its address, with other functions. In a report that
# covers both, neither has a certain name; before and after, and if events have their time, all have theirs.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"
[ -x "$WORKLOADS/dynamic/loads" ] || skip_all "there is no compiler for dynamic programs"

# Nobody else's process has this name.
NAME=swap$$
N=200
EVENT=t:syscalls:sys_enter_getppid
NORTH=$WORKLOADS/dynamic/libnorth.so SOUTH=$WORKLOADS/dynamic/libsouth.so

# loaded N: so many libraries were, and their calls are made
loaded()
{
    [ "$(grep -c '^loaded' "$scratch/one.out")" -ge "$1" ]
}

# next N: the word for the next library
next()
{
    kill -s USR2 "$(pid_of one)"
    wait_until 20 loaded "$1" || fail "library $1" "$(cat "$scratch/one.out")"
}

written()
{
    [ "$(grep -c "^$NAME;" "$scratch/out")" -gt "$1" ]
}

# report: of all that was until now; its stacks become $scratch/stacks
report()
{
    before=$(grep -c "^$NAME;" "$scratch/out")
    kill -s USR1 "$stackbox"
    wait_until 20 written "$before" || fail "a report" "$(cat "$scratch/err")"
    grep "^$NAME;" "$scratch/out" | tail -n +$((before + 1)) >"$scratch/stacks"
}

start_workload one dynamic/loads -w -c -s -k -n $N -N $NAME "$NORTH" "$SOUTH" "$SOUTH" "$NORTH"
start_stackbox stackcount -f -U $EVENT || fail "starts" "$(cat "$scratch/err")"
next 1
report
is "before" "$(user_stacks "$scratch/stacks")" \
    "main;call_inside;north_lib_outer;north_lib_inner $N"
next 2
report
both="[libnorth.so or libsouth.so]"
is "both in one report" "$(user_stacks "$scratch/stacks")" "main;$both;$both;$both $N"
next 3
report
is "after" "$(user_stacks "$scratch/stacks")" \
    "main;call_inside;south_lib_outer;south_lib_inner $N"
go one
finish_stackbox
finish_workload one
is "at one address" \
    "$(sed -n 's/^loaded .* //p' "$scratch/one.out" | sort -u | grep -c .)" 1

# ---- Events that tell their time

start_workload one dynamic/loads -w -c -k -n $N -N $NAME "$NORTH" "$SOUTH" "$NORTH" "$SOUTH"
start_stackbox stacksnoop -U -p "$(pid_of one)" $EVENT || fail "starts" "$(cat "$scratch/err")"
go one
finish_stackbox
finish_workload one
is "events: of the first" "$(grep -c '^.north_lib_inner$' "$scratch/out")" $((2 * N))
is "events: of the second" "$(grep -c '^.south_lib_inner$' "$scratch/out")" $((2 * N))
is "events: none are of nobody knows which" "$(grep -c ' or ' "$scratch/out")" 0
