#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.1,6.12,newest
# host: yes
#
# The ways to attach user probes: each counts correctly, and nothing is left behind, whether it ends or is
# killed. A leftover breakpoint would be in the traced program's own memory: it is looked for there.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_uprobes || skip_all "this kernel has no user probes"

MANY=$WORKLOADS/many
address=$("$MANY" -A | sed -n 's/^at many_000 //p')

# first_byte NAME: the first byte of many_000 in that workload's memory
first_byte()
{
    dd "if=/proc/$(pid_of "$1")/mem" bs=1 skip="$address" count=1 2>/dev/null | od -An -tx1 |
        tr -d ' \n'
}

is_plain()
{
    [ "$(first_byte "$1")" = "$PLAIN" ]
}

# text_probes: how many of ours tracefs lists. (It does not list them by a program's path: they name
# files by descriptors.)
text_probes()
{
    mkdir -p "$scratch/tracefs"
    mount -t tracefs tracefs "$scratch/tracefs" || return
    grep -c ":stackbox_" "$scratch/tracefs/uprobe_events"
    umount "$scratch/tracefs"
}

# stacks: how many functions were counted how often
stacks()
{
    sed -n 's/.*;main;many_[0-9]* \([0-9]*\)$/\1/p' "$1" | sort | uniq -c |
        awk '{ print $1 " of " $2 }'
}

is "there is no probe at first" "$(text_probes)" 0
start_workload probe many -w
PLAIN=$(first_byte probe)
finish_workload probe

# nested WAY CALLS: in each of two threads a function calls itself until CALLS of it are nested
nested()
{
    local returns=$(($2 < 64 ? $2 : 64))
    start_workload one deep -w -k -t 2 -s 0 -f $(($2 + 1))
    trace_workload one stackcount -f -U -p "$(pid_of one)" --attach-by "$1" "r:$WORKLOADS/deep:descend"
    is "$1: of $2 nested calls at most 64 returns are counted" "$(folded_sum "$scratch/out")" $((2 * returns))
    is "$1: of $2 nested calls the other returns are reported" \
        "$(sed -n 's/^stackcount: \(.*\) events, .* nested returns in a thread$/\1/p' "$scratch/err")" \
        "$([ "$2" -le 64 ] || echo "$((2 * ($2 - 64))) of $((2 * $2))")"
}

# way WAY: ten functions with seven calls each
way()
{
    start_workload one many -w -k -n 7
    if ! start_stackbox stackcount -f -U -p "$(pid_of one)" --attach-by "$1" "$MANY:many_00*"; then
        if lacks_way; then
            skip "$1" "$(cat "$scratch/err")"
        else
            fail "$1" "did not start: $(cat "$scratch/err")"
        fi
        drop_workload one
        return
    fi
    is "$1: there is a breakpoint while it traces" "$(first_byte one)" $BREAKPOINT
    go one
    finish_stackbox
    is "$1: ten functions have all calls" "$(stacks "$scratch/out")" "10 of 7"
    is "$1: no breakpoint is left" "$(first_byte one)" "$PLAIN"
    is "$1: no text probe is left" "$(text_probes)" 0
    finish_workload one

    start_workload one many -w -k
    trace_workload one stackcount -f -U -p "$(pid_of one)" --attach-by "$1" "r:$MANY:many_00*"
    is "$1: returns are counted" "$(folded_sum "$scratch/out")" 10
    nested "$1" 64
    nested "$1" 200

    start_workload one many -w -k
    start_stackbox stackcount -f -U --attach-by "$1" "$MANY:many_00*"
    is "$1: a breakpoint in every process" "$(first_byte one)" $BREAKPOINT
    finish_stackbox KILL 2>/dev/null
    if [ "$1" = tracefs ]; then
        # Text probes outlive their writer; the next run removes them.
        start_stackbox stackcount -f -U --attach-by tracefs "$MANY:many_01*"
        finish_stackbox
        is "$1: the next run removes what kill -9 left" "$(text_probes)" 0
    fi
    wait_until 20 is_plain one
    is "$1: no breakpoint is left after kill -9" "$(first_byte one)" "$PLAIN"
    drop_workload one
}
for way in multi pmu tracefs; do
    way $way
done

start_workload one deep -w -k -t 2 -s 0 -f 201
trace_workload one stacksnoop -K -p "$(pid_of one)" "r:$WORKLOADS/deep:descend"
is "stacksnoop: of 200 nested calls 64 returns are printed" "$(grep -c ' r:descend' "$scratch/out")" 128
is "stacksnoop: of 200 nested calls the other returns are reported" \
    "$(sed -n 's/^stacksnoop: \(.*\) are missing: .* nested returns in a thread$/\1/p' "$scratch/err")" "272 events"

# With -p only that process has breakpoints: by PMU events for a few functions, by links if these can
# be limited to a process (which shows only since 6.13; older kernels apply them to all processes).
alone()
{
    start_workload one many -w -k -n 3
    start_workload other many -w -k -n 3
    start_tracing stackcount -f -U -p "$(pid_of one)" "$MANY:$1"
    is "$2: only that process has breakpoints" "$(first_byte one) $(first_byte other)" "$BREAKPOINT $PLAIN"
    go other one
    finish_stackbox
    is "$2: its calls are counted" "$(folded_sum "$scratch/out")" "$3"
    finish_workload one other
}
if [ -d /sys/bus/event_source/devices/uprobe ] && ! older_than 4.18; then
    alone 'many_000' "-p and one function" 3
else
    skip "-p and one function" "probes as text are in all processes"
fi
case $(uname -r)/$(grep -c ' bpf_uprobe_multi_link_attach$' /proc/kallsyms) in
[45].* | 6.[0-9].* | 6.1[0-2].* | */0)
    skip "-p and ten functions" "here a link applies to all processes, or there are no links" ;;
*) alone 'many_00*' "-p and ten functions" 30 ;;
esac

# A process whose first thread has ended, and one that goes on in another thread's program, twice: the
# kernel takes a process for its first thread.
for way in best multi pmu tracefs; do
    start_workload ended ends -o -w -n 100
    start_workload gone north -t -w -n 100 -r 3 "$WORKLOADS/north"
    for name in ended gone; do
        places="ends:ends_inner 100"
        [ $name = ended ] || places="north:north_inner 300"
        start_stackbox stackcount -f $([ $way = best ] || echo --attach-by $way) -p "$(pid_of $name)" \
            "$WORKLOADS/${places% *}"
        if lacks_way; then
            skip "$way: $name" "this kernel lacks that way"
            drop_workload $name
            continue
        fi
        go $name
        finish_stackbox
        wait_workload $name
        is "$way: a process whose first thread has $name has all its calls" \
            "$(folded_sum "$scratch/out")" "${places#* }"
    done
done

# With one thread in a process, only this process has the probes. If it gets another thread, which
# executes a program, the kernel misses that program: stackbox says so.
start_workload gone north -T -w -n 100 -r 2 "$WORKLOADS/north"
trace_workload gone stackcount -f -p "$(pid_of gone)" "$WORKLOADS/north:north_inner"
is "a program that a new thread executes is counted, or reported missing" \
    "$(($(folded_sum "$scratch/out") + 100 * $(grep -c 'missed all of process .* --attach-by tracefs' "$scratch/err")))" 200

# A thousand at once, if the kernel can
if grep -q ' bpf_uprobe_multi_link_attach$' /proc/kallsyms; then
    start_workload one many -w -k -n 2
    start_tracing stackcount -f -U -p "$(pid_of one)" "$MANY:many_*"
    contains "1,000 functions: the header says so" "$scratch/err" "Tracing 1000 functions for"
    go one
    finish_stackbox
    is "1,000 functions have all calls" "$(stacks "$scratch/out")" "1000 of 2"
    is "1,000 functions: no breakpoint is left" "$(first_byte one)" "$PLAIN"
    finish_workload one
else
    start_workload one many -w -k -n 2
    trace_workload one stackcount -f -U -p "$(pid_of one)" "$MANY:many_02*"
    is "functions are traced without links, too" "$(stacks "$scratch/out")" "10 of 2"
fi

# If one of many cannot be probed, the others still are.
start_workload one many -w -k -n 2
trace_workload one stackcount -f -U -p "$(pid_of one)" "$MANY:many_000" "$MANY:many_00*" "$MANY:many_999"
is "a function that two patterns match is counted once" "$(stacks "$scratch/out")" "11 of 2"

run_stackbox stackcount -D 1 "$MANY:many_x"
is "an unknown function is refused" "$status $(grep -c '^stackcount: 0 functions matched by' "$scratch/err")" \
    "1 1"
run_stackbox stackcount -D 1 "$scratch/nothing:f"
is "a missing file is refused" "$status" 1
contains "a missing file is named" "$scratch/err" "$scratch/nothing"
echo "no program" >"$scratch/text"
run_stackbox stackcount -D 1 "$scratch/text:f"
is "a file that is not a program is refused" "$status" 1
contains "a file that is not a program is named" "$scratch/err" "$scratch/text"
run_stackbox stackcount -D 1 "nosuchlibrary$$:f"
is "an unknown library is refused" "$status" 1
contains "an unknown library is named" "$scratch/err" "nosuchlibrary$$"
