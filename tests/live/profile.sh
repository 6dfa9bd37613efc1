#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10
# kernels: newest
# own clock
# host: yes
# quiet
# later: for a minute nothing else may run
#
# profile finds what uses CPU time, and how much: the workload alternates between functions by its own
# thread's clock, and says at the end how much each really used. Samples are exactly those of the chosen
# processes.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

HZ=997
# A guest with a clock of its own has no noise, and each second there takes long. LONG is for shares: slices
# of 2.5 ms on average, with lengths that the clock cannot be in step with, make some 200 runs of each
# function in a second, each with up to one sample more or less than its time is worth (variance 1/6). In
# 2.5 s that comes to 9 samples, less than four tenths of a point of 2,500.
if [ "$GUEST" ]; then
    LONG=2500 MS=1000
else
    LONG=10000 MS=2000
fi
# No other processes have these names.
A=a$$ B=b$$ SLEEPER=s$$

# samples least|most NAME [PART...]: the least, or most, samples that those parts of a workload may
# have, by its own clock
samples()
{
    bound=$1 workload=$2 sum=0
    shift 2
    for part in ${*:-greater lesser other}; do
        sum=$((sum + $(count_of "$workload" "${part}_$bound")))
    done
    echo $sum
}

# near NAME ACTUAL WORKLOAD [PART...]: ACTUAL is within 5 % of the workload's own time
near()
{
    near=$1 actual=$2
    shift 2
    between "$near" "$actual" $(($(samples least "$@") * 95 / 100)) \
        $((($(samples most "$@") * 105 + 99) / 100))
}

# ---- Two functions of one thread

start_workload sleeper burn -w -N $SLEEPER
start_workload a burn -w -k -s $LONG -F $HZ -N $A
start_workload b burn -w -k -s $((LONG * 3 / 10)) -F $HZ -N $B
if start_stackbox profile $FRAMES -F $HZ -f; then
    kill -s USR2 "$(pid_of b)"
    go a
    wait_until "$LIMIT" grep -q '^done' "$scratch/b.out"
    finish_stackbox
    is "exit status" $status 0
    greater=$(folded_sum "$scratch/out" "^$A;.*;greater;spin[; ]")
    lesser=$(folded_sum "$scratch/out" "^$A;.*;lesser;spin[; ]")
    burnt=$(($(count_of a greater) + $(count_of a lesser)))
    truth=$(($(count_of a greater) * 1000 / burnt))
    between "the workload divided its time as it should" $truth 695 705
    between "there are enough samples to tell" $((greater + lesser)) $((LONG * 84 / 100)) $((LONG * 11 / 10))
    # In tenths of a point: two points, which is more than four standard errors of a share of 8,400
    # random samples, and five of 2,500 samples by a clock.
    between "the greater function's share, in tenths of a point" $((1000 * greater / (greater + lesser + 1))) \
        $((truth - 20)) $((truth + 20))
    between "little of that thread's time is elsewhere" \
        $(($(folded_sum "$scratch/out" "^$A;") - greater - lesser)) 0 $((LONG / 100))
    near "samples of the greater function" "$greater" a greater
    near "samples of the lesser function" "$lesser" a lesser
    near "another process" "$(folded_sum "$scratch/out" "^$B;")" b
    is "a sleeping thread has no samples" "$(folded_sum "$scratch/out" "^$SLEEPER;")" 0
    is "an idle CPU has none" "$(folded_sum "$scratch/out" "^swapper")" 0
else
    fail "two functions" "did not start: $(cat "$scratch/err")"
fi
finish_workload a
finish_workload b
drop_workload sleeper

# ---- As many samples as there was time

start_workload a burn -w -k -s $((LONG / 2)) -F $HZ -N $A
if start_stackbox profile $FRAMES -F $HZ -f; then
    go a
    finish_stackbox
    near "samples are CPU time" "$(folded_sum "$scratch/out" "^$A;")" a
else
    fail "samples are CPU time" "did not start: $(cat "$scratch/err")"
fi
finish_workload a

# ---- Filters

# picked NAME OPTION...: samples two processes with two threads each; $out has the result
picked()
{
    picked=$1
    shift
    start_stackbox profile $FRAMES -F $HZ -f "$@" || fail "$picked" "$(cat "$scratch/err")"
    kill -s USR2 "$(pid_of b)"
    go a
    wait_until "$LIMIT" grep -q '^done' "$scratch/b.out"
    finish_stackbox
    out=$scratch/out
}

start_both()
{
    start_workload a burn -w -k -2 -s $MS -F $HZ -N $A
    start_workload b burn -w -k -2 -s $MS -F $HZ -N $B
}

finish_both()
{
    finish_workload a
    finish_workload b
}

start_both
picked "-p" -p "$(pid_of a)"
is "-p: no other processes" "$(folded_sum "$out")" "$(folded_sum "$out" "^$A;")"
near "-p: one thread" "$(folded_sum "$out" '(greater|lesser);spin')" a greater lesser
near "-p: the other thread" "$(folded_sum "$out" ';other;spin')" a other
finish_both

start_both
picked "-p of two" -p "$(pid_of a),$(pid_of b)"
is "-p of two: no other processes" "$(folded_sum "$out")" "$(folded_sum "$out" "^($A|$B);")"
near "-p of two: one" "$(folded_sum "$out" "^$A;")" a
near "-p of two: the other" "$(folded_sum "$out" "^$B;")" b
finish_both

start_both
picked "-t" -t "$(count_of a other_tid)"
is "-t: no other processes" "$(folded_sum "$out")" "$(folded_sum "$out" "^$A;")"
is "-t: no other threads" "$(folded_sum "$out" '(greater|lesser);spin')" 0
near "-t: that thread" "$(folded_sum "$out" ';other;spin')" a other
finish_both

if [ "$(nproc)" -gt 1 ]; then
    start_both
    picked "-C" -C 1
    is "-C: no threads on other CPUs" "$(folded_sum "$out" '(greater|lesser);spin')" 0
    near "-C: a thread there" "$(folded_sum "$out" "^$A;.*;other;spin")" a other
    near "-C: another thread there" "$(folded_sum "$out" "^$B;.*;other;spin")" b other
    contains "-C: the header says so" "$scratch/err" \
        "Sampling at $HZ Hertz of all threads by user + kernel stack on CPU#1... Hit "
    finish_both
else
    skip "-C" "one CPU"
fi

cgroups=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1)
mine=$cgroups/test$$
if [ "$cgroups" ] && mkdir "$mine" "$mine/below" 2>"$scratch/why"; then
    start_both
    pid_of a >"$mine/below/cgroup.procs"
    picked "--cgroup" --cgroup "$mine"
    is "--cgroup: no other processes" "$(folded_sum "$out")" "$(folded_sum "$out" "^$A;")"
    near "--cgroup: a process in it" "$(folded_sum "$out")" a
    finish_both
    rmdir "$mine/below" "$mine"
else
    skip "--cgroup" "no cgroup v2 to make one in: $(cat "$scratch/why" 2>/dev/null)"
fi
