#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.1,6.12,newest
# host: yes
#
# A thread that a timer interrupts is no waker: sleeps end by [timer interrupt], on every CPU,
# although other threads keep all CPUs busy; a wakeup by a thread has that thread's name.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"

# The threads that timers interrupt
cpu=$(nproc)
while [ "$cpu" -gt 0 ]; do
    "$WORKLOADS/burn" -s 120000 -N "by$$" >/dev/null 2>&1 &
    kill_at_end $!
    cpu=$((cpu - 1))
done

# wakers NAME: what woke this thread, in folded stacks of offwaketime
wakers()
{
    sed -n "s/^$PREFIX$1;.*;\([^;]*\) [0-9]*\$/\1/p" "$scratch/out" | grep -vx '\[no waker\]' | sort -u |
        tr '\n' ' '
}

for stacks in "" -K -U; do
    start_sleeps -n 20 -u 5000 -o nap,read
    # shellcheck disable=SC2086 # words
    trace_sleeps offwaketime -f $stacks -t @nap,read
    is "offwaketime $stacks: none of these ends a sleep" "$(wakers nap | grep -c "by$$")" 0
    [ "$(grep -c "^${PREFIX}nap;.*;\[timer interrupt\] " "$scratch/out")" -gt 0 ] &&
        pass "offwaketime $stacks: the sleep is there" || fail "offwaketime $stacks: the sleep is there" "$(wakers nap)"
    is "offwaketime $stacks: a thread that wakes another is named" \
        "$(wakers read | grep -o "${PREFIX}feed")" "${PREFIX}feed"
done

start_sleeps -n 20 -u 5000 -o nap
trace_sleeps wakeuptime --by thread -t @nap
contains "wakeuptime: text names the interrupt" "$scratch/out" "    waker:           [timer interrupt]"
lacks "wakeuptime: no bystander is named" "$scratch/out" "by$$"
start_sleeps -n 20 -u 5000 -o nap
trace_sleeps wakeuptime -v -t @nap
is "with -v it names the interrupted thread" \
    "$(grep -c '^    waker:           \[timer interrupt\] on [^ ]' "$scratch/out" |
    sed 's/[1-9][0-9]*/some/')" some
start_sleeps -n 20 -u 5000 -o nap
trace_sleeps offwaketime --pairs --by thread -t @nap
contains "offwaketime --pairs names the interrupt" "$scratch/out" " <- [timer interrupt]"
lacks "offwaketime --pairs: no bystander is named" "$scratch/out" "by$$"
