#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: no
#
# Small machines: all applets run in 96 MB, and in 64, and when another program uses nearly all of
# it. Tables are sized by free memory, --debug shows the size, and counts are still exact.
# tests/lanes.sh has guests of this size.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_kprobes || skip_all "this kernel has no kprobes"

EVENT=${CALL}getppid
STACKS=200 TIMES=5

# available: available memory, in MB
available()
{
    awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo
}

# eat OPTION...: a program takes memory until it is told to end, or is killed for it
eat()
{
    start_workload eater eater -w "$@" || fail "the eater starts" "$(cat "$scratch/eater.out")"
}

# size: the number of stacks that --debug prints
size()
{
    sed -n 's/.*maps: .*[^0-9]\([0-9][0-9]*\) stacks.*/\1/p; s/.*maps: \([0-9][0-9]*\) stacks.*/\1/p' \
        "$scratch/err" | head -n 1
}

# in_maps: KB in the maps of a running stackbox, according to the kernel
in_maps()
{
    cat /proc/"$stackbox"/fdinfo/* 2>/dev/null | awk '
        /^memlock:/ { bytes = $2 }
        /^map_id:/ && !known[$2]++ { sum += bytes }
        END { printf "%d\n", sum / 1024 }'
}

# spread NAME OPTION...: makes TIMES calls from each of STACKS stacks. Sets $counts to how many stacks
# had their count, $without to how many events had no stack of their own, $chosen to the size.
spread()
{
    name=$1 before=$(available)
    shift
    start_workload one spread -w -k -n $STACKS -r $TIMES
    start_tracing stackcount -v --debug -p "$(pid_of one)" "$@" $EVENT
    [ "$name" = "no memory is ever sure" ] || # it comes and goes
        between "$name: KB in maps, where $before MB were free" "$(in_maps)" 1 $((before * 1024 / 2))
    go one
    finish_stackbox
    is "$name: exit status" "$status" 0
    finish_workload one
    sed -n 's/^    \([0-9][0-9]*\)$/\1/p' "$scratch/out" >"$scratch/counts"
    is "$name: all calls are counted" "$(awk '{ sum += $1 } END { print sum + 0 }' "$scratch/counts")" \
        $((STACKS * TIMES))
    counts=$(grep -cx $TIMES "$scratch/counts")
    without=$(said "events are counted without their stack")
    chosen=$(size)
}

# finds NAME PROGRAM "WORD..." APPLET OPTION...: runs APPLET on that workload
finds()
{
    name=$1 program=$2 words=$3
    shift 3
    # shellcheck disable=SC2086 # words
    start_workload one "$program" -w -k $words
    trace_workload one "$@"
    is "$name: exit status" "$status" 0
}

profile_finds()
{
    finds "$1: profile" burn "-s 300 -N burner" profile -f -F 99
    [ "$(folded_sum "$scratch/out" \
        '^burner;.*;greater')" -gt 0 ] && pass "$1: profile finds the busy function" ||
        fail "$1: profile finds the busy function" \
            "$(grep -c . "$scratch/out") lines, $(tail -n 2 "$scratch/err")"
}

# all_applets NAME: runs them all, and checks what each must find
all_applets()
{
    profile_finds "$1"
    finds "$1: offcputime" sleeps "-o nap -n 5" offcputime -f
    is "$1: offcputime finds the sleeping thread" "$(grep -c '^nap;.*;nap_outer;nap_inner;' "$scratch/out")" 1
    finds "$1: wakeuptime" wakes "-n 5 pipe" wakeuptime -f
    is "$1: wakeuptime finds the waker" "$(grep -c '^w0;.*;pipe_wakes;.*;w1 ' "$scratch/out")" 1
    finds "$1: offwaketime" wakes "-n 5 pipe" offwaketime -f
    is "$1: offwaketime finds both" \
        "$(grep -c '^w1;.*;pipe_waits;.*;--;.*;pipe_wakes;.*;w0 ' "$scratch/out")" 1
    finds "$1: stacksnoop" calls "-n 100" stacksnoop $EVENT
    is "$1: stacksnoop: printed + lost = calls" \
        "$(($(grep -c '^[0-9].* calls .*getppid' "$scratch/out") + $(said "events were lost")))" 100
}

spread "quiet"
is "quiet: each stack has its count" "$counts" $STACKS
quiet=$chosen
all_applets "quiet"

# On the smallest machine the kernel and a shell take nearly all of the memory.
[ "$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo)" -ge 48 ] || exit 0

# Leaves a third of it, but no less than a shell and the like need. If the kernel's figure was too high,
# the eater is killed for memory, and then started again.
left=$(($(available) / 3))
[ $left -ge 8 ] || left=8
eat -l $left
spread "little left"
is "little left: each stack has its count, or it is reported" \
    "$((counts * TIMES + without))" $((STACKS * TIMES))
between "little left: the table is smaller than $quiet" "$chosen" 1 $((quiet - 1))
finish_workload eater || true
eat -l $left
spread "little left, reports every 50 ms" -i 0.05
finish_workload eater || true
eat -l $left
all_applets "little left"
finish_workload eater || true
eat -l 12
profile_finds "too little for tables"
if finish_workload eater; then
    contains "too little for tables: it is reported" "$scratch/err" \
        'by frame pointers, not tables: there is too little free'
else
    skip "too little for tables: it is reported" "the eater was killed for memory"
fi

eat -l $left -c
spread "free memory is unknown"
profile_finds "free memory is unknown"
finish_workload eater || true
