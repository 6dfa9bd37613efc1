#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10,6.12
# host: no
#
# Settings with which the kernel attaches probes but never hits them, or records no stacks: stackbox and check
# say so, or count as ever. And one with which programs have no names.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_kprobes || skip_all "this kernel has no kprobes"

# calls NAME PLACE: of a place that is traced: 100, or a refusal that tells the setting
calls()
{
    start_workload one calls -w -k -n 100
    if start_stackbox stackcount -f -K -p "$(pid_of one)" "$2"; then
        go one
        finish_stackbox
        is "$1: all calls are counted" "$(folded_sum "$scratch/out")" 100
    else
        wait_stackbox
        is "$1: it is refused" "$status $(grep -c 'kernel.ftrace_enabled is 0' "$scratch/err")" "1 1"
    fi
    drop_workload one
}

if [ -e /proc/sys/kernel/ftrace_enabled ]; then
    set_sysctl kernel/ftrace_enabled 0
    calls "ftrace is off" ${CALL}getppid
    # A tracepoint needs no ftrace.
    ! have_syscall_tracepoints || calls "ftrace is off, a tracepoint" t:syscalls:sys_enter_getppid
    run_stackbox check
    if grep -q ' kprobe_ftrace_handler$' /proc/kallsyms; then
        contains "ftrace is off: check says so" "$scratch/out" \
            "kernel functions: no: kernel.ftrace_enabled is 0"
    else
        contains "ftrace is off: probes do without" "$scratch/out" "kernel functions: yes"
    fi
    reset_sysctls
    calls "ftrace is on again" ${CALL}getppid
else
    skip "ftrace is off" "this kernel has no ftrace"
fi

set_sysctl kernel/perf_event_max_stack 0
for applet in profile offcputime "stackcount ${CALL}getppid" "stacksnoop ${CALL}getppid"; do
    # shellcheck disable=SC2086 # words
    run_stackbox $applet -D 1
    is "stacks have no frames: ${applet%% *} says so" \
        "$status $(grep -c 'kernel.perf_event_max_stack is 0' "$scratch/err")" "1 1"
done
run_stackbox check
contains "stacks have no frames: check says so" "$scratch/out" "memory: no: kernel.perf_event_max_stack is 0"
reset_sysctls

# With constant blinding the kernel gives BPF programs no names: before 5.16 theirs is taken for a module's.
load_module dummy
set_sysctl net/core/bpf_jit_harden 2
for applet in offcputime offwaketime; do
    run_stackbox $applet -f -K --state S -- sleep 0.2
    is "programs without names: $applet: stacks begin where threads leave the CPU" \
        "$(sed 's/;--;.*//; s/ [0-9]*$//; s/.*;//' "$scratch/out" | sort -u)" __schedule
done
reset_sysctls
