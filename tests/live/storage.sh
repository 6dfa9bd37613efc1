#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10
# host: yes
#
# Eight threads reach one function through 30,000 stacks, each of which encodes its number and has
# its own count. With room, each count is right, although many stacks collide in a bucket; without,
# the sum is right, each count is at most the true one, and stackbox reports the loss.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

STACKS=30000
ALL=$((STACKS * 2 + STACKS)) # number N is called 2 + N % 3 times

# judge: for each line of $scratch/out prints `right N`, `less N` if it is too few, `full N`, `table N`,
# or `wrong LINE`; each number comes once
judge()
{
    awk '{
        count = $NF
        line = $0
        sub(/ [0-9]+$/, "")
        if ($0 == "[table full]") { print "table", count; next }
        if (/;\[stack storage full\]$/) { print "full", count; next }
        frames = number = 0
        digit = 1
        for (at = split($0, frame, ";"); at > 1 && frame[at] != "hammered"; at--)
            ;
        for (at--; at > 1 && frame[at] ~ /^(zero|one)$/; at--) {
            number += (frame[at] == "one") * digit
            digit *= 2
            frames++
        }
        if (frames != 15 || number in seen || count > 2 + number % 3) { print "wrong", line; next }
        seen[number] = 1
        print (count == 2 + number % 3 ? "right" : "less"), count
    }' "$scratch/out" >"$scratch/judged"
}

# told KIND: the sum of that kind
told()
{
    awk -v kind="$1" '$1 == kind { sum += $2 } END { print sum + 0 }' "$scratch/judged"
}

# hammer NAME OPTION...: runs the workload under stackcount with these options; $names is an option
# of the workload
names=
hammer()
{
    name=$1
    shift
    # shellcheck disable=SC2086 # words
    start_workload one hammer -w -k -g -v $names -d 15 -t 8 -n $((STACKS / 8)) -r 2
    trace_workload one stackcount -f -U --depth 24 --debug -p "$(pid_of one)" "$@" $EVENT
    is "$name: the workload made all its calls" "$(calls_of one)" $ALL
    is "$name: exit status" $status 0
    judge
    is "$name: no stack is mixed with another" "$(grep -m 3 '^wrong' "$scratch/judged")" ""
    is "$name: all calls are in the report" "$(folded_sum "$scratch/out")" $ALL
    account=$(sed -n 's/^stackcount: account: //p' "$scratch/err")
    is "$name: the account adds up" "$(echo "$account" |
        sed 's/^\([0-9]*\) seen = \([0-9]*\) counted + \([0-9]*\) filtered out + \([0-9]*\) lost .*/\1 \2 \3 \4/' |
        awk '{ print $1 - $2 - $3 - $4 }')" 0
    is "$name: the account agrees with the report" "$(echo "$account" |
        sed 's/.* \([0-9]*\) counted .* \([0-9]*\) lost .*/\1 \2/' | awk '{ print $1 + $2 }')" $ALL
}

hammer "room for all" --stack-storage-size 32768
is "room for all: each stack has its own count" \
    "$(grep -c '^right' "$scratch/judged") of $(wc -l <"$scratch/judged")" "$STACKS of $STACKS"
lacks "room for all: nothing is lost" "$scratch/err" "full"

hammer "little room" --stack-storage-size 1024
is "little room: events without a stack are reported" "$(told full)" \
    "$(said "events are counted without their stack: stack storage was full")"
contains "little room: and what to do" "$scratch/err" "raise --stack-storage-size (it was 1024)"

# Threads that change their names need counts of their own, with or without stacks.
names=-c
hammer "hardly any room" --stack-storage-size 64
missing=$(sed -n 's/^stackcount: \([0-9]*\) events are only in the total, as \[table full\].*/\1/p' \
    "$scratch/err")
is "hardly any room: events only in the total are reported" "$(told table)" "${missing:-none}"
is "hardly any room: in one line" "$(grep -c '^table' "$scratch/judged")" 1
contains "hardly any room: and what to do" "$scratch/err" "raise --stack-storage-size (it was 64)"
