#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10
# host: yes
# beside
#
# Signals and `-- COMMAND`: stackbox passes a signal that ends tracing on to the command, once, but
# not one that a terminal sent to both; another signal a second later ends everything at once.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

# Valid, but never hit: no process hangs here.
QUIET=t:sched:sched_process_hang
GOT=$scratch/got

has_begun()
{
    grep -q '^begun' "$GOT" 2>/dev/null
}

# start_signals OPTION...: starts stackbox with a command that notes which signals it gets
start_signals()
{
    rm -f "$GOT" "$GOT.end"
    start_stackbox stackcount "$@" $QUIET -- "$WORKLOADS/signals" "$GOT"
    wait_until 20 has_begun
}

# command_of PID: its child that is the command
command_of()
{
    for child in $(grep -l "^PPid:.$1$" /proc/[0-9]*/status 2>/dev/null | tr -dc '0-9\n'); do
        comm=$(cat "/proc/$child/comm" 2>/dev/null) && [ "$comm" != stackbox ] && echo "$child"
    done
}

# got: which signals the command got
got()
{
    sed 1d "$GOT" | tr '\n' ' '
}

# end_command: ends it with status 5
end_command()
{
    : >"$GOT.end"
}

has_reported()
{
    grep -q '^Detaching' "$scratch/out"
}

for signal in INT TERM HUP; do
    start_signals
    kill -s $signal "$stackbox"
    wait_until 20 has_reported && pass "SIG$signal ends the tracing with its report" ||
        fail "SIG$signal ends the tracing with its report" "$(cat "$scratch/out")"
    ended "$stackbox" && fail "SIG$signal: it waits for the command" "it ended" ||
        pass "SIG$signal: it waits for the command"
    sleep 0.2
    is "SIG$signal is passed on once" "$(got)" "$signal "
    end_command
    wait_stackbox
    is "SIG$signal: the command's status" $status 5
done

start_signals
kill -s TERM "$stackbox"
wait_until 20 has_reported
kill -s TERM "$stackbox"
sleep 1.2
ended "$stackbox" && fail "the same signal again is the first one" "it ended" ||
    is "the same signal again is the first one" "$(got)" "TERM "
sh -c "kill -s TERM $stackbox; :"
wait "$stackbox" 2>/dev/null
is "another process's ends it at once" "$? $(got)" "143 TERM "
end_command

start_signals -D 0.2
wait_until 20 has_reported
kill -s TERM "$stackbox"
sleep 0.3
ended "$stackbox" && fail "after -D a signal does not end the wait" "it ended" ||
    pass "after -D a signal does not end the wait"
is "after -D a signal is passed on" "$(got)" "TERM "
end_command
wait_stackbox
is "after -D the status is the command's" $status 5

start_signals
kill -s USR1 "$stackbox"
kill -s USR1 "$stackbox"
sleep 0.3
ended "$stackbox" && fail "SIGUSR1 is not passed on" "it ended" || is "SIGUSR1 is not passed on" "$(got)" ""
kill -s STOP "$(command_of "$stackbox")"
sleep 0.3
ended "$stackbox" && fail "a stopped command has not ended" "we ended" ||
    pass "a stopped command has not ended"
kill -s KILL "$(command_of "$stackbox")"
wait_stackbox
is "a killed one has" "$status $(tail -n 1 "$scratch/out")" "137 Detaching..."

# While the command is held, both end without results.
for expected in 129:HUP 130:INT 143:TERM; do
    signal=${expected#*:}
    if start_held $QUIET -- sh -c ": >$scratch/ran"; then
        kill -s "$signal" "$stackbox"
        release_held
        wait_stackbox
        is "SIG$signal while it is held" "$status" "${expected%:*}"
        wait_until 10 ended "$held" && pass "SIG$signal: the held process ends" ||
            fail "SIG$signal: the held process ends" "it is there"
    else
        fail "SIG$signal while it is held" "it was not held: $(cat "$scratch/err")"
    fi
done
if start_held --best-effort $QUIET -- sh -c ": >$scratch/ran"; then
    kill -s TERM "$stackbox"
    release_held
    wait_stackbox
    is "a signal while it is held, best effort" "$status" 143
fi
[ -e "$scratch/ran" ] && fail "the command was not run" "it was" || pass "the command was not run"

# A signal that was ignored stays ignored, for both. ignoring WORD...: runs it in the background with
# SIGHUP and SIGINT ignored; its output is in $scratch/ignored
ignoring()
{
    : >"$scratch/ignored"
    (
        trap '' HUP INT
        exec "$@" sh -c 'grep ^SigIgn /proc/self/status; sleep 1; exit 6' </dev/null \
            >"$scratch/ignored" 2>&1
    ) &
    ignoring=$!
    wait_until 20 grep -q '^SigIgn' "$scratch/ignored"
}
ignoring env
wait $ignoring
bare=$(grep '^SigIgn' "$scratch/ignored")
ignoring "$STACKBOX" stackcount $QUIET --
kill -s HUP $ignoring
kill -s INT $ignoring
wait $ignoring
is "ignored signals stay ignored" "$? $(grep '^SigIgn' "$scratch/ignored")" "6 $bare"

# ---- with a terminal

mkfifo "$scratch/keys"
# start_terminal WORD...: runs it in a terminal of its own; printf ... >&9 types there
start_terminal()
{
    rm -f "$GOT" "$GOT.end"
    : >"$scratch/out" # removes the last run's output
    "$WORKLOADS/session" --limit 60 --terminal "$@" <"$scratch/keys" >"$scratch/out" 2>&1 &
    terminal=$!
    kill_at_end "$terminal"
    exec 9>"$scratch/keys"
}
# in_terminal: the process that it runs
in_terminal()
{
    grep -l "^PPid:.$terminal$" /proc/[0-9]*/status 2>/dev/null | tr -cd 0-9
}
# finish_terminal: sets $status to the exit status of the command in the terminal
finish_terminal()
{
    wait $terminal
    status=$?
    exec 9>&-
}

start_terminal "$STACKBOX" stackcount $QUIET -- "$WORKLOADS/signals" "$GOT"
wait_until 20 has_begun
# stackbox gets its signal late, so that the command would log a second one.
stackbox=$(in_terminal)
kill -s STOP "$stackbox"
printf '\003' >&9
wait_until 20 grep -q INT "$GOT"
kill -s CONT "$stackbox"
wait_until 20 has_reported && pass "Ctrl-C ends the tracing with its report" ||
    fail "Ctrl-C ends the tracing with its report" "$(cat "$scratch/out")"
sleep 0.3
is "Ctrl-C is not sent twice" "$(got)" "INT "
end_command
finish_terminal
is "Ctrl-C: the command's status" $status 5

# The command outlives it. The terminal hangs up, as stackbox leads its session.
start_terminal "$STACKBOX" stackcount $QUIET -- "$WORKLOADS/signals" "$GOT"
wait_until 20 has_begun
stackbox=$(in_terminal)
printf '\003' >&9
wait_until 20 has_reported
sleep 1.2
ended "$stackbox" && fail "after Ctrl-C it waits for the command" "it ended" ||
    pass "after Ctrl-C it waits for the command"
printf '\003' >&9
wait_until 10 ended "$stackbox" && pass "Ctrl-C typed again ends it at once" ||
    fail "Ctrl-C typed again ends it at once" "it is there"
wait_until 10 grep -q HUP "$GOT"
is "Ctrl-C typed again: what the command gets" "$(got)" "INT INT HUP "
end_command
finish_terminal
is "Ctrl-C typed again: the status" $status 130

start_terminal "$STACKBOX" stackcount $QUIET -- sh -c ": >$GOT; echo begun >$GOT; exec sleep 60"
wait_until 20 has_begun
printf '\003' >&9
finish_terminal
is "Ctrl-C ends both" "$status $(grep -c '^Detaching' "$scratch/out")" "130 1"

start_terminal "$STACKBOX" stackcount $QUIET -- sh -c 'read -r line; echo "read $line"; exit 4'
wait_until 20 grep -q '^Tracing' "$scratch/out"
echo typed >&9
finish_terminal
is "the command reads what is typed" "$status $(grep -c '^read typed' "$scratch/out")" "4 1"
true
