#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.12
# host: yes
# later: it waits for most of its time
#
# How a run ends, and what it prints then: signals, time, Enter, processes, readers that leave.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

# No other process has this name.
NAME=calls$$
EVENT=t:syscalls:sys_enter_getppid
# An event that never comes: no process hangs here.
QUIET=t:sched:sched_process_hang
HEADER="Tracing 1 event for \"$QUIET\"... Hit Ctrl-C to end."
EMPTY="$HEADER

Detaching..."

for signal in INT TERM HUP; do
    start_workload "by$signal" calls -w -k -n 500 -N $NAME
    start_stackbox stackcount -f $EVENT
    go "by$signal"
    finish_stackbox $signal
    is "SIG$signal ends it with its report" "$(folded_sum "$scratch/out" "^$NAME;") $status" "500 0"
    finish_workload "by$signal"
done

# Signals within a second are one. Here both are pending until it continues.
start_stackbox stackcount $QUIET
kill -s STOP "$stackbox"
kill -s INT "$stackbox"
kill -s TERM "$stackbox"
kill -s CONT "$stackbox"
wait_stackbox
is "two signals at once end it with its report" "$status $(cat "$scratch/out")" "0 $EMPTY"

# timeout(1) sends two: to its child, and to its process group.
if command -v timeout >/dev/null && command -v taskset >/dev/null; then
    for turn in 1 2 3 4 5 6; do
        taskset -c 0 timeout 1 "$STACKBOX" stackcount $QUIET </dev/null >"$scratch/out" 2>"$scratch/err"
        is "timeout on one CPU, turn $turn: its last report" "$? $(cat "$scratch/out")" "124 $EMPTY"
    done
else
    skip "timeout on one CPU" "there is no timeout or no taskset"
fi

run_stackbox stackcount -D 0.3 $QUIET
is "an empty run prints exactly this" "$(cat "$scratch/out")" "$EMPTY"
is "an empty run: stderr" "$(quiet_for 0.3 "$scratch/err")" "stackcount: no events in 0.3 s"
is "an empty run: exit status" $status 0
run_stackbox stackcount -f -D 0.3 $QUIET
is "an empty folded run prints no data" "$(cat "$scratch/out")" ""

# A signal that was ignored at the start stays ignored.
(
    trap '' HUP INT
    exec "$STACKBOX" stackcount $QUIET </dev/null >"$scratch/ignored" 2>&1
) &
ignoring=$!
kill_at_end "$ignoring"
wait_until 20 grep -q '^Tracing' "$scratch/ignored"
kill -s HUP $ignoring
kill -s INT $ignoring
sleep 0.3
ended $ignoring && fail "ignored signals stay ignored" "it ended" ||
    pass "ignored signals stay ignored"
kill -s TERM $ignoring
wait $ignoring
is "another signal still ends it" $? 0

# SIGUSR1: a report now, and tracing goes on; each event is in one report.
start_workload usr calls -w -k -n 300 -N $NAME
start_stackbox stackcount -f $EVENT
go usr
kill -s USR1 "$stackbox"
wait_until 20 grep -q "^$NAME;" "$scratch/out"
is "SIGUSR1 gives a report" "$(folded_sum "$scratch/out" "^$NAME;")" 300
start_workload again calls -w -k -n 200 -N $NAME
go again
finish_stackbox
is "and tracing goes on" "$(folded_sum "$scratch/out" "^$NAME;")" 500
finish_workload usr again

# Reports at start + k * S, the last at the end.
run_stackbox stackcount -i 0.5 -D 2.2 $QUIET
is "a report for every interval and one at the end" "$(grep -c '^$' "$scratch/out")" 5
run_stackbox stackcount -T -i 0.5 -D 0.7 $QUIET
is "with -T each has the time" "$(grep -cE '^[0-2][0-9]:[0-5][0-9]:[0-5][0-9]$' "$scratch/out")" 2

# Enter, if Ctrl-C cannot arrive: on a console.
mkfifo "$scratch/keys"
: >"$scratch/out" # what the last run wrote is not this one's header
"$WORKLOADS/session" --limit 60 --console "$STACKBOX" stackcount $QUIET <"$scratch/keys" \
    >"$scratch/out" 2>"$scratch/err" &
entered=$!
kill_at_end "$entered"
exec 9>"$scratch/keys"
wait_until 20 grep -q '^Tracing' "$scratch/out"
contains "the header says Enter" "$scratch/out" "Hit Enter to end."
printf x >&9
sleep 0.2
ended $entered && fail "a letter does not end it" "it ended" || pass "a letter does not end it"
echo >&9
wait $entered
is "Enter ends it" "$? $(tail -n 1 "$scratch/out" | tr -d '\r')" "0 Detaching..."
exec 9>&-

# stackbox does not read stdin from a pipe or a file: a shell's loop runs once for each line.
turns()
{
    "$WORKLOADS/session" --limit 60 sh -c 'while read -r n; do
        "$0" stackcount "$@" >>turns.out 2>>turns.err; echo "$n"; done' "$STACKBOX" "$@"
}
cd "$scratch" || exit 1
is "a loop that reads a pipe gets every line" \
    "$(printf '1\n2\n3\n' | turns -D 0.1 $QUIET | tr '\n' ' ')" "1 2 3 "
printf '1\n2\n3\n' >lines
is "a loop that reads a file gets every line" "$(turns -D 0.1 $QUIET <lines | tr '\n' ' ')" "1 2 3 "
# Without a duration it ends with its process.
{ echo; sleep 1; } | "$WORKLOADS/session" --limit 60 sh -c '
    sleep 0.5 & "$0" stackcount -p $! "$@" >own.out 2>&1; read -r line && echo "it was left"' \
    "$STACKBOX" $QUIET >left
is "nor does an Enter in a pipe end it" "$(cat left)" "it was left"

# With a terminal: Ctrl-C, and the header says that.
: >"$scratch/terminal"
(wait_until 40 grep -q 'Ctrl-C' "$scratch/terminal"; printf '\003') | "$WORKLOADS/session" --limit 60 --terminal "$STACKBOX" stackcount \
    $QUIET >"$scratch/terminal"
is "Ctrl-C on a terminal ends it" $? 0
contains "the header says Ctrl-C" "$scratch/terminal" "Hit Ctrl-C to end."

# The end of stdin does not count as Enter.
run_stackbox stackcount -D 0.5 $QUIET
is "the end of stdin does not end it" "$(quiet_for 0.5 "$scratch/err")" "stackcount: no events in 0.5 s"

# -p ends with its last process.
start_workload first calls -w -n 10
start_workload second calls -w -n 10
start_stackbox stackcount -f -p "$(pid_of first),$(pid_of second)" $EVENT
go first
finish_workload first
sleep 0.3
ended "$stackbox" && fail "-p goes on while one process is left" "it ended" ||
    pass "-p goes on while one process is left"
go second
finish_workload second
wait_stackbox
is "-p ends with its last process" "$(folded_sum "$scratch/out") $status" "20 0"
run_stackbox stackcount -p 4194303 $EVENT
is "a process that does not exist is refused" "$status $(cat "$scratch/err")" \
    "1 stackcount: there is no process 4194303"
run_stackbox stackcount -C 65535 $EVENT
is "a CPU that does not exist is refused" "$status $(cat "$scratch/err")" "1 stackcount: there is no CPU 65535"
run_stackbox stackcount -t 4194303 $EVENT
is "a thread that does not exist is refused" "$status $(cat "$scratch/err")" \
    "1 stackcount: there is no thread 4194303"

# Writers and readers.
"$STACKBOX" stackcount -D 0.3 $QUIET </dev/null >/dev/full 2>"$scratch/err"
is "a full stdout is reported" "$? $(grep -c 'No space left' "$scratch/err")" "1 1"
CLOSED="stdout is closed, so output would be lost: redirect it, such as to >FILE"
"$STACKBOX" stackcount -D 0.3 $QUIET <&- >&- 2>"$scratch/err"
is "a closed stdout is reported" "$? $(cat "$scratch/err")" "1 stackcount: $CLOSED"
"$STACKBOX" stacksnoop -D 0.3 $QUIET >&- 2>"$scratch/err"
is "a closed stdout is reported: stacksnoop" "$? $(cat "$scratch/err")" "1 stacksnoop: $CLOSED"
"$STACKBOX" stackcount -D 0.3 $QUIET 1</dev/null 2>"$scratch/err"
is "a stdout for reading is reported" "$? $(grep -c 'stdout is not open for writing' "$scratch/err")" "1 1"
"$STACKBOX" stackcount -D 0.3 -o "$scratch/closed.folded" $QUIET <&- >&- 2>"$scratch/err"
is "stdout may be closed if everything goes to files" \
    "$? $(ls "$scratch/closed.folded")" "0 $scratch/closed.folded"
"$STACKBOX" stackcount -D 0.3 $QUIET <&- >"$scratch/out" 2>"$scratch/err"
is "stdin may be closed" "$? $(quiet_for 0.3 "$scratch/err")" "0 stackcount: no events in 0.3 s"
"$STACKBOX" stackcount $QUIET </dev/null 2>"$scratch/err" | head -n 1 >"$scratch/head"
is "a reader that leaves ends it" "$(cat "$scratch/head")" "$HEADER"
lacks "without an error message" "$scratch/err" "cannot"
"$STACKBOX" stackcount $QUIET </dev/null 2>"$scratch/err" | true
is "a reader that never reads ends it" "$(grep -v 'may miss events on this kernel' "$scratch/err")" ""
# A reader that leaves between two reports
{
    "$STACKBOX" stackcount -f -i 0.1 t:sched:sched_switch </dev/null 2>"$scratch/err"
    echo $? >"$scratch/status"
} | head -c 1 >"$scratch/head"
is "one that leaves between reports ends it" \
    "$(cat "$scratch/status") $(grep -vc "^Tracing\|of user stacks end early" "$scratch/err")" "0 0"

# start_slow: a run of which one report waits for its reader, who reads once $scratch/read-on exists
mkfifo "$scratch/slow"
start_slow()
{
    rm -f "$scratch/read-on" "$scratch/report"
    start_workload many turns -w -n 1024 -N $NAME
    (
        exec <"$scratch/slow"
        wait_until 30 test -e "$scratch/read-on"
        cat >"$scratch/report"
    ) &
    kill_at_end $!
    : >"$scratch/out"
    : >"$scratch/err"
    "$WORKLOADS/session" --limit "$LIMIT" "$STACKBOX" stackcount -f $EVENT </dev/null \
        >"$scratch/slow" 2>"$scratch/err" &
    stackbox=$!
    kill_at_end "$stackbox"
    wait_until 30 tracing_runs
    go many
    kill -s INT "$stackbox"
    wait_until 30 grep -qE '^(1|20) ' "/proc/$stackbox/syscall" || fail "a slow reader" \
        "stackbox does not wait for it"
}

# A signal while a report waits for its reader does not truncate the report; nor does the signal
# that ended the run, if the same process sends it again.
start_slow
kill -s USR1 "$stackbox"
sleep 1.2
kill -s INT "$stackbox"
sleep 0.2
: >"$scratch/read-on"
wait_stackbox
wait_until 10 test -s "$scratch/report"
sleep 0.2
is "signals in the middle of a report lose nothing" \
    "$(folded_sum "$scratch/report" "^$NAME;") $status $(grep -c 'cannot' "$scratch/err")" "1024 0 0"
finish_workload many

# Another one ends it at once: a second later, by another process, or another signal.
start_slow
sleep 1.2
kill -s TERM "$stackbox"
wait "$stackbox" 2>/dev/null
is "another signal ends it at once" $? 143
finish_workload many
start_slow
sleep 1.2
sh -c "kill -s INT $stackbox; :"
wait "$stackbox" 2>/dev/null
is "the same signal by another process ends it at once" $? 130
finish_workload many

# Nothing is left behind, even after kill -9.
traces_left()
{
    mkdir -p "$scratch/tracefs" && mount -t tracefs tracefs "$scratch/tracefs" || return
    cat "$scratch/tracefs/kprobe_events" 2>/dev/null | grep -c stackbox
    umount "$scratch/tracefs"
}
if have_kprobes; then
    mkdir "$scratch/debugfs" && mount -t debugfs debugfs "$scratch/debugfs"
    for way in multi pmu tracefs; do
        start_stackbox stackcount --attach-by $way vfs_read || {
            contains "a way that this kernel lacks is refused: $way" \
                "$scratch/err" "--attach-by: this kernel has no "
            continue
        }
        finish_stackbox
        is "no probe is left after the end: $way" "$(grep -c vfs_ "$scratch/debugfs/kprobes/list")" 0
        start_stackbox stackcount --attach-by $way vfs_read
        finish_stackbox KILL 2>/dev/null
        if [ $way = tracefs ]; then
            is "text probes outlive kill -9" "$(traces_left)" 1
            start_stackbox stackcount --attach-by tracefs vfs_write
            finish_stackbox
            is "and the next run removes them" "$(traces_left)" 0
        fi
        sleep 0.3
        is "no probe is left after kill -9: $way" "$(grep -c vfs_ "$scratch/debugfs/kprobes/list")" 0
    done
    umount "$scratch/debugfs"
fi
