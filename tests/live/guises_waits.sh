#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10,6.12
# host: yes
# later: guests have it, too
#
# --comm and --uid for waits and all of the time: a thread that waits counts by the name and the user that it has
# then. The workload measures both. Calls are in guises.sh.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_switches || have_kprobes || skip_all "this kernel has no sched_switch"

# sum KIND GUISE: of the workload's own figures, by a regular expression of NAME/UID
sum()
{
    awk -v kind="$1" -v guise="^$2\$" '$1 == kind && $2 ~ guise { sum += $3 } END { print sum + 0 }' "$scratch/it.out"
}

# of_sleeps COUNT: the least that so many sleeps of 4 ms take, in us. A timer is set just before the thread
# leaves its CPU, which takes up to 2 % of them.
of_sleeps()
{
    echo $(($1 * 4000 * 98 / 100))
}

# waits APPLET OPTION...: the sum of waits, in us
waits()
{
    start_workload it guises -w -k -n 10 -r 10
    trace_workload it "$@"
    waited=$(folded_sum "$scratch/out")
}
deaf=$(deaf_cpu)

# all_sleeps NAME COUNT GUISE: so many sleeps were waited for, and no other
all_sleeps()
{
    least=$(of_sleeps "$2")
    if [ "$deaf" ]; then
        skip "$1, not one missing" "perf(1) sees no switch from the idle task of CPU $deaf either"
        least=1
    fi
    between "$1" "$waited" "$least" "$(sum slept "$3")"
}

for way in bpf rings; do
    waits offcputime -f --state S --collect $way --comm red
    all_sleeps "$way: offcputime --comm: each sleep of that name, and no other" 60 'red/.*'
    is "$way: offcputime --comm: only that name" "$(cut -d ';' -f 1 "$scratch/out" | sort -u)" red
done
waits offcputime -f --state S --uid 4242 --comm blue
all_sleeps "offcputime --uid --comm: each such sleep" 30 'blue/4242'
waits offwaketime -f --state S --comm green
all_sleeps "offwaketime --comm: the sleeps of that name, whoever wakes it" 60 'green/.*'
# Some hosts hide threads, and a few timers that fire meanwhile: see known() in lib_waits.sh.
between "offwaketime --comm: time without a waker" "$(folded_sum "$scratch/out" 'no waker')" 0 \
    $([ "$GUEST" ] && echo 0 || echo $((waited / 3)))
# Until it is woken
waits wakeuptime -f --uid 4243 --comm red
all_sleeps "wakeuptime --uid --comm: each such sleep" 30 'red/4243'

# All of the time under a name: from one prctl(2) to the next.
waits walltime -f --comm red
between "walltime --comm: all time under that name" "$waited" $(($(sum least 'red/.*') * 99 / 100)) \
    $(($(sum most 'red/.*') * 101 / 100))
is "walltime --comm: only that name" "$(cut -d ';' -f 1 "$scratch/out" | sort -u)" red
waits walltime -f -i 0.05 --comm green
between "walltime --comm: in many reports" "$waited" $(($(sum least 'green/.*') * 99 / 100)) \
    $(($(sum most 'green/.*') * 101 / 100))
waits walltime -f --uid 4243
# Time from the end of the other user's sleep until the change counts for this user, as a stretch
# counts for the user at its end: at most the excess of its sleeps over the requested time.
late=$(($(sum slept '.*/4242') - 3 * 3 * 10 * 4000))
# With a hidden switch, a sleep ends at the next one, maybe after the change: 1 of 90 is over 1 %.
least=$(($(sum least '.*/4243') * $([ "$deaf" ] && echo 90 || echo 99) / 100))
between "walltime --uid: all time as that user" "$waited" "$least" \
    $(($(sum most '.*/4243') * 101 / 100 + late))
