#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10
# kernels: newest
# host: no
#
# CPU hotplug while profile runs: CPUs that go offline are not an error, and profile samples those
# that come online: one that was offline at the start, and one that went and came back. And stackbox
# gets task records from there.
. "${0%/*}/lib.sh"

CPU=/sys/devices/system/cpu/cpu1/online
[ -f $CPU ] || skip_all "no CPU that can be taken offline"
echo 0 >$CPU 2>/dev/null || skip_all "this kernel does not let CPU 1 go"
HZ=99

# burn_on_1 NAME: burns on both CPUs, after a while in which stackbox notices that one came online
#
# A thread on a CPU that goes offline is moved, and then may run anywhere: so each time it is a new
# thread.
burn_on_1()
{
    sleep 1
    start_workload "$1" burn -w -k -2 -s 2000 -F $HZ -N "$1"
    go "$1"
    finish_workload "$1"
}

# near NAME ACTUAL WORKLOAD PART...: ACTUAL is at least half of the workload's own time, at most a tenth
# more. (profile.sh tests accuracy; in emulation late ticks are lost. A CPU that is not sampled has no
# samples.)
near()
{
    near=$1 actual=$2 workload=$3 least=0 most=0
    shift 3
    for part in "$@"; do
        least=$((least + $(count_of "$workload" "${part}_least")))
        most=$((most + $(count_of "$workload" "${part}_most")))
    done
    between "$near" "$actual" $((least / 2)) $(((most * 110 + 99) / 100))
}

# offline at the start
run_stackbox profile -C 1 1
is "-C: a CPU that is offline is refused" "$status $(cat "$scratch/err")" \
    "1 profile: CPU 1 is offline: there is nothing to sample until it is brought online"
start_tracing profile -F $HZ -f
echo 1 >$CPU
burn_on_1 came
echo 0 >$CPU
sleep 1
echo 1 >$CPU
burn_on_1 back
# So fast that stackbox never reads a list of online CPUs without it.
echo 0 >$CPU
echo 1 >$CPU
burn_on_1 fast
finish_stackbox
is "exit status" $status 0
is "there are no complaints" "$(grep -v 'of user stacks end early\|CPUs came online' "$scratch/err")" \
    "Sampling at $HZ Hertz of all threads by user + kernel stack... Hit Ctrl-C to end."
is "it is told that names may be missing" "$(sed -n \
    's/^profile: CPUs came online during the run, \([0-9]*\) times: frames of programs .*/\1/p' "$scratch/err")" 3
for name in came back fast; do
    near "a CPU that $name" "$(folded_sum "$scratch/out" "^$name;.*;other;")" $name other
    near "a CPU that $name: the other one" \
        "$(folded_sum "$scratch/out" "^$name;.*;(greater|lesser);")" \
        $name greater lesser
done

# The only sampled CPU goes offline and comes back.
start_tracing profile -F $HZ -f -C 1
echo 0 >$CPU
sleep 1
echo 1 >$CPU
burn_on_1 alone
finish_stackbox
is "-C: exit status" $status 0
near "-C: a CPU that went and came back" "$(folded_sum "$scratch/out" "^alone;.*;other;")" \
    alone other
is "-C: no threads on other CPUs" "$(folded_sum "$scratch/out" "^alone;.*;(greater|lesser);")" 0

# Programs that begin on a CPU that went and came back, and have ended when their functions are looked up: half a
# second later they have names, also event by event; and before that it is told that they may not.
echo 1 >$CPU
choose_event
"$STACKBOX" stackcount -f --by name "$EVENT" -- sh -c "echo 0 >$CPU; echo 1 >$CPU; sleep 0.6
    taskset 2 '$WORKLOADS/calls' -n 10 -N later" >"$scratch/out" 2>"$scratch/err"
is "half a second later functions have names" "$(folded_sum "$scratch/out" '^later;.*;make_calls')" 10
"$STACKBOX" stackcount -f --by name "$EVENT" -- sh -c "echo 0 >$CPU; echo 1 >$CPU
    '$WORKLOADS/calls' -n 10" >"$scratch/out" 2>"$scratch/err"
contains "a run that ends before that says so" "$scratch/err" "CPUs came online during the run, 1 times"
start_tracing stacksnoop "$EVENT"
echo 0 >$CPU
echo 1 >$CPU
sleep 1
taskset 2 "$WORKLOADS/calls" -n 10 -N snooped >"$scratch/none"
finish_stackbox
is "stacksnoop: functions have names there" "$(grep -c '	*make_calls' "$scratch/out")" 10
contains "stacksnoop: that they may not is told" "$scratch/err" "CPUs came online during the run, 1 times"
echo 1 >$CPU
