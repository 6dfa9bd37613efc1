#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10
# kernels: 6.1,6.12,newest
# host: yes
#
# Many different stacks: stackbox also keeps stacks whose bucket is taken, each with its own count;
# without room, the sum is still right, and stackbox reports the loss.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

EVENT=t:syscalls:sys_enter_getppid
TIMES=7

# spread STACKS OPTION...: makes TIMES calls from each of STACKS stacks, under stackcount -v
spread()
{
    stacks=$1
    shift
    start_workload one spread -w -k -n "$stacks" -r $TIMES
    trace_workload one stackcount -v --debug -p "$(pid_of one)" "$@" $EVENT
    # A count is alone on its line, after four blanks.
    sed -n 's/^    \([0-9][0-9]*\)$/\1/p' "$scratch/out" >"$scratch/counts"
    sum=$(awk '{ sum += $1 } END { print sum + 0 }' "$scratch/counts")
    exact=$(grep -cx $TIMES "$scratch/counts")
}

# 1,500 stacks in 2,048 slots: some 400 find theirs taken.
spread 1500 --stack-storage-size 2048
is "every stack is kept, with its own count" "$exact of $(calls_of one)" "1500 of 10500"
is "all calls are counted" "$sum" 10500
lacks "nothing was lost" "$scratch/err" "without their stack"

# The same with intervals, which use both banks.
spread 1500 --stack-storage-size 2048 -i 0.05
is "all calls are counted over intervals" "$sum" 10500
lacks "nothing was lost over intervals" "$scratch/err" "without their stack"

# Too small on purpose.
spread 1500 --stack-storage-size 300
is "with too little storage all calls are counted" "$sum" 10500
contains "the loss is reported" "$scratch/err" "without their stack: stack storage was full"
contains "and what to do" "$scratch/err" "raise --stack-storage-size"
contains "and it is in the report" "$scratch/out" "[stack storage full]"

# With too few slots for counts, too: each event is in the sum, or reported missing.
spread 1500 --stack-storage-size 64
is "counted + missing = calls" "$((sum + $(said "events were not counted")))" 10500

# stackbox refuses more than there is memory for, before the kernel tries for a minute, with all of
# the memory.
if [ "$(sed -n 's/MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)" -lt 30000000 ]; then
    "$WORKLOADS/deny" --syscall bpf/0:EINVAL -- "$STACKBOX" offcputime --collect bpf --stack-storage-size 16777216 \
        -D 0.01 >"$scratch/out" 2>"$scratch/err"
    is "a size beyond memory is refused" \
        "$? $(cat "$scratch/err")" "1 offcputime: cannot create maps: not enough memory for the maps: ask for\
 fewer stacks (--stack-storage-size), or fewer frames (--depth)"
else
    skip "a size beyond memory is refused" "this machine has memory for the largest size"
fi
