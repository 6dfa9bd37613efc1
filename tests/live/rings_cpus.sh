#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10
# host: no
#
# CPU hotplug with rings: CPUs that go offline are not an error, and stackbox still reads their
# rings; it opens rings for those that come online, and reports the gap before. A command has events
# on all CPUs from the beginning.
. "${0%/*}/lib.sh"

CPU=/sys/devices/system/cpu/cpu1/online
[ -f $CPU ] || skip_all "no CPU that can be taken offline"
echo 0 >$CPU 2>/dev/null || skip_all "this kernel does not let CPU 1 go"
choose_event
N=3000
came="events of CPUs that came online during the run are missing, for up to half a second each"

# events: the number of its descriptors, which include CPU 1's events while that is online
events()
{
    ls "/proc/$(pidof stackbox | tr ' ' '\n' | sort -n | head -n 1)/fd" | wc -l
}

has_more()
{
    [ "$(events)" -gt "$few" ]
}

has_few()
{
    [ "$(events)" = "$few" ]
}

# calls_on_1 NAME: makes calls on CPU 1 only
calls_on_1()
{
    taskset 2 "$WORKLOADS/calls" -n $N -N "$1" >/dev/null
}

# offline at the start; comes online; goes and comes back; so fast that no list of CPUs ever lacked
# it
start_tracing stackcount --collect rings -K -f --by name "$EVENT"
few=$(events)
echo 1 >$CPU
wait_until 20 has_more
sleep 0.3
few=$(events)
calls_on_1 came
echo 0 >$CPU
few=$((few - 2))
wait_until 20 has_few
echo 1 >$CPU
wait_until 20 has_more
sleep 0.3
calls_on_1 back
echo 0 >$CPU
echo 1 >$CPU
sleep 2
calls_on_1 fast
echo 0 >$CPU
finish_stackbox
is "exit status" $status 0
for name in came back fast; do
    is "a CPU that $name" "$(folded_sum "$scratch/out" "^$name;")" $N
done
contains "it is reported" "$scratch/err" "$came"

# A command runs on a CPU that comes online.
echo 0 >$CPU
"$STACKBOX" stackcount --collect rings -K -f --by name "$EVENT" -- sh -c \
    "echo 1 >$CPU; taskset 2 '$WORKLOADS/calls' -n $N >/dev/null; echo 0 >$CPU; echo 1 >$CPU
    taskset 2 '$WORKLOADS/calls' -n $N >/dev/null" >"$scratch/out" 2>"$scratch/err"
is "a command's calls on a CPU that comes online are counted" \
    "$(folded_sum "$scratch/out" '^calls;')" $((2 * N))
lacks "and none are reported missing" "$scratch/err" "$came"

# Event by event, on that one CPU.
echo 0 >$CPU
"$STACKBOX" stacksnoop --collect rings -C 1 "$EVENT" >"$scratch/out" 2>"$scratch/err"
is "-C: a CPU that is offline is refused" "$? $(cat "$scratch/err")" \
    "1 stacksnoop: cannot collect by perf's rings: CPU 1 is offline: bring it online"
echo 1 >$CPU
start_tracing stacksnoop --collect rings -K -C 1 "$EVENT"
echo 0 >$CPU
sleep 2
echo 1 >$CPU
sleep 2
calls_on_1 alone
taskset 1 "$WORKLOADS/calls" -n $N -N other >/dev/null
finish_stackbox
is "-C: a CPU that went and came back: each call is printed" \
    "$(grep -c '^[0-9.]* *alone ' "$scratch/out")" $N
is "-C: no calls on other CPUs" "$(grep -c '^[0-9.]* *other ' "$scratch/out")" 0
