#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
# beside
#
# `-- COMMAND`: which of its events count, how it ends, where it prints, what it inherits, and what happens
# to it if tracing is impossible or ends early.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

EXEC=t:sched:sched_process_exec
# Valid, but never hit: no process hangs here.
QUIET=t:sched:sched_process_hang

# Messages of a run without events; about tables, without BTF; before 4.18, about the collector.
USUAL='^stackcount: no events'
[ -r /sys/kernel/btf/vmlinux ] || USUAL="$USUAL\|^stackcount: user stacks are unwound by frame pointers, not tables: this kernel has no BTF"
! older_than 4.18 || USUAL="$USUAL\|^stackcount: stacks are collected by perf's rings, as this kernel's bpf(2) cannot\$"

# ---- exactly the command's own events, while others exec all the time

# others_exec PAUSE
others_exec()
{
    while :; do
        /bin/true
        sleep "$1"
    done &
    others=$!
    kill_at_end "$others"
}
pause=0
[ -z "$GUEST" ] || pause=0.05 # in emulation it would leave little CPU time
others_exec $pause
for i in 1 2 3; do
    # shellcheck disable=SC2016 # for that shell
    run_stackbox stackcount -f --debug $EXEC -- sh -c 'for i in 1 2 3 4 5; do /bin/true; done'
    is "six execs, $i: exit status" "$status" 0
    # On the newest kernels programs can be preempted, and others on that CPU are skipped meanwhile:
    # that is reported.
    missed=$(missed)
    between "six execs, $i: all are counted" "$(counted)" $((6 - missed)) 6
    between "six execs, $i: one by the shell" "$(folded_sum "$scratch/out" '^sh;')" \
        $((1 - missed)) 1
    between "six execs, $i: and five more" "$(folded_sum "$scratch/out" '^true;')" \
        $((5 - missed)) 5
done
run_stackbox stackcount -f -K $EXEC -- sh -c 'exec sh -c "exec /bin/true"'
is "execs of one process are all counted" "$(counted)" 3
# Another tracer's program, attached before ours, runs before the one that follows execs.
start_tracing stackcount -K $EXEC
# shellcheck disable=SC2016 # for that shell
run_stackbox stackcount -f -U --unwind fp $EXEC -- sh -c 'exec sh -c "exec \"$0\" -s 1"' "$WORKLOADS/deep"
is "another traces execs: all are counted" "$(counted)" 3
is "another traces execs: they are of the new program" "$(grep -c '^deep;_start 1$' "$scratch/out")" 1
finish_stackbox
run_stackbox stackcount -f -K -D 0.5 $EXEC
[ "$(counted)" -gt 6 ] && pass "without a command there are more" ||
    fail "without a command there are more" "$(counted)"
# Execs go on during all that follows, with pauses
kill "$others"
others_exec 0.1

# ---- exit statuses

# exits NAME STATUS WORD...: without user stacks, for which each run would read tables
exits()
{
    name=$1 expected=$2
    shift 2
    run_stackbox stackcount -K "$@"
    is "exit status: $name" "$status" "$expected"
}
exits "true" 0 $QUIET -- true
exits "false" 1 $QUIET -- false
exits "another" 42 $QUIET -- sh -c 'exit 42'
exits "one that stackbox also uses" 125 $QUIET -- sh -c 'exit 125'
exits "a signal" 137 $QUIET -- sh -c 'kill -s KILL $$'
exits "a signal that stackbox handles" 143 $QUIET -- sh -c 'kill -s TERM $$'
exits "not found" 127 $QUIET -- no-such-command
is "not found: the message" "$(grep -v "$USUAL" "$scratch/err")" \
    'stackcount: cannot run "no-such-command": No such file or directory'
exits "not found by its path" 127 $QUIET -- /no/such/command
exits "no name" 127 $QUIET -- ''
exits "a directory" 126 $QUIET -- /
is "a directory: the message" "$(grep -v "$USUAL" "$scratch/err")" \
    'stackcount: cannot run "/": Permission denied'
printf 'exit 7\n' >"$scratch/script"
exits "no permission to execute" 126 $QUIET -- "$scratch/script"
chmod 755 "$scratch/script"
exits "a script without #!" 7 $QUIET -- "$scratch/script"
PATH=/no/such/directory:$scratch:$PATH exits "the same, by PATH" 7 $QUIET -- script
PATH=$scratch::$PATH exits "empty parts of PATH" 0 $QUIET -- true
# A directory in PATH that cannot be searched does not end the search; if the command is in no
# other, it is the reason.
ln -s loop "$scratch/loop"
PATH=$scratch/loop:$PATH exits "a directory of PATH that leads nowhere" 0 $QUIET -- true
mkdir "$scratch/other" && : >"$scratch/other/true"
PATH=$scratch/other:$scratch/loop:$PATH exits "a file that is not a program" 0 $QUIET -- true
PATH=$scratch/loop exits "nothing but such a directory" 126 $QUIET -- nothing-of-that-name
printf '#!/no/such/interpreter\n' >"$scratch/script"
exits "no interpreter" 127 $QUIET -- "$scratch/script"
exits "wrong usage" 2 -p 1 $QUIET -- true
exits "a process's depth is wrong usage too" 2 --depth 60000 $QUIET -- sh -c ": >$scratch/ran"
exits "no such function" 125 no_such_function -- sh -c ": >$scratch/ran"
exits "no such CPU" 125 -C 65535 $QUIET -- sh -c ": >$scratch/ran"
[ -e "$scratch/ran" ] && fail "if tracing fails, the command is not run" "it was" ||
    pass "if tracing fails, the command is not run"
"$STACKBOX" stackcount $QUIET -- true </dev/null >/dev/full 2>"$scratch/err"
is "exit status: a full disk" "$? $(grep -c 'No space left' "$scratch/err")" "125 1"
under="$WORKLOADS/deny --cap bpf --cap perfmon --cap sys_admin --"
exits "no rights" 125 $QUIET -- sh -c ": >$scratch/ran"
is "no rights: one line on stderr" "$(wc -l <"$scratch/err") $(ls "$scratch/ran" 2>/dev/null)" "1 "
exits "no rights, best effort" 9 --best-effort $QUIET -- sh -c 'echo said; exit 9'
is "no rights, best effort: one warning, and it ran" \
    "$(grep -c '^stackcount: ' "$scratch/err") $(grep -vc '^stackcount: ' "$scratch/err")" "1 1"
exits "no rights, best effort, not found" 127 --best-effort $QUIET -- no-such-command
exits "no rights, wrong usage" 2 --best-effort -KU $QUIET -- true
under=
exits "no such function, best effort" 9 --best-effort no_such_function -- sh -c 'exit 9'
exits "no such depth, best effort" 2 --best-effort --depth 60000 $QUIET -- true
exits "nothing wrong, best effort" 9 --best-effort $QUIET -- sh -c 'exit 9'
if ! have_kprobes; then
    exits "no kprobes, best effort" 0 --best-effort vfs_read -- echo said
    is "no kprobes, best effort: one warning, and it ran" \
        "$(grep -c 'no kprobes' "$scratch/err") $(tail -n 1 "$scratch/err")" "1 said"
fi
under="$WORKLOADS/deny --syscall perf_event_open:EACCES --"
exits "without perf_event_open(2)" 125 $QUIET -- true
exits "without perf_event_open(2), best effort" 9 --best-effort $QUIET -- sh -c 'exit 9'
under="$WORKLOADS/deny --syscall bpf:EPERM --"
exits "without bpf(2)" 9 $QUIET -- sh -c 'exit 9'
exits "without bpf(2), with --collect bpf" 125 --collect bpf $QUIET -- true
exits "without bpf(2), with --collect bpf, best effort" 9 --best-effort --collect bpf $QUIET -- sh -c 'exit 9'
under=
under="$WORKLOADS/deny --syscall pidfd_open:ENOSYS --"
exits "without pidfds" 42 $QUIET -- sh -c 'sleep 0.3; exit 42'
under=

# SIGCHLD was ignored: a child's exit status would be lost.
(
    trap '' CHLD
    "$STACKBOX" stackcount $QUIET -- sh -c 'exit 42' </dev/null >/dev/null 2>&1
)
is "exit status: SIGCHLD was ignored" $? 42

# ---- where the command prints, what it reads

run_stackbox stackcount -f $EXEC -- sh -c 'echo to stdout; echo to stderr >&2'
is "stdout has only the report" "$(cut -d ';' -f 1 "$scratch/out")" "sh"
is "stderr has all that the command prints" "$(grep -c '^to std' "$scratch/err")" 2
echo "a line for it" | "$STACKBOX" stackcount $QUIET -- cat >"$scratch/out" 2>"$scratch/err"
is "stdin is the command's" "$? $(grep -c '^a line for it$' "$scratch/err")" "0 1"
# Without a terminal, Enter would otherwise end the tracing.
{ sleep 0.5; echo; sleep 0.5; echo; } | "$WORKLOADS/session" --limit 60 "$STACKBOX" stackcount -f \
    $EXEC -- sh -c 'read -r line; read -r line; /bin/true' >"$scratch/out" 2>"$scratch/err"
is "Enter is read by the command, too" "$? $(counted)" "0 2"
"$STACKBOX" stackcount $EXEC -- sh -c 'exit 3' <&- >&- 2>&-
is "a closed stdout is reported" $? 125
"$STACKBOX" stackcount -o "$scratch/closed.folded" $EXEC -- sh -c 'exit 3' <&- >&- 2>&-
is "it works with all streams closed" "$? $(grep -c . "$scratch/closed.folded")" "3 1"
# open_streams: ends with 40 and a bit for each of descriptors 0 to 2 that is open
cat >"$scratch/open_streams" <<'END'
#!/bin/sh
open=40
[ ! -e /proc/self/fd/0 ] || open=$((open + 1))
[ ! -e /proc/self/fd/1 ] || open=$((open + 2))
[ ! -e /proc/self/fd/2 ] || open=$((open + 4))
exit $open
END
chmod 755 "$scratch/open_streams"
"$STACKBOX" stackcount -o "$scratch/closed.folded" $EXEC -- "$scratch/open_streams" <&- >&- 2>&-
is "and they stay closed" $? 40
"$STACKBOX" stackcount -o "$scratch/closed.folded" $EXEC -- "$scratch/open_streams" </dev/null >&- 2>/dev/null
is "a closed stdout stays closed" $? 45
"$STACKBOX" stackcount -f $EXEC -- "$scratch/open_streams" <&- >"$scratch/out" 2>&-
is "if stdout is the report's and stderr is closed, the command has neither" $? 40
"$STACKBOX" stackcount -f $EXEC -- sh -c 'echo said; exit 3' >"$scratch/out" 2>&- <&-
is "stdin and stderr may be closed" "$? $(counted)" "3 1"
"$STACKBOX" stackcount -f -i 0.1 $EXEC -- sh -c 'sleep 0.5; exit 3' 2>"$scratch/err" | true
pass "a reader that leaves"

# ---- the command inherits what stackbox got

cat >"$scratch/inherited" <<'END'
grep '^Sig[BI]\|^SigCgt' /proc/self/status
ls /proc/self/fd | tr '\n' ' '
echo $(ulimit -Sn) $(ulimit -Hn) $(ulimit -Sl) $(ulimit -Hl) $(umask)
cat /proc/self/stat | cut -d ' ' -f 5,6,7,18,19,41
cd -P . && pwd
END
# inherited NAME [WORD...]: is the same when run directly and when traced
inherited()
{
    name=$1
    shift
    "$@" sh "$scratch/inherited" >"$scratch/bare" 2>&1 </dev/null
    "$@" "$STACKBOX" stackcount -f $QUIET -- sh "$scratch/inherited" 2>"$scratch/err" >/dev/null </dev/null
    grep -v "^Tracing\|$USUAL" "$scratch/err" >"$scratch/traced"
    if cmp -s "$scratch/bare" "$scratch/traced" && [ "$(wc -l <"$scratch/bare")" = 6 ]; then
        pass "inherited: $name"
    else
        fail "inherited: $name" "$(diff "$scratch/bare" "$scratch/traced" | tr '\n' '|')"
    fi
}
inherited "the environment as it is"
(ulimit -Sn 100; inherited "a soft limit of descriptors"; [ $test_failures = 0 ]) || test_failures=1
(trap '' HUP PIPE USR1 CHLD; inherited "ignored signals"; [ $test_failures = 0 ]) || test_failures=1
(exec 7</dev/null; inherited "another descriptor"; [ $test_failures = 0 ]) || test_failures=1
if command -v nice >/dev/null; then
    inherited "priority" nice -n 5
else
    skip "inherited: priority" "nice is not installed"
fi

# ---- -D, and what comes after

# The command executes nothing until the report has been printed.
run_stackbox stackcount -f -D 0.4 $EXEC -- \
    sh -c "until [ -s $scratch/out ]; do :; done; /bin/true; echo end; exit 3"
is "-D ends only the tracing" "$status $(counted) $(grep -c '^end$' "$scratch/err")" "3 1 1"
run_stackbox stackcount -D 0.2 $QUIET -- \
    sh -c "i=0; until [ \$((i += 1)) -gt 200 ]; do ls -l /proc/\$PPID/fd >$scratch/fds
           grep -q 'bpf\|perf_event' $scratch/fds || break; sleep 0.1; done
           cat $scratch/out >$scratch/then"
is "and the report is printed before the command ends" "$(tail -n 1 "$scratch/then")" "Detaching..."
is "and nothing is left attached" "$(grep -c 'bpf\|perf_event' "$scratch/fds")" 0
run_stackbox stackcount -f -i 0.2 $EXEC -- sh -c 'for i in 1 2 3 4 5; do sleep 0.15; done'
is "-i: each event is in one report" "$(counted)" 6


# ---- kill -9 while stackbox holds the command back: the command never runs

if start_held $QUIET -- sh -c ": >$scratch/ran"; then
    is "held: the command has not been executed yet" "$(cat "/proc/$held/comm")" stackbox
    finish_stackbox KILL 2>/dev/null
    if wait_until 10 ended "$held"; then
        pass "kill -9: the held process ends"
    else
        fail "kill -9: the held process ends" "it is there"
    fi
    [ -e "$scratch/ran" ] && fail "kill -9: the command was not run" "it was" ||
        pass "kill -9: the command was not run"
else
    fail "kill -9 while it is held" "it was not held: $(cat "$scratch/err")"
fi
true
