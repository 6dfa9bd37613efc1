#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
# later: it watches a terminal for half a minute
#
# The progress line, in a terminal emulated by tmux: its screen, and every byte that it gets.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
need tmux
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

EVENT=t:syscalls:sys_enter_getppid
LINE='[0-9]+\.[0-9] of 600 s, 12,345 events, 1 stack, 0 lost'

in_tmux()
{
    tmux -S "$scratch/tmux$pane" -f /dev/null "$@"
}

# The shell in the terminal runs commands through this script, which tells their pids.
cat >"$scratch/run" <<END
#!/bin/sh
echo \$\$ >"$scratch/traced.pid"
exec "$STACKBOX" "\$@"
END
chmod +x "$scratch/run"

# open_pane COLUMNS: opens a pane with a shell, in place of the last one. What the pane gets is in
# $scratch/raw.
pane=0
open_pane()
{
    [ $pane = 0 ] || in_tmux kill-server
    pane=$((pane + 1))
    (cd "$scratch" && in_tmux new-session -d -x "$1" -y 20 "exec env PS1='ready> ' sh -i")
    in_tmux set-option -g status off
    in_tmux resize-window -x "$1" -y 20
    kill_at_end "$(in_tmux display-message -p '#{pid}')"
    : >"$scratch/raw"
    in_tmux pipe-pane "exec cat >>'$scratch/raw'"
    wait_until 20 is_ready
}

screen()
{
    in_tmux capture-pane -p | sed '/^ *$/d; s/ *$//'
}

is_ready()
{
    [ "$(screen | tail -n 1)" = 'ready>' ]
}

has_line()
{
    screen | tail -n 1 | grep -qxE "$1"
}

# type_line: types a command, and does not wait for its end.
type_line()
{
    in_tmux send-keys -l "$1"
    in_tmux send-keys Enter
}

press()
{
    in_tmux send-keys "$1"
}

seconds_shown()
{
    screen | tail -n 1 | sed 's/ .*//'
}

other_second()
{
    [ "$(seconds_shown)" != "$first" ] && has_line "$LINE"
}

file_has()
{
    grep -qF "$2" "$scratch/$1"
}

# Did the terminal get figures?
raw_has_figures()
{
    grep -qaE '[0-9] s,|[0-9] lost|\[K' "$scratch/raw"
}

# run_line: types a command, and waits for its end.
run_line()
{
    : >"$scratch/raw"
    type_line "$1; echo over\$?"
    wait_until 20 file_has raw over0 || fail "$1" "it did not end: $(screen | tail -n 3)"
    wait_until 20 is_ready
}

# quiet NAME COMMAND: shows no progress line, from its start to its end
quiet()
{
    run_line "$2"
    if raw_has_figures; then
        fail "$1" "there is one: $(tail -c 300 "$scratch/raw")"
    else
        pass "$1"
    fi
}

# shows NAME PATTERN: at some time the last line on the screen matches
shows()
{
    if wait_until 20 has_line "$2"; then
        pass "$1"
    else
        fail "$1" "the screen is \"$(screen | tail -n 4 | tr '\n' '|')\""
    fi
}

start_workload one calls -w -k -n 12345
MINE="-p $(pid_of one) $EVENT"

# ---- the line appears, is updated, and disappears

open_pane 100
type_line "./run stackcount -D 600 $MINE >report"
shows "the line is there before the first event" '[0-9]\.[0-9] of 600 s, 0 events, 0 stacks, 0 lost'
go one
shows "it has all events so far" "$LINE"
first=$(seconds_shown)
if wait_until 20 other_second; then
    pass "it is updated"
else
    fail "it is updated" "it still says $first"
fi
press C-c
wait_until 20 is_ready
is "the screen is clean afterwards" "$(screen | grep -v '^ready> ./run')" 'ready>'
is "and the report is in the file" "$(grep -cx '    12345' "$scratch/report")" 1

# ---- several reports

start_workload two calls -w -k -n 12345
type_line "clear; ./run stackcount -D 600 -i 1 -p $(pid_of two) $EVENT >report"
shows "with -i the line is there, too" '[0-9]\.[0-9] of 600 s, 0 events, .*'
go two
shows "with -i it has the events" "${LINE%1 stack*}[01] stacks?, 0 lost"
wait_until 20 file_has report "    12345"
reports=$(grep -c '^$' "$scratch/report")
more_reports()
{
    [ "$(grep -c '^$' "$scratch/report")" -gt $((reports + 1)) ]
}
wait_until 20 more_reports
shows "with -i it includes earlier reports" '[0-9]+\.[0-9] of 600 s, 12,345 events, 0 stacks, 0 lost'
press C-c
wait_until 20 is_ready

# Two processes, one block more than --top 1: what is left out is reported in the middle of the run.
start_workload three calls -w -k -n 10
start_workload four calls -w -k -n 20
type_line "clear; ./run stackcount --top 1 -p $(pid_of three),$(pid_of four) $EVENT >report"
wait_until 20 has_line '[0-9.]+ s, 0 events, .*'
go three four
shows "without -D there is only the time" '[0-9]+\.[0-9] s, 30 events, [12] stacks?, 0 lost'
kill -s USR1 "$(cat "$scratch/traced.pid")"
SAID='stackcount: --top left out 1 more stacks with 10 events'
said()
{
    screen | grep -qxF "$SAID"
}
wait_until 20 said
is "messages have a line of their own" "$(screen | grep -F "stackcount: ")" "$SAID"
shows "and the progress line goes on below" '[0-9]+\.[0-9] s, 30 events, .*'

press C-c
wait_until 20 is_ready
finish_workload one two three four

# A stopped terminal (Ctrl-S) does not block the tracing: a signal would end a blocked write, but no
# signal comes here.
type_line "clear; ./run stackcount -D 600 -i 0.5 $EVENT >report"
shows "the line is there between reports" '[0-9]+\.[0-9] of 600 s, .*'
press C-s
sleep 2.5
reports=$(grep -c '^$' "$scratch/report")
wait_until 20 more_reports && pass "Ctrl-S stops only the line" ||
    fail "Ctrl-S stops only the line" "no more reports were made"
press C-q
press C-c
wait_until 20 is_ready

# ---- when there is no line

QUICK="-D 2.2 t:sched:sched_process_hang"
run_line "./run stackcount $QUICK >report"
raw_has_figures && pass "such a command normally shows a line" ||
    fail "such a command normally shows a line" "all that came is \"$(cat "$scratch/raw")\""
quiet "none with TERM=dumb" "TERM=dumb ./run stackcount $QUICK >report"
quiet "none with an empty TERM" "TERM= ./run stackcount $QUICK >report"
quiet "none without TERM" "env -u TERM ./run stackcount $QUICK >report"
quiet "none if the report is on the terminal" "./run stackcount $QUICK"
quiet "none if stderr is not the terminal" "./run stackcount $QUICK >report 2>said"
lacks "and stderr gets none" "$scratch/said" " stacks, "
# A command's output would follow the line.
quiet "none with a command" "./run stackcount t:sched:sched_process_hang -- sleep 2.2 >report"
quiet "none in the background" "./run stackcount $QUICK >report & wait \$!"

# Stopped, and continued in the background: the terminal is the shell's.
open_pane 100
type_line "./run stackcount -D 600 $EVENT >report"
shows "the line is there in the foreground" '[0-9]+\.[0-9] of 600 s, .*'
press C-z
wait_until 20 is_ready
type_line "bg"
wait_until 20 is_ready
: >"$scratch/raw"
sleep 2.5
raw_has_figures && fail "none once it is in the background" "$(tail -c 300 "$scratch/raw")" ||
    pass "none once it is in the background"
is_ready && pass "and the shell's prompt stays" ||
    fail "and the shell's prompt stays" "the screen is \"$(screen | tail -n 3 | tr '\n' '|')\""
type_line "fg"
shows "and the line is back in the foreground" '[0-9]+\.[0-9] of 600 s, .*'
press C-c
wait_until 20 is_ready

# ---- widths

open_pane 20
type_line "./run stackcount -D 600 $EVENT >report"
# In 20 columns: 19 of the line, and nothing on the next one.
shows "in a narrow terminal the line is cut" '[0-9]\.[0-9] of 600 s, [0-9,]+ *[a-z]*'
sleep 1.5
is "and takes one line" "$(screen | grep -c 'of 600 s')" 1
is "one column less than there are" "$(screen | tail -n 1 | wc -c)" 20
press C-c
wait_until 20 is_ready

open_pane 100
type_line "clear; stty cols 0; ./run stackcount -D 600 $EVENT >report"
shows "0 columns count as 80" '[0-9]\.[0-9] of 600 s, [0-9,]+ events?, [0-9,]+ stacks?, 0 lost'
press C-c
wait_until 20 is_ready
is "and the screen is clean afterwards, too" "$(screen | grep -c 'of 600 s')" 0

in_tmux kill-server 2>/dev/null
exit 0
