#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10
# seldom: 6.1,6.12,newest
# host: yes
#
# Many different stacks: those whose bucket is taken are kept all the same, each with its own count; and when
# there is really no room, the sum is still right and the loss is reported.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

EVENT=t:syscalls:sys_enter_getppid
TIMES=7

# spread STACKS OPTION...: TIMES calls from each of so many stacks, under stackcount -v
spread()
{
    stacks=$1
    shift
    start_workload one spread -w -k -n "$stacks" -r $TIMES
    start_stackbox stackcount -v --debug -p "$(pid_of one)" "$@" $EVENT ||
        fail "starts" "$(cat "$scratch/err")"
    go one
    finish_stackbox
    finish_workload one
    # A count stands alone on its line, behind four blanks.
    sed -n 's/^    \([0-9][0-9]*\)$/\1/p' "$scratch/out" >"$scratch/counts"
    sum=$(awk '{ sum += $1 } END { print sum + 0 }' "$scratch/counts")
    exact=$(grep -cx $TIMES "$scratch/counts")
}

# 1,500 stacks in 2,048 buckets: some 400 find theirs taken.
spread 1500 --stack-storage-size 2048
is "every stack is kept, with its own count" "$exact of $(calls_of one)" "1500 of 10500"
is "the sum" "$sum" 10500
lacks "nothing was lost" "$scratch/err" "without their stack"

# The same over intervals, which use both banks.
spread 1500 --stack-storage-size 2048 -i 0.05
is "the sum over intervals" "$sum" 10500
lacks "nothing was lost over intervals" "$scratch/err" "without their stack"

# Too small on purpose.
spread 1500 --stack-storage-size 300
is "the sum where storage is too small" "$sum" 10500
contains "what was lost is said" "$scratch/err" "without their stack: stack storage was full"
contains "and how to get more" "$scratch/err" "raise --stack-storage-size"
contains "and shown" "$scratch/out" "[stack storage full]"

# Too few places for counts, too: each event is in the sum, or said not to be.
spread 1500 --stack-storage-size 64
missing=$(sed -n 's/.*: \([0-9]*\) events were not counted.*/\1/p' "$scratch/err")
is "what is not in the table is said" "$((sum + ${missing:-0}))" 10500

# More than there is memory for is refused before the kernel has tried, for a minute, with all there is.
if [ "$(sed -n 's/MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)" -lt 30000000 ]; then
    "$WORKLOADS/deny" --syscall bpf/0:EINVAL -- "$STACKBOX" offcputime --collect bpf --stack-storage-size 16777216 \
        -D 0.01 >"$scratch/out" 2>"$scratch/err"
    is "too much" "$? $(cat "$scratch/err")" "1 offcputime: cannot create maps: not enough memory for the maps: ask for\
 fewer stacks (--stack-storage-size), or fewer frames (--depth)"
else
    skip "too much" "this machine has memory for all that may be asked for"
fi
