#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10
# kernels: newest
# host: yes
#
# USDT probes: each hit of each site is counted, and a semaphore is raised while it is traced.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_uprobes || skip_all "this kernel has no user probes"

N=300
[ -z "$GUEST" ] || N=100

# semaphore WHEN: what the workload saw: down, or up with a value for each site or tracer
semaphore()
{
    sed -n "s/^semaphore $1 //p" "$scratch/one.out" | sed 's/[1-9][0-9]*/up/g; s/0/down/g'
}

# usdt NAME PROGRAM PATTERN EXPECTED SEMAPHORES
#
# EXPECTED is the count; SEMAPHORES is truth:guarded's value at the start, the least and the most in
# the calls, and at the end.
usdt()
{
    start_workload one "$2" -w -k -n $N
    trace_workload one stackcount -f -U -p "$(pid_of one)" "$3"
    is "$1" "$(user_stacks "$scratch/out")" "main;usdt_outer;usdt_inner $4"
    is "$1: exit status" $status 0
    is "$1: the semaphore is right" "$(semaphore 'at the start') $(semaphore 'in the calls') \
$(semaphore 'at the end')" "$5"
}

# all SHAPE PROGRAM PLAIN: tries all kinds of patterns; PLAIN is the semaphore of truth:guarded
# while only other probes are traced
all()
{
    local path=$WORKLOADS/$2
    usdt "$1: one site" "$2" "u:$path:truth:plain" $N "down down down down"
    usdt "$1: three sites" "$2" "u:$path:truth:sites" $((3 * N)) "down down down down"
    usdt "$1: with a semaphore" "$2" "u:$path:truth:guarded" $((2 * N)) "$3"
}

all "written by hand" usdt "down up up down"
all "moved after linking" usdt-moved "down up up down"
for program in usdt-sdt:"down down down down" usdt-sdt-guarded:"down up up down"; do
    if [ -x "$WORKLOADS/${program%%:*}" ]; then
        all "<sys/sdt.h>, ${program%%:*}" "${program%%:*}" "${program#*:}"
    else
        skip "<sys/sdt.h>, ${program%%:*}" "<sys/sdt.h> was not installed when the workloads were built"
    fi
done
[ "$GUEST" ] || ! [ -x "$WORKLOADS/dynamic/usdt" ] || all "PIE" dynamic/usdt "down up up down"

path=$WORKLOADS/usdt
usdt "a provider's probes" usdt "u:$path:truth:*" $((6 * N)) "down up up down"
usdt "all probes" usdt "u:$path:*" $((7 * N)) "down up up down"
usdt "some probes of any provider" usdt "u:$path:*:pl*" $((2 * N)) "down down down down"
usdt "a provider with another name" usdt "u:$path:other:plain" $N "down down down down"
usdt "one probe of two sites by many patterns" usdt "u:$path:truth:g*" $((2 * N)) "down up up down"

# From Linux 4.20 on the kernel counts listeners, if it is told of a semaphore.
if [ -e /sys/bus/event_source/devices/uprobe/format/ref_ctr_offset ]; then

# A process that starts while its probe is traced has its semaphore up from the start.
start_tracing stackcount -f -U "u:$path:truth:guarded"
start_workload one usdt -n $N -N usdt$$
wait_workload one
finish_stackbox
grep "^usdt$$;" "$scratch/out" >"$scratch/mine"
is "a process started meanwhile" "$(user_stacks "$scratch/mine")" \
    "main;usdt_outer;usdt_inner $((2 * N))"
is "a process started meanwhile: the semaphore is up" \
    "$(semaphore 'at the start') $(semaphore 'in the calls')" "up up up"

# Nothing keeps it up after kill -9.
start_workload one usdt -w -k -n $N
start_tracing stackcount -f -U -p "$(pid_of one)" "u:$path:truth:guarded"
finish_stackbox KILL 2>/dev/null
sleep 0.5
go one
finish_workload one
is "after kill -9 the semaphore is down" "$(semaphore 'in the calls')" "down down"

else
    run_stackbox stackcount -D 1 "u:$path:truth:guarded"
    is "a probe whose semaphore cannot be raised is refused" \
        "$status $(grep -c '^stackcount: .*truth:guarded.* has a semaphore, which .*(-p PID)$' "$scratch/err")" "1 1"
    skip "a process started meanwhile; kill -9" "this kernel (before Linux 4.20) raises no semaphores"
fi

run_stackbox stackcount -D 1 "u:$path:truth:nothing"
is "an unknown probe is refused" "$status $(grep -c '^stackcount: 0 .*nothing' "$scratch/err")" "1 1"
run_stackbox stackcount -D 1 "u:$WORKLOADS/session:*"
is "a program without probes is refused" "$status" 1

# A real program: Python, which has a semaphore for each of its probes.
[ "$GUEST" ] && exit 0
python=$(readlink -f /usr/bin/python3)
if ! readelf -n "$python" 2>/dev/null | grep -q gc__start; then
    skip "Python" "no /usr/bin/python3 with probes"
    exit 0
fi
cat >"$scratch/collect.py" <<'END'
import gc, signal, sys, time
gc.disable()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
print('ready', flush=True)
signal.sigwait([signal.SIGUSR2])
for i in range(123):
    gc.collect(0)
print('done CALLS=123', flush=True)
signal.sigwait([signal.SIGUSR2])
END
start_workload one "$python" "$scratch/collect.py" -w
trace_workload one stackcount -f -U -p "$(pid_of one)" "u:$python:python:gc__start"
is "Python's garbage collections are counted" "$(folded_sum "$scratch/out")" "$(calls_of one)"
