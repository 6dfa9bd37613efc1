#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10
# host: yes
# later: memory grows for a while
#
# Without any option, stackbox keeps 16,384 new stacks that come while it does not run at all; then
# its maps have grown, and it keeps 32,768 at once, again and again. The same for waits, and for
# counts of as many names. The workload says how many there were: each counts once.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

# Maps are sized by memory: with less than this, stackbox does not promise so many.
[ "$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)" -ge 400 ] ||
    skip_all "less than 400 MB are free"

grown()
{
    [ "$(grep -c ': maps: ' "$scratch/err")" -gt "$1" ] || ended "$stackbox"
}

# stopped NAME: the workload does everything while the tracer is stopped
stopped()
{
    kill -s STOP "$stackbox"
    wait_until 20 grep -q '^State:.T' "/proc/$stackbox/status"
    go "$1"
    kill -s CONT "$stackbox"
}

# grow NAME ROUNDS HAMMER-OPTIONS STACKBOX-ARGUMENT...: in the folded report each stack, or name, has a line
# with `hammered` or the name's number. (The kernel may skip a switch, and then that is reported.)
grow()
{
    name=$1 rounds=$2 options=$3 all=16384
    shift 3
    # shellcheck disable=SC2086 # words
    start_workload first hammer -w -k -t 16 -r 1 -d 14 -n 1024 $options -N first
    pids=$(pid_of first)
    for round in $rounds; do
        # shellcheck disable=SC2086 # words
        start_workload "$round" hammer -w -k -t 16 -r 1 -d 15 -n 2048 $options -N "round$round"
        pids=$pids,$(pid_of "$round") all=$((all + 32768))
    done
    start_tracing "$@" --debug -f -p "$pids"
    stopped first
    if wait_until 20 grown 1; then
        pass "$name: the maps grow"
    else
        fail "$name: the maps grow" "$(grep ': maps: ' "$scratch/err")"
    fi
    done=$(calls_of first)
    for round in $rounds; do
        stopped "$round"
        done=$((done + $(calls_of "$round")))
    done
    finish_stackbox
    is "$name: exit status" "$status" 0
    is "$name: the workload did all of it" "$done" $all
    lost=$(sed -n 's/.*: account: .* + \([0-9]*\) lost .*/\1/p' "$scratch/err")
    between "$name: each has its count" \
        "$(grep -cE '^[0-9]+ \([0-9/]+\);|;hammered [0-9]+$' "$scratch/out")" $((all - ${lost:-0})) $all
    is "$name: no events are lost" "$(grep -E '^[a-z]+: .* (was|were) (full|lost)' "$scratch/err")$(
        grep 'full\]' "$scratch/out")" ""
    finish_workload first $rounds
}

# Guests are slow: there it is one round of stacks.
rounds="1 2 3"
[ -z "$GUEST" ] || rounds=1
grow "stacks" "$rounds" -g stackcount -U -P $EVENT
[ -z "$GUEST" ] || exit 0
grow "names" 1 "-g -c" stackcount -K --by thread $EVENT
grow "waits" 1 -b offcputime -U
