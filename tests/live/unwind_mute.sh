#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# host: yes
#
# A program on a file system whose server is mute or slow: only its own stacks may lack frames.
. "${0%/*}/lib.sh"

# The server ends by then, and with it all that waits for it.
if [ "${GUEST:-}" ]; then LIMIT=180; else LIMIT=60; fi

have_root || skip_all "tracing needs root"
have_tables || skip_all "$NO_TABLES"
load_module fuse
choose_event

STACK='_start;([^;]*__libc_start_main[^;]*;)+__libc_start_call_main;main;outer;middle;inner;leaf'
# No other process has this name.
NAME=n$$
OTHERS=6
CALLS=10
# A slow emulated machine misses most programs that live for a moment.
if [ "${GUEST:-}" ]; then MOST=25; else MOST=100; fi

# serve NAME OPTION...: $scratch/NAME/program is in a file system of its own, and has run once: what is read before it
# runs is in the page cache
serve()
{
    name=$1
    shift
    mkdir "$scratch/$name"
    start_workload "$name" mute "$@" -w "$WORKLOADS/bare" "$scratch/$name" ||
        skip_all "no FUSE: $(tail -n 1 "$scratch/$name.out")"
    "$scratch/$name/program" calls 1 >"$scratch/said"
}

# report_seconds: how long the report took, with tables and names
report_seconds()
{
    sed -n 's/.*: report: .* written in \([0-9]*\) us$/\1/p' "$scratch/err" | awk '{ print int($1 / 1000000) }'
}

# counted ARG...: starts tracing
counted()
{
    start_tracing stackcount -U -f --debug --unwind tables "$@" "$EVENT"
}

# runs_others: new programs, one after the other
runs_others()
{
    number=$OTHERS
    while [ "$number" -gt 0 ]; do
        cp "$WORKLOADS/bare" "$scratch/$NAME$number"
        "$scratch/$NAME$number" calls $CALLS >"$scratch/said"
        number=$((number - 1))
    done
}

# events NAME REGEX: how many events of such processes have such a stack
events()
{
    folded_sum "$scratch/out" "^$1;($2) [0-9]+\$"
}

# others_judged NAME
others_judged()
{
    is "$1: others are counted" "$(events "$NAME[0-9]" '.*')" $((OTHERS * CALLS))
    between "$1: others have their stacks" "$(events "$NAME[0-9]" "$STACK")" $((OTHERS * CALLS * MOST / 100)) \
        $((OTHERS * CALLS))
}

serve mute
go mute
counted
"$scratch/mute/program" calls $CALLS >"$scratch/said"
runs_others
finish_stackbox
is "reads that are not answered: all are counted" "$(events program '.*')" $CALLS
is "reads that are not answered: each stack is marked" "$(events program '\[truncated\].*')" $CALLS
others_judged "reads that are not answered"
between "reads that are not answered: seconds until the report" "$(report_seconds)" 0 20

# Its names alone, and what a recording says of each file
counted --unwind fp -o "$scratch/run.sbx"
"$scratch/mute/program" calls $CALLS >"$scratch/said"
finish_stackbox
between "names without answer: seconds until the report" "$(report_seconds)" 0 20
run_stackbox report -f "$scratch/run.sbx"
is "names without answer: all are recorded" "$(events program '.*')" $CALLS
drop_workload mute

# fall_mute NAME: from now on the server answers nothing; one whose name begins with "stop" is stopped
fall_mute()
{
    case $1 in
    stop*) kill -s STOP "$(pid_of "$1")" ;;
    *) go "$1" ;;
    esac
}

# drop_server NAME
drop_server()
{
    kill -s CONT "$(pid_of "$1")"
    drop_workload "$1"
}

# begins_without NAME: a server that answers nothing, or is stopped, when tracing begins
begins_without()
{
    serve "$1" -o
    start_workload runs "$scratch/$1/program" -w calls $CALLS
    fall_mute "$1"
    counted
    go runs
    wait_workload runs
    runs_others
    finish_stackbox
    is "$1: all are counted" "$(events program '.*')" $CALLS
    is "$1: each stack is marked" "$(events program '\[truncated\].*')" $CALLS
    others_judged "$1"
    between "$1: seconds until the report" "$(report_seconds)" 0 20
    drop_server "$1"
}

# ends_without NAME [OPTION...]: a server that falls mute once the file is open and has its table
ends_without()
{
    mute=$1
    shift
    serve "$mute" -o
    start_workload runs "$scratch/$mute/program" -w calls $CALLS
    counted "$@"
    "$scratch/$mute/program" calls $CALLS >"$scratch/said"
    runs_others
    fall_mute "$mute"
    go runs
    wait_workload runs
    finish_stackbox
    is "$mute: ends well" "$status" 0
    between "$mute: seconds until the report" "$(report_seconds)" 0 20
    [ $# = 0 ] || run_stackbox report -f "$scratch/run.sbx"
    is "$mute: all are counted" "$(events program '.*')" $((2 * CALLS))
    others_judged "$mute"
    drop_server "$mute"
}

# functions_without NAME: a server that falls mute while the program's function is traced, and stays so
functions_without()
{
    serve "$1" -o
    start_workload runs "$scratch/$1/program" -w calls $CALLS
    start_workload waits "$scratch/$1/program" -w calls $CALLS
    start_tracing stackcount -U -f -p "$(pid_of runs)" program:leaf
    go runs
    wait_workload runs
    fall_mute "$1"
    finish_stackbox
    is "$1: ends well" "$status" 0
    is "$1: all are counted" "$(events program '.*')" $CALLS
    for pattern in program:leaf "$scratch/$1/program:leaf"; do
        run_stackbox stackcount -U -f -p "$(pid_of waits)" "$pattern"
        is "$1: no functions are found" "$status" 1
        contains "$1: says why" "$scratch/err" "the process that reads programs failed: Operation timed out"
    done
    drop_server "$1"
    drop_workload waits
}

if [ "$GUEST" ]; then
    begins_without silent
    begins_without stopped
    ends_without silent_later
    ends_without stopped_later
    ends_without stopped_recording -o "$scratch/run.sbx"
    functions_without silent_functions
    functions_without stopped_functions
else
    skip "servers that do not even answer who opens" "other tests' runs would wait for them, too"
fi

# The server answers each page slowly.
serve slow -s 100
go slow
counted
"$scratch/slow/program" calls $CALLS >"$scratch/said"
finish_stackbox
is "slow reads: the program has its stacks" "$(events program "$STACK")" $CALLS
drop_workload slow
