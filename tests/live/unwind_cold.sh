#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.1,6.12,newest,arm64-newest
# host: yes
#
# Programs that first run after tracing began, and end before their table is made: their frame
# pointers mislead a walk, and still each event has its stack, or a part marked as such.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_tables || skip_all "$NO_TABLES"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

STACK='_start;([^;]*__libc_start_main[^;]*;)+__libc_start_call_main;main;(wide;)?outer;middle;inner;leaf'
PART='\[truncated\];(((((((main;)?wide|main);)?outer;)?middle;)?inner;)?leaf)'
# Each program has a file of its own, and guests have little memory.
if [ "${GUEST:-}" ]; then PROGRAMS=40; else PROGRAMS=200; fi
# The beginning of their names: others may run programs, too.
NAME=c$$x

# run_new NUMBER WORD...: runs new programs, one after the other
run_new()
{
    number=$1
    shift
    while [ "$number" -gt 0 ]; do
        cp "$WORKLOADS/bare" "$scratch/$NAME$number"
        "$scratch/$NAME$number" "$@" >"$scratch/said"
        number=$((number - 1))
    done
}

# events REGEX: the number of our programs' events with such stacks
events()
{
    folded_sum "$scratch/out" "^$NAME[0-9]*;($1) [0-9]+\$"
}

# least PERCENT: of whole stacks. On one CPU all are: what makes tables comes before the program that needs them.
least()
{
    [ "$(nproc)" = 1 ] && echo 100 || echo "$1"
}

# judged NAME EVENTS LEAST: all have a right stack, or a marked part of it; at least LEAST percent the whole
judged()
{
    is "$1: all are counted" "$(events '.*')" "$2"
    is "$1: no stack is wrong" \
        "$(grep "^$NAME[0-9]*;" "$scratch/out" | grep -vE "^[^;]*;($STACK|$PART) [0-9]+\$" |
        head -n 3)" ""
    between "$1: percent of whole stacks" "$(($(events "$STACK") * 100 / $2))" "$(least "$3")" 100
    rm -f "$scratch/$NAME"*
}

# counted ARG...: starts tracing
counted()
{
    start_tracing stackcount -U --unwind tables -f "$@" t:syscalls:sys_enter_getppid
}

counted
run_new $PROGRAMS calls 10
finish_stackbox
judged "programs that exit at once" $((PROGRAMS * 10)) 90

# Of a program in a memfd nothing is left once it has ended. What called its function is not invented then.
counted
kill -s STOP "$stackbox"
run_new 20 -m calls 10
kill -s CONT "$stackbox"
finish_stackbox
is "programs in memory that are gone: what is known of them" \
    "$(events '\[truncated\];\[memfd:program\]'), and $(events '.*')" "200, and 200"
contains "programs in memory that are gone: it says why" "$scratch/err" "memfd:program could not be read"
rm -f "$scratch/$NAME"*

# Between the frames are pages that nothing has ever touched.
counted
run_new $((PROGRAMS / 4)) wide 10
finish_stackbox
is "untouched pages of the stack: none is walked round" "$(events '[^\[]*;main;outer;.*')" 0
judged "untouched pages of the stack" $((PROGRAMS / 4 * 10)) 90

# A report does not wait for long: how many are whole depends on how busy the machine is.
counted -i 0.3
run_new $((PROGRAMS / 4)) calls 10
finish_stackbox
judged "reports at intervals" $((PROGRAMS / 4 * 10)) 0

# More stacks than stackbox can keep: it truncates them, and says so.
counted
run_new 1 calls 30000
finish_stackbox
judged "more than there is room for" 30000 0
if [ "$(events "$PART")" -gt 300 ]; then
    contains "more than there is room for: it is reported" "$scratch/err" 'ran for the first time'
fi

# Many different stacks at once: each has its five calls. (On a machine whose CPUs are all busy some may be cut.)
# With little memory there is room for fewer.
[ "$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)" -ge 300 ] && stacks=16384 || stacks=2048
counted -s
cp "$WORKLOADS/spread" "$scratch/$NAME"
"$scratch/$NAME" -n $stacks -r 5 >"$scratch/said"
finish_stackbox
is "many stacks at once: all are counted" "$(events '.*')" $((stacks * 5))
between "many stacks at once: percent of them whole, with their calls" "$(grep "^$NAME;_start+.*;main+" "$scratch/out" |
    awk -v stacks=$stacks '!/truncated/ && $NF == 5 { n++ } END { print int(n * 100 / stacks) }')" "$(least 95)" 100
rm -f "$scratch/$NAME"

# A thread, whose libc may have no tables: its file says where the stack ends.
counted
cp "$WORKLOADS/calls" "$scratch/$NAME"
"$scratch/$NAME" -n 50 -N "$NAME" >"$scratch/said"
finish_stackbox
is "a thread has its stack" "$(events '([^;]*;)?start(_thread)?;work;make_calls')" 50
rm -f "$scratch/$NAME"

# Waits, and single events.
start_tracing offcputime -U --unwind tables -f
run_new 10 naps 2
finish_stackbox
is "waits" "$(grep -E "^$NAME[0-9]*;" "$scratch/out" | grep nanosleep |
    grep -cvE ";main;outer;middle;inner;nap;$(call_of "$WORKLOADS/bare" nanosleep) [0-9]+\$|\[truncated\]")" 0
is "waits: each program has one" "$(grep -E "^$NAME[0-9]*;_start;" "$scratch/out" | grep -c ';nap;')" 10
rm -f "$scratch/$NAME"*

start_tracing stacksnoop -U --unwind tables t:syscalls:sys_enter_getppid
run_new 10 calls 3
finish_stackbox
# The frames of each event, in one line
whole=$(awk -v name="$NAME" '
    /^[^\t ]/ { if (inside) print all; inside = index($2, name) == 1; all = "" }
    /^[\t ]/ { all = all " " $1 }
    END { if (inside) print all }' "$scratch/out" |
    grep -cE '^ leaf inner middle outer main __libc_start_call_main .*_start$')
between "single events: whole stacks of 30" "$whole" "$([ "${GUEST:-}" ] && echo 10 || echo 28)" 30
rm -f "$scratch/$NAME"*

# Libraries that are loaded later; then each at the address of the one before, whose names are
# ambiguous.
if [ -x "$WORKLOADS/dynamic/loads" ]; then
    # loads_new WORD...: loads new libraries
    loads_new()
    {
        for name in north south; do
            cp "$WORKLOADS/dynamic/lib$name.so" "$scratch/lib$name.new"
            mv "$scratch/lib$name.new" "$scratch/lib$name.so"
        done
        counted
        "$WORKLOADS/dynamic/loads" "$@" -n 50 -N "$NAME" "$scratch/libnorth.so" "$scratch/libsouth.so" >"$scratch/said"
        finish_stackbox
    }

    loads_new
    for name in north south; do
        is "a new library has its stacks: $name" \
            "$(events "_start;.*;main;.*${name}_lib_outer;${name}_lib_inner")" 50
    done
    loads_new -c
    is "libraries at one address are both shown" \
        "$(events '_start;.*;main(;\[lib(north|south).so or lib(north|south).so\]){3}')" 100
fi
