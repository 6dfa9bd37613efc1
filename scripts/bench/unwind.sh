# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154 # variables that are of bench.sh and all its parts
#
# Unwinding by tables. The least here is unwinding by frame pointers, which finds nothing where there are
# none: the work has both.

# sampled WHO TRACER...: CPU ms that tracing that command took, beyond the command's own
sampled()
{
    who=$1
    shift
    cost "$@"
    figure unwind.cpu "$who" "$(echo "${cpu:-0}" | awk -v work="$work" '$1 > work { print $1 - work }')"
}

# perf copies stacks, and unwinds them when it reports.
sampled_by_perf()
{
    # shellcheck disable=SC2086 # words
    cost "$perf" record -q -e cpu-clock -F 997 --call-graph dwarf,32768 -o "$out/perf.dwarf" $burn
    recorded=${cpu:-0}
    cost "$perf" report -q --stdio --no-children -i "$out/perf.dwarf"
    figure unwind.cpu perf "$(echo "$recorded ${cpu:-0}" | awk -v work="$work" '$2 { print $1 + $2 - work }')"
    rm -f "$out/perf.dwarf"*
}

# files_tables KEY FILE: ms of CPU
files_tables()
{
    figure "$1" stackbox "$("$workloads/frame_rows" -c "$2" | sed -n 's/^cpu_ms //p')"
}

part_unwind()
{
    work=1000
    burn="$workloads/deep -s $work -f 50"
    warm="$workloads/deep -s 100 -f 50"
    keep_figures 1
    # shellcheck disable=SC2086 # words
    for way in fp tables; do
        case $way in
        fp) who=floor ;;
        *)  who=stackbox ;;
        esac
        begin_stackbox profile -f -U -F 997 --unwind $way && of_tracer unwind.sample $who $burn
    done
    # shellcheck disable=SC2086
    [ "$bpftrace" ] && begin_bpftrace 'profile:hz:997 { @[ustack, comm, pid] = count(); }' &&
        of_tracer unwind.sample bpftrace $burn
    keep_figures 0
    # shellcheck disable=SC2086
    sampled floor ./stackbox profile -U -F 997 -f --unwind fp -- $burn
    # shellcheck disable=SC2086
    sampled stackbox ./stackbox profile -U -F 997 -f -- $burn
    [ "$perf" ] && early_round && sampled_by_perf
    sleep 600 &
    going=$!
    cost ./stackbox profile -D 0.1 --unwind fp -p $going
    figure unwind.start floor "$cpu"
    cost ./stackbox profile -D 0.1 -p $going
    figure unwind.start stackbox "$cpu"
    kill $going
    going=
    # shellcheck disable=SC2012 # the largest
    library=$(ls -LS /usr/lib/*/libLLVM*.so* /usr/lib/llvm-*/lib/libLLVM*.so* 2>/dev/null | head -n 1)
    [ "$library" ] && files_tables unwind.llvm "$library"
    figure unwind.machine stackbox "$("$workloads/unwind_objects" | sed -n 's/.* cpu_ms \([0-9.]*\) .*/\1/p')"
}
