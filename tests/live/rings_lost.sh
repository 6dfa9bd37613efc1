#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10
# host: yes
# later: a guest has it, too
#
# Rings that overflow, because stackbox does not read them while a workload runs: counted or printed
# events and reported losses add up exactly to what the workload did. Task records are never lost.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

# stackcount is stopped while the workload runs.
N=400000
cat >"$scratch/still" <<'END'
kill -s STOP $PPID
"$1" -n $2
(exec "$1" -n 5 -N forked)
kill -s CONT $PPID
END
"$STACKBOX" stackcount --collect rings --debug -f --by name "$EVENT" -- sh "$scratch/still" "$WORKLOADS/calls" $N \
    >"$scratch/out" 2>"$scratch/err"
is "stackcount: exit status" $? 0
counted=$(folded_sum "$scratch/out" 'make_calls') lost=$(said "events were lost")
# The shell may make such a call, too.
between "stackcount: some are lost" "$lost" 1 $((N + 5))
between "stackcount: counted + lost = calls" $((counted + lost)) $((N + 5)) $((N + 6))
adds_up "the account adds up"
lacks "mmap/exec records are not lost" "$scratch/err" "task records were lost"

# Reports while events are read and lost: each account is of one moment.
N=100000 runs="1 2 3"
[ ! "$GUEST" ] || N=10000 runs=1
for run in $runs; do
    rm -f "$scratch"/reports.*
    "$STACKBOX" stackcount --collect rings --debug --by name -o "$scratch/reports.%n.folded" -i 0.02 "$EVENT" \
        -- "$WORKLOADS/calls" -n $N >"$scratch/none" 2>"$scratch/err"
    cat "$scratch"/reports.*.folded >"$scratch/out"
    counted=$(folded_sum "$scratch/out" 'make_calls') lost=$(said "events were lost")
    is "reports meanwhile, run $run: counted + lost = calls" $((counted + lost)) $N
    adds_up "reports meanwhile, run $run: the account adds up"
done

# A wait that is open when the rings overflow, and one that ends afterwards: the switches in between
# are lost, and the time from one to the other, in which the thread also ran, is no wait.
cat >"$scratch/between" <<'END'
read -r begun _ </proc/uptime
kill -s STOP $PPID
taskset 1 "$1" -t 2 -n 20000 >"$2"
i=0
while [ $i -lt 600000 ]; do i=$((i + 1)); done
(sleep 0.2; kill -s CONT $PPID) &
sleep 1
read -r ran waited _ </proc/$$/schedstat
read -r now _ </proc/uptime
echo $$ $begun $now $ran $waited >"$2"
END
"$STACKBOX" offcputime --collect rings -f --by process -- sh "$scratch/between" "$WORKLOADS/turns" "$scratch/told" \
    >"$scratch/out" 2>"$scratch/err"
is "offcputime: exit status" $? 0
contains "offcputime: some are lost" "$scratch/err" "were lost: they came faster"
read -r pid begun now ran waited <"$scratch/told"
# /proc/uptime has hundredths of a second.
between "offcputime: no more than the shell slept" "$(folded_sum "$scratch/out" "^sh [(]$pid[)]")" 0 \
    "$(echo "$begun $now $ran $waited" | awk '{ printf "%.0f", ($2 - $1) * 1e6 - ($3 + $4) / 1e3 + 20000 }')"

# stacksnoop waits for a reader.
N=20000
mkfifo "$scratch/pipe"
"$STACKBOX" stacksnoop --collect rings --buffer-size 64 "$EVENT" -- "$WORKLOADS/calls" -n $N >"$scratch/pipe" \
    2>"$scratch/err" &
snoop=$!
kill_at_end "$snoop"
exec 3<"$scratch/pipe"
done_calling()
{
    grep -q '^done CALLS=' "$scratch/err"
}
wait_until "$LIMIT" done_calling
cat <&3 >"$scratch/out"
exec 3<&-
wait $snoop
is "stacksnoop: exit status" $? 0
printed=$(grep -c '	*make_calls' "$scratch/out") lost=$(said "events were lost")
between "stacksnoop: some are lost" "$lost" 1 $N
is "stacksnoop: printed + lost = calls" $((printed + lost)) $N

# in_cpuset COMMAND...: runs it where only CPU 0 is allowed
in_cpuset()
{
    echo 0 >"$cpuset/cpuset.mems" && echo 0 >"$cpuset/cpuset.cpus" &&
        exec sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$cpuset" "$@"
}

# Losses that no record follows, and losses on a CPU that stackbox may not run on.
cpuset=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup [^ ]*cpuset.*/\1/p' /proc/mounts | head -n 1)
if [ ! "$cpuset" ] && mkdir "$scratch/cgroups"; then
    if mount -t cgroup -o cpuset cpuset "$scratch/cgroups" 2>/dev/null; then
        cpuset=$scratch/cgroups
    elif mount -t cgroup2 cgroup2 "$scratch/cgroups" && echo +cpuset >"$scratch/cgroups/cgroup.subtree_control"; then
        cpuset=$scratch/cgroups
    fi
fi
if [ "$(nproc)" = 1 ]; then
    skip "a cpuset" "there is one CPU"
elif [ ! "$cpuset" ] || ! mkdir "$cpuset/rings_lost$$"; then
    skip "a cpuset" "this kernel has none"
else
    cpuset=$cpuset/rings_lost$$
    N=5000
    taskset 2 "$WORKLOADS/calls" -w -n $N >"$scratch/far.out" &
    far=$!
    kill_at_end "$far"
    wait_until 20 grep -q ready "$scratch/far.out"
    : >"$scratch/err"
    in_cpuset "$STACKBOX" stacksnoop --collect rings --debug --buffer-size 64 -p $far "$EVENT" >"$scratch/out" \
        2>"$scratch/err" &
    snoop=$!
    kill_at_end "$snoop"
    wait_until "$LIMIT" grep -q '^Tracing' "$scratch/err"
    kill -s STOP $snoop
    kill -s USR2 $far
    wait $far
    kill -s INT $snoop
    kill -s CONT $snoop
    wait $snoop
    is "a cpuset: exit status" $? 0
    rmdir "$cpuset"
    printed=$(grep -c '	*make_calls' "$scratch/out") lost=$(said "events were lost")
    if [ "$lost" = 0 ]; then
        # Before 6.0 the kernel only reports them on that CPU.
        contains "a cpuset: it is told that events may have been lost" "$scratch/err" \
            "events may have been lost last, on CPUs that this process may not run on"
    else
        is "a cpuset: printed + lost = calls" $((printed + lost)) $N
    fi
fi

"$STACKBOX" stacksnoop --collect rings --buffer ring "$EVENT" >"$scratch/out" 2>"$scratch/err"
is "--buffer ring is refused" "$? $(cat "$scratch/err")" \
    "2 stacksnoop: --buffer ring: needs BPF programs; without them, events wait in perf's ring buffers"
"$STACKBOX" stacksnoop --collect rings --buffer perf "$EVENT" -- "$WORKLOADS/calls" -n 20 >"$scratch/out" 2>"$scratch/err"
is "--buffer perf is accepted" "$(grep -c '	*make_calls' "$scratch/out")" 20
