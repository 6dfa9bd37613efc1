#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# In an arm64 guest: the armv7 binary traces the guest's 64-bit programs. It comes with 32-bit programs, which
# that kernel cannot probe.
. "${0%/*}/../live/lib.sh"
. "${0%/*}/../live/lib_waits.sh"

BUILD=${0%/tests/*}/build/cross/armv7
STACKBOX=$BUILD/stackbox
N=2000

# elf FILE: its class, 1 for 32 bits and 2 for 64, and its machine
elf()
{
    od -An -tu1 -j 4 -N 1 "$1"
    od -An -tu1 -j 18 -N 1 "$1"
}
# shellcheck disable=SC2046 # words
is "the binary is 32-bit, programs are 64-bit" \
    "$(echo $(elf "$STACKBOX") $(elf "$WORKLOADS/calls") $(uname -m))" \
    "1 40 2 183 aarch64"
run_stackbox --version
[ $status = 0 ] || skip_all "this kernel runs no 32-bit programs (CONFIG_COMPAT)"

# counted NAME NUMBER REGEX ARG...: stackcount's matching lines add up to NUMBER
counted()
{
    local name=$1 number=$2 regex=$3
    shift 3
    run_stackbox stackcount -f "$@"
    is "$name" "$status $(folded_sum "$scratch/out" "$regex")" "0 $number"
}

# ---- Counts, and stacks

CHAINS="$WORKLOADS/chains -n $N -m 500"
for way in best pmu tracefs; do
    by="--attach-by $way"
    [ $way != best ] || by=
    # shellcheck disable=SC2086 # words
    counted "a kernel function, $way" \
        $N ";main;chain_a1;chain_a2;target;.*;${WAY_IN%% *}[^;]*;${CALL}getppid " \
        $by ${CALL}getppid -- $CHAINS
    # shellcheck disable=SC2086 # words
    counted "its returns, $way" $((N + 500)) ';target;' $by r::${CALL}getppid -- $CHAINS
    # shellcheck disable=SC2086 # words
    counted "a function, $way" $N ';main;chain_a1;chain_a2;target ' -U $by "$WORKLOADS/chains:target" -- $CHAINS
    # shellcheck disable=SC2086 # words
    counted "the same in the other thread, $way" \
        500 ';thread_b;chain_b1;chain_b2;target ' -U $by "$WORKLOADS/chains:target" \
        -- $CHAINS
    # shellcheck disable=SC2086 # words
    counted "a function's returns, $way" $N ';main;chain_a1;chain_a2 ' -U $by "r:$WORKLOADS/chains:target" -- $CHAINS
done
# shellcheck disable=SC2086 # words
counted "a tracepoint" $N ';main;chain_a1;chain_a2;target ' -U t:syscalls:sys_enter_getppid -- $CHAINS
# shellcheck disable=SC2086 # words
counted "along frame pointers" $N ';main;chain_a1;chain_a2;target ' -U --unwind fp t:syscalls:sys_enter_getppid \
    -- $CHAINS
counted "code without frame pointers" $N ';main;outer;middle;inner;leaf ' -U t:syscalls:sys_enter_getppid \
    -- "$WORKLOADS/bare" calls $N
# shellcheck disable=SC2086 # words
counted "by rings" $N ';main;chain_a1;chain_a2;target ' --collect rings --unwind fp -U t:syscalls:sys_enter_getppid \
    -- $CHAINS
counted "by rings, without frame pointers" 100 ';main;outer;middle;inner;leaf ' --collect rings -U \
    t:syscalls:sys_enter_getppid -- "$WORKLOADS/bare" calls 100
counted "a probe of the program's own" $((2 * N)) ';usdt_inner ' -U "u:$WORKLOADS/usdt:truth:guarded" \
    -- "$WORKLOADS/usdt" -n $N

run_stackbox stackcount -f -U --sum arg4 "$WORKLOADS/sums:takes" -- "$WORKLOADS/sums" "$scratch/truth"
is "arguments are added up" "$status $(folded_sum "$scratch/out" ';even;')" \
    "0 $(sed -n 's/^even_sum //p' "$scratch/truth")"
run_stackbox stackcount -f -K --sum arg3 --if 'arg1 == 77' ksys_write -- "$WORKLOADS/sums" "$scratch/truth"
is "arguments in the kernel are added up" "$status $(folded_sum "$scratch/out")" \
    "0 $(sed -n 's/^written //p' "$scratch/truth")"
run_stackbox stacksnoop -U "$WORKLOADS/chains:target" -- "$WORKLOADS/chains" -n 100 -m 10
is "stacksnoop prints each event" \
    "$status $(grep -c '^	chain_a1$' "$scratch/out") $(grep -c '^	chain_b1$' "$scratch/out")" \
    "0 100 10"

# ---- Times, with the guest's own clock

start_workload burn burn -w -k -s 2000 -F 997
start_stackbox profile -F 997 -f -p "$(pid_of burn)" || fail "profile" "$(cat "$scratch/err")"
go burn
finish_stackbox
greater=$(folded_sum "$scratch/out" ';greater;spin[; ]')
lesser=$(folded_sum "$scratch/out" ';lesser;spin[; ]')
truth=$(($(count_of burn greater) * 1000 / ($(count_of burn greater) + $(count_of burn lesser))))
between "there are enough samples" $((greater + lesser)) 1700 2200
between "the greater function's share, in tenths of a point" $((1000 * greater / (greater + lesser + 1))) \
    $((truth - 30)) $((truth + 30))
finish_workload burn

start_sleeps -n 20
trace_sleeps offcputime -f -d -p @PID
sleeps_right "blocked" nap tmout woken rouse read feed mixed vfork
start_wakes -n 20 pipe futex nap
trace_wakes offwaketime --by thread -d -p @PID
judge_wakes offwake_text
wakes_right "waits with their wakers"

# ---- Recordings

# shellcheck disable=SC2086 # words
run_stackbox stackcount -f -o "$scratch/run.sbx" -o "$scratch/run.folded" ${CALL}getppid -- $CHAINS
run_stackbox report -f "$scratch/run.sbx"
is "a recording has what was printed" "$status $(cmp "$scratch/out" "$scratch/run.folded" 2>&1)" "0 "

# ---- Messages, and what is refused

run_stackbox check
for row in "kprobe PMU" "uprobe PMU" BTF "unwind tables"; do
    contains "check: $row" "$scratch/out" "$row: yes"
done
contains "check: 32-bit programs are mentioned" "$scratch/out" "but not in 32-bit ones"
run_stackbox stackcount -U "$BUILD/workloads/calls:main" -- true
is "a function of a 32-bit program is refused" \
    "$status $(cat "$scratch/err")" "125 stackcount: \"$BUILD/workloads/calls\" is \
a 32-bit program, which this kernel cannot probe: trace kernel functions or tracepoints instead"
counted "a 32-bit program, by a kernel function" $N "^calls;.*;${CALL}getppid " ${CALL}getppid \
    -- "$BUILD/workloads/calls" -n $N
run_stackbox stackcount -f t:syscalls:sys_enter_getppid -- "$BUILD/workloads/calls" -n $N
is "system call tracepoints do not see it" "$(folded_sum "$scratch/out" "^calls;")" 0
run_stackbox stackcount -f ${CALL}getppid -- "$BUILD/workloads/calls" -n $N
is "its own code is the stack's end" "$(folded_sum "$scratch/out" ';make_calls;')" $N
