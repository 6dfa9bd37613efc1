#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: all
# host: no
#
# The frames of a stack: the traced function on top, the kernel's entry at the bottom, and in
# between the frames that the kernel's own tracer prints for the same call.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_kprobes || skip_all "this kernel has no kprobes"

# once ARG...: prints the report of a run in which the workload makes 100 calls
once()
{
    start_workload one calls -w -k -n 100
    trace_workload one stackcount -p "$(pid_of one)" "$@"
}

once -K ${CALL}getppid
is "the traced function is on top" "$(sed -n 3p "$scratch/out")" "  ${CALL}getppid"
is "the kernel's entry is at the bottom" "$(grep '^  [^ ]' "$scratch/out" | tail -n 1)" "  ${WAY_IN##* }"
# On x86-64 some kernels have one more frame between the two.
is "the text is exactly this" "$(sed '/^  [^ ]/s/\..*//; /^  x64_sys_call/d' "$scratch/out")" \
    "Tracing 1 function for \"${CALL}getppid\"... Hit Ctrl-C to end.

  ${CALL}getppid
$(printf '  %s\n' $WAY_IN)
    100

Detaching..."

# The kernel prints the stack of the same probe, with names that it looks up itself.
# (5.10 on armhf goes on to a user address.)
mkdir "$scratch/tracefs" && mount -t tracefs tracefs "$scratch/tracefs"
echo 'p:stacks/calls vfs_read' >>"$scratch/tracefs/kprobe_events"
echo stacktrace >"$scratch/tracefs/trace_options" 2>/dev/null ||
    echo 1 >"$scratch/tracefs/options/stacktrace"
echo 1 >"$scratch/tracefs/events/stacks/calls/enable"
head -c 1 /proc/version >"$scratch/one"
echo 0 >"$scratch/tracefs/events/stacks/calls/enable"
# Before 5.10 execve(2) calls that function, too.
awk '/<stack trace>/ { on = 1; stack = ""; next }
    on && / => [^0]/ { stack = stack "  " $2 "\n"; next }
    on && !/ => / && stack !~ /exec/ { exit }
    END { printf "%s", stack }' "$scratch/tracefs/trace" | sed 's/+0x.*//; s/ \[.*//' >"$scratch/theirs"
echo '-:stacks/calls' >>"$scratch/tracefs/kprobe_events"
umount "$scratch/tracefs"
start_stackbox stackcount -K vfs_read
head -c 1 /proc/version >"$scratch/one"
finish_stackbox
# The kernel's tracer does not show the probed function itself.
grep -v '^  vfs_read$' "$scratch/theirs" | tail -n 4 | tr '\n' ' ' >"$scratch/callers"
tr '\n' ' ' <"$scratch/out" >"$scratch/line"
contains "callers are those that the kernel prints" "$scratch/line" "$(cat "$scratch/callers")"
