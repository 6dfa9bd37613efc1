#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10,6.1,6.12
# host: no kernel probes
#
# The walk for kernels that cannot store stacks: the workload knows how often it called, and from where.
# The kernel's part is walked by frame pointers, which few kernels have today: there it ends with the
# caller.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_kprobes || skip_all "this kernel has no kprobes"
[ "$(uname -m)" = x86_64 ] || skip_all "stacks are walked this way only on x86-64"

FUNCTION=${CALL}getppid
CALLER=${WAY_IN%% *}
CHAIN='start;work;make_calls'
N=10000
BOTH=$((2 * N))

# counted NAME WANTED CHAIN: the report and the account are right
counted()
{
    is "$1: each call is counted, with its chain" "$(folded_sum "$scratch/out" "$3")" "$2"
    is "$1: and there are no others" "$(folded_sum "$scratch/out")" "$2"
    adds_up "$1: the account adds up"
}

# walked NAME WANTED CHAIN OPTION...: two threads on two CPUs make N calls each, and another process as many
# meanwhile. In options PID is the first process, and TID its second thread.
walked()
{
    name=$1 wanted=$2 chain=$3
    shift 3
    start_workload one calls -w -k -t 2 -n $N
    start_workload other calls -w -k -n $N -N other
    tid=$(ls "/proc/$(pid_of one)/task" | tail -n 1)
    # shellcheck disable=SC2046 # words
    start_stackbox stackcount --collect walk --debug -f \
        $(echo "$@" | sed "s/PID/$(pid_of one)/; s/TID/$tid/") "$FUNCTION"
    kill -s USR2 "$(pid_of other)"
    go one other
    finish_stackbox
    [ "$name" = everybody ] && grep -v '^calls;\|^other;' "$scratch/out" >"$scratch/others" &&
        grep '^calls;\|^other;' "$scratch/out" >"$scratch/ours" && mv "$scratch/ours" "$scratch/out"
    counted "$name" "$wanted" "$chain"
    finish_workload one other
}

walked everybody $((3 * N)) "^(calls|other);$CHAIN;([^ ]*;)?$CALLER;$FUNCTION "
is "all processes: each has its calls" "$(folded_sum "$scratch/out" '^calls;')" $BOTH
walked "a process" $BOTH "^calls;$CHAIN;([^ ]*;)?$CALLER;$FUNCTION " -p PID
walked "a thread" $N "^calls;$CHAIN;([^ ]*;)?$CALLER;$FUNCTION " -t TID
walked "threads told apart" $BOTH "^calls [^;]*;$CHAIN;" -p PID --by thread
is "threads told apart: each has its calls" "$(grep -c " $N\$" "$scratch/out")" 2
walked "user stacks" $BOTH "^calls;$CHAIN " -p PID -U
walked "kernel stacks" $BOTH "^calls \([0-9]*\);([a-z][^ ]*;)?$CALLER;$FUNCTION " -p PID -K -P
walked "a few frames" $BOTH "^calls;work;make_calls;$CALLER;$FUNCTION " -p PID --depth 2

# With intervals each event is in one report.
start_workload one calls -w -k -t 2 -n $N
trace_workload one stackcount --collect walk --debug -i 0.05 -o "$scratch/reports.%n.folded" -p "$(pid_of one)" "$FUNCTION"
cat "$scratch"/reports.*.folded >"$scratch/out"
counted intervals $BOTH "^calls;$CHAIN;"

# spread STACKS OPTION...: makes 7 calls from each of STACKS stacks
spread()
{
    start_workload one spread -w -k -n "$1" -r 7
    shift
    trace_workload one stackcount --collect walk --debug -f -s -U -p "$(pid_of one)" "$@" "$FUNCTION"
    lost=$(sed -n 's/^stackcount: \([0-9]*\) events are only in the total.*/\1/p' "$scratch/err")
}

spread 1500
is "many stacks: each has its own count" "$(grep -c ' 7$' "$scratch/out") of $(calls_of one)" "1500 of 10500"
is "many stacks: all calls are counted" "$(folded_sum "$scratch/out")" 10500
is "many stacks: nothing is lost" "$lost" ""

spread 1500 --stack-storage-size 16
is "a full table: all calls are counted" "$(folded_sum "$scratch/out")" 10500
[ "${lost:-0}" -gt 0 ] && pass "a full table: losses are reported" || fail "a full table: losses are reported" "$(cat "$scratch/err")"
is "a full table: printed + lost = calls" \
    "$(($(folded_sum "$scratch/out" "descend") + lost)), $(folded_sum "$scratch/out" '^\[table full\]')" "10500, ${lost:-0}"
adds_up "a full table: the account adds up"

# Following a command takes newer kernels than the walk is for.
run_stackbox stackcount --collect walk -f "$FUNCTION" -- "$WORKLOADS/calls" -n $N
if [ "$status" = 0 ]; then
    counted "a command" $N "^calls;.*make_calls;"
else
    contains "a command: it says why it is not followed" "$scratch/err" "cannot follow a command: "
fi

# Deeper in the kernel, compared with perf's own walk of the same calls, if there are frame pointers.
case $(uname -r) in
4.*)
    for way in walk rings; do
        start_workload one calls -w -k -c sched_yield -n 500
        trace_workload one stackcount --collect $way -f -K -P -p "$(pid_of one)" yield_task_fair
        cp "$scratch/out" "$scratch/$way"
    done
    is "deeper in the kernel: the same as perf's walk" \
        "$(sed 's/ (.*)//' "$scratch/walk")" "$(sed 's/ (.*)//' "$scratch/rings")"
    is "deeper in the kernel: all calls" "$(folded_sum "$scratch/walk" 'yield_task_fair ')" 500
    ;;
*) skip "deeper in the kernel" "this kernel has no frame pointers" ;;
esac

# A stack that is deeper than the walk ends with a mark, unless that depth was asked for.
# deep NAME OPTION...: traces one call from below 200 frames
deep()
{
    name=$1
    shift
    start_workload one deep -w -k -s 1 -f 200
    trace_workload one stackcount --collect walk -f -p "$(pid_of one)" "$@" "$FUNCTION"
}
deep both
is "a deep stack" "$(grep -c '^deep;\[truncated\];descend;descend' "$scratch/out") $(
    head -n 1 "$scratch/out" | tr ';' '\n' | grep -c '^descend$')" "1 94"
contains "a deep stack: it is reported" "$scratch/err" "deeper than a BPF program can walk on this kernel"
deep user -U
is "a deep stack, with -U" "$(grep -c '^deep;\[truncated\];descend;descend' "$scratch/out") $(
    head -n 1 "$scratch/out" | tr ';' '\n' | grep -c '^descend$')" "1 125"
deep asked --depth 20
is "a depth that was asked for" "$(grep -c 'truncated' "$scratch/out") $(
    head -n 1 "$scratch/out" | tr ';' '\n' | grep -c '^descend$')" "0 19"

run_stackbox stackcount --collect walk --if 'arg1 > 0' "$FUNCTION"
contains "--if is refused" "$scratch/err" "--collect walk: only for stackcount of kernel functions, without --if and --sum"
run_stackbox stackcount --collect walk t:sched:sched_switch
is "tracepoints are refused: exit status" "$status" 2
contains "tracepoints are refused" "$scratch/err" "--collect walk: only for stackcount of kernel functions"
run_stackbox profile --collect walk 1
is "profile is refused: exit status" "$status" 2
