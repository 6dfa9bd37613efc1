#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10
# own clock
# host: no
#
# While processes start and end one after another, the kernel reports all of them to profile.
# profile's work with them must be less than one percent of the samples.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

start_tracing profile -f -F 1999
run=0
while [ $run -lt 2000 ]; do
    /bin/true
    run=$((run + 1))
done
finish_stackbox
is "exit status" "$status" 0
all=$(folded_sum "$scratch/out")
telling=$(folded_sum "$scratch/out" "(perf_iterate_sb|irq_work)")
between "there are enough samples to tell" "$all" 10000 100000000
between "hundredths of a percent spent on bookkeeping: $telling of $all" \
    $((10000 * telling / (all + 1))) 0 100
