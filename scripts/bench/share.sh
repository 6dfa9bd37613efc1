# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154 # variables that are of bench.sh and all its parts
#
# What share of all CPUs a profile takes that is left on: its own time, that of what it forks, and that of its
# programs in the kernel, by the kernel's own figure. For perf, which needs no program, only its own: nobody
# counts what it takes in interrupts. A minute each, with one report, as it would run for years: on an idle
# machine, with short processes that come and go, and with busy threads.

# taken: CPU time so far, in ns, of the tracer started last
taken()
{
    cat "/proc/$tracer/task"/*/schedstat "/proc/$tracer/fdinfo"/* "/proc/$tracer/stat" 2>/dev/null |
        awk -v tick=$((1000000000 / $(getconf CLK_TCK))) '
        $1 ~ /^[0-9]+$/ && NF == 3 { own += $1 }
        $1 == "prog_id:" { program = $2 }
        $1 == "run_time_ns:" { time[program] = $2 }
        sub(/.*\) . /, "") && NF > 20 { children = ($13 + $14) * tick }
        END {
            for (program in time)
                own += time[program]
            printf "%.0f\n", own + children
        }'
}

# shared KEY WHO: percent of all CPUs that the tracer started last takes in a minute
shared()
{
    sleep 5
    before=$(taken)
    sleep 60
    figure "$1" "$2" "$(echo "$before $(taken)" | awk -v cpus="$(nproc)" '{ print ($2 - $1) / 6e8 / cpus }')"
    end_tracer_by INT
}

# shares KEY: at both rates
shares()
{
    for rate in 19 99; do
        begin_for 80 ./stackbox profile -F $rate -i 60 -o "$out/share.%t.pb.gz"
        as_soon_as said_ready && shared "share.$rate.$1" stackbox
        if [ "$perf" ]; then
            begin_for 80 "$perf" record -q -a -e cpu-clock -F $rate --call-graph dwarf -o "$out/share.perf"
            shared "share.$rate.$1" perf
        fi
        rm -f "$out"/share.*
    done
}

# Each is a program with its libraries: some 300 a second.
come_and_go()
{
    while :; do
        sleep 0.002
    done
}

part_share()
{
    early_round 1 || return
    keep_figures 1
    shares idle
    come_and_go &
    going=$!
    shares short
    kill $going
    "$workloads/deep" -t "$(nproc)" -s 400000 -f 25 >/dev/null &
    going=$!
    shares busy
    kill $going
    going=
    keep_figures 0
}
