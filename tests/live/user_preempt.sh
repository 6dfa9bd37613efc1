#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.1,6.12,newest
# host: yes
#
# Programs on user probes can be preempted by others of the same kind. Eight threads on two CPUs hit one probe
# through stacks that each tell their number: each has its own count, and no stack is a mixture of two.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_uprobes || skip_all "this kernel has no user probes"

THREADS=8 STACKS=64 TIMES=40
[ -z "$GUEST" ] || TIMES=10
ALL=$((THREADS * STACKS * TIMES))

# numbers: each stack's number and count, by the names of its frames; `mixed` if it is no single
# stack
numbers()
{
    awk '{
        count = $NF
        sub(/ [0-9]+$/, "")
        if (/\[(no user stack|no stack|stack storage full|.* lost)\]/) { print "lost", count; next }
        match($0, /;(zero|one);/)
        frames = split(substr($0, RSTART + 1), frame, ";")
        whole = RSTART && frames == 11 && frame[11] == "hammered"
        number = 0
        for (i = 1; i < 11; i++) {
            whole = whole && (frame[i] == "zero" || frame[i] == "one")
            number = number * 2 + (frame[i] == "one")
        }
        print (whole ? number : "mixed"), count
    }' "$1"
}

# hammer NAME OPTION...: $also is traced, too; $factor is 2 if each call hits it as well. If kernel
# stacks are taken, too, lines with $apart in them are events of $also only.
also='' factor=1 stacks=-U apart='there are none'
hammer()
{
    each=$((TIMES * factor))
    name=$1
    shift
    start_workload one hammer -w -k -g -t $THREADS -n $STACKS -r $TIMES
    # shellcheck disable=SC2086 # no pattern is no word
    trace_workload one stackcount -f --debug $stacks -p "$(pid_of one)" "$@" $also \
        "$WORKLOADS/hammer:hammered" || return
    is "$name: the workload made all its calls" "$(calls_of one)" $ALL
    grep -v "$apart" "$scratch/out" >"$scratch/calls"
    numbers "$scratch/calls" >"$scratch/numbers"
    is "$name: no stack is mixed with another" "$(grep '^mixed' "$scratch/numbers" | head -n 3)" ""
    missing=$(said "events were not counted")
    is "$name: counted + missing = calls" \
        "$(($(folded_sum "$scratch/calls") + missing))" $((ALL / TIMES * each))
    awk -v each=$each '$1 != "mixed" && $1 != "lost" { sum[$1] += $2 }
        END {
            for (number in sum) {
                stacks++
                if (sum[number] > each) more += sum[number] - each
                else fewer += each - sum[number]
            }
            print stacks + 0 " stacks, " more + 0 " more and " fewer + 0 " fewer than they were called"
        }' "$scratch/numbers" >"$scratch/spread"
    # A kernel that cannot walk a stack while everything may be preempted loses it, and that is
    # reported.
    if grep -q 'without their stack' "$scratch/err"; then
        case " $(cat /proc/cmdline) " in
        *" preempt=full "*) skip "$name: each stack's count" \
            "$(grep -m 1 'without their stack' "$scratch/err")" ;;
        *) fail "$name: each stack's count" "$(grep -m 1 'without their stack' "$scratch/err")" ;;
        esac
    else
        is "$name: each stack's count" "$(cat "$scratch/spread")" \
            "$((THREADS * STACKS)) stacks, 0 more and $missing fewer than they were called"
    fi
}

hammer "eight threads"
hammer "over intervals" -i 0.2
# Storage for hardly more stacks than there are.
hammer "with little room" --stack-storage-size 700
# One program may interrupt the other.
choose_event
also=$EVENT factor=2
hammer "with another kind of event"
# A switch comes while the stack is walked: one BPF program runs in the middle of another.
if have_switches; then
    also=t:sched:sched_switch factor=1 stacks='' apart=schedule
    hammer "with switches"
else
    skip "with switches" "this kernel has no tracepoint for switches"
fi
