#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
#
# Programs that start after tracing began, and then wait while thousands of other processes end:
# their events must have their names, not those of the program that started them.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

# No other process has this name.
NAME=lives$$
N=100
ENDS=20000
[ -z "$GUEST" ] || ENDS=10000

start_tracing stackcount -f -U "$EVENT"
start_workload one north -w -n $N -N $NAME
# Before 6.16 a thread's end does not say whether it was the last: that is read by BTF (5.5).
case $GUEST in
newest* | 5.10* | 6.*) start_workload two ends -o -w -n $N -N $NAME ;;
esac
# On both CPUs: if the kernel makes room in a map, it goes by what each CPU has put there.
start_workload here ends -c $ENDS -i 0
start_workload there ends -c $ENDS -i 1
wait_workload here
wait_workload there
is "all processes have ended" "$(cat "$scratch/here.out" "$scratch/there.out" | grep -c '^done')" 2
# All have ended before the report, so /proc has none of them.
for one in one two; do
    [ -f "$scratch/$one.pid" ] || continue
    go $one
    wait_workload $one
done
finish_stackbox
is "exit status" $status 0
grep "^$NAME;" "$scratch/out" >"$scratch/mine"
is "a program that goes on has its calls" \
    "$(user_stacks "$scratch/mine" | grep north)" "main;north_outer;north_inner $N"
if [ -f "$scratch/two.pid" ]; then
    is "so has one whose first thread ended" "$(user_stacks "$scratch/mine" | grep -v north)" \
        "thread_b;ends_outer;ends_inner $N"
fi
is "no other process has its name" "$(folded_sum "$scratch/mine")" \
    $(((1 + $(grep -c thread_b "$scratch/mine")) * N))
