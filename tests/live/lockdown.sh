#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.1,6.12,newest
# host: no
# last
#
# Under lockdown, tracing is either correct, or refused with lockdown as the reason.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_check.sh"

have_root || skip_all "needs root"
[ -w /sys/kernel/security/lockdown ] || skip_all "this kernel has no lockdown"

# right_or_named LEVEL PATTERN: counts are right, or the refusal names lockdown
right_or_named()
{
    start_workload one calls -w -k -t 2 -n 500
    if start_stackbox stackcount -f -p "$(pid_of one)" "$2"; then
        go one
        finish_stackbox
        is "$1: $2 is counted" "$(folded_sum "$scratch/out")" 1000
        finish_workload one
    else
        wait_stackbox
        is "$1: $2 is refused: exit status and lines" "$status $(grep -c . "$scratch/err")" "1 1"
        contains "$1: $2 is refused: the reason" "$scratch/err" \
            "this kernel is locked down ($1), which blocks tracing: boot with lockdown=none"
        drop_workload one
    fi
}

# A kernel that was booted with lockdown=confidentiality is at that level already, and stays there.
levels='integrity confidentiality'
! grep -q '\[confidentiality\]' /sys/kernel/security/lockdown || levels=confidentiality
for level in $levels; do
    [ "$levels" = $level ] || echo $level >/sys/kernel/security/lockdown
    contains "the kernel is locked down: $level" /sys/kernel/security/lockdown "[$level]"
    right_or_named $level ${CALL}getppid
    right_or_named $level t:syscalls:sys_enter_getppid
    agree $level
    tells $level "no lockdown" "boot with lockdown=none"
done
