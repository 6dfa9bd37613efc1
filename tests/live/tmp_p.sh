#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10
# kernels: newest
# own clock
# host: yes
# quiet
# later: for a minute nothing else may run
#
# profile finds what uses CPU time, and how much: the workload alternates between functions by its own
# thread's clock, and says at the end how much each really used. Samples are exactly those of the chosen
# processes.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

HZ=997
# A guest with a clock of its own has no noise, and each second there takes long. LONG is for shares: slices
# of 2.5 ms on average, with lengths that the clock cannot be in step with, make some 200 runs of each
# function in a second, each with up to one sample more or less than its time is worth (variance 1/6). In
# 2.5 s that comes to 9 samples, less than four tenths of a point of 2,500.
if [ "$GUEST" ]; then
    LONG=2500 MS=1000
else
    LONG=10000 MS=2000
fi
# No other processes have these names.
A=a$$ B=b$$ SLEEPER=s$$

# samples least|most NAME [PART...]: the least, or most, samples that those parts of a workload may
# have, by its own clock
samples()
{
    bound=$1 workload=$2 sum=0
    shift 2
    for part in ${*:-greater lesser other}; do
        sum=$((sum + $(count_of "$workload" "${part}_$bound")))
    done
    echo $sum
}

# near NAME ACTUAL WORKLOAD [PART...]: ACTUAL is within 5 % of the workload's own time
near()
{
    near=$1 actual=$2
    shift 2
    between "$near" "$actual" $(($(samples least "$@") * 95 / 100)) \
        $((($(samples most "$@") * 105 + 99) / 100))
}

# ---- As many samples as there was time

start_workload a burn -w -k -s $((LONG / 2)) -F $HZ -N $A
if start_stackbox profile $FRAMES -F $HZ -f --debug; then
    go a
    finish_stackbox
    sed "s/^/PASS said /" "$scratch/err" | cut -c1-160
    near "samples are CPU time" "$(folded_sum "$scratch/out" "^$A;")" a
else
    fail "samples are CPU time" "did not start: $(cat "$scratch/err")"
fi
# ---- As many samples as there was time

start_workload a burn -w -k -s $((LONG / 2)) -F $HZ -N $A
if start_stackbox profile $FRAMES -F $HZ -f --debug; then
    go a
    finish_stackbox
    sed "s/^/PASS said /" "$scratch/err" | cut -c1-160
    near "samples are CPU time" "$(folded_sum "$scratch/out" "^$A;")" a
else
    fail "samples are CPU time" "did not start: $(cat "$scratch/err")"
fi
# ---- As many samples as there was time

start_workload a burn -w -k -s $((LONG / 2)) -F $HZ -N $A
if start_stackbox profile $FRAMES -F $HZ -f --debug; then
    go a
    finish_stackbox
    sed "s/^/PASS said /" "$scratch/err" | cut -c1-160
    near "samples are CPU time" "$(folded_sum "$scratch/out" "^$A;")" a
else
    fail "samples are CPU time" "did not start: $(cat "$scratch/err")"
fi
# ---- As many samples as there was time

start_workload a burn -w -k -s $((LONG / 2)) -F $HZ -N $A
if start_stackbox profile $FRAMES -F $HZ -f --debug; then
    go a
    finish_stackbox
    sed "s/^/PASS said /" "$scratch/err" | cut -c1-160
    near "samples are CPU time" "$(folded_sum "$scratch/out" "^$A;")" a
else
    fail "samples are CPU time" "did not start: $(cat "$scratch/err")"
fi
