#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What scripts/bench.sh --guest runs in a guest: an event next to the minimum, and probes on functions
# of the kernel. Each figure is a line `@figure ROUND KEY WHO VALUE`. Where a guest has no
# kprobe.multi a thousand probes would take minutes: those figures are left out.

# shellcheck source=tests/live/lib.sh
. "${0%/*}/../live/lib.sh"

tools=/build/release/bench
rounds=$(cat /build/bench/work/rounds) || exit 1

figure()
{
    case $3 in
    '' | *[!0-9.]*) ;;
    *) echo "@figure $round $1 $2 $3" ;;
    esac
}

# By the kernel's own figures: of several programs, the one that ran most often.
ns_per_run()
{
    cat "/proc/$1/fdinfo"/* 2>/dev/null | awk '
        $1 == "run_time_ns:" { time = $2 }
        $1 == "run_cnt:" && $2 > runs { runs = $2; figure = time / runs }
        END { if (runs >= 100) printf "%.1f\n", figure }'
}

event()
{
    echo 1 >/proc/sys/kernel/bpf_stats_enabled
    figure guest.event floor "$("$tools/floor" syscalls sys_enter_getppid "$WORKLOADS/calls" -n 20000 |
        sed -n 's/^ns per event: //p')"
    if start_stackbox stackcount -f t:syscalls:sys_enter_getppid; then
        "$WORKLOADS/calls" -n 20000 >/dev/null
        figure guest.event stackbox "$(ns_per_run "$stackbox")"
    fi
    finish_stackbox INT
    echo 0 >/proc/sys/kernel/bpf_stats_enabled
}

# attached KEY ARG...: a run with probes on kernel functions
attached()
{
    key=$1
    shift
    if "$tools/cost" "$scratch/cost" "$STACKBOX" stackcount -f -K -D 0.001 "$@" \
        >"$scratch/out" 2>"$scratch/err"; then
        figure "$key" stackbox "$(cut -d ' ' -f 2 "$scratch/cost")"
    else
        fail "$key" "$(tail -n 3 "$scratch/err")"
    fi
}

# How many functions these are, for readers of the log
say_numbers()
{
    echo "tcp_*: $("$STACKBOX" stackcount --list 'tcp_*' | grep -c .) functions;" \
        "tcp_* ip* sk*: $("$STACKBOX" stackcount --list 'tcp_*' 'ip*' 'sk*' | grep -c .)"
}

multi=no
"$STACKBOX" stackcount -K -D 0.001 --attach-by multi vfs_read >/dev/null 2>&1 && multi=yes
echo "kprobe.multi: $multi"
say_numbers
ten=$("$STACKBOX" stackcount --list 'vfs_*' | head -n 10)
for round in $(seq "$rounds"); do
    event
    attached guest.attach.1 vfs_read
    if [ $multi = yes ]; then
        attached guest.attach.tcp 'tcp_*'
        attached guest.attach.many 'tcp_*' 'ip*' 'sk*'
    fi
    attached guest.attach.pmu.1 --attach-by pmu vfs_read
    # shellcheck disable=SC2086 # names of functions
    attached guest.attach.pmu.10 --attach-by pmu $ten
done
[ $test_failures != 0 ] || pass "figures"
