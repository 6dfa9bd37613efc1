#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10
# kernels: newest
# host: no
#
# With kernel.perf_event_max_stack above what a program has room for, stackbox keeps stacks of 4,082
# frames, by tables 3,900 and a marked end, and each applet runs. The kernel changes the setting
# only while no process records stacks: so not on a machine where others may.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_uprobes || skip_all "this kernel has no uprobes"

MOST=4082
SETTING=/proc/sys/kernel/perf_event_max_stack
before=$(cat $SETTING)

# set_to FRAMES: sets it; false while a process records stacks
set_to()
{
    echo "$1" >$SETTING
} 2>/dev/null

# frames_of REGEX FUNCTION: how many frames the deepest matching stack has, and how many are FUNCTION
frames_of()
{
    awk -v function_name="$2" -v regex="$1" '$0 ~ regex {
        sub(/ [0-9]+$/, "")
        frames = split($0, frame, ";") - 1 # after the name of the process
        if (frames > most) {
            most = frames
            named = 0
            for (i in frame)
                named += frame[i] == function_name
        }
    } END { print most + 0, named + 0 }' "$scratch/out"
}

# kept NAME FRAMES ARG...: how much is kept of a stack of burn() and FRAMES - 1 calls below it
kept()
{
    name=$1 frames=$2
    shift 2
    start_workload one deep -w -k -s $burns -f "$frames" -N deep
    trace_workload one "$@"
    is "$name: exit status" "$status" 0
}

burns=1 # ms
for setting in 4083 4084 5000; do
    wait_until 20 set_to $setting || fail "the setting takes $setting frames" "$(cat $SETTING)"
    for frames in 4000 5000; do
        kept "$setting, a stack of $frames" $frames stackcount -f --unwind fp "$WORKLOADS/deep:burn"
        kept_frames=$(frames_of '^.*;burn' descend)
        is "$setting, a stack of $frames: one event" "$(folded_sum "$scratch/out")" 1
        if [ $frames -gt $MOST ]; then
            is "$setting, a stack of $frames: as many frames as set are kept" \
                "$kept_frames" "$MOST $((MOST - 1))"
        else
            is "$setting, a stack of $frames: all of it is kept" "${kept_frames#* }" $((frames - 1))
        fi
    done
    run_stackbox stackcount --depth $((MOST + 1)) "$WORKLOADS/deep:burn"
    is "$setting: a greater --depth is refused" "$status $(cat "$scratch/err")" \
        "2 stackcount: --depth: \"$((MOST + 1))\" is more than this kernel allows: it takes 1 to $MOST"
done
run_stackbox stackcount --debug -D 0.1 "$WORKLOADS/deep:burn"
between "maps take memory for stacks, not for their greatest depth, KB" \
    "$(sed -n 's/.* \([0-9]*\) KB in all.*/\1/p' "$scratch/err" | tail -n 1)" 1 65536

if [ "$(uname -m)" = x86_64 ] && [ -r /sys/kernel/btf/vmlinux ]; then
    kept "along tables" 5000 stackcount -f --unwind tables "$WORKLOADS/deep:burn"
    is "along tables: the setting does not matter" \
        "$(frames_of '^.*;burn' descend)" "3900 3898" # burn, and [truncated]
else
    skip "along tables" "tables need x86-64 and BTF"
fi

burns=300
kept "profile" 5000 profile -f -U -F 99 --unwind fp
kept_frames=$(frames_of '^deep;' descend)
is "profile: as many frames as set are kept" "${kept_frames% *}" $MOST
burns=1
for buffer in ring perf; do
    kept "stacksnoop, $buffer" 100 stacksnoop --buffer $buffer "$WORKLOADS/deep:burn"
    is "stacksnoop, $buffer: the frames of the event" "$(grep -cw descend "$scratch/out")" 99
done
for applet in offcputime wakeuptime offwaketime; do
    run_stackbox $applet -f -D 0.2
    is "$applet: exit status" "$status" 0
done
# The kernel frees what the last run had a moment after its end.
wait_until 20 set_to "$before" || fail "the setting is restored" "$(cat $SETTING)"
