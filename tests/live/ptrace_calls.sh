#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.12
# kernels: 5.10,6.1,newest
# host: yes
# beside
#
# Where bpf(2) and perf_event_open(2) are refused, stackcount and stacksnoop count system calls by
# ptrace(2) stops: each call, with its whole stack, of all threads and processes of a command or a
# running process. They run on undisturbed, even if stackbox is killed. RUNS=N: the number of kills.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_hammer.sh"

[ "$(id -u)" = 0 ] || skip_all "becoming another user needs root"
DENIED="$WORKLOADS/deny --syscall bpf:EPERM --syscall perf_event_open:EPERM"
NOBODY="--uid 65534"
SAID="stackcount: stacks are collected by stops at system calls (ptrace), user stacks only, as bpf(2) is refused"
# The user nobody must be able to read the programs.
chmod 755 "$scratch"
for program in hammer family calls manners; do
    cp "$WORKLOADS/$program" "$scratch" && chmod 755 "$scratch/$program"
done

# ---- each call, with its stack

for who in root nobody; do
    [ $who = root ] && under="$DENIED --" || under="$DENIED $NOBODY --"
    for pattern in sys_getppid r::sys_getppid t:syscalls:sys_enter_getppid syscalls:sys_exit_getppid; do
        run_stackbox stackcount -f --by name $pattern -- "$scratch/hammer" -g -t 8 -n 16 -r 5
        is "$who: $pattern: it says how it collects" "$(grep -cxF "$SAID" "$scratch/err")" 1
        is "$who: $pattern: eight threads: each call has its stack" "$status $(numbers)" "0 $(all_of 8 16 5)"
    done
done
under="$DENIED --"
run_stackbox stackcount -f sys_getppid "$scratch/hammer:hammered" -- "$scratch/hammer" -g -t 2 -n 8 -r 5
if have_breakpoints; then
    is "a function, and a system call that it makes" "$status $(folded_sum "$scratch/out" ';hammered')" "0 160"
else
    is "a function is refused where there are no breakpoints" $status 125
fi
run_stackbox stacksnoop --format json 't:syscalls:sys_*_getp*' -- "$scratch/calls" -n 30
is "printed: each call begins, and ends" "$(grep -c '"syscalls:sys_enter_getppid"' "$scratch/out") \
$(grep -c '"syscalls:sys_exit_getppid"' "$scratch/out")" "30 30"
is "in the order of their times" "$(sed -n 's/.*"time": *\([0-9.]*\).*/\1/p' "$scratch/out" | sort -nc 2>&1)" ""

# ---- values

run_stackbox stackcount -f --if 'ret > 0' --sum ret r::sys_getppid -- "$scratch/calls" -n 7
parent=$(awk -v calls=7 '/^calls;/ { sum += $NF } END { print sum / calls }' "$scratch/out")
is "--sum ret: the result of each call: a process" "$status $(echo "$parent" | grep -cx '[0-9]*')" "0 1"
run_stackbox stackcount -f --if 'arg1 == 0' sys_getpgid -- "$scratch/calls" -n 9 -c getpgid
is "--if: the first argument" "$status $(folded_sum "$scratch/out")" "0 9"
run_stackbox stackcount -f --if 'arg1 != 0' sys_getpgid -- "$scratch/calls" -n 9 -c getpgid
is "--if: of none" "$status $(folded_sum "$scratch/out")" "0 0"
run_stackbox stackcount -f --sum fd t:syscalls:sys_enter_read -- true
is "there are no other names" "$status $(grep -cxF 'stackcount: there is no "fd": by ptrace(2) syscalls:sys_enter_read has arg1 to arg6 and comm' \
    "$scratch/err")" "125 1"
run_stackbox stackcount t:syscalls:sys_enter_nothing -- true
is "a call that there is not" "$status $(grep -c '0 tracepoints matched by' "$scratch/err")" "125 1"

under="$DENIED --syscall ptrace/16910:EIO --" # PTRACE_GET_SYSCALL_INFO
run_stackbox stackcount sys_getppid -- true
is "a kernel that does not tell which call it is" "$status $(grep -c 'system calls by ptrace(2) need Linux 5.3' \
    "$scratch/err")" "125 1"
for applet in stackcount stacksnoop; do
    run_stackbox check $applet
    is "check $applet: then there are functions alone, by breakpoints" "$(sed -n "s/^$applet: \([a-z]*\).*/\1/p" "$scratch/out")" \
        "$(have_breakpoints && echo yes || echo no)"
    under="$DENIED --"
    run_stackbox check $applet
    is "check $applet: system calls, and functions by breakpoints" \
        "$(grep -c "^$applet: yes: by ptrace, without others' programs, kernel stacks" "$scratch/out") \
$(grep "^$applet:" "$scratch/out" | grep -c ', user functions,')" "1 $(have_breakpoints && echo 0 || echo 1)"
    under="$DENIED --syscall ptrace/16910:EIO --"
done
under="$DENIED --"

# ---- names

events=/sys/kernel/tracing/events/syscalls
if with_tracefs && [ -d $events ]; then
    under=
    run_stackbox stackcount --collect ptrace --list 't:syscalls:*'
    sort "$scratch/out" >"$scratch/ours"
    for name in newstat newfstat newlstat newuname umount sendfile64 read mmap clone futex select llseek clock_nanosleep; do
        for side in enter exit; do
            [ ! -d "$events/sys_${side}_$name" ] || echo "t:syscalls:sys_${side}_$name"
        done
    done | sort >"$scratch/theirs"
    is "names are those of the kernel's tracepoints" "$(comm -13 "$scratch/ours" "$scratch/theirs")" ""
    under="$DENIED --"
else
    skip "names are those of the kernel's tracepoints" "this kernel has none of system calls"
fi

# ---- whose they are

run_stackbox stackcount -f sys_getppid -- "$scratch/family" -n 10 -c 40
is "all that a command starts" "$(folded_sum "$scratch/out" ';family_call')" "$(sed -n 's/^done CALLS=//p' "$scratch/err")"
start_workload one calls -w -k -t 4 -n 500 -N traced$$
start_tracing stackcount -f -p "$(pid_of one)" sys_getppid
go one
finish_stackbox
is "a running process: each call" "$(folded_sum "$scratch/out")" 2000
is "and nothing traces it" "$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$(pid_of one)/status")" 0
finish_workload one

# ---- manners

for line in "signals:signals 1000 in order" "stops:stops 20 continues 20" "execs:execs 1" "vforks:vforks 200" "traceme:traceme 1"; do
    run_stackbox stackcount -f 't:syscalls:*' -- "$scratch/manners" "${line%%:*}"
    is "${line%%:*}" "$status $(grep -cxF "${line#*:}" "$scratch/err")" "0 1"
done
# Emulated calls are slower.
[ "$GUEST" ] && calls=2000 early=100 || calls=20000 early=300
SEED=${SEED:-$(date +%s)} harmed=
cp "$STACKBOX" "$scratch/killed"

# delays NUMBER MS MORE: prints NUMBER delays in seconds, each of MS to MS + MORE milliseconds
delays()
{
    awk -v seed="$SEED" -v runs="$1" -v least="$2" -v more="$3" 'BEGIN { srand(seed)
        while (runs-- > 0) printf "%.4f ", (least + rand() * more) / 1000 }'
}

# kill_after DELAY PID: stackbox, while it traces that process
kill_after()
{
    "$scratch/killed" stackcount --collect ptrace -p "$2" -f sys_getppid >/dev/null 2>&1 &
    killed=$!
    sleep "$1"
    kill -s KILL $killed 2>/dev/null
    wait $killed 2>/dev/null
}

for delay in $(delays "${RUNS:-8}" 50 400); do
    "$scratch/calls" -t 4 -n $calls >"$scratch/killed.out" &
    traced=$!
    kill_after "$delay" $traced
    wait_until 60 ended $traced || { harmed="$harmed still runs:"; kill -s KILL $traced; }
    wait $traced && grep -qx "done CALLS=$((4 * calls))" "$scratch/killed.out" || harmed="$harmed $?:$(cat "$scratch/killed.out")"
done
is "stackbox is killed ${RUNS:-8} times: nothing is harmed (seed $SEED)" "$harmed" ""

# The first milliseconds have moments that few kills hit.
start_workload begun calls -w -n 100
for delay in $(delays $early 0 10); do
    kill_after "$delay" "$(pid_of begun)"
done
go begun
is "stackbox is killed as it begins: nothing is harmed (seed $SEED)" "$(calls_of begun)" 100
finish_workload begun

# left: the processes of the runs above
left()
{
    for program in /proc/[0-9]*/exe; do
        [ "$(readlink "$program")" != "$scratch/killed" ] || echo "$program"
    done
}
none_left() { [ ! "$(left)" ]; }
wait_until 20 none_left
is "and none of its processes is left" "$(left)" ""
