#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
#
# --live in a terminal emulated by tmux: keys, sizes, and the terminal is as before after every end.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
need tmux
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"
EVENT=t:syscalls:sys_enter_getppid

in_tmux()
{
    tmux -S "$scratch/tmux" -f /dev/null "$@"
}
screen()
{
    in_tmux capture-pane -p | sed 's/ *$//'
}
screen_has()
{
    screen | grep -qE -e "$1"
}
type_line()
{
    in_tmux send-keys -l "$1"
    in_tmux send-keys Enter
}
shows()
{
    if wait_until 20 screen_has "$2"; then
        pass "$1"
    else
        fail "$1" "the screen is \"$(screen | grep . | tail -n 4 | tr '\n' '|')\""
    fi
}
# last_shown: the last report in $scratch/shown, found by its first line
last_shown()
{
    awk '/^  self%/ { lines = "" } { lines = lines $0 "\n" } END { printf "%s", lines }' "$scratch/shown"
}
# modes NAME: the shell's terminal has its old settings
modes()
{
    type_line "clear; stty -a | sed 1d >modes; echo over\$?"
    wait_until 20 screen_has '^over0$'
    is "$1" "$(cat "$scratch/modes")" "$(cat "$scratch/before")"
}

cat >"$scratch/run" <<END
#!/bin/sh
echo \$\$ >"$scratch/traced.pid"
exec "$STACKBOX" "\$@"
END
chmod +x "$scratch/run"
(cd "$scratch" && in_tmux new-session -d -x 80 -y 12 "exec env PS1='ready> ' sh -i")
in_tmux set-option -g status off
in_tmux resize-window -x 80 -y 12
kill_at_end "$(in_tmux display-message -p '#{pid}')"
type_line "stty -a | sed 1d >before; echo over\$?"
wait_until 20 screen_has '^over0$'

start_workload one calls -w -k -n 12345
LIVE="./run stackcount --live 0.5 -p $(pid_of one) $EVENT"
type_line "clear; $LIVE -o r.tree"
shows "the view is there before the first event" '^stackcount: .* 0 events, 0 lost; lines 1-1 of 1; q ends'
go one
shows "it has all events so far" '12345 events, 0 lost; lines 1-'
in_tmux send-keys p
shows "p pauses" '^PAUSED; '
in_tmux send-keys p Down
shows "an arrow scrolls" 'lines [12]-'
in_tmux resize-window -x 60 -y 8
shows "in a smaller terminal there is less" 'lines [0-9]+-[0-9]+ of'
in_tmux resize-window -x 80 -y 12
in_tmux send-keys C-z
shows "Ctrl-Z stops it" 'Stopped'
modes "stopped: the terminal is restored"
type_line fg
shows "and it goes on" '12345 events, 0 lost; lines'
# Wide enough: nothing is cut.
in_tmux resize-window -x 200 -y 40
shows "in a wide terminal everything is there" '12345 events, 0 lost; lines 1-'
in_tmux send-keys q
wait_until 20 test -s "$scratch/r.tree" || fail "q ends it" "there is no report"
wait_until 20 screen_has '^ready>$'
screen | sed '/^ready>$/,$d' >"$scratch/shown"
is "the last report is printed as in the file" "$(last_shown)" "$(cat "$scratch/r.tree")"
in_tmux resize-window -x 80 -y 12
modes "ended: the terminal is restored"
contains "the file has the events" "$scratch/r.tree" "of 12345 events"
for signal in TERM SEGV KILL; do
    type_line "clear; $LIVE"
    wait_until 20 screen_has 'q ends'
    kill -s $signal "$(cat "$scratch/traced.pid")"
    wait_until 20 ended "$(cat "$scratch/traced.pid")" || fail "SIG$signal" "it did not end"
    modes "SIG$signal: the terminal is restored"
done
type_line "clear; TERM=dumb $LIVE -D 1.8 >out 2>&1; echo over\$?"
wait_until 20 screen_has '^over0$'
between "without a terminal reports follow each other" "$(grep -c '^  self%' "$scratch/out")" 3 9
in_tmux kill-server
drop_workload one

# Events until the very end: what is shown last is exactly what is written.
start_workload many calls -w -k -n 100000000
kill -s USR2 "$(pid_of many)"
for format in tree flat; do
    "$STACKBOX" stackcount --live 0.3 --$format -D 1.5 -p "$(pid_of many)" -o "$scratch/many.$format" $EVENT \
        >"$scratch/shown" 2>"$scratch/err"
    last_shown >"$scratch/last"
    is "--$format: the last view is what is written" "$(cmp "$scratch/last" "$scratch/many.$format" 2>&1)" ""
    between "--$format: and it has stacks" "$(wc -l <"$scratch/last")" 5 99
done
drop_workload many
