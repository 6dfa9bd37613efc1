#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.12
# seldom: 5.10,6.1,newest
# own clock
# host: yes
#
# Shares of samples, by BPF programs and by perf's rings, match the workload's own thread clock: within three
# points on every machine.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

ways="bpf rings"
! older_than 4.18 || ways=rings # programs cannot read stacks there
for way in $ways; do
    # shellcheck disable=SC2086 # words
    "$STACKBOX" profile $FRAMES --collect $way -F 997 -f -- "$WORKLOADS/burn" -s 2000 -F 997 >"$scratch/out" 2>"$scratch/burn.out"
    greater=$(folded_sum "$scratch/out" ';main;(.*;)?greater;spin[; ]')
    lesser=$(folded_sum "$scratch/out" ';main;(.*;)?lesser;spin[; ]')
    truth=$(($(count_of burn greater) * 1000 / ($(count_of burn greater) + $(count_of burn lesser))))
    between "$way: there are enough samples" $((greater + lesser)) 1700 2500
    between "$way: the greater function's share, in tenths of a point" \
        $((greater * 1000 / (greater + lesser + 1))) \
        $((truth - 30)) $((truth + 30))
done
