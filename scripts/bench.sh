#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# bench.sh [ROUNDS]     what stackbox costs, beside the bare floor and the peers that are in PATH
#
# All are run in turn, round by round, so that a machine whose speed drifts is fair to each; the
# medians are printed, and left in build/bench/results.txt. Needs root and tracepoints.

set -u
umask 022
exec </dev/null
cd "$(dirname "$0")/.." || exit 1
rounds=${1:-9}
bench=build/release/bench
calls=build/release/workloads/calls
many=build/release/workloads/many
out=build/bench
results=$out/results.txt

[ "$(id -u)" = 0 ] || { echo "bench.sh: tracing needs root" >&2; exit 1; }
sh scripts/setup.sh build || exit 1
make -s stackbox workloads benches || exit 1
mkdir -p "$out"
rm -f "$out"/*.raw

stats=$(cat /proc/sys/kernel/bpf_stats_enabled)
restore() { echo "$stats" >/proc/sys/kernel/bpf_stats_enabled; }
trap restore EXIT
trap 'exit 1' HUP INT TERM
echo 1 >/proc/sys/kernel/bpf_stats_enabled || exit 1

# The middle value of a file of numbers.
median()
{
    sort -n "$1" | awk '{ value[NR] = $1 } END { if (NR) print value[int((NR + 1) / 2)]; else print "-" }'
}

# The middle of the ratios of two files, line by line.
median_ratio()
{
    paste "$1" "$2" | awk '$2 > 0 { print $1 / $2 }' | sort -n |
        awk '{ value[NR] = $1 } END { if (NR) printf "%.3f\n", value[int((NR + 1) / 2)]; else print "-" }'
}

row()
{
    printf '%-62s %12s %s\n' "$1" "$2" "$3" | tee -a "$results"
}

event="syscalls sys_enter_getppid"
work="$calls -n 100000"

floor_once()
{
    # shellcheck disable=SC2086 # words
    "$bench/floor" $event $work 2>/dev/null | sed -n 's/^ns per event: //p' >>"$out/floor.raw"
}

stackbox_once()
{
    ./stackbox stackcount --debug -f t:syscalls:sys_enter_getppid >"$out/ours" 2>"$out/ours.err" &
    tracer=$!
    tries=100
    until grep -q '^Tracing ' "$out/ours.err" || [ $tries = 0 ]; do
        sleep 0.05
        tries=$((tries - 1))
    done
    $work >/dev/null
    # A script's background jobs ignore SIGINT.
    kill -s TERM "$tracer"
    wait "$tracer"
    sed -n 's/.* ns per event: //p' "$out/ours.err" >>"$out/ours.raw"
}

# A tick of a clock, of the whole machine, on which a program burns CPU time.
burner="build/release/workloads/burn -s 1500"

sample_floor_once()
{
    # shellcheck disable=SC2086 # words
    "$bench/floor" -F 997 $burner 2>/dev/null | sed -n 's/^ns per event: //p' >>"$out/sample_floor.raw"
}

sample_once()
{
    ./stackbox profile --debug -f -F 997 >/dev/null 2>"$out/sample.err" &
    tracer=$!
    sleep 0.5
    $burner >/dev/null
    kill -s TERM "$tracer"
    wait "$tracer"
    sed -n 's/.* ns per event: //p' "$out/sample.err" >>"$out/sample.raw"
}

# A ping-pong of two processes on one CPU, alone and while somebody sums up blocked time: what a round
# takes. The tracers end by themselves; the ping-pong is long over then.
pingpong_once()
{
    "$bench/pingpong" 100000 | sed -n 's/^us per round: //p' >>"$out/pingpong_$1.raw"
}

# pingpong_under PEER COMMAND...: a tracer that runs three seconds, and has one to begin
pingpong_under()
{
    peer=$1
    shift
    "$@" >"$out/tracer" 2>"$out/tracer.err" &
    tracer=$!
    sleep 1
    # Of one that could not start there is no figure.
    kill -0 "$tracer" 2>/dev/null && pingpong_once "$peer"
    wait "$tracer"
}

# In bpftrace the stack of who leaves is kept until it comes back, as in the others; the kernel's alone.
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
interval:s:3 { exit(); }
END { clear(@start); clear(@stack); }'

pingpongs_once()
{
    # Keeping these figures costs time in every program.
    echo 0 >/proc/sys/kernel/bpf_stats_enabled
    pingpong_once alone
    pingpong_under offcputime ./stackbox offcputime -f -D 3
    pingpong_under offcputime_kernel ./stackbox offcputime -f -K -D 3
    pingpong_under offwaketime ./stackbox offwaketime -f -D 3
    for peer in /usr/sbin/offcputime /usr/share/bcc/libbpf-tools/offcputime; do
        [ -x "$peer" ] && pingpong_under libbpf_tools "$peer" 3 && break
    done
    command -v bpftrace >/dev/null && pingpong_under bpftrace unshare -m sh -c \
        'grep -q " /sys/kernel/tracing " /proc/mounts || mount -t tracefs none /sys/kernel/tracing
        exec bpftrace -e "$1"' sh "$off_cpu_script"
    echo 1 >/proc/sys/kernel/bpf_stats_enabled
}

# pingpong_row PEER NAME
pingpong_row()
{
    [ -s "$out/pingpong_$1.raw" ] || return
    row "$2" "$(median "$out/pingpong_$1.raw") us" \
        "$(median_ratio "$out/pingpong_$1.raw" "$out/pingpong_alone.raw")"
}

bpftrace_once()
{
    command -v bpftrace >/dev/null || return
    bpftrace -e 't:syscalls:sys_enter_getppid { @[kstack, ustack, comm, pid] = count(); }' \
        -c "$work" >/dev/null 2>&1 &
    tracer=$!
    sleep 1
    bpftool prog show 2>/dev/null | awk '/tracepoint/ { for (i = 1; i < NF; i++) {
        if ($i == "run_time_ns") time = $(i + 1); if ($i == "run_cnt") runs = $(i + 1) } }
        END { if (runs) printf "%.0f\n", time / runs }' >>"$out/bpftrace.raw"
    wait "$tracer"
}

# An empty run, from start to end.
empty_once()
{
    "$bench/cost" "$out/cost" ./stackbox stackcount -f -D 0.01 t:sched:sched_process_hang 2>/dev/null
    cut -d ' ' -f 1 "$out/cost" >>"$out/empty_cpu.raw"
    cut -d ' ' -f 2 "$out/cost" >>"$out/empty_wall.raw"
    cut -d ' ' -f 3 "$out/cost" >>"$out/empty_kb.raw"
}

# The same with 500 processes more on the machine, whose memory is looked at before the first event.
crowd_once()
{
    crowd=
    for _ in $(seq 500); do
        sleep 600 &
        crowd="$crowd $!"
    done
    "$bench/cost" "$out/cost" ./stackbox stackcount -f -D 0.01 t:sched:sched_process_hang 2>/dev/null
    cut -d ' ' -f 1 "$out/cost" >>"$out/crowd_cpu.raw"
    # shellcheck disable=SC2086 # words
    kill $crowd
    wait
}

# An empty run that probes a thousand functions of a program, and one that probes one of them.
probes_once()
{
    for functions in 'many_*' many_000; do
        "$bench/cost" "$out/cost" ./stackbox stackcount -f -K -D 0.01 "$many:$functions" 2>/dev/null
        cut -d ' ' -f 2 "$out/cost" >>"$out/probes_${functions%\*}.raw"
    done
}

# One in which there is something to name.
busy_once()
{
    "$bench/cost" "$out/cost" ./stackbox stackcount -f -D 1 t:raw_syscalls:sys_enter >"$out/busy" 2>/dev/null
    cut -d ' ' -f 3 "$out/cost" >>"$out/busy_kb.raw"
}

# A program of 100 MB with a million functions, of which 1,000 addresses are to be named: by a
# process of its own each, from its start to its end. perf names what it sampled there itself.
million=$out/million
make_million()
{
    "$bench/symbols" make "$million" && chmod +x "$million" &&
        "$bench/symbols" draw "$million" 1000 >"$out/addresses" || exit 1
    command -v perf >/dev/null || return
    perf record -q -F 1000 -e cpu-clock:u -o "$out/perf.data" "$million" >/dev/null 2>&1 ||
        rm -f "$out/perf.data"
}

# names_once PEER COMMAND...
names_once()
{
    peer=$1
    shift
    "$bench/cost" "$out/cost" "$@" <"$out/addresses" >"$out/names" 2>/dev/null || return
    cut -d ' ' -f 2 "$out/cost" >>"$out/${peer}_names.raw"
    cut -d ' ' -f 3 "$out/cost" >>"$out/${peer}_names_kb.raw"
}

symbols_once()
{
    names_once ours "$bench/symbols" find "$million"
    # These take seconds each.
    [ "$round" -le 3 ] || return
    command -v addr2line >/dev/null && names_once addr2line addr2line -f -e "$million"
    [ -s "$out/perf.data" ] && names_once perf perf script -i "$out/perf.data" -F ip,sym
}

# names_row PEER NAME
names_row()
{
    [ -s "$out/$1_names.raw" ] || return
    row "$2" "$(median "$out/$1_names.raw") ms" "$(median_ratio "$out/$1_names.raw" "$out/ours_names.raw")"
    row "    peak resident memory" "$(median "$out/$1_names_kb.raw") KB" ""
}

make_million
: >"$out/ours.raw" >"$out/floor.raw"
: >"$results"
for round in $(seq "$rounds"); do
    printf 'round %s of %s\r' "$round" "$rounds" >&2
    floor_once
    stackbox_once
    bpftrace_once
    sample_floor_once
    sample_once
    pingpongs_once
    empty_once
    crowd_once 2>/dev/null
    probes_once
    symbols_once
done
busy_once

row "figure (medians of $rounds rounds, $(uname -r))" "value" "ratio"
row "stripped binary" "$(wc -c <stackbox)" "bytes"
row "per event, the bare floor: kernel and user stack" "$(median "$out/floor.raw") ns" "1"
row "per event, stackcount" "$(median "$out/ours.raw") ns" \
    "$(median_ratio "$out/ours.raw" "$out/floor.raw")"
[ -s "$out/bpftrace.raw" ] && row "per event, bpftrace" "$(median "$out/bpftrace.raw") ns" \
    "$(median_ratio "$out/bpftrace.raw" "$out/floor.raw")"
row "per sample, the bare floor" "$(median "$out/sample_floor.raw") ns" "1"
row "per sample, profile" "$(median "$out/sample.raw") ns" \
    "$(median_ratio "$out/sample.raw" "$out/sample_floor.raw")"
pingpong_row alone "a round of a ping-pong on one CPU, alone"
pingpong_row offcputime "    under offcputime"
pingpong_row offcputime_kernel "    under offcputime -K"
pingpong_row offwaketime "    under offwaketime"
pingpong_row libbpf_tools "    under libbpf-tools' offcputime"
pingpong_row bpftrace "    under bpftrace, kernel stacks alone"
row "an empty run of 10 ms: own CPU time" "$(median "$out/empty_cpu.raw") ms" ""
row "an empty run of 10 ms: wall time" "$(median "$out/empty_wall.raw") ms" ""
row "an empty run with 500 processes more: own CPU time" "$(median "$out/crowd_cpu.raw") ms" \
    "$(median_ratio "$out/crowd_cpu.raw" "$out/empty_cpu.raw")"
row "an empty run that probes 1 function of a program: wall time" \
    "$(median "$out/probes_many_000.raw") ms" ""
row "an empty run that probes 1,000 of them: wall time" "$(median "$out/probes_many_.raw") ms" \
    "$(median_ratio "$out/probes_many_.raw" "$out/probes_many_000.raw")"
row "an empty run: peak resident memory" "$(median "$out/empty_kb.raw") KB" ""
row "1 s of all system calls, named: peak resident memory" "$(median "$out/busy_kb.raw") KB" ""
names_row ours "1,000 addresses in a million functions: wall time"
names_row addr2line "    by addr2line"
names_row perf "    by perf script, of $(perf script -i "$out/perf.data" -F ip 2>/dev/null | grep -c .) samples"
rm -f "$million" "$out/perf.data"
