#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
# quiet
#
# profile with other events than the clock: each page fault, each context switch; events that the machine
# lacks; idle CPUs; its messages when it may not sample.
. "${0%/*}/lib.sh"

have_root || {
    run_stackbox profile 1
    contains "not root: it is refused" "$scratch/err" "run it as root"
    is "not root: exit status" $status 1
    exit 0
}

# ---- One clock event, in the form of all events

# The period is not round, so ticks are in step with nothing. In emulation only ticks that are far
# apart all arrive. A thread that shares a CPU is sampled by chance: of 100 or 1,000, four standard
# deviations are allowed.
HZ=997 PERIOD=1003009 CHANCE=126
[ -z "$GUEST" ] || HZ=99 PERIOD=10101010 CHANCE=40

start_workload one burn -w -k -s 1000 -F $HZ -N burn$$
trace_workload one profile -e task-clock -c $PERIOD -p "$(pid_of one)"
is "the header names event and period" \
    "$(head -n 2 "$scratch/out" | tr '\n' '|')" "Sampling every $PERIOD events of \
PID $(pid_of one) by user + kernel stack... Hit Ctrl-C to end.||"
least=$(($(count_of one greater_least) + $(count_of one lesser_least)))
most=$(($(count_of one greater_most) + $(count_of one lesser_most)))
between "task-clock: a sample each period" \
    "$(awk '/^        [0-9]+$/ { sum += $1 } END { print sum }' "$scratch/out")" \
    $((least - CHANCE)) $((most + CHANCE))
contains "samples name the process" "$scratch/out" "    -                burn$$ ($(pid_of one))"

# ---- Events that are sampled one by one

N=3000
start_workload one faults -w -k -n $N -N faults$$
trace_workload one profile -e page-faults -c 1 -f -p "$(pid_of one)"
is "page-faults: the workload had as many as expected" "$(count_of one faults)" $N
is "page-faults: each is a sample" "$(folded_sum "$scratch/out" ';touch ')" $N
lacks "page-faults: they have no kernel stack" "$scratch/out" "touch;"

# switches NAME: how often it has left its CPU so far, by the kernel's own count
switches()
{
    awk '/ctxt_switches/ { sum += $2 } END { print sum }' "/proc/$(pid_of "$1")/status"
}

start_workload one faults -w -k -n 1 -z 100 -N faults$$
start_tracing profile -e context-switches -c 1 -f -p "$(pid_of one)"
before=$(switches one)
go one
finish_stackbox
is "context-switches: each is a sample" "$(folded_sum "$scratch/out")" \
    $(($(switches one) - before))
# (It may also be preempted elsewhere, and then find that its time is over.)
between "context-switches: most are in the stack that sleeps" \
    "$(folded_sum "$scratch/out" ';nap;.*schedule')" 90 $(($(switches one) - before))
finish_workload one

# With a frequency, the kernel adjusts the period. After such bursts the period may be so long that
# a run gets one sample or none; perf(1) gets as few here.
for _ in 1 2 3 4 5; do
    if ! start_stackbox profile -e page-faults -F 99 -f; then
        fail "page-faults by frequency: there are samples" "did not start: $(cat "$scratch/err")"
        break
    fi
    faults=0
    for i in $(seq 30); do
        "$WORKLOADS/faults" -n 10000 -N faults$$ >"$scratch/faults"
        faults=$((faults + $(sed -n 's/^count faults //p' "$scratch/faults")))
    done
    finish_stackbox
    sampled=$(folded_sum "$scratch/out" "^faults$$;.*;touch ")
    [ "$sampled" = 0 ] || break
done
between "page-faults by frequency: the workload had as many as expected" "${faults:-0}" 300000 301000
between "page-faults by frequency: there are samples" "${sampled:-0}" 1 30000

# stackbox opens each event to find out which ones the machine has.
lacked=
for event in cycles instructions cache-misses branch-misses; do
    run_stackbox profile -e $event -f 0.3
    [ $status != 0 ] && lacked=$event && cp "$scratch/err" "$scratch/lacked" && break
done
if [ "$lacked" ]; then
    is "an event that the machine lacks is refused" "$(sed 's/ it has .*//' "$scratch/lacked")" \
        "profile: -e: this machine has no $lacked;"
    contains "and those that it has are listed" "$scratch/lacked" "it has cpu-clock, task-clock, "
    is "in one line" "$(wc -l <"$scratch/lacked")" 1
else
    skip "an event that the machine lacks is refused" "this machine has all events"
fi

# ---- Whose samples

# idle: the idle time of all CPUs, in s/100
idle()
{
    awk '$1 == "cpu" { print $5 + $6 }' /proc/stat
}

before=$(idle)
run_stackbox profile -F 199 -I -K -f 1
if [ $(($(idle) - before)) -lt 20 ]; then
    skip "-I: idle CPUs have samples" "no CPU was idle"
else
    between "-I: idle CPUs have samples" "$(folded_sum "$scratch/out" '^swapper/')" 1 10000
fi
run_stackbox profile -F 199 -f 1
is "without -I they have none" "$(folded_sum "$scratch/out" '^swapper')" 0

# Time in the kernel: the stack begins where the sample interrupted it, and the sampling itself is not
# in it.
"$WORKLOADS/session" --limit 60 dd if=/dev/zero of=/dev/null bs=1048576 2>/dev/null &
reader=$!
kill_at_end "$reader"
run_stackbox profile -F 499 -f -p $reader 2
kill $reader
wait $reader 2>/dev/null
between "time in the kernel has a stack there" \
    "$(folded_sum "$scratch/out" "${WAY_IN%% *}[^;]*;.*vfs_read;")" 20 2000
is "no stack shows the sampling" \
    "$(grep -cE 'perf_swevent_hrtimer|hrtimer_interrupt|perf_event_overflow|bpf_overflow' "$scratch/out")" 0

# In a pid namespace: pids are the namespace's, idle CPUs are left out, and processes outside are
# not lost.
start_workload outside burn -w -s 60000 -N outside$$
kill -s USR2 "$(pid_of outside)"
"$WORKLOADS/session" --limit 60 "$WORKLOADS/deny" --pid-namespace -- sh -c '
    "$2/burn" -s 60000 -N inside >/dev/null & inside=$!
    "$1" profile -F 199 -f -p $inside 1 >"$3/picked" 2>"$3/err"
    "$1" profile -F 199 1 >"$3/all" 2>>"$3/err"
    kill $inside' sh "$STACKBOX" "$WORKLOADS" "$scratch" </dev/null
is "in a pid namespace: -p takes its pids" "$(folded_sum "$scratch/picked")" \
    "$(folded_sum "$scratch/picked" '^inside;.*main;')"
between "in a pid namespace: -p: samples" "$(folded_sum "$scratch/picked")" 10 210
lacks "in a pid namespace: idle CPUs are left out" "$scratch/all" swapper
contains "in a pid namespace: processes outside are there" "$scratch/all" "outside$$"
drop_workload outside

# ---- Refusals

DENY="$WORKLOADS/deny"
ulimit -l unlimited 2>/dev/null

# refused NAME TEXT DENIAL...: profile under a denial is refused with TEXT, in one line
refused()
{
    refused=$1 text=$2
    shift 2
    "$WORKLOADS/session" --limit 60 "$DENY" "$@" -- "$STACKBOX" profile 1 </dev/null \
        >"$scratch/out" 2>"$scratch/err"
    is "$refused: exit status" $? 1
    is "$refused: one line" "$(wc -l <"$scratch/err")" 1
    contains "$refused" "$scratch/err" "$text"
}

own="without CAP_PERFMON you can only trace your own processes: give -p PID or -- COMMAND, or run"
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || own="sysctl kernel.perf_event_paranoid=2"
refused "not root" "$own" --uid 65534
refused "CAP_BPF alone" "$own" --only bpf --uid 65534
refused "no perf_event_open(2)" "a seccomp filter blocks" --syscall perf_event_open:ENOSYS
refused "perf_event_open(2) refused" "a seccomp filter blocks" --syscall perf_event_open:EACCES
"$DENY" --syscall bpf/5:EINVAL -- "$STACKBOX" profile 0.2 </dev/null >"$scratch/out" 2>"$scratch/err"
is "no programs of this type: rings collect" \
    "$? $(grep -c "^profile: stacks are collected by perf's rings" "$scratch/err")" "0 1"
refused "no programs at events" "cannot sample: this kernel cannot run BPF programs at perf events" \
    --syscall ioctl:EOPNOTSUPP
if set_sysctl kernel/perf_event_paranoid 3; then
    "$DENY" --only bpf --only perfmon --uid 65534 -- "$STACKBOX" profile 0.2 </dev/null \
        >"$scratch/out" 2>"$scratch/err"
    if [ $? = 0 ]; then
        skip "perf_event_paranoid" "this kernel's levels end at 2"
    else
        refused "perf_event_paranoid" "perf_event_paranoid = 3" --only bpf --only perfmon --uid 65534
    fi
    set_sysctl kernel/perf_event_paranoid 2
    start_workload one burn -w -s 60000 -N burn$$
    kill -s USR2 "$(pid_of one)"
    "$DENY" --only bpf --only perfmon --uid 65534 -- "$STACKBOX" profile -F 499 -f 1 </dev/null \
        >"$scratch/out" 2>"$scratch/err"
    is "two capabilities are enough" "$? $(grep -c 'no events' "$scratch/err")" "0 0"
    between "and give samples" "$(folded_sum "$scratch/out" "^burn$$;")" 10 550
    drop_workload one
    reset_sysctls
fi
