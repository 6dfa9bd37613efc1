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

# trace_both OPTION...: samples the workloads a and b, which burn at the same time
trace_both()
{
    start_tracing profile $FRAMES -F $HZ -f "$@"
    kill -s USR2 "$(pid_of b)"
    go a
    wait_until "$LIMIT" grep -q '^done' "$scratch/b.out"
    finish_stackbox
    finish_workload a b
}

# ---- Two functions of one thread

start_workload sleeper burn -w -N $SLEEPER
start_workload a burn -w -k -s $LONG -F $HZ -N $A
start_workload b burn -w -k -s $((LONG * 3 / 10)) -F $HZ -N $B
trace_both
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
drop_workload sleeper

# ---- As many samples as there was time

start_workload a burn -w -k -s $((LONG / 2)) -F $HZ -N $A
trace_workload a profile $FRAMES -F $HZ -f
near "samples are CPU time" "$(folded_sum "$scratch/out" "^$A;")" a

# ---- Filters

start_both()
{
    start_workload a burn -w -k -2 -s $MS -F $HZ -N $A
    start_workload b burn -w -k -2 -s $MS -F $HZ -N $B
}

start_both
trace_both -p "$(pid_of a)"
is "-p: no other processes" "$(folded_sum "$scratch/out")" "$(folded_sum "$scratch/out" "^$A;")"
near "-p: one thread" "$(folded_sum "$scratch/out" '(greater|lesser);spin')" a greater lesser
near "-p: the other thread" "$(folded_sum "$scratch/out" ';other;spin')" a other

start_both
trace_both -p "$(pid_of a),$(pid_of b)"
is "-p of two: no other processes" "$(folded_sum "$scratch/out")" "$(folded_sum "$scratch/out" "^($A|$B);")"
near "-p of two: one" "$(folded_sum "$scratch/out" "^$A;")" a
near "-p of two: the other" "$(folded_sum "$scratch/out" "^$B;")" b

start_both
trace_both -t "$(count_of a other_tid)"
is "-t: no other processes" "$(folded_sum "$scratch/out")" "$(folded_sum "$scratch/out" "^$A;")"
is "-t: no other threads" "$(folded_sum "$scratch/out" '(greater|lesser);spin')" 0
near "-t: that thread" "$(folded_sum "$scratch/out" ';other;spin')" a other

if [ "$(nproc)" -gt 1 ]; then
    start_both
    trace_both -C 1
    is "-C: no threads on other CPUs" "$(folded_sum "$scratch/out" '(greater|lesser);spin')" 0
    near "-C: a thread there" "$(folded_sum "$scratch/out" "^$A;.*;other;spin")" a other
    near "-C: another thread there" "$(folded_sum "$scratch/out" "^$B;.*;other;spin")" b other
    contains "-C: the header says so" "$scratch/err" \
        "Sampling at $HZ Hertz of all threads by user + kernel stack on CPU#1... Hit "
    else
    skip "-C" "one CPU"
fi

cgroups=$(cgroups)
mine=$cgroups/test$$
if [ "$cgroups" ] && mkdir "$mine" "$mine/below" 2>"$scratch/why"; then
    start_both
    pid_of a >"$mine/below/cgroup.procs"
    trace_both --cgroup "$mine"
    is "--cgroup: no other processes" "$(folded_sum "$scratch/out")" "$(folded_sum "$scratch/out" "^$A;")"
    near "--cgroup: a process in it" "$(folded_sum "$scratch/out")" a
        rmdir "$mine/below" "$mine"
else
    skip "--cgroup" "no cgroup v2 to make one in: $(cat "$scratch/why" 2>/dev/null)"
fi
