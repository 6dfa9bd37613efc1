#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
#
# A flat table of waits has the functions in which threads wait, not __schedule: the same as
# /proc/TID/stack, in which the kernel leaves out the scheduler.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"

ways="nap tmout woken read"
# look: notes where each thread is blocked now, if it is
look()
{
    for way in $ways; do
        head -n 1 "/proc/$pid/task/$(tid_of sleeps $way)/stack" 2>/dev/null |
            sed -n 's/^\[<[^>]*>\] \([^+]*\)+0x.*/\1/p' >>"$scratch/$way.seen"
    done
}

# shellcheck disable=SC2046 # words
start_sleeps -n 40 -u 100000 -o $(echo $ways | tr ' ' ,)
start_tracing offcputime --flat --by thread -p "$pid"
kill -s USR2 "$pid"
while ! grep -q '^done' "$scratch/sleeps.out" && ! ended "$pid"; do
    look
done
finish_stackbox
finish_workload sleeps
is "no thread waits in the scheduler itself" \
    "$(awk '$1 > 0 && $NF ~ /^(__)?schedule$/' "$scratch/out")" ""
for way in $ways; do
    tid=$(tid_of sleeps $way)
    # (If it waits equally long in two places, chance decides which was seen more often.)
    place=$(awk -v who="$PREFIX$way ($pid/$tid): " \
        '(at = index($0, who)) { print substr($0, at + length(who)); exit }' "$scratch/out")
    if [ -s "$scratch/$way.seen" ]; then
        is "$way: it waits where it was seen blocked" \
            "$(grep -xF -m 1 -e "${place:-nowhere}" "$scratch/$way.seen")" "${place:-a function}"
    else
        fail "$way: it waits where it was seen blocked" "it was never seen blocked"
    fi
done

# Grouped by name: each with its share of the total. Without --by there are no names of processes.
start_sleeps -n 8 -o nap,tmout
trace_sleeps offcputime --flat --by name -p @PID
is "--by name: each has rows of its own" "$(sed -n "s/.* \($PREFIX[a-z]*\): .*/\1/p" "$scratch/out" |
    sort -u | tr '\n' ' ')" "${PREFIX}nap ${PREFIX}tmout "
is "shares are of the total" "$(awk 'NR > 1 && $1 ~ /^[0-9.]+$/ { sum += $1 }
    END { print (sum > 99 && sum < 101) }' "$scratch/out")" 1
start_sleeps -n 8 -o nap,tmout
trace_sleeps offcputime --flat -p @PID
lacks "without --by there are only functions" "$scratch/out" "${PREFIX}nap:"
contains "functions are those of all threads" "$scratch/out" "hrtimer_nanosleep"
