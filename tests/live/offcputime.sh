#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: all
# host: yes
#
# How long threads were blocked, and where: as they measured it themselves, to 1 % or 1 ms, each under
# its own name and stack; who was kept from running, but was not blocked, is not there.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"

ALL="nap tmout woken rouse read feed mixed vfork"

# ---- The truth, of one process and of everything

start_sleeps
trace_sleeps offcputime -f -d -p @PID
# shellcheck disable=SC2086 # words
sleeps_right "one process" $ALL
is "one process: exit status" $status 0

start_sleeps -n 20
trace_sleeps offcputime -f -d
# shellcheck disable=SC2086 # words
sleeps_right "everything" $ALL
between "everything: the child of vfork, which has another number" \
    "$(grep '^child;.*;sleeper;vfork_outer;vfork_inner;child;-;.*hrtimer_nanosleep.*;__schedule ' \
        "$scratch/out" | sum)" 500000 "$(row sleeps vfork 6)" "$(row sleeps vfork 9)"
is "everything: the idle are not blocked" "$(grep '^swapper' "$scratch/out")" ""
is "everything: stacks begin where threads leave the CPU" \
    "$(sed 's/ [0-9]*$//; s/.*;//' "$scratch/out" | sort -u)" __schedule

# ---- Which waits

start_sleeps -n 8
trace_sleeps offcputime -f -d --state D -p @PID
sleeps_right "--state D" vfork
start_sleeps -n 8
trace_sleeps offcputime -f -d --state S -p @PID
close_to "--state S: nap" "$(sleep_lines nap | sum)" "$(row sleeps nap 6)" "$(row sleeps nap 9)"
is "--state S: not who waits for a child of vfork" "$(sleep_lines vfork)" ""
is "--state S: not who is kept from running" "$(grep "^${PREFIX}burn" "$scratch/out")" ""

# Who burns leaves the CPU only when another takes it.
start_sleeps -n 8
trace_sleeps offcputime -f -d --state R -p @PID
for way in burn burnt; do
    close_to "--state R: $way" \
        "$(grep "^$PREFIX$way;.*;sleeper;${way}_outer;${way}_inner;-;.*;__schedule " "$scratch/out" |
            sum)" "$(row sleeps $way 6)" "$(row sleeps $way 9)"
    is "--state R: $way: nowhere else" \
        "$(grep "^$PREFIX$way;" "$scratch/out" | grep -v ";${way}_inner;-;\|;sleeper;stay;")" ""
done

# The waits of one thread in turn: a quarter of the others', and twice as long.
start_sleeps -n 10 -b 25000 -o mixed
trace_sleeps offcputime -f -d -m 25000 -p @PID
close_to "-m" "$(sleep_lines mixed | sum)" "$(row sleeps mixed 8)" \
    "$(row sleeps mixed 9)"
start_sleeps -n 10 -b 25000 -o mixed
trace_sleeps offcputime -f -d -m 1000 -M 25000 -p @PID
close_to "-m and -M" "$(sleep_lines mixed | sum)" $(($(row sleeps mixed 6) - $(row sleeps mixed 8))) \
    25000

# ---- Whose

start_sleeps -n 8
trace_sleeps offcputime -f -d -t @nap,read
sleeps_right "-t" nap read
if [ "$(nproc)" -gt 1 ]; then
    start_sleeps -n 8 -c -o nap,tmout
    trace_sleeps offcputime -f -d -C 1 -p @PID
    sleeps_right "-C" tmout
else
    skip "-C" "one CPU"
fi
start_sleeps -n 8
trace_sleeps offcputime -u -d
text_blocks >"$scratch/blocks"
kernel_threads >"$scratch/kernel"
close_to "-u: a user thread" "$(grep "^${PREFIX}nap|$(tid_of sleeps nap)|.*;nap_inner;nap_outer;" \
    "$scratch/blocks" | cut -d '|' -f 3 | sum)" "$(row sleeps nap 6)" "$(row sleeps nap 9)"
is "-u: no kernel thread" "$(cut -d '|' -f 2 "$scratch/blocks" | grep -xFf "$scratch/kernel")" ""
start_sleeps -n 8
trace_sleeps offcputime -k
text_blocks >"$scratch/blocks"
kernel_threads >"$scratch/kernel"
is "-k: kernel threads alone" \
    "$(cut -d '|' -f 1,2 "$scratch/blocks" | sort -u | while IFS='|' read -r name tid; do
        # A kernel thread can have ended since.
        [ -d "/proc/$tid" ] && ! grep -qx "$tid" "$scratch/kernel" && echo "$name $tid"
    done)" ""
is "-k: there are some" "$([ -s "$scratch/blocks" ] && echo yes)" yes
is "-k: none of ours" "$(grep -F "$PREFIX" "$scratch/blocks")" ""

cgroups=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1)
mine=$cgroups/test$$
if [ "$cgroups" ] && mkdir "$mine" "$mine/below" 2>"$scratch/why"; then
    start_sleeps -n 8 -o nap,read
    start_workload other sleeps -n 8 -o tmout -N "$PREFIX"
    echo "$pid" >"$mine/below/cgroup.procs"
    trace_sleeps offcputime -f -d --cgroup "$mine"
    sleeps_right "--cgroup: what is below it" nap read feed
    wait_workload other
    rmdir "$mine/below" "$mine"
else
    skip "--cgroup" "no cgroup v2 to make one in: $(cat "$scratch/why" 2>/dev/null)"
fi

# ---- Reports at intervals: a wait is in the one in which it ends, whole

start_sleeps -n 30 -o nap,mixed,woken
trace_sleeps offcputime -f -d -i 0.1 -p @PID
sleeps_right "-i: the sum" nap mixed woken rouse
start_sleeps -n 3 -u 350000 -o nap
trace_sleeps offcputime -f -d -T -i 0.1 -p @PID
sed 's/^[0-9:]*;//' "$scratch/out" >"$scratch/lines"
cp "$scratch/lines" "$scratch/out"
is "-i: each long wait is in one report" \
    "$(sleep_lines nap | awk '{ print ($NF >= 350000) }' | tr '\n' ' ')" "1 1 1 "
close_to "-i: and is whole" "$(sleep_lines nap | sum)" "$(row sleeps nap 6)" "$(row sleeps nap 9)"

# ---- What has not ended

# unfinished_between NAME PATTERN LEAST GREATEST: times of /proc/uptime, to 10 ms
unfinished_between()
{
    between "$1" "$(grep "$2" "$scratch/out" | sum)" $((($3 - 1) * 10000)) $((($4 + 1) * 10000))
}

for marked in "" --unfinished; do
    start_sleeps -n 8 -o nap,last,lain
    before=$(uptime_now)
    # shellcheck disable=SC2086 # a word or none
    if start_stackbox offcputime -f -d $marked -p "$pid"; then
        started=$(uptime_now)
        go sleeps
        sleep 0.5
        asked=$(uptime_now)
        finish_stackbox
        ended=$(uptime_now)
    else
        fail "offcputime $marked" "did not start: $(cat "$scratch/err")"
    fi
    finish_workload sleeps
    since=$(row sleeps last 5 | tr -d .)
    [ "$marked" ] || cp "$scratch/out" "$scratch/unmarked"
    [ "$marked" ] || cp "$scratch/err" "$scratch/unmarked.err"
done
LAST="^${PREFIX}last;\[unfinished];.*;sleeper;last_outer;last_inner;-;.*futex_wait.*;__schedule "
unfinished_between "--unfinished: one that still sleeps" "$LAST" $((asked - since)) $((ended - since))
is "--unfinished: and nowhere else" \
    "$(grep "^${PREFIX}last;" "$scratch/out" | grep -v "$LAST")" ""
LAIN="^${PREFIX}lain;\[blocked all along];.*futex_wait"
unfinished_between "--unfinished: one that never ran" "$LAIN" $((asked - started)) $((ended - before))
is "--unfinished: and nowhere else" \
    "$(grep "^${PREFIX}lain;" "$scratch/out" | grep -v "$LAIN")" ""
close_to "--unfinished: what has ended is not marked" "$(sleep_lines nap | sum)" \
    "$(row sleeps nap 6)" "$(row sleeps nap 9)"
is "--unfinished: one whose sleep has ended sleeps elsewhere" \
    "$(grep "^${PREFIX}nap;\[unfinished];.*;sleeper;stay;-;.*;__schedule " "$scratch/out" | wc -l)" 1
is "without --unfinished there are no such blocks" \
    "$(grep "^$PREFIX\(last\|lain\);\|;\[" "$scratch/unmarked")" ""
is "without --unfinished a line on stderr" "$(grep -c 'still blocked' "$scratch/unmarked.err")" 1

# ---- Texts

# masked: text with V for the values, without the frames below those of the workload
masked()
{
    awk '/^    sleeper$/ { below = 1; print; next }
         /^    -  / || /^    --$/ { below = 0 }
         /^        [0-9]+$/ { print "        V"; next }
         !below' "$scratch/out"
}
start_sleeps -n 8 -o nap,read
tid=$(tid_of sleeps nap)
trace_sleeps offcputime -U -t @nap
is "text" "$(masked)" "Tracing off-CPU time (us) of TID $tid by user stack... Hit Ctrl-C to end.

    nap_inner
    nap_outer
    sleeper
    -                ${PREFIX}nap ($tid)
        V"
is "text: an empty line after each block" "$(tail -n 1 "$scratch/out")" ""
start_sleeps -n 8 -o nap,read
tid=$(tid_of sleeps nap)
trace_sleeps offcputime -d -t @nap
is "text: kernel stacks, then user stacks, leaf first" \
    "$(masked | head -n 3)|$(masked | sed -n '/^    --$/,$p')" \
    "Tracing off-CPU time (us) of TID $tid by user + kernel stack... Hit Ctrl-C to end.

    __schedule|    --
    nap_inner
    nap_outer
    sleeper
    -                ${PREFIX}nap ($tid)
        V"
start_sleeps -n 8 -o nap
trace_sleeps offcputime -f -K -p @PID
close_to "-K" "$(grep "^${PREFIX}nap;.*hrtimer_nanosleep.*;__schedule " "$scratch/out" | sum)" \
    "$(row sleeps nap 6)" "$(row sleeps nap 9)"
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

# ---- What cannot be

start_sleeps -o lain,nap
run_stackbox offcputime -t "$(tid_of sleeps lain)" 0.3
is "no events" "$status $(grep -v 'still blocked' "$scratch/err" | sed 's/ [0-9.]* s$/ T s/')" \
    "0 offcputime: no events in T s"
drop_workload sleeps

# refused STATUS ARG...: one line that names the option
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
