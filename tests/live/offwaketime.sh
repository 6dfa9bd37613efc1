#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: all
# host: yes
#
# How long threads were blocked, who woke them, and where both were: every pair that `wakes` makes has
# names, numbers and stacks of its own, and measured its time itself.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"

# ---- Waits of 10 ms: the truth to 1 %

start_wakes pipe futex signal pipe:3 futex:3 signal:3 nap
trace_wakes offwaketime -d -p @PID
judge_wakes offwake_text
wakes_right "threads"
is "threads: exit status" $status 0
start_wakes -P -n 50 pipe futex signal pipe:3 nap
trace_wakes offwaketime -f -d
judge_wakes offwake_folded
wakes_right "processes, folded"

# ---- Eight pairs at once, as fast as they can

start_wakes -n 4000 pipe@2 futex@2 signal@2 pipe@2 futex@2 signal@2 pipe@2 futex@2
trace_wakes offwaketime -d
judge_wakes offwake_text
no_wrong "8 pairs, $(sed -n 's/^rate //p' "$scratch/wakes.out") wakes/s"
is "8 pairs: each is there" \
    "$(awk '$1 == "right" && $3 > 0' "$scratch/verdict" | wc -l)" 16
is "8 pairs: nothing was lost" "$(grep -v 'still blocked' "$scratch/err")" ""
start_wakes -P -c -n 2000 pipe@2 futex@2 signal@2 pipe@3 futex@3 signal@2 pipe@2 futex@2
trace_wakes offwaketime -f -d -i 0.2
judge_wakes offwake_folded
no_wrong "8 groups of processes pinned to CPUs, $(sed -n 's/^rate //p' "$scratch/wakes.out") wakes/s"
is "8 groups: each is there" \
    "$(awk '$1 == "right" && $3 > 0' "$scratch/verdict" | wc -l)" 18
