#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
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

# closes NAME COUNTED: the account adds up; COUNTED is its word for what was counted
closes()
{
    is "$1: seen is the sum of all other figures" \
        "$(($(figure "$2") + $(figure "filtered out") + $(figure lost) +
        $(figure "not ended" | grep . || echo 0)))" "$(figure seen)"
    adds_up "$1: the account adds up"
}

# two APPLET ARG...: one workload chosen by -p, and another one at the same time
workload="calls -n $N"
two()
{
    # shellcheck disable=SC2086 # words
    start_workload one $workload -w -k
    # shellcheck disable=SC2086 # words
    start_workload other $workload -w -k
    trace_workload "one other" "$@" --debug -p "$(pid_of one)"
}

two stackcount -f $EVENT
closes stackcount counted
is "stackcount: all of the chosen calls were counted" "$(figure counted)" $N
between "stackcount: the other calls were filtered out" "$(figure "filtered out")" $N 1000000000

if have_uprobes; then
    workload="hammer -t 2 -n 4 -r 50"
    two stackcount -f -i 0.05 "$WORKLOADS/hammer:hammered"
    closes "a user's function" counted
    is "a user's function: all calls were counted" "$(figure counted)" 400
    workload="calls -n $N"
fi

two stacksnoop $EVENT
closes stacksnoop recorded
is "stacksnoop: all of the chosen calls were recorded" "$(figure recorded)" $N
between "stacksnoop: the other calls were filtered out" "$(figure "filtered out")" $N 1000000000

# With the smallest of buffers, most are dropped: they are counted all the same.
two stacksnoop --buffer-size 4 $EVENT
closes "stacksnoop, with a tiny buffer" recorded
is "stacksnoop, with a tiny buffer: recorded + lost = calls" \
    "$(($(figure recorded) + $(figure lost)))" $N

# These trace waits: the bounds filter them when they end, everything else when they begin.
for applet in offcputime wakeuptime offwaketime; do
    start_tracing $applet -f -m 100 -i 0.1 --debug
    for turn in 1 2 3 4 5 6 7 8; do
        sleep 0.05
    done
    finish_stackbox
    closes $applet counted
    between "$applet: some waits were counted" "$(figure counted)" 1 1000000000
done

start_tracing profile -f --debug -F 99
sleep 0.5
finish_stackbox
closes profile counted

# ---- What --debug prints, and what only --dump-program prints

# listed APPLET ARG...: each listing has the length that is stated, and --debug has none
listed()
{
    run_stackbox "$@" -D 0.1 --debug
    is "$1: --debug" "$status $(grep -c ': Linux .* with the capabilities 0x' "$scratch/err")" "0 1"
    contains "$1: --debug has a line about the program" "$scratch/err" " instructions"
    lacks "$1: --debug lists no program" "$scratch/err" ": exit"
    run_stackbox "$@" -D 0.1 --dump-program
    # An instruction that loads a 64-bit number counts as two.
    is "$1: --dump-program" "$status $(awk '/ instructions:$/ { print $(NF - 1) }' "$scratch/err")" \
        "0 $(awk '/ instructions:$/ && last { print last + 1 } /^ +[0-9]+: / { last = $1 + 0 }
            END { print last + 1 }' "$scratch/err")"
    contains "$1: --dump-program lists it" "$scratch/err" ": exit"
    lacks "$1: --dump-program does not print what --debug does" "$scratch/err" ": account: "
}
listed stackcount $EVENT
listed stacksnoop $EVENT
listed profile
listed offcputime
listed offwaketime
