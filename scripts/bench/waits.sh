# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154 # variables that are of bench.sh and all its parts
#
# A ping-pong of two processes on one CPU, each round of which is two waits and two wakeups: how long a round
# takes while something sums up waits, and while nothing does.

# pingpong KEY WHO: with the tracer started last, if any
pingpong()
{
    figure "$1" "$2" "$("$tools/pingpong" 50000 | sed -n 's/^us per round: //p')"
}

alone()
{
    pingpong "$1" floor
}

under()
{
    pingpong "$1" "$2"
    end_tracer
}

# Keeps the stack of the thread that leaves until it comes back, as the other tools do. Only the
# kernel's: a second one would not fit into a bpftrace program.
# shellcheck disable=SC2016 # bpftrace's own $
off_cpu_script='
tracepoint:sched:sched_switch {
    if (args->prev_state & 0xff) {
        @start[args->prev_pid] = nsecs; @stack[args->prev_pid] = kstack;
    }
    $start = @start[args->next_pid];
    if ($start) {
        @us[@stack[args->next_pid], args->next_comm, args->next_pid] = sum((nsecs - $start) / 1000);
        delete(@start[args->next_pid]);
    }
}
END { clear(@start); clear(@stack); }'

part_waits()
{
    alone waits
    begin_stackbox offcputime -f && under waits stackbox
    [ "$libbpf_tools" ] && begin_quiet "$(libbpf_tool offcputime)" && under waits libbpf-tools
    alone waits.kernel
    begin_stackbox offcputime -f -K && under waits.kernel stackbox
    [ "$bpftrace" ] && begin_bpftrace "$off_cpu_script" && under waits.kernel bpftrace
    alone waits.wakes
    begin_stackbox wakeuptime -f && under waits.wakes stackbox
    [ "$libbpf_tools" ] && begin_quiet "$(libbpf_tool wakeuptime)" && under waits.wakes libbpf-tools
    alone waits.both
    begin_stackbox offwaketime -f && under waits.both stackbox
}
