#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10,6.1
# kernels: 6.12,newest
# host: no
#
# stackbox reports events that the kernel skips, exactly if the kernel counts them: counted and
# missed events add up to what the workload did.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_kprobes || skip_all "this kernel has no kprobes"

N=500

# Kernels since 6.7 count what links and programs miss.
case $GUEST in
5.10* | 6.1 | 6.1-*) tells=no ;;
*) tells=yes ;;
esac

# nested NAME TELLS PLACE INNER OPTION...: while a BPF program takes the stack of a hit, it runs
# through INNER once: a hit of its own, which is missed, or is counted and causes another. So there
# are as many hits of INNER as are counted in all. No other process walks stacks meanwhile.
nested()
{
    name=$1 told=$2 place=$3 inner=$4
    shift 4
    start_workload one calls -w -k -n $N
    if ! start_stackbox stackcount -f -K --debug "$@" "$place" "$inner"; then
        skip "$name" "$(tail -n 1 "$scratch/err")"
        drop_workload one
        return
    fi
    go one
    finish_stackbox
    brought_about=$(folded_sum "$scratch/out" "${inner#r::} ")
    is "$name: the calls are counted" $(($(folded_sum "$scratch/out") - brought_about)) $N
    # (On the newest kernels a program on a system call's tracepoint does not block others.)
    case $GUEST/$place in
    newest/t:*) is "$name: so are the nested hits" "$brought_about" $N ;;
    *) is "$name: the nested hits are not" "$brought_about" 0 ;;
    esac
    if [ $told = yes ]; then
        is "$name: counted + missed = hits" $((brought_about + $(missed))) "$(folded_sum "$scratch/out")"
    else
        skip "$name: counted + missed = hits" "this kernel does not report misses"
    fi
    finish_workload one
}

nested "by links" $tells ${CALL}getppid bpf_get_stackid --attach-by multi
nested "a return by links" $tells ${CALL}getppid r::bpf_get_stackid --attach-by multi
nested "by PMU events" $tells ${CALL}getppid bpf_get_stackid --attach-by pmu
nested "by tracefs" yes ${CALL}getppid bpf_get_stackid --attach-by tracefs
# (Its program may interrupt the other one, and then takes no stacks by the kernel's ids.)
have_syscall_tracepoints &&
    nested "in a tracepoint's program" $tells t:syscalls:sys_enter_getppid bpf_get_current_comm -P

# The same by stacksnoop, where each place has a program of its own if PMU events are used.
for way in multi pmu tracefs; do
    start_workload one calls -w -k -n $N
    if start_stackbox stacksnoop -K --attach-by $way ${CALL}getppid get_perf_callchain; then
        go one
        finish_stackbox
        # Its program uses another helper to walk, which calls the same function.
        is "stacksnoop by $way: each call is printed" "$(grep -c ' calls .*sys_getppid' "$scratch/out")" $N
        case $tells/$way in
        yes/* | */tracefs) is "stacksnoop by $way: misses are reported" "$(missed)" $N ;;
        *) skip "stacksnoop by $way: misses are reported" "this kernel does not report misses" ;;
        esac
    else
        skip "stacksnoop by $way" "$(cat "$scratch/err")"
    fi
    drop_workload one
done

# all_pause PID: are all its threads but the first in pause(2), system call 34?
all_pause()
{
    [ "$(cat "/proc/$1"/task/*/syscall 2>/dev/null | grep -c '^34 ')" = 60 ]
}

# With user stacks, too, nothing is missed: before 5.14 the kernel counts page faults as misses of text probes.
start_workload one calls -w -k -n $N
trace_workload one stackcount -f --debug --attach-by tracefs ${CALL}getppid
is "by tracefs, with user stacks: the calls are counted, and none is missed" "$(counted) $(missed)" "$N 0"

# A return probe needs a slot from the call on, and some ways have few slots. No other process makes
# this call, and all its threads return from it when their process is killed.
sleepers()
{
    if ! start_stackbox stackcount -f -K --debug --attach-by "$1" r::${CALL}pause; then
        skip "returns by $1" "$(tail -n 1 "$scratch/err")"
        return
    fi
    start_workload pausing calls -t 60 -c 34 -n 1
    wait_until 20 all_pause "$(pid_of pausing)"
    drop_workload pausing
    finish_stackbox
    counted=$(folded_sum "$scratch/out")
    echo "  note: returns by $1: of 60 at a time $counted are counted, $(missed) said to be missed"
    case $tells/$1 in
    yes/* | */tracefs) is "returns by $1: counted + missed = returns" $((counted + $(missed))) 60 ;;
    *) skip "returns by $1: counted + missed = returns" "this kernel does not report misses" ;;
    esac
}
for way in multi pmu tracefs; do
    sleepers $way
done

# ---- Samples that come faster than the kernel allows

limit=kernel/perf_event_max_sample_rate
before=$(cat /proc/sys/$limit)
"$WORKLOADS/burn" -s 120000 >/dev/null 2>&1 &
burner=$!
kill_at_end "$burner"
taskset -p 1 $burner >/dev/null

for event in cpu-clock task-clock; do
    run_stackbox profile -f --debug -I -C 0 -e $event -F 49 2
    is "$event: nothing is missed at an ordinary rate" "$(missed)" 0
    # If two samples a tick are allowed, the second stops the clock until the next tick. (With one,
    # whether that happens depends on the moment when the event began.)
    set_sysctl $limit 499
    begin=$(date +%s)
    run_stackbox profile -f --debug -I -C 0 -e $event -F 499 2
    end=$(date +%s)
    set_sysctl $limit "$before"
    echo "  note: $event: $(folded_sum "$scratch/out") samples, $(missed) missed"
    contains "$event: it says why they were missed" "$scratch/err" \
        "they were too frequent for the kernel (sysctl kernel.perf_event_max_sample_rate)"
    between "$event: misses are reported" "$(missed)" 20 $(((end - begin + 1) * 499))
    between "$event: samples + missed are at most those due" $(($(folded_sum "$scratch/out") + $(missed))) 100 \
        $(((end - begin + 1) * 499))
done
kill $burner
reset_sysctls
is "the limit is restored" "$(cat /proc/sys/$limit)" "$before"
