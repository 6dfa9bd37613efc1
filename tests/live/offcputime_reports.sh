#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# own clock
# quiet
# host: yes
#
# Reports of blocked time: at intervals, of unfinished waits, their text, and what is refused.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"


# ---- Reports at intervals: a wait is, as a whole, in the report in which it ends

start_sleeps -n 30 -o nap,mixed,woken
trace_sleeps offcputime -f -d -i 0.1 -p @PID
sleeps_right "-i: the sum" nap mixed woken rouse
start_sleeps -n 3 -u 350000 -o nap
trace_sleeps offcputime -f -d -T -i 0.1 -p @PID
sed 's/^[0-9:]*;//' "$scratch/out" >"$scratch/lines"
cp "$scratch/lines" "$scratch/out"
is "-i: no long wait is in two reports" "$(sleep_lines nap | awk '$NF < 340000')" ""
slept "-i: and each is whole" "$(sleep_lines nap | sum)" nap

# ---- Unfinished waits

# unfinished_between NAME PATTERN LEAST GREATEST: times of /proc/uptime, to 10 ms
unfinished_between()
{
    between "$1" "$(grep "$2" "$scratch/out" | sum)" $((($3 - 1) * 10000)) $((($4 + 1) * 10000))
}

for marked in "" --unfinished; do
    start_sleeps -n 8 -o nap,last,lain
    before=$(uptime_now)
    # shellcheck disable=SC2086 # a word or none
    start_tracing offcputime --debug -f -d $marked -p "$pid"
    started=$(uptime_now)
    go sleeps
    sleep 0.5
    asked=$(uptime_now)
    finish_stackbox
    ended=$(uptime_now)
    finish_workload sleeps
    since=$(row sleeps last 5 | tr -d .)
    [ "$marked" ] || cp "$scratch/out" "$scratch/unmarked"
    [ "$marked" ] || cp "$scratch/err" "$scratch/unmarked.err"
done
LAST="^${PREFIX}last;\[unfinished];.*;sleeper;last_outer;last_inner;-;.*futex_wait.*;__schedule "
unfinished_between "--unfinished: one that still sleeps is counted" \
    "$LAST" $((asked - since)) $((ended - since))
is "--unfinished: and its time is in no other block" \
    "$(grep "^${PREFIX}last;" "$scratch/out" | grep -v "$LAST")" ""
LAIN="^${PREFIX}lain;\[blocked all along];.*futex_wait"
unfinished_between "--unfinished: one that never ran is counted" \
    "$LAIN" $((asked - started)) $((ended - before))
is "--unfinished: and its time is in no other block" \
    "$(grep "^${PREFIX}lain;" "$scratch/out" | grep -v "$LAIN")" ""
slept "--unfinished: what has ended is not marked" "$(sleep_lines nap | sum)" nap
is "--unfinished: one whose sleep has ended waits elsewhere" \
    "$(grep "^${PREFIX}nap;\[unfinished];.*;sleeper;stay;-;.*;__schedule " "$scratch/out" | wc -l)" 1
is "without --unfinished there are no such blocks" \
    "$(grep "^$PREFIX\(last\|lain\);\|;\[" "$scratch/unmarked")" ""
is "without --unfinished a line on stderr sums them up" "$(grep -c 'still blocked' "$scratch/unmarked.err")" 1

# ---- Texts

# masked: text with V for the values, without the frames below those of the workload
masked()
{
    blocks_with sleeper | awk '
         /^    sleeper$/ { below = 1; print; next }
         /^    -  / || /^    --$/ { below = 0 }
         /^        [0-9]+$/ { print "        V"; next }
         !below'
}
start_sleeps -n 8 -o nap,read
tid=$(tid_of sleeps nap)
trace_sleeps offcputime --by thread -U -t @nap
is "text" "$(masked)" "Tracing off-CPU time (us) of TID $tid by user stack... Hit Ctrl-C to end.

    nap_inner
    nap_outer
    sleeper
    -                ${PREFIX}nap ($pid/$tid)
        V"
is "text: an empty line after each block" "$(tail -n 1 "$scratch/out")" ""
start_sleeps -n 8 -o nap,read
tid=$(tid_of sleeps nap)
trace_sleeps offcputime --by thread -d -t @nap
is "text: kernel stacks, then user stacks, leaf first" \
    "$(masked | head -n 3)|$(masked | sed -n '/^    --$/,$p')" \
    "Tracing off-CPU time (us) of TID $tid by user + kernel stack... Hit Ctrl-C to end.

    __schedule|    --
    nap_inner
    nap_outer
    sleeper
    -                ${PREFIX}nap ($pid/$tid)
        V"
start_sleeps -n 8 -o nap
trace_sleeps offcputime -f -K -p @PID
slept "-K" "$(grep "^${PREFIX}nap;.*hrtimer_nanosleep.*;__schedule " "$scratch/out" | sum)" nap
lacks "-K: no user stack" "$scratch/out" "sleeper"

# header_is TEXT ARG...
header_is()
{
    text=$1
    shift
    run_stackbox offcputime "$@"
    is "offcputime $*" "$status $(head -n 1 "$scratch/out")" "0 Tracing off-CPU time (us) of $text"
}
header_is "all threads by user + kernel stack for 0.1 secs." 0.1
header_is "all threads by kernel stack for 0.1 secs." -K -D 0.1
header_is "user threads by user + kernel stack for 0.1 secs." -u 0.1
header_is "kernel threads by user + kernel stack for 0.1 secs." -k 0.1
header_is "PIDs 1,$$ by user stack for 0.1 secs." -U -p "1,$$" 0.1

# ---- Wrong usage

start_sleeps -o lain,nap
run_stackbox offcputime -t "$(tid_of sleeps lain)" 0.3
is "no events" "$status $(grep -v 'still blocked' "$scratch/err" | sed 's/ [0-9.]* s$/ T s/')" \
    "0 offcputime: no events in T s"
drop_workload sleeps

# refused STATUS ARG...: is refused, in one line that names the option
refused()
{
    expected=$1 option=$2
    shift 2
    run_stackbox offcputime "$@"
    is "offcputime $*" "$status $(wc -l <"$scratch/err")$(cat "$scratch/out")" "$expected 1"
    contains "offcputime $*: says why" "$scratch/err" "$option"
}
refused 2 -k -k -U
refused 2 -k -k -u
refused 2 -U -K -U
refused 2 -m -m 2x
refused 2 -M -M -1
refused 2 -m -m 3 -M 2
refused 2 --state --state Q
refused 2 --state --state ''
refused 2 -D -D 1 1
refused 2 1x 1x
refused 2 2 1 2
refused 1 "$((4194304))" -p 4194304 1
