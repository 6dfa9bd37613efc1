#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
#
# A signal at any time, also before tracing has begun, ends a run of every applet in the same way: with its
# report, and 0. (Only as the program starts, before it takes signals, the signal kills it.)
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

# ended_after DELAY ARG...: the status. Not by a shell's kill: until it has reset its traps, the shell's new child
# takes the signal for its parent's trap, and then forgets it.
ended_after()
{
    delay=$1
    shift
    timeout --foreground --preserve-status -s TERM "$delay" "$STACKBOX" "$@" </dev/null >"$scratch/out" \
        2>"$scratch/err"
}

# ends NAME ARG...: begins, is ended by SIGTERM after one delay or another, and again
ends()
{
    name=$1 wrong=
    shift
    for delay in 0.001 0.002 0.003 0.004 0.006 0.008 0.010 0.013 0.016 0.020 0.030 0.050; do
        ended_after $delay "$@"
        case $? in
        0) grep -qE '^(Tracing|Sampling) ' "$scratch/out" "$scratch/err" || wrong="$wrong $delay: no header;" ;;
        143) ! [ -s "$scratch/out" ] || wrong="$wrong $delay: killed after its report had begun;" ;;
        *) wrong="$wrong $delay: $(tr '\n' '|' <"$scratch/err");" ;;
        esac
    done
    is "$name" "$wrong" ""
}

ends stackcount stackcount t:sched:sched_process_hang
ends "stackcount by rings" stackcount --collect rings t:sched:sched_process_hang
ends "stackcount of user functions" stackcount "$WORKLOADS/calls:main"
ends stacksnoop stacksnoop t:sched:sched_process_hang
ends profile profile
ends offcputime offcputime
ends wakeuptime wakeuptime
ends offwaketime offwaketime
ends walltime walltime -p $$

# Interrupted before it was let go, a command does not run, and the status is the signal's.
for delay in 0.004 0.010; do
    ended_after $delay stackcount t:sched:sched_process_hang -- sleep 1000
    is "a command: the status is the signal's, after $delay s" $? 143
done
