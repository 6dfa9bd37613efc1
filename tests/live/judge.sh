#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest,5.10,6.12,rt-6.12
# again: with more seeds
#
# From each seed a judge draws a life of processes and a run of stackbox, and holds the report against the life's
# own log (tests/workloads/judge.c). FROM=1 COUNT=100, or the words from=1 count=100 for a guest's kernel, choose
# other seeds than these.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_left.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

FROM=${FROM:-$(word from)} COUNT=${COUNT:-$(word count)}

# Each of these has found something.
found='8 58 75 100 137 153 171 172 176 234 251 417'
if [ "$COUNT" ]; then
    seeds="--from ${FROM:-1} --count $COUNT"
elif [ "${LATER:-}" ] && [ -z "$GUEST" ]; then
    seeds="--from 1 --count 200 $found"
elif [ "$GUEST" ]; then
    seeds="--from 1 --count 20 $found"
else
    seeds="--from 1 --count 60 $found"
fi

# A guest is ours alone, with its CPUs and pids.
alone=
[ -z "$GUEST" ] || alone='--alone --cpus'

left_begins || skip_all "tracefs cannot be mounted"
# shellcheck disable=SC2086 # words
"$WORKLOADS/judge" --verbose $alone $seeds >"$scratch/seeds" 2>&1
status=$?
grep '^FAIL' "$scratch/seeds" >"$scratch/failed"
while read -r _ seed what; do
    fail "seed ${seed%:}" "$what"
done <"$scratch/failed"
grep -v '^pass\|^refused\|^FAIL' "$scratch/seeds"
[ $status != 0 ] || pass "$(tail -n 1 "$scratch/seeds")"
between "its own status" $status 0 1
passed=$(grep -c '^pass' "$scratch/seeds")
between "refused" "$(grep -c '^refused' "$scratch/seeds")" 0 "$passed"
nothing_left ""
left_ends
