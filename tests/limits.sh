# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# A time limit for any command: read by run.sh.
#
# A test may hang, and so may the kernel below it: then no signal ends the process, and a wait for
# it does not return. And processes that a test leaves behind may hold its output open. So this file
# waits for no process: each reports through a pipe that no other process has, or is given up.

# Seconds after the limit until SIGKILL, and until a process is given up
LIMIT_KILLED=${LIMIT_KILLED:-5} LIMIT_GIVEN_UP=${LIMIT_GIVEN_UP:-15}

# processes_of GROUP: each of its processes, with its state, what it waits for in the kernel, and its command line
processes_of()
{
    grep -lE "\) . [0-9]+ $1 " /proc/[0-9]*/stat | while read -r stat; do
        directory=${stat%/stat}
        echo "${directory#/proc/} $(sed 's/.*) \(.\) .*/\1/' "$stat") $(cat "$directory/wchan")" \
            "$(tr '\0' ' ' <"$directory/cmdline")"
    done
}

# limited SECONDS COMMAND...: returns the command's exit status; 124 or 137 if it was killed, or
# could not be: then the output ends with the processes that ran after nine tenths of the time. Call
# it in a subshell, ( limited ... ) >FILE: otherwise a process that it gives up keeps a copy of the
# caller's output. One at a time in a process; $limit_running has the pid that end_limited signals.
limit_running=${TMPDIR:-/tmp}/limited.$$
limited()
{
    limit=$1
    shift
    mkfifo "$limit_running.said" && exec 3<>"$limit_running.said" && rm "$limit_running.said" ||
        return 125
    {
        timeout -k "$LIMIT_KILLED" "$limit" "$@" 3>&- &
        echo $! >"$limit_running"
        wait $!
        echo $? >&3
    } &
    {
        trap 'kill $sleeper; exit' TERM
        sleep $((limit * 9 / 10)) 3>&- &
        sleeper=$!
        wait $sleeper
        processes_of "$(cat "$limit_running")" >"$limit_running.late" 2>/dev/null 3>&-
        sleep $((limit - limit * 9 / 10 + LIMIT_GIVEN_UP)) 3>&- &
        sleeper=$!
        wait $sleeper
        echo 137 >&3
    } >/dev/null 2>&1 &
    limit_watch=$!
    read -r limit_status <&3
    exec 3>&-
    kill $limit_watch
    case $limit_status in
    124 | 137) cat "$limit_running.late" 2>/dev/null ;;
    esac
    rm -f "$limit_running" "$limit_running.late"
    return "$limit_status"
}

# end_limited FILE...: ends the commands whose pids are in these files
end_limited()
{
    for running in "$@"; do
        [ -s "$running" ] && kill -s TERM "$(cat "$running")"
    done
}
