#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
# later: all CPUs are busy meanwhile
#
# --nice lowers the priority of stackbox itself, not that of the command.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

# nices PID: the nice values of a process and all its threads, according to the kernel
nices()
{
    sed 's/.*) //' /proc/"$1"/task/*/stat | cut -d ' ' -f 17 | sort -u | tr '\n' ' '
}

ours=$(nices $$)

# lowers NAME BY ARG...: its priority is BY lower than ours while it traces
lowers()
{
    name=$1 by=$2
    shift 2
    start_tracing "$@"
    is "$name" "$(nices "$stackbox")" "$((ours + by)) "
    finish_stackbox
}

lowers "without it" 0 profile -i 1
lowers "--nice" 10 profile --nice -i 1
lowers "--nice 3" 3 profile --nice=3
lowers "--nice 3: threads that read rings" 3 profile --nice 3 --collect rings
lowers "an applet that counts events" 3 stackcount --nice 3 t:sched:sched_switch
lowers "an applet that prints them" 3 stacksnoop --nice 3 t:sched:sched_process_exit
# shellcheck disable=SC2016 # for that shell
run_stackbox profile --nice 7 -D 20 -o "$scratch/report.txt" -- sh -c 'read -r stat </proc/self/stat; echo "of it: $stat"'
is "the command keeps its own priority" \
    "$status $(sed -n 's/^of it: .*) //p' "$scratch/out" "$scratch/err" | cut -d ' ' -f 17)" \
    "0 $((ours + 0))"

# An unprivileged user may lower it as well, but cannot raise it.
cp "$STACKBOX" "$scratch/stackbox"
chmod 755 "$scratch" "$scratch/stackbox"
set_sysctl kernel/perf_event_paranoid 2
"$WORKLOADS/deny" --cap all --uid 65534 -- "$scratch/stackbox" profile -f --nice 5 -- sleep 3 \
    >"$scratch/out" 2>"$scratch/said" &
stackbox=$!
kill_at_end "$stackbox"
wait_until 20 grep -qs Sampling "$scratch/said"
is "without privileges: it is lowered" "$(nices $stackbox)" "$((ours + 5)) "
wait $stackbox
is "without privileges: exit status" $? 0
for raised in =-5 =0 =20; do
    run_stackbox profile "--nice$raised" -D 0.1
    is "--nice$raised" "$status $(grep -c 'takes 1 to 19\|not a whole number' "$scratch/err")" "2 1"
done
