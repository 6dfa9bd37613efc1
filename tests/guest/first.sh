#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# stackbox as the first and only process of a machine: it reports as usual, and announces the panic
# that the kernel prints when it exits.

cd "$(dirname "$0")/../.." || exit 1
log=build/test/first.log
mkdir -p build/test || exit 1

# guest.sh waits for an init that prints results, and fails this one: this test checks what the kernel
# printed.
sh scripts/guest.sh --alone --once --name first --timeout 100 --log $log \
    --append "rdinit=/stackbox -- profile -f -I 1" 6.12 >build/test/first.result 2>&1
status=$?
if [ $status = 77 ]; then
    cat build/test/first.result
    exit 77
fi

# expect NAME PATTERN: a line matches, after all lines expected before
at=1
expect()
{
    line=$(tail -n +$at $log | grep -nE -e "$2" | head -n 1 | cut -d : -f 1)
    if [ "$line" ]; then
        at=$((at + line))
        echo "PASS first: $1"
    else
        echo "FAIL first: $1: no line like \"$2\" from line $at on"
        sed 's/^/    /' $log
    fi
}
expect "it starts" '^Sampling at 49 Hertz of all threads by user \+ kernel stack for 1 secs\.'
expect "it prints a report" '^swapper/[01];\[unknown\].* [1-9][0-9]*$'
expect "it says what is missing" '^profile: functions have no names because /proc is not mounted: '
expect "the next report is announced" '^profile: this ran as process 1, so the kernel panics when it exits'
expect "and is printed" 'Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000000'
