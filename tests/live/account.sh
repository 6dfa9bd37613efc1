#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# seldom: 5.10,newest
# host: yes
#
# The account that --debug shows: events seen are counted, filtered out, lost, or have not ended. Two
# workloads know how often they called; one of them is traced.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event
N=5000

# figure NAME: of the last account
figure()
{
    sed -n 's/^[a-z]*: account: //p' "$scratch/err" | tail -n 1 | tr '=+;' '\n\n\n' |
        awk -v name="$1" '{ number = $1; $1 = ""; if ($0 == " " name) print number }'
}

# closes NAME COUNTED: that word of it
closes()
{
    is "$1: what was seen" "$(($(figure "$2") + $(figure "filtered out") + $(figure lost) +
        $(figure "not ended" | grep . || echo 0)))" "$(figure seen)"
    adds_up "$1: it closes"
}

# two APPLET ARG...: one workload asked for by -p, and another one beside it
workload="calls -n $N"
two()
{
    # shellcheck disable=SC2086 # words
    start_workload one $workload -w -k
    # shellcheck disable=SC2086 # words
    start_workload other $workload -w -k
    start_stackbox "$@" --debug -p "$(pid_of one)" ||
        fail "$1" "did not start: $(cat "$scratch/err")"
    go one
    go other
    finish_stackbox
    finish_workload one
    finish_workload other
}

two stackcount -f $EVENT
closes stackcount counted
is "stackcount: what was counted" "$(figure counted)" $N
between "stackcount: what was not asked for" "$(figure "filtered out")" $N 1000000000

if have_uprobes; then
    workload="hammer -t 2 -n 4 -r 50"
    two stackcount -f -i 0.05 "$WORKLOADS/hammer:hammered"
    closes "a user's function" counted
    is "a user's function: what was counted" "$(figure counted)" 400
    workload="calls -n $N"
fi

two stacksnoop $EVENT
closes stacksnoop recorded
is "stacksnoop: what was recorded" "$(figure recorded)" $N
between "stacksnoop: what was not asked for" "$(figure "filtered out")" $N 1000000000

# One after the other is thrown away, by the smallest of buffers: they are counted all the same.
two stacksnoop --buffer-size 4 $EVENT
closes "stacksnoop, with hardly a buffer" recorded
is "stacksnoop, with hardly a buffer: recorded and lost" \
    "$(($(figure recorded) + $(figure lost)))" $N

# These see waits: the bounds filter them when they end, the rest as they begin.
for applet in offcputime wakeuptime offwaketime; do
    start_stackbox $applet -f -m 100 -i 0.1 --debug || fail $applet "$(cat "$scratch/err")"
    for turn in 1 2 3 4 5 6 7 8; do
        sleep 0.05
    done
    finish_stackbox
    closes $applet counted
    between "$applet: there was something" "$(figure counted)" 1 1000000000
done

start_stackbox profile -f --debug -F 99 || fail profile "$(cat "$scratch/err")"
sleep 0.5
finish_stackbox
closes profile counted

# ---- What --debug says, and what it leaves to --dump-program

# listed APPLET ARG...: each listing is as long as it is said to be, and --debug has none
listed()
{
    run_stackbox "$@" -D 0.1 --debug
    is "$1: --debug" "$status $(grep -c ': Linux .* with the capabilities 0x' "$scratch/err")" "0 1"
    contains "$1: --debug says of the program" "$scratch/err" " instructions"
    lacks "$1: --debug lists none" "$scratch/err" ": exit"
    run_stackbox "$@" -D 0.1 --dump-program
    # One that loads a number of 64 bits counts for two.
    is "$1: --dump-program" "$status $(awk '/ instructions:$/ { print $(NF - 1) }' "$scratch/err")" \
        "0 $(awk '/ instructions:$/ && last { print last + 1 } /^ +[0-9]+: / { last = $1 + 0 }
            END { print last + 1 }' "$scratch/err")"
    contains "$1: --dump-program lists it" "$scratch/err" ": exit"
    lacks "$1: --dump-program is no --debug" "$scratch/err" ": account: "
}
listed stackcount $EVENT
listed stacksnoop $EVENT
listed profile
listed offcputime
listed offwaketime
