#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.1,6.12,newest
# host: yes
#
# Our programs at a tracepoint do not hide events from other tools that use it through perf, such as
# another stackbox with rings.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"
have_switches || skip_all "this kernel has no tracepoint of switches"

N=2000
SEEN=t:syscalls:sys_enter_getppid

# beside NAME EVENT: sets $seen to what rings see of a command while `stackbox $1` runs
beside()
{
    seen=
    if start_stackbox "$@"; then
        "$STACKBOX" stackcount --collect rings --unwind fp -f -U "$EVENT" -- "$WORKLOADS/calls" -n $N \
            >"$scratch/seen" 2>"$scratch/seen.err"
        seen=$(folded_sum "$scratch/seen")
        finish_stackbox
    else
        fail "$1" "did not start: $(cat "$scratch/err")"
    fi
}

EVENT=$SEEN
beside stackcount --collect bpf -f -U $SEEN
is "stackcount" "$seen" $N
beside stacksnoop --collect bpf $SEEN
is "stacksnoop" "$seen" $N
EVENT=t:sched:sched_switch
# Another tool's program there may hide them.
"$STACKBOX" stackcount --collect rings --unwind fp -f -U $EVENT -- "$WORKLOADS/calls" -n $N >"$scratch/seen" 2>"$scratch/seen.err"
if [ "$(folded_sum "$scratch/seen")" = 0 ]; then
    skip "waits" "perf sees no switches here, whatever we do"
    exit 0
fi
for applet in offcputime wakeuptime offwaketime "walltime -p $$"; do
    # shellcheck disable=SC2086 # words
    beside $applet --collect bpf -f
    [ "${seen:-0}" -gt 0 ] && pass "$applet" || fail "$applet" "no switch of a command is seen"
done
