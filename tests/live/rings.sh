#!/bin/sh
# guests: 5.10
# kernels: 6.1,6.12,newest
# host: yes
#
# The collector without bpf(2): the same workloads give the same right results.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

# With a copy of the stack in each event, a CPU that others use, too, cannot read 100,000 of them a second: for
# losses see live/rings_lost, for stacks by tables live/rings_unwind.
way="--unwind fp"

# counted ARGUMENT...: runs stackcount with rings on a command; the folded lines are in $scratch/out
counted()
{
    # shellcheck disable=SC2086 # words
    "$STACKBOX" stackcount --collect rings $way -f "$@" > "$scratch/out" 2> "$scratch/err"
}

choose_event
start_workload one calls -w -n 14000
# shellcheck disable=SC2086 # words
trace_workload one stackcount --collect rings $way -f -p "$(pid_of one)" "$EVENT"
is "each call is counted" "$(folded_sum "$scratch/out")" "$(calls_of one)"
is "and with its chain" "$(folded_sum "$scratch/out" 'work;make_calls')" "$(calls_of one)"

counted "$EVENT" -- "$WORKLOADS/calls" -n 14000
is "and so are a command's" "$(folded_sum "$scratch/out" 'work;make_calls')" 14000

# shellcheck disable=SC2086 # words
"$STACKBOX" stackcount --collect rings $way --debug -o "$scratch/reports.%n.folded" -i 0.1 "$EVENT" \
    -- "$WORKLOADS/calls" -n 14000 > "$scratch/none" 2> "$scratch/err"
cat "$scratch"/reports.*.folded > "$scratch/out"
lost=$(sed -n 's/.*account: .* \([0-9]*\) lost + .*/\1/p' "$scratch/err")
is "each event is in one report, or is reported lost" $(($(folded_sum "$scratch/out") + lost)) 14000
lacks "and the account adds up" "$scratch/err" "does not add up"

counted "$WORKLOADS/chains:target" -- "$WORKLOADS/chains" -n 2000 -m 1000
is "a user function: one caller" "$(folded_sum "$scratch/out" 'chain_a1;chain_a2;target')" 2000
is "a user function: the other caller, in another thread" \
    "$(folded_sum "$scratch/out" 'chain_b1;chain_b2;target')" 1000
counted "r:$WORKLOADS/chains:target" -- "$WORKLOADS/chains" -n 2000 -m 1000
is "its returns are counted" "$(folded_sum "$scratch/out")" 3000

# On a fork the kernel would create an inherited event again, from pointers into our memory: forks
# would fail.
if [ -d /sys/bus/event_source/devices/uprobe ]; then
    counted --attach-by pmu "$WORKLOADS/chains:target" -- sh -c "$WORKLOADS/chains -n 20 -m 10; exit 3"
    is "by the PMU: a command forks, and is traced" "$? $(folded_sum "$scratch/out")" "3 30"
    counted --attach-by pmu -C 0 "$WORKLOADS/chains:target" -- "$WORKLOADS/chains" -n 20 -m 10
    is "by the PMU: -C works" "$? $(folded_sum "$scratch/out")" "0 $([ "$(nproc)" = 1 ] && echo 30 || echo 20)"
    "$STACKBOX" stacksnoop --collect rings --attach-by pmu "$WORKLOADS/chains:target" -- "$WORKLOADS/chains" -n 20 -m 10 \
        > "$scratch/out" 2> "$scratch/err"
    is "by the PMU: stacksnoop prints each" "$? $(grep -c chain_a2 "$scratch/out")" "0 20"
fi

# Task records go on until the last event has stopped: here events stop one after another, while
# threads on both CPUs keep changing their names.
named_to_the_end()
{
    start_workload one turns -w -t 1 -r -n 100000000
    start_workload two /bin/sh -c "exec taskset $(($(nproc) > 1 ? 2 : 1)) '$WORKLOADS/turns' -w -t 1 -r -n 100000000"
    start_stackbox stackcount --collect rings --attach-by "$1" -U -f --by thread \
        -p "$(pid_of one),$(pid_of two)" "$WORKLOADS/north:__*" "$WORKLOADS/turns:turned"
    kill -s USR2 "$(pid_of one)" "$(pid_of two)"
    sleep 0.3
    finish_stackbox
    drop_workload one two
    is "by $1: a thread has its name at each event, to the end" \
        "$(sed -n 's/^\([a-z]*\) (.*;\([a-z]*\);turned [0-9]*$/\1 \2/p' "$scratch/out" | sort -u)" "one one
zero zero"
}
if have_uprobes; then
    named_to_the_end tracefs
    [ ! -d /sys/bus/event_source/devices/uprobe ] || named_to_the_end pmu
fi

# Threads that fork and end: stackbox follows their children. Meanwhile so many other processes come
# and go that task records would be lost.
if have_uprobes; then
    start_workload others brief -w -f -c 100000 -n 1 -l 0
    kill -s USR2 "$(pid_of others)"
    counted "$WORKLOADS/family:family_call" -- "$WORKLOADS/family" -n 30 -t 60 -c 20
    is "calls of a command's forked processes are counted" "$? $(folded_sum "$scratch/out")" \
        "0 $(sed -n 's/^done CALLS=//p' "$scratch/err")"
    kill -s KILL "$(pid_of others)"
fi

if have_kprobes; then
    counted "r::${CALL}getppid" -- "$WORKLOADS/calls" -n 14000
    is "returns from a kernel function are counted" "$(folded_sum "$scratch/out")" 14000
fi

for format in text flat svg pprof speedscope; do
    "$STACKBOX" stackcount --collect rings --format $format "$EVENT" -- "$WORKLOADS/calls" -n 100 \
        > "$scratch/$format" 2> "$scratch/err"
    is "format $format" "$(shape_of "$scratch/$format")" "$format"
done

"$STACKBOX" stacksnoop --collect rings "$EVENT" -- "$WORKLOADS/calls" -n 500 > "$scratch/out" 2> "$scratch/err"
is "stacksnoop prints each" "$(grep -c make_calls "$scratch/out")" 500

if ! skip_deaf "a sleep of 2 s"; then
    "$STACKBOX" offcputime --collect rings -f -- sleep 2 > "$scratch/out" 2> "$scratch/err"
    between "a sleep of 2 s, in us" "$(folded_sum "$scratch/out" 'nanosleep')" 1980000 2100000
fi
