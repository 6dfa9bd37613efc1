#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10,newest
# host: yes
#
# Files of an ordinary user that are costly to read, or have names that are costly to keep: only
# their own names are missing, and the report comes soon.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

NAME=hostile$$
N=200
chmod 755 "$scratch"
cp "$WORKLOADS/hostile" "$scratch/hostile"
mkdir -m 777 "$scratch/files"

# besides NAME ARGUMENT...: traces hostile and an ordinary program
besides()
{
    name=$1
    shift
    start_workload bad deny --uid 65534 -- "$scratch/hostile" -w -k -N "$NAME" "$@"
    start_workload good chains -w -k -n $N -N good$$
    trace_workload "bad good" stackcount -f -U -p "$(pid_of bad),$(pid_of good)" $EVENT
    is "$name: exit status" $status 0
    is "$name: all its calls are counted" "$(folded_sum "$scratch/out" "^$NAME;")" "$(calls_of bad)"
    is "$name: others have their names" \
        "$(folded_sum "$scratch/out" "^good$$;.*;chain_a1;chain_a2;target")" "$(count_of good a)"
}

besides "a petabyte of read-only data" rodata "$scratch/files/data"
contains "it is said whose names are missing" "$scratch/err" "$scratch/files/data: reading it takes too long"
is "nothing else was lost" "$(grep -c 'have no names\|its reader\|reads their files' "$scratch/err")" 1

besides "a hash table without an end" hash "$scratch/files/table"
contains "its names are missing" "$scratch/err" "$scratch/files/table: reading it takes too long"

# 300 MB, of one name of 15,000 bytes
besides "a long name in many places" names
contains "it is said whose names are too many" "$scratch/err" "functions of this file have no names: $scratch/hostile: "
lacks "the reader of files has not failed" "$scratch/err" "the process that reads"

# A JIT's perf map with a terabyte behind its entries, and another's
name="a sparse perf map"
start_workload bad jit -w -k -n $N -N "$NAME"
start_workload good chains -w -k -n $N -N good$$
if [ -e "/tmp/perf-$(pid_of bad).map" ]; then
    start_tracing stackcount -f -U -p "$(pid_of bad),$(pid_of good)" $EVENT
    go bad good
    truncate -s 1T "/tmp/perf-$(pid_of bad).map"
    before=$(date +%s)
    finish_stackbox
    between "$name: the report comes soon" $(($(date +%s) - before)) 0 4
    is "$name: all its calls are counted" "$(folded_sum "$scratch/out" "^$NAME;")" "$(calls_of bad)"
    is "$name: others have their names" \
        "$(folded_sum "$scratch/out" "^good$$;.*;chain_a1;chain_a2;target")" "$(count_of good a)"
    rm -f "/tmp/perf-$(pid_of bad).map"
else
    skip "$name" "$(cat "$scratch/bad.out")"
    drop_workload good
fi
finish_workload bad good
