#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest,5.10,6.12
# kernels: rt-6.12
#
# From each seed a judge draws a life of processes and a run of stackbox, and compares the report
# with the life's log (tests/workloads/judge.c). FROM=1 COUNT=100, or from=1 count=100 for a guest's
# kernel, choose other seeds; so do SEEDS='7 278' TRIES=10, or seeds=7,278 tries=10: 10 runs each.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_left.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

FROM=${FROM:-$(word from)} COUNT=${COUNT:-$(word count)}
SEEDS=${SEEDS:-$(word seeds | tr , ' ')} TRIES=${TRIES:-$(word tries)}

# The first seeds are for breadth; each of the others has found a bug.
some='1 2 3 4 5 9 10 11 12 14 15 16 17 18 19 20 21 22 24 26'
more='27 28 30 31 32 34 36 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 59 60'
found='7 8 13 25 29 33 58 75 100 121 137 143 153 171 172 176 181 183 217 234 251 266 278 313 390 417 464 1281 1440 1580 1779 1814 1995'
# Emulated, a seed takes seconds.
guest='2 4 8 10 12 14 18 26 33 74 217 278 1440'
if [ "$SEEDS" ]; then
    seeds=$SEEDS
elif [ "$COUNT" ]; then
    seeds="--from ${FROM:-1} --count $COUNT"
elif [ "$GUEST" ]; then
    seeds=$guest
else
    seeds="$some $more $found"
fi

# A guest's CPUs and pids are ours; it is slow, and with one CPU its clock counts instructions.
alone=
[ -z "$GUEST" ] || alone='--alone --cpus --limit 300'
[ -z "$GUEST" ] || [ "$(nproc)" = 1 ] || alone="$alone --stalls"
# Where perf(1) misses switches, a run may report missed ones.
[ -z "$(deaf_cpu)" ] || alone="$alone --deaf"

left_begins || skip_all "tracefs cannot be mounted"
# shellcheck disable=SC2086 # words
"$WORKLOADS/judge" --verbose ${TRIES:+--tries $TRIES} $alone $seeds >"$scratch/seeds" 2>&1
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
