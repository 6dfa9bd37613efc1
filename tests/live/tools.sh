#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# seldom: 5.10
# host: yes
#
# What the other live tests rely on: workloads that count correctly, rights that are really denied, signals
# that arrive.
. "${0%/*}/lib.sh"

start_workload one calls -w -k -t 2 -n 20000 -N 'a\x01\xffb' || fail "calls waits" "never ready"
is "threads are there before the calls" "$(ls "/proc/$(pid_of one)/task" | wc -l | tr -d ' ')" 3
is "no call before the word" "$(calls_of one)" ""
is "bytes in a command name" \
    "$(head -c 16 "/proc/$(pid_of one)/comm" | od -An -tx1 | tr -d ' \n')" 6101ff620a
go one || fail "calls makes its calls" "never done"
is "calls counts its calls" "$(calls_of one)" 40000
ended "$(pid_of one)" && fail "calls -k stays" "it ended" || pass "calls -k stays"
finish_workload one
is "calls ends well" $? 0

"$WORKLOADS/calls" -n 10 >"$scratch/calls"
is "calls without waiting" "$(cat "$scratch/calls")" "done CALLS=10"

start_workload sleeper session sleep 60
sleep 0.2
kill -s INT "$(pid_of sleeper)"
wait "$(pid_of sleeper)"
is "SIGINT reaches a background program" $? 130
"$WORKLOADS/session" --limit 1 sleep 60 2>/dev/null
is "a limit ends a program" $? 142

printf '\003' | "$WORKLOADS/session" --limit 20 --terminal sleep 60 >/dev/null
is "Ctrl-C on a terminal" $? 130
"$WORKLOADS/session" --limit 20 --terminal sh -c 'test -t 0 && exec </dev/tty && echo yes' \
    </dev/null >"$scratch/tty"
contains "a controlling terminal" "$scratch/tty" yes
"$WORKLOADS/session" --limit 20 sh -c 'exec </dev/tty' 2>/dev/null
is "no controlling terminal" $(($? != 0)) 1

# A process without CAP_... reads its own mask; mount(2) stands for what a filter forbids.
if have_root; then
    "$WORKLOADS/deny" --cap sys_admin --cap 39 -- grep CapEff /proc/self/status >"$scratch/cap"
    mask=$(sed 's/.*\(.\{10\}\)$/\1/' "$scratch/cap")
    # Bits 39 and 21 lie in the first and in the fifth of those ten digits.
    is "capabilities are dropped" \
        "$((0x$mask >> 39 & 1)) $((0x$mask >> 21 & 1)) $((0x$mask >> 7 & 1))" "0 0 1"
    "$WORKLOADS/deny" --uid 65534 --only syslog -- grep -E '^(CapEff|Uid)' /proc/self/status |
        tr -d '\t' >"$scratch/only"
    contains "another user" "$scratch/only" Uid:65534655346553465534
    contains "with one capability" "$scratch/only" CapEff:0000000400000000
    "$WORKLOADS/deny" --syscall mount:EBUSY -- mount -t tmpfs none "$scratch" 2>"$scratch/mount"
    is "a system call is denied" $(($? != 0)) 1
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
contains "an error number of choice" "$scratch/unshare" "Function not implemented"
# unshare(CLONE_NEWPID | CLONE_NEWNS)
"$WORKLOADS/deny" --syscall unshare/537001984:E2BIG -- "$WORKLOADS/deny" --pid-namespace -- true \
    2>"$scratch/unshare"
contains "an error for one first argument" "$scratch/unshare" "list too long"
"$WORKLOADS/deny" --syscall unshare/1:E2BIG -- "$WORKLOADS/deny" --pid-namespace -- true \
    2>"$scratch/unshare"
lacks "and for that one only" "$scratch/unshare" "list too long"
"$WORKLOADS/deny" -- false
is "deny gives the command's status" $? 1

if [ -n "$GUEST" ]; then
    load_module dummy && grep -q ' dummy_validate.*\[dummy\]' /proc/kallsyms &&
        pass "a module loads" || fail "a module loads" "dummy.ko: $(lsmod | tr '\n' '|')"
    # The kernel counts the hits of a probe itself: the same number, from another hand.
    mkdir "$scratch/tracefs" && mount -t tracefs tracefs "$scratch/tracefs"
    echo "p:tools/calls ${CALL}getppid" >>"$scratch/tracefs/kprobe_events"
    echo 1 >"$scratch/tracefs/events/tools/calls/enable"
    "$WORKLOADS/calls" -t 2 -n 5000 >"$scratch/calls"
    is "the kernel counts the same calls" \
        "$(awk '$1 == "calls" { print $2 + $3 }' "$scratch/tracefs/kprobe_profile")" 10000
    echo 0 >"$scratch/tracefs/events/tools/calls/enable"
    echo '-:tools/calls' >>"$scratch/tracefs/kprobe_events"
    umount "$scratch/tracefs"
    have_kprobes && pass "kprobes are there" || fail "kprobes are there" "they are not"
fi
