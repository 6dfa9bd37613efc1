#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10
# kernels: 6.12,newest
# own clock
# quiet
# host: yes
#
# How long threads were blocked, who woke them, and where both were: every pair that `wakes` makes has its own
# names, numbers and stacks, and measured its own time.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

# This script again, in a pid namespace: what `wakes` prints has the pids seen there.
if [ "${1:-}" = inside ]; then
    PREFIX=in.
    start_wakes -P -n 50 pipe futex
    trace_wakes offwaketime --by thread -d
    judge_wakes offwake_text
    wakes_right "in a pid namespace"
    is "in a pid namespace: a waker outside it" \
        "$(grep '^    target:          out\.1 ' "$scratch/out" | grep -vc ' (host [0-9/]*)$') $(
            grep '^    waker:           out\.0 (host [0-9/]*)$' "$scratch/out" | sort -u | wc -l)" "0 1"
    exit 0
fi

have_root || skip_all "tracing needs root"

# ---- Waits of 10 ms: right to 1 %

start_wakes pipe futex signal pipe:3 futex:3 signal:3 nap
trace_wakes offwaketime --by thread -d -p @PID
judge_wakes offwake_text
wakes_right "threads"
is "threads: exit status" $status 0
start_wakes -P -n 50 pipe futex signal pipe:3 nap
trace_wakes offwaketime -f -d
judge_wakes offwake_folded
wakes_right "processes, folded"

# ---- Filters choose the blocked threads: reports show any waker of these

# only NAME NUMBER: of the waits of `wakes`, only the one with this number is there, and it is right
only()
{
    judge_wakes offwake_text
    is "$1" "$(awk '$3 > 0 || $1 == "wrong"' "$scratch/verdict" | wc -l)" 1
    # shellcheck disable=SC2046 # words
    close_to "$1: its time is right" "$(awk -v name="$PREFIX$2" '$2 == name { print $3 }' "$scratch/verdict")" \
        $(awk -v name="$PREFIX$2" '$1 == "wait" && $2 == name { print $7, $10, $11, $12 }' \
            "$scratch/wakes.out")
}
start_wakes -n 20 pipe futex signal
trace_wakes offwaketime --by thread -d -t @3
only "-t" 3
start_wakes -P -n 20 pipe futex signal
trace_wakes offwaketime --by thread -d -p @5
only "-p" 5
start_wakes -n 20 -u 20000 futex
trace_wakes offwaketime --by thread -d -p @PID -m 10s
is "-m: no wait was that long" "$(grep -c "$PREFIX" "$scratch/out")" 0

# ---- Unfinished waits have no waker

start_sleeps -n 4 -o nap,last,lain
trace_sleeps offwaketime -f -d --unfinished -p @PID
is "--unfinished: one that still sleeps" "$(grep -c \
    "^${PREFIX}last;\[unfinished];.*;last_inner;-;.*;__schedule;--;\[no waker] [0-9]*$" "$scratch/out")" 1
is "--unfinished: one that never ran has no waker" "$(grep -c \
    "^${PREFIX}lain;\[blocked all along];.*futex_wait.*;--;\[no waker] [0-9]*$" "$scratch/out")" 1

# ---- Texts

# masked: text with V for the values, without libc's frames above and below member()
masked()
{
    blocks_with member | awk '
         /^    waker: / { print; libc = 1; next }
         /^    member$/ { print; libc = !libc; next }
         /^    target: / { libc = 0 }
         /^        [0-9]+$/ { print "        V"; next }
         !libc'
}
start_wakes -n 20 pipe
who=$(tid_of wakes 0)
whom=$(tid_of wakes 1)
trace_wakes offwaketime --by thread -U -t @1
is "text" "$(masked)" \
    "Tracing blocked time (us) by user off-CPU and waker stack... Hit Ctrl-C to end.

    waker:           ${PREFIX}0 ($pid/$who)
    member
    zero
    zero
    zero
    zero
    zero
    pipe_wakes
    --               --
    pipe_waits
    one
    zero
    zero
    zero
    zero
    member
    target:          ${PREFIX}1 ($pid/$whom)
        V"
is "text: an empty line after each block" "$(tail -n 1 "$scratch/out")" ""
start_wakes -n 20 pipe
trace_wakes offwaketime -K -f -p @PID
lacks "-K: no user stacks" "$scratch/out" ";member;"
is "-K: kernel stacks" "$(grep -c \
    "^${PREFIX}1;.*pipe_read.*;__schedule;--;try_to_wake_up;.*pipe_write.*;${PREFIX}0 [0-9]*$" \
    "$scratch/out")" 1
run_stackbox offwaketime 0.1
is "the header says what is traced" "$status $(head -n 1 "$scratch/out")" \
    "0 Tracing blocked time (us) by user + kernel off-CPU and waker stack for 0.1 secs."

# ---- Pids of a pid namespace

if ! have_pids_of_namespaces; then
    skip "pid namespaces" "this kernel tells no program its pids, and rings have no names for who is outside (filters.sh)"
elif "$WORKLOADS/deny" --pid-namespace -- true 2>"$scratch/why"; then
    start_workload out wakes -n 500 -N out. pipe
    export STACKBOX WORKLOADS
    "$WORKLOADS/deny" --pid-namespace -- sh "$0" inside || fail "a pid namespace" "see above"
    drop_workload out
else
    skip "pid namespaces" "$(cat "$scratch/why")"
fi
