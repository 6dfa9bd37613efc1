# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154 # variables that are of bench.sh and all its parts
#
# Shared by all parts of the bench. A part is a function `part_NAME` that measures once, each tool in turn,
# and prints `figure KEY WHO VALUE`; keys, units and what a value is compared with are in rows.tsv. bench.sh
# calls the parts, round by round.
#
# $out is where files go that nobody needs afterwards, $tools and $workloads have test programs,
# $round is the number of the round. $bcc and $libbpf_tools (paths whose %s is the tool), $bpftrace, $perf and
# $ply are the peers, empty where one is not installed.

# figure KEY WHO VALUE: leaves out what is not a number
figure()
{
    case $3 in
    '' | *[!0-9.]*) return ;;
    esac
    printf '%s\t%s\t%s\t%s\n' "$round" "$1" "$2" "$3" >>"$results/raw.tsv"
}

# early_round [N]: is this one of the first three rounds, or the first N? For figures that take seconds to
# measure, and differ by far more than the noise
early_round()
{
    [ "$round" -le "${1:-3}" ]
}

# BPF programs are slower while the kernel keeps these statistics: they are on only while they are
# needed.
keep_figures()
{
    echo "$1" >/proc/sys/kernel/bpf_stats_enabled
}

# ---- tracers in the background

# begin COMMAND...: starts a tracer, $tracer, for a minute at most.
begin()
{
    begin_for 60 "$@"
}

# begin_for SECONDS COMMAND...: the same, for that long at most
begin_for()
{
    limit=$1
    shift
    : >"$out/tracer.out"
    : >"$out/tracer.err"
    "$workloads/session" --limit "$limit" "$@" >"$out/tracer.out" 2>"$out/tracer.err" &
    tracer=$!
}

# as_soon_as COMMAND...: waits until it succeeds. False, with the tracer ended, if the tracer ends first or
# after 20 s (or $patience tries)
as_soon_as()
{
    tries=${patience:-1000}
    until "$@"; do
        tries=$((tries - 1))
        if [ $tries = 0 ] || ! kill -0 "$tracer" 2>/dev/null; then
            end_tracer
            return 1
        fi
        sleep "${pause:-0.02}"
    done
}

# The tracer says so: stackbox in its first line, bpftrace in a line that we make it print.
said_ready()
{
    grep -qE '^(Tracing|Sampling|ready)' "$out/tracer.out" "$out/tracer.err"
}

# The tracer has a link to a BPF program, or a program attached to a perf event: nothing else shows that a
# silent tool is ready.
has_link()
{
    cat "/proc/$tracer/fdinfo"/* 2>/dev/null | grep -q '^link_id:'
}

has_program()
{
    cat "/proc/$tracer/fdinfo"/* 2>/dev/null | grep -q '^prog_id:'
}

# Killed at once: some would take a minute to symbolize and print what nobody reads.
end_tracer()
{
    end_tracer_by KILL
}

end_tracer_by()
{
    kill -s "$1" "$tracer"
    wait "$tracer"
    tracer=
} 2>/dev/null

# runs_of PID: `NS RUNS` of its program that ran most often, by the kernel's figures
runs_of()
{
    cat "/proc/$1/fdinfo"/* 2>/dev/null | awk '
        $1 == "run_time_ns:" { time = $2 }
        $1 == "run_cnt:" && $2 > runs { runs = $2; most = time }
        END { print most + 0, runs + 0 }'
}

# ns_per_run BEFORE AFTER: between two of those
ns_per_run()
{
    echo "$1 $2" | awk '$4 - $2 >= 100 { printf "%.1f\n", ($3 - $1) / ($4 - $2) }'
}

# A script's last probe
ready_bpftrace='interval:ms:100 { printf("ready\n"); }'

# bcc_tool NAME: its path. Debian ships some only as examples.
bcc_tool()
{
    # shellcheck disable=SC2059 # a path with one %s
    tool=$(printf "$bcc" "$1")
    for example in /usr/share/doc/bpfcc-tools/examples/tracing /usr/share/bcc/examples/tracing; do
        [ -e "$tool" ] || [ ! -e "$example/$1.py" ] || tool="/usr/bin/python3 $example/$1.py"
    done
    echo "$tool"
}

libbpf_tool()
{
    # shellcheck disable=SC2059 # a path with one %s
    printf "$libbpf_tools" "$1"
}

# begin_stackbox ARG... / begin_bcc TOOL ARG... / begin_bpftrace SCRIPT / begin_ply SCRIPT /
# begin_quiet COMMAND...: true once it traces
begin_stackbox()
{
    begin ./stackbox "$@"
    as_soon_as said_ready
}

begin_bcc()
{
    tool=$(bcc_tool "$1")
    shift
    # Some say so before they have compiled.
    begin env PYTHONUNBUFFERED=1 "$tool" "$@"
    as_soon_as said_ready && as_soon_as has_program && sleep 0.5
}

begin_ply()
{
    begin "$ply" "$1"
    as_soon_as has_program && sleep 0.5
}

begin_bpftrace()
{
    begin "$bpftrace" -B line -e "$1 $ready_bpftrace"
    as_soon_as said_ready
}

begin_quiet()
{
    begin "$@"
    as_soon_as has_link && sleep 0.2
}

# ---- whole runs

# cost COMMAND...: sets $cpu, $wall (ms), $peak (KB) and $ending (ms from a signal to the end); the command's
# output is in $out/cost.out. False if it failed.
cost()
{
    rm -f "$out/cost"
    "$tools/cost" "$out/cost" "$@" >"$out/cost.out" 2>"$out/cost.err" || rm -f "$out/cost"
    read_cost
}

read_cost()
{
    cpu='' wall='' peak='' ending=''
    [ -s "$out/cost" ] && read -r cpu wall peak ending <"$out/cost"
}
