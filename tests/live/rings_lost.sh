#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# seldom: 5.10
# host: yes
#
# Rings that overflow, because nobody reads them while a workload runs: what is counted or printed and what is
# reported lost add up to what the workload did, to the last event. Task records are never lost.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

lost()
{
    sed -n "s/^$1: \([0-9]*\) events were lost: .*/\1/p" "$scratch/err" | grep . || echo 0
}

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
counted=$(folded_sum "$scratch/out" 'make_calls') lost=$(lost stackcount)
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
    counted=$(folded_sum "$scratch/out" 'make_calls') lost=$(lost stackcount)
    is "reports meanwhile, run $run: counted + lost = calls" $((counted + lost)) $N
    adds_up "reports meanwhile, run $run: the account adds up"
done

# stacksnoop waits for a reader.
N=20000
mkfifo "$scratch/pipe"
"$STACKBOX" stacksnoop --collect rings --buffer-size 64 "$EVENT" -- "$WORKLOADS/calls" -n $N >"$scratch/pipe" \
    2>"$scratch/err" &
snoop=$!
test_processes="$test_processes $snoop"
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
printed=$(grep -c '	*make_calls' "$scratch/out") lost=$(lost stacksnoop)
between "stacksnoop: some are lost" "$lost" 1 $N
is "stacksnoop: printed + lost = calls" $((printed + lost)) $N

"$STACKBOX" stacksnoop --collect rings --buffer ring "$EVENT" >"$scratch/out" 2>"$scratch/err"
is "--buffer ring is refused" "$? $(cat "$scratch/err")" \
    "2 stacksnoop: --buffer ring: needs BPF programs; without them, events wait in perf's ring buffers"
"$STACKBOX" stacksnoop --collect rings --buffer perf "$EVENT" -- "$WORKLOADS/calls" -n 20 >"$scratch/out" 2>"$scratch/err"
is "--buffer perf is accepted" "$(grep -c '	*make_calls' "$scratch/out")" 20
