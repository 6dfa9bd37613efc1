#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
#
# `-- COMMAND`: all its descendants count, however they are started and whatever user they run as; other
# processes, which make the same calls all the time, do not.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

# No other process has this name.
NOISE=calls$$
SHORT=1000
[ -z "$GUEST" ] || SHORT=300 # in emulation a process takes some ten milliseconds

# made: the number of calls that the command reports
made()
{
    sed -n 's/^done CALLS=//p' "$scratch/err"
}

# all NAME OPTION... -- WORD...: all calls of that command are counted, and no others
all()
{
    name=$1
    shift
    run_stackbox stackcount -f "$@"
    is "$name: exit status" $status 0
    is "$name" "$(counted)" "$(made)"
    lacks "$name: no events were skipped" "$scratch/err" "the kernel missed"
}

while :; do
    "$WORKLOADS/calls" -n 1000 -N $NOISE >/dev/null
    [ -z "$GUEST" ] || sleep 0.05 # in emulation it would leave little CPU time
done &
kill_at_end $!

all "a family" -K $EVENT -- "$WORKLOADS/family"
made_alone=$(made)
all "many short processes" -K $EVENT -- "$WORKLOADS/family" -c $SHORT
all "user stacks" $EVENT -- "$WORKLOADS/family"
all "each process apart" -P $EVENT -- "$WORKLOADS/family"
all "over intervals" -K -i 0.3 $EVENT -- "$WORKLOADS/family" -n 100 -c $((SHORT / 2))
# Another user may have no access to the tests' directory.
chmod 755 "$scratch" && cp "$WORKLOADS/calls" "$scratch/calls"
all "as another user" -K $EVENT -- "$WORKLOADS/deny" --uid 65534 -- "$scratch/calls" -n 300
all "without capabilities" -K $EVENT -- "$WORKLOADS/deny" --cap all -- "$WORKLOADS/calls" -n 300
if command -v setpriv >/dev/null && setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
    all "by setpriv" -K $EVENT -- setpriv --reuid=65534 --clear-groups "$scratch/calls" -n 300
else
    skip "by setpriv" "it is not installed, or has no --reuid"
fi
all "in a pid namespace of its own" -K $EVENT -- "$WORKLOADS/deny" --pid-namespace -- \
    "$WORKLOADS/family"
if [ "$(nproc)" -gt 1 ]; then
    run_stackbox stackcount -f -K -C 0 $EVENT -- "$WORKLOADS/calls" -t 2 -n 500
    is "and on one CPU, all are counted" "$(counted)" 500
fi

# stackbox itself in a pid namespace: its pid and the command's are different there.
if "$WORKLOADS/deny" --pid-namespace -- true 2>"$scratch/why"; then
    under="$WORKLOADS/deny --pid-namespace --"
    all "from a pid namespace" -K $EVENT -- "$WORKLOADS/family"
    all "from a pid namespace, user stacks" $EVENT -- "$WORKLOADS/family"
    under=
else
    skip "from a pid namespace" "$(cat "$scratch/why")"
fi

# Processes that the command leaves behind are counted until it ends, and not afterwards.
run_stackbox stackcount -f -K -P $EVENT -- sh -c \
    "$WORKLOADS/calls -n 70 & wait; (sleep 0.5; $WORKLOADS/calls -n 30 >$scratch/late) & exit 0"
is "what comes after the command's end is not counted" "$(folded_sum "$scratch/out" '^calls \(')" 70

# The same with functions of programs.
if have_uprobes; then
    run_stackbox stackcount -f "$WORKLOADS/brief:brief_inner" -- "$WORKLOADS/brief" -c 30 -n 10 -l 0
    is "functions of a program are counted" "$(counted)" "$(made)"
    start_workload one brief -w -c 20 -n 10 -l 0
    kill -s USR2 "$(pid_of one)"
    run_stackbox stackcount -f "$WORKLOADS/brief:brief_inner" -- "$WORKLOADS/brief" -v -c 20 -n 5 -l 0
    wait_workload one
    is "only the command's are" "$(counted)" "$(made)"
    is "and they have names" "$(grep -c ';main;.*live;brief_outer;brief_inner ' "$scratch/out")" 1
else
    skip "functions of programs" "this kernel has no uprobes"
fi

# A task's state must not carry over to the next task with its pid. With few pids, they are reused
# soon: only in guests, since other processes would have none left.
if [ "$GUEST" ]; then
    set_sysctl kernel/pid_max 400
    all "numbers that come round" -K $EVENT -- "$WORKLOADS/family" -c 1000
    run_stackbox stackcount -f -K $EVENT -- sh -c \
        "echo 2000 >/proc/sys/kernel/pid_max; $WORKLOADS/calls -n 10"
    contains "a raised pid_max is reported" "$scratch/err" "kernel.pid_max was raised"
    reset_sysctls
fi
is "the family is what it was" "$made_alone" 390
