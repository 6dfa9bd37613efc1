#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.12
# seldom: 5.10,6.1,newest
# own clock
# host: yes
#
# Samples from perf's rings: shares agree with the workload's.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

"$STACKBOX" profile --collect rings -F 997 -f -- "$WORKLOADS/burn" -s 2000 -F 997 > "$scratch/out" 2> "$scratch/burn"
greater=$(folded_sum "$scratch/out" ';greater;')
all=$(folded_sum "$scratch/out" ';main')
between "seven tenths of the samples are in the one function" $((greater * 1000 / all)) 670 730
