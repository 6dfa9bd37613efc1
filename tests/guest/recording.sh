#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# In a guest: records and prints at the same time, for recordings.sh, which gets the recording over the serial
# line.
. "${0%/*}/../live/lib.sh"

case $(uname -m) in
mips*) EVENT=$WORKLOADS/chains:target ;; # probes of kernel functions kill threads there
*) choose_event ;;
esac
cd "$scratch" || exit 1

# recorded NAME APPLET ARG...: a run's recording, and the formats that it printed itself
recorded()
{
    run=$1
    shift
    run_stackbox "$@" -o "$run.sbx" -o "$run.txt" -o "$run.folded" -o "$run.flat" -- \
        "$WORKLOADS/chains" -n 20 -m 10
    is "$run: exit status" "$status" 0
    for file in "$run.sbx" "$run.txt" "$run.folded" "$run.flat"; do
        echo "@file $file"
        uuencode -m "$file" "$file"
    done
    echo "@files"
}

# shellcheck disable=SC2086 # words
recorded events stackcount $EVENT
recorded function stackcount "$WORKLOADS/chains:target"
recorded returns stackcount -s "r:$WORKLOADS/chains:chain_a2" t:sched:sched_process_exit
recorded samples profile -F 199
recorded waits offcputime -s
