#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# host: yes
# guests: none
# later: it is long by nature
#
# A long run in miniature: 120 reports, ten a second, with both CPUs busy. Each event is in exactly
# one report, every report's account adds up, and neither memory nor the maps fill up.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

REPORTS=120
LIMIT=120

# peak REPORTS: the most memory in KB that stackbox has resident until so many reports are printed. A single reading
# can be half of that, as each report takes memory of its own for a moment.
peak()
{
    echo 5 >"/proc/$stackbox/clear_refs"
    wait_until $LIMIT reported "$1"
    awk '/^VmHWM:/ { print $2 }' "/proc/$stackbox/status"
}

# reports: how many reports' accounts were printed
reports()
{
    grep -c '^stackcount: report: ' "$scratch/err"
}

reported()
{
    [ "$(reports)" -ge "$1" ]
}

# 4,000 recurring stacks: about as many as there is room for.
start_workload one hammer -w -k -g -d 12 -t 4 -n 1000 -s 13000
start_tracing stackcount -f -i 0.1 --debug -p "$(pid_of one)" t:syscalls:sys_enter_getppid
kill -s USR2 "$(pid_of one)"
wait_until 60 reported 10
early=$(peak 30)
wait_until $LIMIT reported $((REPORTS - 20))
late=$(peak $REPORTS)
wait_until $LIMIT grep -q '^done' "$scratch/one.out"
finish_stackbox
is "exit status" $status 0
is "all calls are in the reports" "$(folded_sum "$scratch/out")" "$(calls_of one)"
finish_workload one
between "there are enough reports" "$(reports)" $REPORTS 1000000
sed -n 's/^stackcount: report: \([0-9]*\) seen = \([0-9]*\) counted + \([0-9]*\) filtered out + \([0-9]*\) lost; \([0-9]*\) stacks.*/\1 \2 \3 \4 \5/p' \
    "$scratch/err" >"$scratch/reports"
is "every report's account adds up" \
    "$(awk '$1 != $2 + $3 + $4' "$scratch/reports" | wc -l)" 0
is "accounts and reports agree" \
    "$(awk '{ sum += $2 + $4 } END { printf "%.0f", sum }' "$scratch/reports")" \
    "$(folded_sum "$scratch/out")"
contains "the account of the whole run is printed" "$scratch/err" "stackcount: account: "
adds_up "and it adds up"
# The allocator may need ten more pages for a report that is larger than the first thirty.
between "memory for the last reports (KB)" "${late:-0}" 1 $((early + early / 4 + 40))
between "stacks in the kernel's maps" "$(awk '{ if ($5 > most) most = $5 } END { print most + 0 }' \
    "$scratch/reports")" 1 12288
lacks "storage does not fill up" "$scratch/err" "full"
