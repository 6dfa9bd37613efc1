#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.12
# kernels: 5.10,6.1,newest
# own clock
# quiet
# later: the guest of `make test` has it, too
#
# How long threads were blocked, and where: as they measured it themselves, to 1 % or 1 ms, each
# under its own name and stack, without threads that were runnable but not running.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"

ALL="nap tmout woken rouse read feed mixed vfork"

# ---- Right times, of one process and of everything

start_sleeps
trace_sleeps offcputime -f -d -p @PID
# shellcheck disable=SC2086 # words
sleeps_right "one process" $ALL
is "one process: exit status" $status 0

start_sleeps -n 20
trace_sleeps offcputime -f -d
# shellcheck disable=SC2086 # words
sleeps_right "everything" $ALL
between "everything: the child of vfork, which has another pid" \
    "$(grep '^child;.*;sleeper;vfork_outer;vfork_inner;child;-;.*hrtimer_nanosleep.*;__schedule ' \
        "$scratch/out" | sum)" $((500000 - $(unseen) * $(row sleeps vfork 9))) "$(row sleeps vfork 6)"
is "everything: idle tasks are not blocked" "$(grep '^swapper' "$scratch/out")" ""
is "everything: stacks begin where threads leave the CPU" \
    "$(sed 's/ [0-9]*$//; s/.*;//' "$scratch/out" | sort -u)" __schedule

# ---- Which waits

start_sleeps -n 8
trace_sleeps offcputime -f -d --state D -p @PID
sleeps_right "--state D" vfork
start_sleeps -n 8
trace_sleeps offcputime -f -d --state S -p @PID
slept "--state S: nap" "$(sleep_lines nap | sum)" nap
is "--state S: the parent in vfork is not counted" "$(sleep_lines vfork)" ""
is "--state S: preempted threads are not counted" "$(grep "^${PREFIX}burn" "$scratch/out")" ""

# A busy thread leaves the CPU only when another takes it.
start_sleeps -n 4 -u 100000 -o nap,burn
trace_sleeps offcputime -f -d --state R -p @PID
for way in burn burnt; do
    # Its libc has no tables for system calls.
    burns="^$PREFIX$way;\(.*;sleeper;${way}_outer;.*\|\[truncated\];__syscall_.*\);-;.*;__schedule "
    if [ -r /proc/self/schedstat ]; then
        close_to "--state R: $way" "$(grep "$burns" "$scratch/out" | sum)" "$(row sleeps $way 6)" \
            100000
    else
        skip "--state R: $way" "this kernel does not tell how long threads wait for a CPU (CONFIG_SCHED_INFO)"
    fi
    is "--state R: $way: no other stacks" \
        "$(grep "^$PREFIX$way;" "$scratch/out" | grep -v "$burns\|;sleeper;sta[a-z_]*;")" ""
done

# One thread's waits, in turn: a quarter of the others', and twice as long.
start_sleeps -n 10 -b 25000 -o mixed
trace_sleeps offcputime -f -d -m 25000 -p @PID
close_to "-m" "$(sleep_lines mixed | sum)" "$(row sleeps mixed 8)" \
    "$(row sleeps mixed 9)" "$(row sleeps mixed 10)" "$(row sleeps mixed 11)"
start_sleeps -n 10 -b 25000 -o mixed
trace_sleeps offcputime -f -d -m 1000 -M 25000 -p @PID
close_to "-m and -M" "$(sleep_lines mixed | sum)" $(($(row sleeps mixed 6) - $(row sleeps mixed 8))) \
    25000 "$(row sleeps mixed 10)" "$(row sleeps mixed 11)"

# ---- Whose

start_sleeps -n 8
trace_sleeps offcputime -f -d -t @nap,read
sleeps_right "-t" nap read
# The i-th thread is on the i-th CPU, or on the only one.
start_sleeps -n 8 -c -o nap,tmout
if [ "$(nproc)" -gt 1 ]; then
    trace_sleeps offcputime -f -d -C 1 -p @PID
    sleeps_right "-C" tmout
else
    trace_sleeps offcputime -f -d -C 0 -p @PID
    sleeps_right "-C" nap tmout
fi
start_sleeps -n 8
trace_sleeps offcputime --by thread -u -d
text_blocks >"$scratch/blocks"
kernel_threads >"$scratch/kernel"
slept "-u: a user thread" "$(grep "^${PREFIX}nap|$(tid_of sleeps nap)|.*;nap_inner;nap_outer;" \
    "$scratch/blocks" | cut -d '|' -f 3 | sum)" nap
is "-u: no kernel thread" "$(cut -d '|' -f 2 "$scratch/blocks" | grep -xFf "$scratch/kernel")" ""
start_sleeps -n 8
trace_sleeps offcputime --by thread -k
text_blocks >"$scratch/blocks"
kernel_threads >"$scratch/kernel"
is "-k: only kernel threads" \
    "$(cut -d '|' -f 1,2 "$scratch/blocks" | sort -u | while IFS='|' read -r name tid; do
        # A kernel thread may have ended since.
        [ -d "/proc/$tid" ] && ! grep -qx "$tid" "$scratch/kernel" && echo "$name $tid"
    done)" ""
is "-k: there are some waits" "$([ -s "$scratch/blocks" ] && echo yes)" yes
is "-k: no user threads" "$(grep -F "$PREFIX" "$scratch/blocks")" ""

cgroups=$(cgroups)
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
