#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# The tests' time limit ends a process that hangs, and gives up one that no signal can end, in a
# call from which its kernel never returns. It never waits for the end of a process's output.
# shellcheck source=tests/live/lib.sh
. "${0%/*}/../live/lib.sh"

LIMIT_KILLED=1 LIMIT_GIVEN_UP=2
. "${0%/*}/../limits.sh"
limit_running=$scratch/running

# status COMMAND...: prints its exit status; its output is in $scratch/out
status()
{
    ("$@") >"$scratch/out" 2>&1
    echo $?
}

is "the exit status is passed on" "$(status limited 60 sh -c 'exit 3')" 3
is "what takes too long is ended" "$(status limited 2 sleep 1000)" 124
contains "and its output says what ran then" "$scratch/out" " sleep 1000"
is "and killed, if it does not end" \
    "$(status limited 1 sh -c 'trap "" TERM; sleep 1000; sleep 1000')" 137
is "two commands in sequence each have their status" \
    "$(status limited 1 sleep 1000; status limited 60 true)" "124
0"

# The reader of a test's output ends, even if a process keeps the writing end open.
is "processes that it leaves behind are not waited for" \
    "$(status limited 60 sh -c 'sleep 1000 & echo $! >"$0"; echo done' "$scratch/left"; cat "$scratch/out")" "0
done"
kill "$(cat "$scratch/left")"

# Something that cannot be killed: here timeout(1) does not kill it.
mkdir "$scratch/bin"
printf '#!/bin/sh\necho $$ >"%s/stuck"\nexec sleep 1000\n' "$scratch" >"$scratch/bin/timeout"
chmod 755 "$scratch/bin/timeout"
is "what cannot be ended is given up on" "$(PATH=$scratch/bin:$PATH; status limited 1 sleep 1000)" 137
kill -s KILL "$(cat "$scratch/stuck")"

# end_limited ends every running command from outside.
limited 60 sleep 1000 &
wait_until 20 test -s "$limit_running"
end_limited "$limit_running"
wait $!
is "everything that runs can be ended from outside" $? 143
