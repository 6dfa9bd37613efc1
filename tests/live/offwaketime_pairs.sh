#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.12,newest
# host: yes
# own clock
# quiet
#
# Who waits for whom, one line each: how long, how often and the longest wait, as the workload measured them.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"

# pair WAITER WAKER: time, waits and longest wait in this line
pair()
{
    awk -v who="  $1 <- $2" 'index($0, who) && substr($0, length($0) - length(who) + 1) == who {
        print $1, $2, $3; exit }' "$scratch/out"
}

# pair_right WAITER WAKER NAME: the line has what this thread of `wakes` measured
pair_right()
{
    set -- $(pair "$1" "$2" | grep . || echo 0 0 0) "$3"
    got=$1 count=$2 longest=$3 name=$4
    set -- $(awk -v name="$PREFIX$name" '$1 == "wait" && $2 == name { print $6, $7, $10, $11, $12 }' \
        "$scratch/wakes.out")
    # It measured calls: one that came late did not wait, and one may wait for a page as well.
    between "$name: number of waits" "$count" 1 $(($1 + 8))
    close_to "$name: time" "$got" "$2" "$3" "$4" "$5"
    is "$name: the longest wait is one of them" "$([ "$longest" -le "$got" ] &&
        [ $((longest * count + count)) -ge "$got" ] && echo yes)" yes
    [ "$(unseen)" != 0 ] || close_to "$name: the longest wait is right" "$longest" "$3" "$3" "$4" "$5"
}

start_wakes -n 50 pipe futex
trace_wakes offwaketime --pairs --by thread --top 100 -p @PID -o "$scratch/waits.speedscope.json" \
    -o "$scratch/waits.txt"
is "exit status" $status 0
cp "$scratch/waits.txt" "$scratch/out"
is "the pairs' waits add up to all waits" "$(awk '/ <- / && $1 ~ /^[0-9]+$/ { sum += $2 } END { print sum }' \
    "$scratch/out")" "$(sed -n 's/.*"name":"offwaketime: waits".*"endValue":\([0-9]*\),.*/\1/p' \
    "$scratch/waits.speedscope.json")"
one="${PREFIX}0 ($pid/$(tid_of wakes 0))" two="${PREFIX}1 ($pid/$(tid_of wakes 1))"
three="${PREFIX}2 ($pid/$(tid_of wakes 2))" four="${PREFIX}3 ($pid/$(tid_of wakes 3))"
pair_right "$two" "$one" 1
pair_right "$four" "$three" 3
is "there are no wrong pairs" "$(pair "$two" "$three")$(pair "$four" "$one")" ""
awk '/ <- / && $1 ~ /^[0-9]+$/ { print $1 }' "$scratch/out" >"$scratch/times"
is "pairs are sorted by time, the longest first" \
    "$(sort -rn "$scratch/times" | cmp - "$scratch/times" && echo yes)" yes
is "a pair with one wait has it as its longest" "$(awk '/ <- / && $2 == 1 && $1 != $3' "$scratch/out")" ""

# Ten lines, and the sum of the others.
start_wakes -n 8 pipe@2 pipe@2 pipe@2 pipe@2 pipe@2 pipe@2
trace_wakes offwaketime --pairs --by thread -p @PID
is "ten pairs are printed" \
    "$(grep -c ' <- .*[^r] *$' "$scratch/out") $(grep -c 'more pairs (--top)$' "$scratch/out")" "11 1"
start_wakes -P -n 8 pipe
trace_wakes offwaketime --pairs --by name --top 10000
contains "--by name: pairs have names" "$scratch/out" "  ${PREFIX}1 <- ${PREFIX}0"
lacks "--by name: no pids" "$scratch/out" "${PREFIX}1 ("
start_wakes -n 8 pipe
trace_wakes offwaketime --pairs -f -p @PID
is "-f prints folded stacks all the same" "$(grep -c ' <- ' "$scratch/out")" 0

run_stackbox offcputime --pairs 1
is "applets with one side only have no pairs" "$status" 2
