#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: newest
# host: yes
#
# stackbox reports losses in one line, with their share and advice, and only if they matter; files
# and --debug have all. The loss is known: with room for one stack, events with others lack theirs.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

# crowded STACKS CALLS OPTION...: makes calls from STACKS stacks, after CALLS from a single one
crowded()
{
    stacks=$1 calls=$2
    shift 2
    run_stackbox stackcount -U --stack-storage-size 1 -o "$scratch/r.folded" -o "$scratch/r.svg" \
        -o "$scratch/r.speedscope.json" -o "$scratch/r.pb.gz" "$@" "$EVENT" -- sh -c \
        "'$WORKLOADS/calls' -n $calls >&2; '$WORKLOADS/spread' -n $stacks -r 3 >&2"
    is "$stacks stacks: exit status" "$status" 0
    # The shell makes such a call, too.
    lost=$(folded_sum "$scratch/r.folded" '\[stack storage full\]')
    all=$(folded_sum "$scratch/r.folded")
    grep '^stackcount: ' "$scratch/err" | grep -v '^stackcount: \(account\|report\|maps\|program\|attached\|detached\)' \
        >"$scratch/said"
}

# digits: removes the commas in numbers
digits()
{
    sed 's/\([0-9]\),\([0-9]\)/\1\2/g' "$1"
}

crowded 50 100
[ "$lost" -gt 10 ] && pass "most stacks find no room" || fail "most stacks find no room" "$lost of $all"
is "it is reported in one line" "$(grep -c 'without their stack' "$scratch/said")" 1
is "the line has the share, and what to do" "$(digits "$scratch/said" | grep -c \
    "^stackcount: $lost of $all events, [0-9.]* %, are counted without their stack: .*; raise --stack-storage-size")" 1
share=$(sed -n 's/.* events, \([0-9.]*\) %, are counted.*/\1/p' "$scratch/said")
is "its share is right" "$(awk "BEGIN { d = $share - 100 * $lost / $all; print (d > -0.6 && d < 0.6) }")" 1

crowded 50 100 --debug
is "--debug prints the number" "$(grep -c \
    "^stackcount: $lost events are counted without their stack: .* ([0-9.]* % of $all events)$" "$scratch/said")" 1

# in_files: checks that each file says what is missing
in_files()
{
    line="$lost events are counted without their stack: stack storage was full"
    contains "$1: the flame graph says so" "$scratch/r.svg" "$line"
    contains "$1: speedscope's file says so" "$scratch/r.speedscope.json" "$line"
    gzip -dc "$scratch/r.pb.gz" >"$scratch/r.pb"
    is "$1: pprof's file says so" "$(grep -ac "$line" "$scratch/r.pb")" 1
}
in_files "much is lost"

# Far more threads than at the run's start all wait at once. Where this kernel hides switches from
# perf(1), too, some of their waits have no end: stackbox reports each as lost.
THREADS=12000
run_stackbox offcputime -f --debug -- "$WORKLOADS/crowd" -n $THREADS -s 1000
is "a crowd: exit status" "$status" 0
if grep -q "^done CALLS=$THREADS" "$scratch/err"; then
    lacks "a crowd: all are seen" "$scratch/err" "were not seen"
    hidden=$(digits "$scratch/err" | sed -n 's/^offcputime: \([0-9]*\) waits are not counted: the kernel did not .*/\1/p')
    [ "${hidden:-0}" = 0 ] || { [ "$(deaf_cpu)" ] && [ "$hidden" -lt $((THREADS / 20)) ]; } &&
        pass "a crowd: each has its end" || fail "a crowd: each has its end" "$hidden have none"
    waited=$(folded_sum "$scratch/out" '^crowd;.*nanosleep')
    [ "$waited" -ge $(((THREADS - ${hidden:-0}) * 1000000)) ] && pass "a crowd: each waits a second" ||
        fail "a crowd: each waits a second" "$waited us, and ${hidden:-0} waits without their end"
else
    skip "a crowd" "$(tail -n 1 "$scratch/err")"
fi

# Less than one in a thousand of so many events is lost, unless the table was drained: the test
# detects that.
crowded 2 60000
if [ "$lost" -gt 0 ] && [ $((lost * 1000)) -le "$all" ]; then
    is "little is lost: nothing is said" "$(cat "$scratch/said")" ""
    in_files "little is lost"
elif [ "$lost" -gt 0 ]; then
    is "more is lost: a line says so" "$(grep -c 'without their stack' "$scratch/said")" 1
else
    is "nothing is lost: nothing is said" "$(cat "$scratch/said")" ""
fi
