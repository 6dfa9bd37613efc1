#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: newest
# host: yes
# beside
#
# stackbox reads the kernel's symbols only for new functions, by the kernel's count of bytes read
# (/proc/PID/io): reports of the same functions, and events printed as they come, add none. Where
# the kernel itself gives names, and a named function's address, stackbox does not read symbols.
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
kill_at_end $!

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

start_tracing stackcount -K -f -i 0.3 "$EVENT"
once "reports"
start_tracing stacksnoop -K "$EVENT"
once "events"

# read_at_end ARG...: sets $bytes, read by a run from when it is asked to end. The kernel adds what a process has
# read to what its parent has.
read_at_end()
{
    sh -c '"$@" >"$0/out" 2>"$0/err" & echo $! >"$0/pid"; wait; cat /proc/$$/io >"$0/io"' "$scratch" "$STACKBOX" "$@" &
    runner=$!
    kill_at_end "$runner"
    wait_until "$LIMIT" grep -q '^Tracing' "$scratch/out" || fail "$*: it traces" "$(cat "$scratch/err")"
    sleep 1
    before=$(read_by "$(cat "$scratch/pid")")
    own=$(read_by "$runner")
    kill -TERM "$(cat "$scratch/pid")"
    wait "$runner"
    bytes=$(($(sed -n 's/^rchar: //p' "$scratch/io") - own - before))
}

# named ARG...: where the kernel names functions itself, it does so (see kernel_names.sh)
named()
{
    arguments=$*
    : >"$scratch/out" >"$scratch/err"
    read_at_end "$@"
    if older_than 5.16; then
        [ "$bytes" -lt $((symbols * 5 / 4)) ] && pass "$arguments: symbols are read once" ||
            fail "$arguments: symbols are read once" "$bytes bytes were read; they are $symbols"
    else
        [ "$bytes" -lt $((symbols / 20)) ] && pass "$arguments: symbols are not read" ||
            fail "$arguments: symbols are not read" "$bytes bytes were read; they are $symbols"
    fi
}

for event in "$EVENT" t:sched:sched_switch; do
    named stackcount -K "$event"
    lacks "$arguments: functions have names" "$scratch/out" "[unknown]"
done

# reads NAME PATTERN: a whole run without events
reads()
{
    sh -c '"$@" >"$0/out" 2>"$0/err"; cat /proc/$$/io >"$0/io"' "$scratch" "$STACKBOX" stackcount -D 0.1 "$2"
    bytes=$(sed -n 's/^rchar: //p' "$scratch/io")
    [ "$bytes" -lt $((symbols / 20)) ] && pass "$1: symbols are not read to attach" ||
        fail "$1: symbols are not read to attach" "$bytes bytes were read; they are $symbols"
}

# A function that was named exactly, and what is said of tracepoints
older_than 6.13 || reads "a tracepoint" t:syscalls:sys_enter_acct
if older_than 6.7 || ! "$STACKBOX" stackcount -D 0.1 do_sys_settimeofday64 >/dev/null 2>&1; then
    skip "an exact name" "this kernel has no probes that refuse ambiguous names"
else
    reads "an exact name" do_sys_settimeofday64
    reads "a system call" sys_acct
    # The kernel would give only one of several functions with this name.
    with_tracefs || fail "tracefs" "it cannot be mounted"
    several=$(sed 's/[ \t].*//' "/sys/kernel/tracing/available_filter_functions" | sort | uniq -d | head -n 1)
    number=$(grep -cE "^$several([ 	]|\$)" "/sys/kernel/tracing/available_filter_functions")
    run_stackbox stackcount --debug -D 0.1 "$several"
    is "$several, which is the name of $number functions: all are traced" \
        "$(sed -n 's/.*attached \([0-9]*\) places.*/\1/p' "$scratch/err")" "$number"
fi

# Wakers that are interrupts are recognized by names. With room for all: tables that fill up are emptied during the
# run, and so looked through. A wakeup may be within a function that may have a better name, such as
# __pi___x86_indirect_thunk_r12: then one pass tells.
for applet in wakeuptime offwaketime; do
    : >"$scratch/out" >"$scratch/err"
    read_at_end $applet -K --stack-storage-size 65536
    [ "$bytes" -lt $((symbols * 5 / 4)) ] && pass "$applet: symbols are read once at most" ||
        fail "$applet: symbols are read once at most" "$bytes bytes were read; they are $symbols"
    contains "$applet: wakers have names" "$scratch/out" "try_to_wake_up"
done
