#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: no
#
# Small machines: all applets run in 96 MB, and in 64, and when something else uses nearly all of it. Tables
# are sized by free memory, --debug says how large, and counts are exact all the same. tests/run.sh has guests
# of that size for this.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_kprobes || skip_all "this kernel has no kprobes"

EVENT=${CALL}getppid
STACKS=200 TIMES=5

# available: MB
available()
{
    awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo
}

# eat OPTION...: something takes memory until it is told to end, or is killed for it
eat()
{
    start_workload eater eater -w "$@" || fail "the eater eats" "$(cat "$scratch/eater.out")"
}

# size: the number of stacks that --debug says
size()
{
    sed -n 's/.*maps: .*[^0-9]\([0-9][0-9]*\) stacks.*/\1/p; s/.*maps: \([0-9][0-9]*\) stacks.*/\1/p' \
        "$scratch/err" | head -n 1
}

# in_maps: KB that the kernel says are in the maps of a running stackbox
in_maps()
{
    cat /proc/"$stackbox"/fdinfo/* 2>/dev/null | awk '
        /^memlock:/ { bytes = $2 }
        /^map_id:/ && !known[$2]++ { sum += bytes }
        END { printf "%d\n", sum / 1024 }'
}

# spread NAME OPTION...: TIMES calls from each of STACKS stacks. In $counts is how many stacks had their
# count, in $without how many events had no stack of their own, in $chosen the size.
spread()
{
    name=$1 before=$(available)
    shift
    start_workload one spread -w -k -n $STACKS -r $TIMES
    start_stackbox stackcount -v --debug -p "$(pid_of one)" "$@" $EVENT ||
        fail "$name: starts" "$(grep -v '^ ' "$scratch/err" | tail -n 5)"
    [ "$name" = "no memory is ever sure" ] || # it comes and goes
        between "$name: KB in maps, where $before MB were free" "$(in_maps)" 1 $((before * 1024 / 2))
    go one
    finish_stackbox
    is "$name: exit status" "$status" 0
    finish_workload one
    sed -n 's/^    \([0-9][0-9]*\)$/\1/p' "$scratch/out" >"$scratch/counts"
    is "$name: the sum" "$(awk '{ sum += $1 } END { print sum + 0 }' "$scratch/counts")" \
        $((STACKS * TIMES))
    counts=$(grep -cx $TIMES "$scratch/counts")
    without=$(sed -n 's/.* \([0-9][0-9]*\) events are counted without their stack.*/\1/p' "$scratch/err")
    chosen=$(size)
}

# Which applet finds what of a workload; each ends well and says its name.
# finds NAME PROGRAM WORD... -- APPLET OPTION...
finds()
{
    name=$1 program=$2 words=
    shift 2
    while [ "$1" != -- ]; do
        words="$words $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # words
    start_workload one "$program" -w -k $words
    start_stackbox "$@" || fail "$name: starts" "$(tail -n 5 "$scratch/err")"
    go one
    finish_stackbox
    finish_workload one
    is "$name: exit status" "$status" 0
}

profile_finds()
{
    finds "$1: profile" burn -s 300 -N burner -- profile -f -F 99
    [ "$(folded_sum "$scratch/out" '^burner;.*;greater')" -gt 0 ] && pass "$1: profile: what burns" ||
        fail "$1: profile: what burns" "$(grep -c . "$scratch/out") lines, $(tail -n 2 "$scratch/err")"
}

# all_applets NAME: with what each must find there
all_applets()
{
    profile_finds "$1"
    finds "$1: offcputime" sleeps -o nap -n 5 -- offcputime -f
    is "$1: offcputime: who sleeps" "$(grep -c '^nap;.*;nap_outer;nap_inner;' "$scratch/out")" 1
    finds "$1: wakeuptime" wakes -n 5 pipe -- wakeuptime -f
    is "$1: wakeuptime: who wakes" "$(grep -c '^w0;.*;pipe_wakes;.*;w1 ' "$scratch/out")" 1
    finds "$1: offwaketime" wakes -n 5 pipe -- offwaketime -f
    is "$1: offwaketime: who waits for whom" \
        "$(grep -c '^w1;.*;pipe_waits;.*;--;.*;pipe_wakes;.*;w0 ' "$scratch/out")" 1
    finds "$1: stacksnoop" calls -n 100 -- stacksnoop $EVENT
    lost=$(sed -n 's/.*: \([0-9]*\) events were lost.*/\1/p' "$scratch/err")
    is "$1: stacksnoop: printed and lost" \
        "$(($(grep -c '^[0-9].* calls .*getppid' "$scratch/out") + ${lost:-0}))" 100
}

spread "quiet"
is "quiet: each stack has its count" "$counts" $STACKS
quiet=$chosen
all_applets "quiet"

# Of the smallest machine the kernel and a shell take nearly all themselves.
[ "$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo)" -ge 48 ] || exit 0

# A third of it, and no less than what a shell and its like need not to be short of it themselves. Where
# the kernel's figure was too high what eats is killed for memory, and so it is begun anew.
left=$(($(available) / 3))
[ $left -ge 8 ] || left=8
eat -l $left
spread "little left"
is "little left: each stack has its count, or it is said" \
    "$((counts * TIMES + ${without:-0}))" $((STACKS * TIMES))
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
    contains "too little for tables: what is said" "$scratch/err" \
        'by frame pointers, not tables: there is too little free'
else
    skip "too little for tables: what is said" "what took the memory was killed for it"
fi

eat -l $left -c
spread "no memory is ever sure"
profile_finds "no memory is ever sure"
finish_workload eater || true
