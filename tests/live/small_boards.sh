#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: no
#
# Whole runs of each applet on boards with little memory. The kernel kills nothing, answers are
# right, refusals are one sentence; and each line has the peak memory of stackbox: its processes
# (anonymous, read some times a second), its maps and rings. tests/lanes.sh has guests of this size.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

WAKES=$WORKLOADS/wakes

# memory WHAT: in KB, from /proc/meminfo
memory()
{
    sed -n "s/^$1: *\([0-9]*\) kB/\1/p" /proc/meminfo
}

# killed: how many processes the kernel has killed for memory
killed()
{
    sed -n 's/^oom_kill //p' /proc/vmstat
}

# measure: writes what each process of a running stackbox takes, again and again: `own ROUND KB`, `maps ROUND KB`,
# `rings ROUND KB`. Rings are mapped, so these are no part of its anonymous memory.
measure()
{
    for round in $(seq 9999); do
        for process in /proc/[0-9]*; do
            read -r comm <"$process/comm" && [ "$comm" = stackbox ] || continue
            {
                cat "$process/status" "$process/maps"
                cat "$process"/fdinfo/*
            } | awk -v round="$round" '
                function number(hex,    at, sum) {
                    for (at = 1; at <= length(hex); at++)
                        sum = sum * 16 + index("0123456789abcdef", substr(hex, at, 1)) - 1
                    return sum
                }
                /^RssAnon:/ { own = $2 }
                /^memlock:/ { bytes = $2 }
                /^map_id:/ && !known[$2]++ { maps += bytes }
                /\[perf_event\]/ { split($1, range, "-"); rings += number(range[2]) - number(range[1]) }
                END { printf "own %d %d\nmaps %d %d\nrings %d %d\n",
                             round, own, round, maps / 1024, round, rings / 1024 }'
        done
        sleep 0.1
    done 2>/dev/null >>"$scratch/measured"
}

# peak WHAT: own memory of all processes together; of maps and rings, which several have, the most of one
peak()
{
    awk -v what="$1" '
        $1 == what {
            sum = (what == "own" && $2 == round ? sum : 0) + $3
            round = $2
            if (sum > most) most = sum
        }
        END { print most + 0 }' "$scratch/measured"
}

# traces APPLET OPTION... -- COMMAND...: leaves its result in $status and $figures
traces()
{
    : >"$scratch/measured"
    measure &
    meter=$!
    run_stackbox "$@"
    kill $meter
    wait $meter 2>/dev/null
    figures="$(peak own) KB own, $(peak maps) in maps, $(peak rings) in rings"
}

# right APPLET ANSWER LEAST GREATEST: its answer, or its reason, and what that took
right()
{
    said=$(sed -n "s/^$1: //p" "$scratch/err" | tr '\n' '|')
    if [ $status = 0 ]; then
        between "$1: $2 of $3; $figures; $said" "$2" "$3" "$4"
    else
        is "$1: $status, in one sentence; $figures; $said" "$status $(wc -l <"$scratch/err")" "125 1"
    fi
    is "$1: nothing is killed" "$(killed)" "$before"
}

# lost: how many events a sentence says were lost
lost()
{
    sed -nE 's/.*: ([0-9,]+) (of [0-9,]+ )?events.* lost.*/\1/p' "$scratch/err" | tr -d , | grep . || echo 0
}

before=$(killed)
pass "$(memory MemTotal) KB of memory, of which $(memory MemAvailable) are free; a binary of $(
    wc -c <"$STACKBOX") bytes"

# On MIPS there are no stacks of probes without tables, for which memory may be too little.
traces stackcount -f "$WAKES:pipe_wakes" -- "$WAKES" -n 500 -u 1000 pipe
right stackcount $(($(folded_sum "$scratch/out" '^w0;(.*pipe_wakes|\[no stack\])') + $(lost))) 500 500
traces stacksnoop "$WAKES:pipe_wakes" -- "$WAKES" -n 100 -u 1000 pipe
right stacksnoop $(($(grep -c '^[0-9].* w0 .*pipe_wakes' "$scratch/out") + $(lost))) 100 100
traces profile -f -F 99 -- "$WORKLOADS/bare" spins 1000
right profile "$(folded_sum "$scratch/out" '^bare;.*spin')" 1 1000
# In microseconds
traces offcputime -f -- "$WORKLOADS/bare" naps 10
right offcputime "$(folded_sum "$scratch/out" '^bare;')" 200000 9999999
traces walltime -f -- "$WORKLOADS/bare" naps 10
right walltime "$(folded_sum "$scratch/out" '^bare[;-]')" 200000 9999999
traces wakeuptime -f -- "$WAKES" -n 5 pipe
right wakeuptime "$(folded_sum "$scratch/out" '^w0;.*;w1 ')" 40000 9999999
traces offwaketime -f -- "$WAKES" -n 5 pipe
right offwaketime "$(folded_sum "$scratch/out" '^w1;.*;--;.*;w0 ')" 40000 9999999
