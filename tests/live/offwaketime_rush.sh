#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
# later: all CPUs are busy meanwhile
#
# Eight pairs and more wake each other as fast as they can, on all CPUs: no thread is reported to be woken by
# another than its own waker, and none is missing. Times are checked in slower tests.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"

# each_there NAME NUMBER: where other programs' stacks end, such as those of an emulator's own code, is not judged
each_there()
{
    is "$1: each pair is there" "$(awk '$1 == "right" && $3 > 0' "$scratch/verdict" | grep -c .)" "$2"
    is "$1: nothing was lost" "$(grep -E '^[a-z]+: ((up to )?[0-9]+ |the account does not add up)' "$scratch/err" |
        grep -v 'still blocked\|waits are not counted\|switches and wakeups were missed\|were unwound later\|functions have rows\|user stacks end early')" ""
}
# (The CPUs of a guest run in turn: more wakeups there find no more races.)
MANY=4000
[ -z "$GUEST" ] || MANY=1000
start_wakes -n $MANY pipe@2 futex@2 signal@2 pipe@2 futex@2 signal@2 pipe@2 futex@2
trace_wakes offwaketime --by thread -d -p @PID
judge_wakes offwake_text
no_wrong "8 pairs, $(sed -n 's/^rate //p' "$scratch/wakes.out") wakes/s"
each_there "8 pairs" 16
start_wakes -P -c -n $((MANY / 2)) pipe@2 futex@2 signal@2 pipe@3 futex@3 signal@2 pipe@2 futex@2
trace_wakes offwaketime -f -d -i 0.2
judge_wakes offwake_folded
no_wrong "8 groups of processes, each on a CPU, $(sed -n 's/^rate //p' "$scratch/wakes.out") wakes/s"
each_there "8 groups of processes" 18

# Threads that wait for the first time while traced: the wakeup may come before the BPF program has
# seen them leave the CPU.
rounds=10
[ -z "$GUEST" ] || rounds=2
while [ $rounds -gt 0 ]; do
    start_wakes -n 8 pipe@2 futex@2 signal@2 pipe@2 futex@2 signal@2 pipe@2 futex@2 pipe@2 futex@2 \
        signal@2 pipe@2 futex@2 signal@2 pipe@2 futex@2
    trace_wakes offwaketime --by thread -d -p @PID
    judge_wakes offwake_text
    no_wrong "first waits, $rounds"
    rounds=$((rounds - 1))
done
