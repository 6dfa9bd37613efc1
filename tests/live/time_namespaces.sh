#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.12
# kernels: 5.10,newest
# host: yes
# quiet
#
# In a time namespace clocks are ahead of the kernel's, or behind (5.6): events have the kernel's times.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

AHEAD="$WORKLOADS/deny --time-namespace 100000 --"

have_root || skip_all "tracing needs root"
[ -e /proc/self/timens_offsets ] || skip_all "this kernel has no time namespaces"
is "clocks are ahead" "$($AHEAD sh -c '[ "$(cut -d . -f 1 /proc/uptime)" -ge 100000 ] && echo yes')" yes

choose_event
under=$AHEAD

# run_beside_naps ARG...: this run reports on `sleeps`, whose other thread naps for a second
run_beside_naps()
{
    start_sleeps -o nap
    # If only one wait is missing, only --debug says so.
    trace_workload sleeps "$@" --debug -p "$pid"
}

run_beside_naps offcputime -f
slept offcputime "$(grep "^${PREFIX}nap;" "$scratch/out" | sum)" nap
run_beside_naps offcputime -f --unfinished
between "offcputime --unfinished" "$(sum <"$scratch/out")" 1000000 100000000
run_beside_naps walltime -f -i 0.3
between walltime "$(sum <"$scratch/out")" 1000000 100000000

# While it runs, not when the other clock gets there
under="$WORKLOADS/deny --time-namespace -$(($(cut -d . -f 1 /proc/uptime) - 2)) --"
start_workload one calls -w -k -n 20
start_tracing stacksnoop -p "$(pid_of one)" "$EVENT"
go one
wait_until 20 grep -q "^ *[0-9.]* *calls .*getppid" "$scratch/out" && pass "stacksnoop: events come as they happen" ||
    fail "stacksnoop: events come as they happen" "$(head -n 3 "$scratch/out")"
finish_stackbox
finish_workload one

under=$AHEAD
run_stackbox stackcount -f "$EVENT" -- "$WORKLOADS/calls" -n 30
is "functions of a command that has ended have names" "$(grep ';make_calls;' "$scratch/out" | sum)" 30
