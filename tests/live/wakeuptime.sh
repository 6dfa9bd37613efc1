#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.12,newest
# own clock
# quiet
# host: yes
#
# How long threads were blocked until they were woken, and who woke them from where: as their wakers noted
# just before they did.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"
# wakeuptime shows no stack of the blocked thread.
no_target_stack=1

# The wakeup came after its waker noted the time, and before the woken thread ran again; by a timer,
# not before its 10 ms were over, which began before the thread left its CPU: it ran until then.
wakeups_right()
{
    missing=$(unseen)
    while read -r verdict who got time to_wake waits longest doubt more way unknown ran; do
        [ "$verdict" = right ] || continue
        least=$to_wake
        [ "$way" != naps ] || least=$((waits * 10000 - ran))
        between "$1: $way ${who#"$PREFIX"} ($missing unseen)" $((got + unknown)) \
            $((least - time / 100 - missing * longest)) $((time + time / 100))
        [ "$way" != naps ] || known "$1: $way ${who#"$PREFIX"}" "$time" "$unknown" "$longest"
    done <"$scratch/verdict"
    no_wrong "$1"
}

start_wakes pipe futex signal pipe:3 futex:3 signal:3 nap
trace_wakes wakeuptime -f -d -p @PID
judge_wakes wakeup_folded
wakeups_right "threads, folded"
is "threads: exit status" $status 0
start_wakes -P -n 50 pipe futex signal pipe:3 nap
trace_wakes wakeuptime -d
judge_wakes wakeup_text
wakeups_right "processes"

# A timer interrupts whatever runs: on a CPU with two busy threads, one of them now and then.
start_sleeps -c -o tmout,burn
trace_sleeps wakeuptime -f -d -p @PID
wakeup_folded | grep "^${PREFIX}tmout|" >"$scratch/blocks"
is "a timer: only a kernel stack" \
    "$(awk -F '|' '$8 != "" || ($7 !~ /hrtimer_wakeup.*;try_to_wake_up$/ && $5 != "[no waker]")' \
    "$scratch/blocks")" ""
is "a timer: no bystander is named" \
    "$(cut -d '|' -f 5 "$scratch/blocks" | grep -vx '\[no waker\]' | sort -u)" "[timer interrupt]"

# ---- Filters choose who is blocked

start_wakes -n 20 pipe futex signal
trace_wakes wakeuptime -f -d -t @3
judge_wakes wakeup_folded
is "-t" "$(awk '$3 > 0 || $1 == "wrong"' "$scratch/verdict" | cut -d ' ' -f 1,2)" "right ${PREFIX}3"
start_sleeps -n 8
trace_sleeps wakeuptime -f --state D -p @PID
is "--state D" "$(sed 's/ [0-9]*$//; s/.*;//' "$scratch/out" | sort -u)" "${PREFIX}vfork"
start_sleeps -n 10 -b 25000 -o mixed
trace_sleeps wakeuptime -f -m 25000 -p @PID
# Only until the wakeup.
between "-m ($(unseen) unseen)" "$(grep ";${PREFIX}mixed " "$scratch/out" | sum)" \
    $((($(row sleeps mixed 7) - $(unseen)) * 50000)) "$(row sleeps mixed 8)"
start_wakes -n 20 pipe
trace_wakes wakeuptime -f -d -i 0.05 -p @PID
judge_wakes wakeup_folded
grep "right ${PREFIX}1 " "$scratch/verdict" >"$scratch/one"
mv "$scratch/one" "$scratch/verdict"
wakeups_right "-i: the sum"

# ---- Texts

# masked: text with V for the values, without libc's frames below member(), and without a block without a
# waker if a wait is reported unseen
masked()
{
    awk -v unseen="$(unseen)" '
         unseen && /^    target: / { target = $0; next }
         target != "" && /^    waker: .*\[no waker\]/ { target = ""; passing = 1; next }
         passing { passing = $0 != ""; next }
         target != "" { print target; target = "" }
         /^    member$/ { print; below = 1; next }
         /^    waker: / { below = 0 }
         /^        [0-9]+$/ { print "        V"; next }
         !below' "$scratch/out"
}
start_wakes -n 20 pipe
who=$(tid_of wakes 0)
whom=$(tid_of wakes 1)
trace_wakes wakeuptime --by thread -U -t @1
is "text" "$(masked)" "Tracing blocked time (us) by user stack... Hit Ctrl-C to end.

    target:          ${PREFIX}1 ($pid/$whom)
    pipe_wakes
    zero
    zero
    zero
    zero
    zero
    member
    waker:           ${PREFIX}0 ($pid/$who)
        V

Detaching..."
start_wakes -n 20 futex
trace_wakes wakeuptime -f -K -t @1
is "-K" "$(sed 's/ [0-9]*$//' "$scratch/out" | grep -c \
    "^${PREFIX}0;[^;]*;.*futex_wake.*;try_to_wake_up;${PREFIX}1\$")" 1
lacks "-K: no user stacks" "$scratch/out" "member"
start_wakes -n 20 futex
trace_wakes wakeuptime -f -t @1
is "folded" "$(sed 's/ [0-9]*$//' "$scratch/out" | grep -c \
    "^${PREFIX}0;.*member;zero;zero;zero;zero;zero;futex_wakes;.*futex_wake;.*try_to_wake_up;${PREFIX}1\$")" 1

# ---- Wrong usage

run_stackbox wakeuptime -k -U 1
is "-k with -U is refused" $status 2
run_stackbox wakeuptime -D 1 2
is "two durations are refused" $status 2
start_sleeps -o nap
run_stackbox wakeuptime 0.2 -t "$(tid_of sleeps nap)"
is "no events" "$status $(grep -c '^wakeuptime: no events in [0-9.]* s$' "$scratch/err") $(cat "$scratch/out")" \
    "0 1 Tracing blocked time (us) by user + kernel stack for 0.2 secs.

Detaching..."
drop_workload sleeps
