#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
#
# The progress line, in a terminal emulated by tmux: what its screen shows, and every byte that was sent to
# it.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
command -v tmux >/dev/null || skip_all "there is no tmux"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

EVENT=t:syscalls:sys_enter_getppid
LINE='[0-9]+\.[0-9] of 600 s, 12,345 events, 1 stack, 0 lost'

in_tmux()
{
    tmux -S "$scratch/tmux$pane" -f /dev/null "$@"
}

# The shell that is typed at has this in its way: what it runs is known by its pid.
cat >"$scratch/run" <<END
#!/bin/sh
echo \$\$ >"$scratch/traced.pid"
exec "$STACKBOX" "\$@"
END
chmod +x "$scratch/run"

# open_pane COLUMNS: one with a shell, in place of the last. What comes to it is in $scratch/raw.
pane=0
open_pane()
{
    [ $pane = 0 ] || in_tmux kill-server
    pane=$((pane + 1))
    (cd "$scratch" && in_tmux new-session -d -x "$1" -y 20 "exec env PS1='ready> ' sh -i")
    in_tmux set-option -g status off
    in_tmux resize-window -x "$1" -y 20
    test_processes="$test_processes $(in_tmux display-message -p '#{pid}')"
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

# Types a command, whose end is not waited for.
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

# Does what came to the terminal have figures in it?
raw_has_figures()
{
    grep -qaE '[0-9] s,|[0-9] lost|\[K' "$scratch/raw"
}

# Types a command, and waits for its end.
run_line()
{
    : >"$scratch/raw"
    type_line "$1; echo over\$?"
    wait_until 20 file_has raw over0 || fail "$1" "it did not end: $(screen | tail -n 3)"
    wait_until 20 is_ready
}

# quiet NAME COMMAND: which shows no line, from its start to its end
quiet()
{
    run_line "$2"
    if raw_has_figures; then
        fail "$1" "there is one: $(tail -c 300 "$scratch/raw")"
    else
        pass "$1"
    fi
}

# shows NAME PATTERN: at some time the last line of the screen is such a one
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

# ---- it comes, goes on, and goes

open_pane 100
type_line "./run stackcount -D 600 $MINE >report"
shows "it is there before there is an event" '[0-9]\.[0-9] of 600 s, 0 events, 0 stacks, 0 lost'
go one
shows "it has all the events that there were" "$LINE"
first=$(seconds_shown)
if wait_until 20 other_second; then
    pass "it is written anew"
else
    fail "it is written anew" "it still says $first"
fi
press C-c
wait_until 20 is_ready
is "nothing of it is left on the screen" "$(screen | grep -v '^ready> ./run')" 'ready>'
is "and the report is in the file" "$(grep -cx '    12345' "$scratch/report")" 1

# ---- reports in between

start_workload two calls -w -k -n 12345
type_line "clear; ./run stackcount -D 600 -i 1 -p $(pid_of two) $EVENT >report"
shows "with -i it is there, too" '[0-9]\.[0-9] of 600 s, 0 events, .*'
go two
shows "and has the events" "${LINE%1 stack*}[01] stacks?, 0 lost"
wait_until 20 file_has report "    12345"
reports=$(grep -c '^$' "$scratch/report")
more_reports()
{
    [ "$(grep -c '^$' "$scratch/report")" -gt $((reports + 1)) ]
}
wait_until 20 more_reports
shows "of reports that are done, too" '[0-9]+\.[0-9] of 600 s, 12,345 events, 0 stacks, 0 lost'
press C-c
wait_until 20 is_ready

# Two processes for one block too many: what --top left out is said in the middle of the run.
start_workload three calls -w -k -n 10
start_workload four calls -w -k -n 20
type_line "clear; ./run stackcount --top 1 -p $(pid_of three),$(pid_of four) $EVENT >report"
wait_until 20 has_line '[0-9.]+ s, 0 events, .*'
go three
go four
shows "without -D there is the time alone" '[0-9]+\.[0-9] s, 30 events, [12] stacks?, 0 lost'
kill -s USR1 "$(cat "$scratch/traced.pid")"
SAID='stackcount: --top left out 1 more stacks with 10 events'
said()
{
    screen | grep -qxF "$SAID"
}
wait_until 20 said
is "what is said has a line of its own" "$(screen | grep -F "stackcount: ")" "$SAID"
shows "and the line goes on below it" '[0-9]+\.[0-9] s, 30 events, .*'

press C-c
wait_until 20 is_ready
for name in one two three four; do
    finish_workload $name
done

# A terminal that is told to wait does not hold the tracing up: a signal would end such a wait, but
# here only time passes.
type_line "clear; ./run stackcount -D 600 -i 0.5 $EVENT >report"
shows "it is there between reports" '[0-9]+\.[0-9] of 600 s, .*'
press C-s
sleep 2.5
reports=$(grep -c '^$' "$scratch/report")
wait_until 20 more_reports && pass "Ctrl-S stops the line alone" ||
    fail "Ctrl-S stops the line alone" "no more reports were made"
press C-q
press C-c
wait_until 20 is_ready

# ---- where there is none

QUICK="-D 2.2 t:sched:sched_process_hang"
run_line "./run stackcount $QUICK >report"
raw_has_figures && pass "there is one with such a command" ||
    fail "there is one with such a command" "all that came is \"$(cat "$scratch/raw")\""
quiet "none with TERM=dumb" "TERM=dumb ./run stackcount $QUICK >report"
quiet "none with an empty TERM" "TERM= ./run stackcount $QUICK >report"
quiet "none without TERM" "env -u TERM ./run stackcount $QUICK >report"
quiet "none where the report is on the terminal" "./run stackcount $QUICK"
quiet "none where stderr is elsewhere" "./run stackcount $QUICK >report 2>said"
lacks "and none goes there" "$scratch/said" " stacks, "
# What a command prints would stand behind the line.
quiet "none with a command" "./run stackcount t:sched:sched_process_hang -- sleep 2.2 >report"
quiet "none in the background" "./run stackcount $QUICK >report & wait \$!"

# Stopped, and gone on with in the background: the terminal is the shell's.
open_pane 100
type_line "./run stackcount -D 600 $EVENT >report"
shows "it is there in the foreground" '[0-9]+\.[0-9] of 600 s, .*'
press C-z
wait_until 20 is_ready
type_line "bg"
wait_until 20 is_ready
: >"$scratch/raw"
sleep 2.5
raw_has_figures && fail "none once it is in the background" "$(tail -c 300 "$scratch/raw")" ||
    pass "none once it is in the background"
is_ready && pass "and the shell's line stands" ||
    fail "and the shell's line stands" "the screen is \"$(screen | tail -n 3 | tr '\n' '|')\""
type_line "fg"
shows "and it is there again in the foreground" '[0-9]+\.[0-9] of 600 s, .*'
press C-c
wait_until 20 is_ready

# ---- widths

open_pane 20
type_line "./run stackcount -D 600 $EVENT >report"
# In 20 columns: 19 of the line, and nothing of it on the next.
shows "in a narrow terminal it is cut" '[0-9]\.[0-9] of 600 s, [0-9,]+ *[a-z]*'
sleep 1.5
is "and is one line" "$(screen | grep -c 'of 600 s')" 1
is "of as many columns as there are but one" "$(screen | tail -n 1 | wc -c)" 20
press C-c
wait_until 20 is_ready

open_pane 100
type_line "clear; stty cols 0; ./run stackcount -D 600 $EVENT >report"
shows "0 columns count as 80" '[0-9]\.[0-9] of 600 s, [0-9,]+ events?, [0-9,]+ stacks?, 0 lost'
press C-c
wait_until 20 is_ready
is "and nothing is left there, either" "$(screen | grep -c 'of 600 s')" 0

in_tmux kill-server 2>/dev/null
exit 0
