#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.12
# kernels: 5.10,6.1,newest
# host: yes
# beside
#
# Where bpf(2) and perf_event_open(2) are refused, stackcount and stacksnoop count functions of
# programs by hardware breakpoints: each call, with its whole stack, of all threads and processes of
# a command or a running process. The traced programs run on undisturbed, even if stackbox is
# killed. RUNS=N sets the number of kills.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_hammer.sh"

[ "$(id -u)" = 0 ] || skip_all "becoming another user needs root"
have_breakpoints || skip_all "this machine's kernel has no hardware breakpoints for ptrace(2)"
DENIED="$WORKLOADS/deny --syscall bpf:EPERM --syscall perf_event_open:EPERM"
NOBODY="--uid 65534"
SAID="stackcount: stacks are collected by hardware breakpoints (ptrace), user stacks only, as bpf(2) is refused"
# The user nobody must be able to read the programs.
chmod 755 "$scratch"
for program in hammer caller family known usdt many; do
    cp "$WORKLOADS/$program" "$scratch" && chmod 755 "$scratch/$program"
done

# ---- each call, with its stack

for who in root nobody; do
    [ $who = root ] && under="$DENIED --" || under="$DENIED $NOBODY --"
    run_stackbox stackcount -f --by name "$scratch/hammer:hammered" -- "$scratch/hammer" -t 8 -n 64 -r 10
    is "$who: it says how it collects" "$(grep -cxF "$SAID" "$scratch/err")" 1
    is "$who: eight threads: each call has its stack" "$status $(numbers)" "0 $(all_of 8 64 10)"
done
run_stackbox stackcount -f "$scratch/hammer:hammered" "$scratch/hammer:zero" "$scratch/hammer:one" -- \
    "$scratch/hammer" -t 2 -n 8 -r 5 -d 4
is "three places: all calls of each" "$status $(folded_sum "$scratch/out" ';hammered ') \
$(folded_sum "$scratch/out" ';(zero|one) ')" "0 80 320"

# At every function's start, by tables and, with --unwind fp, by frame pointers.
for way in push endbr sub nop save; do
    [ "$(uname -m)" = x86_64 ] || break # the workload has no code for others
    for by in "" "--unwind fp"; do
        # shellcheck disable=SC2086 # words
        run_stackbox stackcount -f $by "$scratch/caller:begins_$way" -- "$scratch/caller" -n 50
        is "begins_$way has its caller${by:+, by frame pointers}" \
            "$(sed 's/.*;main;/main;/; s/;call_each;/;/' "$scratch/out")" "main;call_$way;begins_$way 50"
    done
done
run_stackbox stackcount -f "u:$scratch/usdt:truth:sites" -- "$scratch/usdt" -n 20
is "a USDT probe at three places" "$(folded_sum "$scratch/out" ';main;usdt_outer;usdt_inner ')" 60
run_stackbox stackcount -f "u:$scratch/usdt:truth:guarded" -- "$scratch/usdt" -n 20
contains "a probe with a semaphore is refused" "$scratch/err" "the probe's semaphore is in the program's memory"
run_stackbox stackcount -f "r:$scratch/hammer:zero" "r:$scratch/hammer:one" -- "$scratch/hammer" -t 2 -n 8 -r 5 -d 4
is "each return of nested calls" "$status $(folded_sum "$scratch/out")" "0 320"
run_stackbox stackcount -f "r:$scratch/hammer:hammered" "$scratch/hammer:hammered" -- "$scratch/hammer" -t 2 -n 8 -r 5
is "calls of a function and its returns" "$status $(folded_sum "$scratch/out" ';hammered ') $(folded_sum "$scratch/out")" "0 80 160"
if [ "$(uname -m)" = x86_64 ]; then
    run_stackbox stackcount -f "r:$scratch/caller:recurses" -- "$scratch/caller" -n 20 -r 4
    is "returns of recursion have their callers" "$(sed 's/.*;main;/main;/' "$scratch/out" | sort)" "main;call_deep 20
main;call_deep;recurses 20
main;call_deep;recurses;recurses 20
main;call_deep;recurses;recurses;recurses 20"
fi
# Two functions return at once where one ends with a jump to the other.
cat >"$scratch/jumps.c" <<'END'
volatile int sink;
__attribute__((noinline)) int second(int n) { volatile int local = n; sink += local; return sink; }
__attribute__((noinline)) int first(int n) { sink++; return second(n + 1); }
void _start(void)
{
    for (volatile int i = 0; i < 100; i++)
        sink += first(i);
    __asm__ volatile("syscall" : : "a"(60), "D"(0));
}
END
if [ "$(uname -m)" = x86_64 ] && gcc -O2 -ffreestanding -nostdlib -static -fno-pie -no-pie -o "$scratch/jumps" \
    "$scratch/jumps.c" 2>/dev/null; then
    run_stackbox stackcount -f "r:$scratch/jumps:first" "r:$scratch/jumps:second" -- "$scratch/jumps"
    is "both returns of a jump from one function to another" "$status $(folded_sum "$scratch/out")" "0 200"
else
    skip "both returns of a jump from one function to another" "there is no compiler here"
fi
cat >"$scratch/narrow.c" <<'END'
volatile int sink;
__attribute__((noinline)) void func(int n) { volatile int local = n; sink += local; }
void _start(void)
{
    for (volatile int i = 0; i < 100; i++)
        func(i);
    __asm__ volatile("int $0x80" : : "a"(1), "b"(0));
}
END
if [ "$(uname -m)" = x86_64 ] && gcc -m32 -O1 -ffreestanding -nostdlib -static -fno-pie -no-pie -o "$scratch/narrow" \
    "$scratch/narrow.c" 2>/dev/null && "$scratch/narrow"; then
    run_stackbox stackcount -f "$scratch/narrow:func" -- "$scratch/narrow"
    is "a 32-bit program: calls are counted, without their callers" "$status $(cat "$scratch/out")" \
        "0 narrow;[truncated];func 100"
    run_stackbox stackcount -f "r:$scratch/narrow:func" -- "$scratch/narrow"
    is "its returns are refused" "$status $(grep -c "returns of 32-bit programs need probes" "$scratch/err")" "125 1"
else
    skip "a 32-bit program" "there is no compiler for one here, or the kernel runs none"
fi
run_stackbox stackcount -f "$scratch/many:many_00*" -- true
is "ten functions are too many" "$status $(grep -c "a thread has [0-9]* hardware breakpoints: name at most" "$scratch/err")" \
    "125 1"

# ---- whose they are

under="$DENIED --"
run_stackbox stackcount -f "$scratch/family:family_call" -- "$scratch/family" -n 10 -c 40
is "all that a command starts" "$(folded_sum "$scratch/out" ';family_call ')" "$(sed -n 's/^done CALLS=//p' "$scratch/err")"
start_workload one hammer -w -k -t 4 -n 8 -r 5 -N traced$$
start_tracing stackcount -f -p "$(pid_of one)" "$WORKLOADS/hammer:hammered"
go one
finish_stackbox
is "a running process: each call" "$(numbers)" "$(all_of 4 8 5)"
is "and nothing traces it" "$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$(pid_of one)/status")" 0
finish_workload one
run_stackbox stacksnoop --format json "$scratch/hammer:hammered" -- "$scratch/hammer" -t 3 -n 8 -r 4 -d 5
is "printed, each event" "$(grep -c '"hammered"' "$scratch/out")" 96
is "in the order of their times" "$(sed -n 's/.*"time": *\([0-9.]*\).*/\1/p' "$scratch/out" | sort -nc 2>&1)" ""

# ---- manners

cp "$WORKLOADS/manners" "$scratch"
for line in "signals:signals 1000 in order" "stops:stops 20 continues 20" "execs:execs 1" "vforks:vforks 200" "traceme:traceme 1"; do
    run_stackbox stackcount -f "$scratch/manners:burn_here" "$scratch/manners:main" -- "$scratch/manners" "${line%%:*}"
    is "${line%%:*}" "$status $(grep -cxF "${line#*:}" "$scratch/err")" "0 1"
done
SEED=${SEED:-$(date +%s)} run=0 harmed=
while [ $run -lt "${RUNS:-8}" ]; do
    run=$((run + 1))
    "$scratch/hammer" -t 4 -n 16 -r 2000 >"$scratch/killed.out" &
    traced=$!
    "$STACKBOX" stackcount --collect ptrace -p $traced -f "$scratch/hammer:hammered" >/dev/null 2>&1 &
    killed=$!
    sleep "0.$(awk -v seed="$run$SEED" 'BEGIN { srand(seed); printf "%03d", 50 + rand() * 400 }')"
    kill -s KILL $killed 2>/dev/null
    wait $killed 2>/dev/null
    wait $traced && grep -qx "done CALLS=128000" "$scratch/killed.out" || harmed="$harmed $?:$(cat "$scratch/killed.out")"
done
is "stackbox is killed $run times: nothing is harmed (seed $SEED)" "$harmed" ""
run=0 harmed=
while [ $run -lt "${RUNS:-8}" ]; do
    run=$((run + 1))
    "$scratch/hammer" -t 4 -n 16 -r 2000 >"$scratch/killed.out" &
    traced=$!
    timeout -s INT "0.$(awk -v seed="$run$SEED" 'BEGIN { srand(seed); printf "%03d", 50 + rand() * 400 }')" \
        "$STACKBOX" stackcount --collect ptrace -p $traced -f "$scratch/hammer:hammered" >/dev/null 2>&1
    wait $traced && grep -qx "done CALLS=128000" "$scratch/killed.out" || harmed="$harmed $?:$(cat "$scratch/killed.out")"
done
is "and it ends $run times" "$harmed" ""
