#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
#
# Small boards give programs small stacks: each applet runs within 64 KB (ulimit -s 64).
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

# works NAME ARG...: runs to its end
works()
{
    name=$1
    shift
    run_stackbox "$@"
    is "$name" "$status $(grep -c -e cannot -e signal "$scratch/err")" "0 0"
}

# A soft limit: what else this test starts has the usual one.
small_stack()
{
    ulimit -S -s 64
    works "64 KB of stack: stackcount" stackcount -D 0.1 t:sched:sched_switch
    works "64 KB of stack: stackcount of user functions" stackcount "$WORKLOADS/calls:main" -- "$WORKLOADS/calls" -n 1
    works "64 KB of stack: stacksnoop" stacksnoop -D 0.1 t:sched:sched_switch
    works "64 KB of stack: profile" profile 0.1
    works "64 KB of stack: profile, a flame graph" profile --format svg 0.1
    works "64 KB of stack: offcputime" offcputime 0.1
    works "64 KB of stack: wakeuptime" wakeuptime 0.1
    works "64 KB of stack: offwaketime" offwaketime 0.1
    works "64 KB of stack: walltime" walltime -p 1 0.1
    works "64 KB of stack: rings" stackcount --collect rings -D 0.1 t:sched:sched_switch
    works "64 KB of stack: ptrace" profile --collect ptrace -- true
    works "64 KB of stack: a recording" profile --format sbx -o "$scratch/one.sbx" 0.1
    works "64 KB of stack: report" report "$scratch/one.sbx"
    echo "main;one;two 3" >"$scratch/one.folded"
    works "64 KB of stack: flamegraph" flamegraph "$scratch/one.folded"
    run_stackbox check
    is "64 KB of stack: check ends by itself" "$([ $status -le 1 ] && echo yes || echo $status)" yes
}
small_stack
