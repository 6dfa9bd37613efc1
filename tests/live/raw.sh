#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.12,newest
# own clock
# quiet
# host: yes
#
# Without access to tracefs, the applets for blocked time and `-- COMMAND` use raw tracepoints. The results
# are the same.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"
[ -r /sys/kernel/btf/vmlinux ] || skip_all "this kernel does not tell its types"

# No tracefs is mounted, neither by this test nor before it.
without_tracefs || skip_all "tracefs is mounted here, and cannot be unmounted"
CLOSED="$WORKLOADS/deny --syscall fsopen:EPERM --syscall mount:EPERM --"
under=$CLOSED
run_stackbox stackcount -D 0.1 t:sched:sched_switch
is "t: patterns need tracefs" "$status $(cat "$scratch/err")" "1 stackcount: tracefs cannot be read: run it \
as root, or with CAP_SYS_ADMIN to mount it"
run_stackbox offwaketime --debug -D 0.1
is "offwaketime does not need it" $status 0
contains "--debug says how it is attached" "$scratch/err" "attached to raw tracepoints"

# ---- Waits

start_sleeps
trace_sleeps offcputime -f -d -p @PID
sleeps_right "offcputime" nap tmout woken rouse read feed mixed vfork
start_sleeps -n 8
trace_sleeps offcputime -f -d --state D -p @PID
sleeps_right "--state D" vfork
start_sleeps -n 4 -u 100000 -o nap,burn
trace_sleeps offcputime -f -d --state R -p @PID
for way in burn burnt; do
    # Its libc has no tables for system calls.
    burns="^$PREFIX$way;\(.*;sleeper;${way}_outer;.*\|\[truncated\];__syscall_.*\);-;.*;__schedule "
    close_to "--state R: $way" "$(grep "$burns" "$scratch/out" | sum)" "$(row sleeps $way 6)" 100000
done
start_sleeps -n 20
trace_sleeps offcputime -f -d
is "everything: idle tasks are not blocked" "$(grep '^swapper' "$scratch/out")" ""
is "everything: stacks begin where threads leave the CPU" \
    "$(sed 's/ [0-9]*$//; s/.*;//' "$scratch/out" | sort -u)" __schedule
is "everything: no stack shows the tracing" \
    "$(grep -oE ';(bpf_prog_|bpf_trace_|__bpf_|__traceiter_)[^; ]*' "$scratch/out" | sort -u)" ""

# Where kallsyms does not list programs, they have no names, and are not shown either.
named=/proc/sys/net/core/bpf_jit_kallsyms
if [ -e $named ]; then
    read -r before <$named
    echo 0 >$named
    start_sleeps -n 20
    trace_sleeps offcputime -f -d
    echo "$before" >$named
    is "without names of programs: stacks begin where threads leave the CPU" \
        "$(sed 's/ [0-9]*$//; s/.*;//' "$scratch/out" | sort -u)" __schedule
else
    skip "without names of programs" "this kernel has no net.core.bpf_jit_kallsyms"
fi

# Idle kernel threads are in state I, as in tracepoints: no others are.
start_sleeps -n 8 -o nap
trace_sleeps offcputime --by thread -d --state I
text_blocks >"$scratch/blocks"
kernel_threads >"$scratch/kernel"
is "--state I: only kernel threads" \
    "$(cut -d '|' -f 2 "$scratch/blocks" | sort -u | while read -r tid; do
        [ -d "/proc/$tid" ] && ! grep -qx "$tid" "$scratch/kernel" && echo "$tid"
    done)" ""

# ---- Wakes

start_wakes pipe futex signal pipe:3 futex:3 signal:3 nap
trace_wakes offwaketime --by thread -d -p @PID
judge_wakes offwake_text
wakes_right "offwaketime"
start_wakes -P -n 50 pipe futex signal pipe:3 nap
trace_wakes offwaketime -f -d
judge_wakes offwake_folded
wakes_right "offwaketime, processes"
start_sleeps -n 8
trace_sleeps wakeuptime -f -d
is "wakeuptime: stacks begin at the wake" \
    "$(awk '{ sub(/ [0-9]+$/, ""); n = split($0, frame, ";"); print frame[n - 1] }' "$scratch/out" |
        grep -v '^try_to_wake_up$\|^\[no waker\]$' | sort -u | head -n 3)" ""

# ---- A command, and all its children

# The count that the command reports, if there is one; otherwise, for a function that is mostly inlined,
# the count by tracefs.
for words in "" "-c 300"; do
    if have_kprobes; then
        # shellcheck disable=SC2086 # words
        run_stackbox stackcount -f ${CALL}getppid -- "$WORKLOADS/family" $words
        made=$(sed -n 's/^done CALLS=//p' "$scratch/err")
    else
        under=
        # shellcheck disable=SC2086 # words
        run_stackbox stackcount -f "$WORKLOADS/family:call" -- "$WORKLOADS/family" $words
        made=$(folded_sum "$scratch/out")
        under=$CLOSED
        # shellcheck disable=SC2086 # words
        run_stackbox stackcount -f "$WORKLOADS/family:call" -- "$WORKLOADS/family" $words
    fi
    is "a command${words:+ $words}" "$status $(folded_sum "$scratch/out")" "0 $made"
    [ "${made:-0}" -gt 0 ] || fail "a command${words:+ $words}" "nothing was counted"
done
under=

# The same with perf_event_open(2) denied.
under="$WORKLOADS/deny --syscall perf_event_open:EACCES --"
start_sleeps -n 8
trace_sleeps offcputime -f -d -p @PID
sleeps_right "without perf_event_open(2)" nap tmout woken rouse read feed mixed vfork
under=
