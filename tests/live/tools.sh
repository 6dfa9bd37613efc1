#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10
# host: yes
#
# The tools that the other live tests rely on: workloads count correctly, privileges are really
# denied, signals arrive.
. "${0%/*}/lib.sh"

start_workload one calls -w -k -t 2 -n 20000 -N 'a\x01\xffb' || fail "calls waits" "never ready"
is "all threads exist before the calls" "$(ls "/proc/$(pid_of one)/task" | wc -l | tr -d ' ')" 3
is "no calls are made before the word" "$(calls_of one)" ""
is "a command name may have any bytes" \
    "$(head -c 16 "/proc/$(pid_of one)/comm" | od -An -tx1 | tr -d ' \n')" 6101ff620a
go one || fail "calls makes its calls" "never done"
is "calls counts its calls" "$(calls_of one)" 40000
ended "$(pid_of one)" && fail "calls -k stays" "it ended" || pass "calls -k stays"
finish_workload one
is "calls exits with 0" $? 0

"$WORKLOADS/calls" -n 10 >"$scratch/calls"
is "calls works without waiting" "$(cat "$scratch/calls")" "done CALLS=10"

start_workload sleeper session sleep 60
sleep 0.2
kill -s INT "$(pid_of sleeper)"
wait "$(pid_of sleeper)"
is "SIGINT reaches a background program" $? 130
"$WORKLOADS/session" --limit 1 sleep 60 2>/dev/null
is "session's limit ends a program" $? 142

printf '\003' | "$WORKLOADS/session" --limit 20 --terminal sleep 60 >/dev/null
is "Ctrl-C on session's terminal ends a program" $? 130
"$WORKLOADS/session" --limit 20 --terminal sh -c 'test -t 0 && exec </dev/tty && echo yes' \
    </dev/null >"$scratch/tty"
contains "session gives it a controlling terminal" "$scratch/tty" yes
"$WORKLOADS/session" --limit 20 sh -c 'exec </dev/tty' 2>/dev/null
is "without one, there is none" $(($? != 0)) 1

# A process without a capability reads its own mask.
if have_root; then
    "$WORKLOADS/deny" --cap sys_admin --cap 39 -- grep CapEff /proc/self/status >"$scratch/cap"
    mask=$(sed 's/.*\(.\{10\}\)$/\1/' "$scratch/cap")
    # Bits 39 and 21 are in the first and in the fifth of these ten digits.
    is "capabilities are dropped" \
        "$((0x$mask >> 39 & 1)) $((0x$mask >> 21 & 1)) $((0x$mask >> 7 & 1))" "0 0 1"
    "$WORKLOADS/deny" --uid 65534 --only syslog -- grep -E '^(CapEff|Uid)' /proc/self/status |
        tr -d '\t' >"$scratch/only"
    contains "deny runs it as another user" "$scratch/only" Uid:65534655346553465534
    contains "deny leaves it one capability" "$scratch/only" CapEff:0000000400000000
    "$WORKLOADS/deny" --memlock 65536 -- sh -c 'ulimit -l; ulimit -H -l' >"$scratch/limit"
    is "memlock is limited" "$(tr '\n' ' ' <"$scratch/limit")" "64 64 "
    if "$WORKLOADS/deny" --pid-namespace -- sh -c 'echo $$; ls -d /proc/[0-9]*' >"$scratch/ns" \
        2>"$scratch/why"; then
        is "a pid namespace has its own pids" "$(head -n 1 "$scratch/ns")" 1
        contains "and its own /proc" "$scratch/ns" /proc/1
    else
        skip "a pid namespace" "$(cat "$scratch/why")"
    fi
else
    skip "capabilities, users, memlock, namespaces" "not root"
fi
"$WORKLOADS/deny" --syscall unshare:ENOSYS -- "$WORKLOADS/deny" --pid-namespace -- true \
    2>"$scratch/unshare"
is "a system call is denied" $(($? != 0)) 1
contains "deny returns the chosen error" "$scratch/unshare" "Function not implemented"
# unshare(CLONE_NEWPID | CLONE_NEWNS)
"$WORKLOADS/deny" --syscall unshare/537001984:E2BIG -- "$WORKLOADS/deny" --pid-namespace -- true \
    2>"$scratch/unshare"
contains "deny can deny one first argument" "$scratch/unshare" "list too long"
"$WORKLOADS/deny" --syscall unshare/1:E2BIG -- "$WORKLOADS/deny" --pid-namespace -- true \
    2>"$scratch/unshare"
lacks "and only that one" "$scratch/unshare" "list too long"
"$WORKLOADS/deny" -- false
is "deny passes on the command's exit status" $? 1

if [ -n "$GUEST" ]; then
    load_module dummy && grep -q ' dummy_validate.*\[dummy\]' /proc/kallsyms &&
        pass "a module loads" || fail "a module loads" "dummy.ko: $(lsmod | tr '\n' '|')"
    # The kernel itself counts a probe's hits: the same number, independently.
    mkdir "$scratch/tracefs" && mount -t tracefs tracefs "$scratch/tracefs"
    echo "p:tools/calls ${CALL}getppid" >>"$scratch/tracefs/kprobe_events"
    echo 1 >"$scratch/tracefs/events/tools/calls/enable"
    "$WORKLOADS/calls" -t 2 -n 5000 >"$scratch/calls"
    is "the kernel counts the same calls" \
        "$(awk '$1 == "calls" { print $2 + $3 }' "$scratch/tracefs/kprobe_profile")" 10000
    echo 0 >"$scratch/tracefs/events/tools/calls/enable"
    echo '-:tools/calls' >>"$scratch/tracefs/kprobe_events"
    umount "$scratch/tracefs"
    have_kprobes && pass "there are kprobes" || fail "there are kprobes" "there are none"
fi
