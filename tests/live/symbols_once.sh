#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: newest
# host: yes
# beside
#
# The kernel's symbols are read for the functions that are new. By the bytes that the kernel says were read
# (/proc/PID/io): reports of the same functions, and events that are printed as they come, add none.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event
[ -r /proc/self/io ] || skip_all "this kernel does not count what is read (CONFIG_TASK_IO_ACCOUNTING)"
symbols=$(wc -c </proc/kallsyms)

# read_by PID: bytes so far
read_by()
{
    sed -n 's/^rchar: //p' "/proc/$1/io"
}

# lines: how many were printed
lines()
{
    wc -l <"$scratch/out"
}

prints()
{
    [ "$(lines)" -gt 3 ]
}

# The workload calls all the time, from one place.
"$WORKLOADS/calls" -n 1 >/dev/null || fail "the workload" "it does not run"
sh -c "while :; do '$WORKLOADS/calls' -n 5 >/dev/null; done" &
test_processes="$test_processes $!"

# once NAME: for three seconds in the middle of a run
once()
{
    wait_until "$LIMIT" prints || fail "$1: it prints" "$(cat "$scratch/err")"
    sleep 1
    before=$(read_by "$stackbox") printed=$(lines)
    sleep 3
    after=$(read_by "$stackbox")
    [ "$(lines)" -gt $((printed + 3)) ] && pass "$1: it prints" || fail "$1: it prints" "$printed lines, then $(lines)"
    finish_stackbox
    [ $((after - before)) -lt "$symbols" ] && pass "$1: they are not read again" ||
        fail "$1: they are not read again" "$((after - before)) bytes were read; they are $symbols"
    lacks "$1: functions have names" "$scratch/out" "[unknown]"
}

start_stackbox stackcount -K -f -i 0.3 "$EVENT" || fail "reports" "$(cat "$scratch/err")"
once "reports"
start_stackbox stacksnoop -K "$EVENT" || fail "events" "$(cat "$scratch/err")"
once "events"
