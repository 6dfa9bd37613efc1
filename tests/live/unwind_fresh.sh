#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.12,newest
# host: yes
#
# Short-lived files during a run: programs that processes execute, libraries loaded and unloaded in
# a loop, hundreds of programs at once, deleted ones. stackbox counts all events, and each stack is
# whole or marked as truncated.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_tables || skip_all "$NO_TABLES"
choose_event

START='_start;([^;]*__libc_start_main[^;]*;)+__libc_start_call_main;main'
# No other process has this name.
NAME=n$$
# A slow emulated machine misses most programs that live for a moment.
if [ "${GUEST:-}" ]; then MANY=60 LOADS=60 MOST=25; else MANY=500 LOADS=300 MOST=90; fi
CALLS=10
# Where little memory is free the ring is small, and few of the first stacks are cut.
if [ "$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)" -lt 300 ]; then WHOLE=95; else WHOLE=100; fi

# counted ARG...: starts tracing; with --debug even one cut stack is reported
counted()
{
    start_tracing stackcount -U -f --debug --unwind tables "$@" "$EVENT"
}

# events REGEX: how many events of ours have such a stack
events()
{
    folded_sum "$scratch/out" "^$NAME[0-9]*;($1) [0-9]+\$"
}

# judged NAME EVENTS REGEX LEAST: all are counted; at least LEAST percent of the stacks are whole, each of the others
# is marked as cut, and if there are any a line says so
judged()
{
    whole=$(events "$3")
    cut=$(events '\[truncated\].*')
    is "$1: all are counted" "$(events '.*')" "$2"
    is "$1: each stack is whole or marked" "$(grep "^$NAME[0-9]*;" "$scratch/out" |
        grep -vE "^[^;]*;($3|\\[truncated\\].*) [0-9]+\$" | head -n 3)" ""
    between "$1: percent of whole stacks" "$((whole * 100 / $2))" "$4" 100
    [ "$cut" = 0 ] || contains "$1: that stacks are cut is reported" "$scratch/err" 'user stacks end early'
}

# new FILE COPY: a copy with a new inode
new()
{
    cp "$WORKLOADS/$1" "$scratch/$2"
}

# execs NAME OPTION...: a process goes on as another program nine times; PID stands for its pid
execs()
{
    name=$1
    shift
    new north-bare "$NAME"north
    new south-bare "$NAME"south
    start_workload one "$scratch/${NAME}north" -w -n 500 -r 10 -N "$NAME" "$scratch/${NAME}south"
    # shellcheck disable=SC2046 # words
    counted $(printf '%s\n' "$@" | sed "s/^PID\$/$(pid_of one)/")
    go one
    wait_workload one
    finish_stackbox
    judged "$name" 5000 "$START;(north_outer;north|south_outer;south)_inner" $WHOLE
    for program in north south; do
        is "$name: calls of the right program: $program" "$(count_of one $program | tr '\n' ' ')" "500 500 500 500 500 "
        between "$name: stacks have the right names: $program" \
            "$(events "$START;${program}_outer;${program}_inner")" $((2500 * WHOLE / 100)) 2500
    done
    rm -f "$scratch/$NAME"*
}

execs "exec with -p" -p PID
execs "exec"

# owned NAME LEAST OPTION...: an ordinary user's process goes on as other set-user-ID programs: at each exec the
# kernel reports an exit of the process, which lives on; at least LEAST percent of the stacks are whole
owned()
{
    name=$1 least=$2
    shift 2
    counted "$@"
    # shellcheck disable=SC2016 # for that shell
    start_workload one deny --uid 65534 -- sh -c 'exec "$0" "$@"' "$scratch/${NAME}0" -w -k -n 100 -r 10 \
        "$scratch/${NAME}1"
    user=$(awk '/^Uid:/ { print $3 }' "/proc/$(pid_of one)/status")
    go one
    finish_workload one
    finish_stackbox
    if [ "$user" != 0 ]; then
        skip "$name" "this file system has no set-user-ID programs"
        return
    fi
    judged "$name" 1000 "$START;(north_outer;north|south_outer;south)_inner" "$least"
    is "$name: calls have the right names" "$(folded_sum "$scratch/out" "^${NAME}0;.*;north_inner ") \
$(folded_sum "$scratch/out" "^${NAME}1;.*;south_inner ")" "500 500"
}

new north-bare "${NAME}0"
new south-bare "${NAME}1"
chmod 755 "$scratch"
chmod 4755 "$scratch/$NAME"*
# Emulated, there are tables for the first stacks too late for what rings keep of these.
if [ "${GUEST:-}" ]; then SOME=30; else SOME=$WHOLE; fi
owned "set-user-ID programs" $WHOLE
owned "set-user-ID programs, by rings" "$SOME" --collect rings
owned "a process and its set-user-ID programs" $WHOLE -p $$ --follow
owned "a process and its set-user-ID programs, by rings" "$SOME" --collect rings -p $$ --follow
rm -f "$scratch/$NAME"*

if [ -x "$WORKLOADS/dynamic/loads" ]; then
    # loads NAME FRAMES LIBRARY...: loads each, calls into it, and unloads it
    loads()
    {
        name=$1 frames=$2
        shift 2
        counted
        "$WORKLOADS/dynamic/loads" -c -n $CALLS -N "$NAME" "$@" >"$scratch/said"
        finish_stackbox
        is "$name: the workload made all its calls" "$(tail -n 1 "$scratch/said")" "done CALLS=$(($# * CALLS))"
        judged "$name" $(($# * CALLS)) "_start;.*;main;$frames" 90
    }

    new dynamic/libbare.so lib.so
    # shellcheck disable=SC2046 # words
    loads "the same library again and again" "call_inside;bare_lib_outer;bare_lib_inner" \
        $(yes "$scratch/lib.so" | head -n $LOADS)
    number=0 libraries=
    while [ $number -lt $LOADS ]; do
        number=$((number + 1))
        new dynamic/libbare.so lib$number.so
        libraries="$libraries $scratch/lib$number.so"
    done
    # Most are at the address of the one before, which makes their names ambiguous.
    # shellcheck disable=SC2086 # words
    loads "a new library each time" "((call_inside;bare_lib_outer;bare_lib_inner)|(;?\[lib[^;]*\]){3})" $libraries
    # shellcheck disable=SC2086 # words
    rm -f $libraries
else
    skip "libraries" "they are made for the machine with the compiler"
fi

# run_many OPTION...: runs $MANY new programs at the same time; on two CPUs it takes one to two seconds, in a guest up
# to six
run_many()
{
    number=0 jobs=
    while [ $number -lt $MANY ]; do
        number=$((number + 1))
        new bare $NAME$number
    done
    counted
    while [ $number -gt 0 ]; do
        "$scratch/$NAME$number" "$@" calls $CALLS >/dev/null &
        jobs="$jobs $!"
        number=$((number - 1))
    done
    # shellcheck disable=SC2086 # words
    wait $jobs
    megabytes=$(awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$stackbox/status")
    finish_stackbox
}

STACK="$START;outer;middle;inner;leaf"
run_many
judged "$MANY new programs" $((MANY * CALLS)) "$STACK" $MOST
between "$MANY new programs: megabytes of memory" "$megabytes" 1 64
rm -f "$scratch/$NAME"*

# Files of programs that ended early may be gone: how many depends on the machine's load.
run_many -d
judged "$MANY programs that delete their files" $((MANY * CALLS)) "$STACK" $((MOST / 2))
is "they have deleted them" "$(find "$scratch" -name "$NAME*" | wc -l)" 0

# While it runs a deleted file can be opened through its mapping.
new bare $NAME
counted
start_workload one "$scratch/$NAME" -d -w calls 2000
finish_workload one
finish_stackbox
judged "a deleted program that goes on" 2000 "$STACK" $WHOLE

# Written to in place, a file keeps its inode, but its tables no longer hold. The old functions have no names.
new north-bare $NAME
counted
"$scratch/$NAME" -n 1000 -N $NAME >/dev/null
cat "$WORKLOADS/bare" >"$scratch/$NAME"
"$scratch/$NAME" calls 1000 >/dev/null
"$scratch/$NAME" calls 1000 >/dev/null
finish_stackbox
judged "a program written to in place" 3000 "$STACK|(.*\\[$NAME\\]){3}" $WHOLE
between "a program written to in place: the new functions" "$(events "$STACK")" $((2000 * WHOLE / 100)) 2000
contains "a program written to in place: the old functions" "$scratch/err" "have no names"
