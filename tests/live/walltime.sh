#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.12
# kernels: 5.10,6.1,newest
# own clock
# quiet
# host: no
#
# All of threads' time: what they ran by their own clocks, how long they waited for a CPU by the kernel's
# schedstat, and the rest, to 1 % or 1 ms; and that it adds up to exactly how long they lived.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"

# of NAME FIELD: what `hours` measured for its threads of this name
of()
{
    awk -v name="$1" -v field="$2" '$1 == "thread" && $2 == name { print $field }' "$scratch/hours.out"
}

# part NAME PATTERN: the sum of these threads' lines
part()
{
    grep "^$PREFIX$1;$2" "$scratch/out" | sum
}

# near NAME ACTUAL TRUTH [MORE [SWITCHES]]: within 1 % or 1 ms. MORE is how much more the truth may be, in us.
# With SWITCHES it may also differ by what each switch takes: the kernel charges a thread from when it begins to
# choose the next one, or to wake this one, and the event comes before that has ended.
near()
{
    margin=$(($3 / 100))
    [ $margin -ge 1000 ] || margin=1000
    margin=$((margin + ${5:-0} * $(sed -n 's/^switch //p' "$scratch/hours.out") / 1000))
    between "$1 (${2:-?} us, measured $3 + ${4:-0}, ${5:-0} switches)" "$2" $(($3 - margin)) $(($3 + margin + ${4:-0}))
}

# threads_right NAME WAY...: all of these threads' time is right
threads_right()
{
    name=$1
    shift
    for way in "$@"; do
        unborn=$(of "$way" 8) undead=$(of "$way" 9) switches=$(of "$way" 10)
        near "$name: $way lived" "$(part "$way")" "$(of "$way" 4)" $((unborn + undead))
        near "$name: $way ran" "$(part "$way" '\[running\];')" "$(of "$way" 5)" "$undead" "$switches"
        near "$name: $way waited for a CPU" "$(part "$way" '\[runnable\];')" "$(of "$way" 6)" 0 "$switches"
        near "$name: $way was blocked" "$(part "$way" '\[blocked\];')" "$(of "$way" 7)" "$unborn"
    done
}

no_gap()
{
    adds_up "$1: the account adds up"
    is "$1: exit status" "$status" 0
}

# trace_hours ARG...: runs walltime from before these threads start until they have ended
trace_hours()
{
    start_tracing walltime -f -F 997 "$@" -p "$(pid_of hours)"
    go hours || fail "$*" "the workload did not come to its end"
    finish_stackbox
    finish_workload hours
}

# ---- Threads that start and end during the run

start_workload hours hours -w -k -N "$PREFIX"
trace_hours
threads_right threads solo left right brief
no_gap threads
between "busy time is in the busy function" \
    "$(grep "^$PREFIX[a-z]*;\[running\];.*;burn_here" "$scratch/out" | sum)" \
    $(($(grep "^$PREFIX[a-z]*;\[running\];" "$scratch/out" | grep -v ';\[running, not sampled\] ' | sum) * 9 / 10)) \
    "$(grep "^$PREFIX[a-z]*;\[running\];" "$scratch/out" | sum)"
near "sleeps are in the sleeping function" \
    "$(grep "^$PREFIX[a-z]*;\[blocked\];.*;nap_here" "$scratch/out" | sum)" \
    "$(grep "^$PREFIX[a-z]*;\[blocked\];" "$scratch/out" | sum)"
# (On PREEMPT_RT it can wait for a lock on its way out, too.)
is "a thread blocked from the start has a kernel stack" \
    "$(grep '^hours;\[blocked\];.*sigtimedwait' "$scratch/out" | grep -vc rtlock) $(grep -c \
    '^hours;\[blocked\];\[no' "$scratch/out")" "2 0"
is "there are no other parts" \
    "$(sed -n "s/^$PREFIX[a-z]*;\([^;]*\);.*/\1/p" "$scratch/out" | sort -u | tr '\n' ' ')" \
    "[blocked] [runnable] [running] "

# ---- Two on one CPU: half of their time is each other's

start_workload hours hours -w -k -N "$PREFIX" -2
trace_hours
threads_right "two on a CPU" left right
no_gap "two on a CPU"
# While one runs, the other waits, except at its beginning and its end.
between "two on a CPU: left waits for right" "$(part left '\[runnable\];')" \
    $(($(part right '\[running\];') * 95 / 100)) "$(part left)"
between "two on a CPU: right waits for left" "$(part right '\[runnable\];')" \
    $(($(part left '\[running\];') * 95 / 100)) "$(part right)"

# ---- Intervals: they add up to the whole

start_workload hours hours -w -k -N "$PREFIX" -n 30
trace_hours -i 0.5
threads_right intervals solo left right brief
no_gap intervals

# ---- Short waits have no stack, but their time is there

start_workload hours hours -w -k -N "$PREFIX"
trace_hours -m 19000
threads_right "-m" solo left right brief
near "-m: 5 ms have no stack" "$(part brief '\[blocked\];\[no stack\]')" "$(part brief '\[blocked\];')"
near "-m: 20 ms have one" "$(grep "^${PREFIX}solo;\[blocked\];.*;nap_here" "$scratch/out" | sum)" \
    "$(part solo '\[blocked\];')"

# ---- A command, and its children

run_stackbox walltime -f -F 997 -o "$scratch/folded" -- "$WORKLOADS/hours" -f -n 10 -N "$PREFIX"
mv "$scratch/out" "$scratch/hours.out"
mv "$scratch/folded" "$scratch/out"
threads_right "a command" solo left right brief child
no_gap "a command"

# ---- What a process forks, by thread, in intervals

start_workload hours hours -w -k -f -n 10 -N "$PREFIX"
trace_hours --follow --by thread -i 0.3
# (A new thread has its creator's name at first: so the creator takes the new name meanwhile.)
for way in solo brief child; do
    is "by thread: $way" "$(sed -n "s/^$PREFIX$way (\([0-9/]*\));.*/\1/p" "$scratch/out" |
        grep -vx "$(pid_of hours)" | sort -u | wc -l)" "$(of "$way" 3)"
done
sed -i 's/^\([^;]*\) ([0-9/]*);/\1;/' "$scratch/out"
threads_right followed solo left right brief child
no_gap followed

# ---- Threads without a switch during the run: asleep, busy, and stopped

start_workload hours hours -w -k -N "$PREFIX"
run_stackbox walltime -f -D 2 -p "$(pid_of hours)"
near "asleep throughout" "$(grep '^hours;\[blocked\];' "$scratch/out" | sum)" 2000000
is "asleep throughout: the stack is the kernel's" "$(grep '^hours;' "$scratch/out" | grep -vc 'sigtimedwait')" 0
no_gap "asleep throughout"
drop_workload hours
start_workload burn burn -w -s 1500
start_tracing walltime -f -D 2 -p "$(pid_of burn)"
kill -s USR2 "$(pid_of burn)"
sleep 0.3
kill -s STOP "$(pid_of burn)"
sleep 0.7
kill -s CONT "$(pid_of burn)"
wait_stackbox
between "stopped: blocked" "$(grep '^burn;\[blocked\];.*;do_signal_stop' "$scratch/out" | sum)" 690000 800000
near "stopped: the total" "$(sum <"$scratch/out")" 2000000
no_gap "stopped"
drop_workload burn
