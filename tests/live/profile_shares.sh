#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.12
# kernels: 5.10,6.1,newest
# own clock
# host: yes
# later: the guest of `make test` has it, too
#
# Shares of samples, by BPF programs, by perf's rings and by ptrace(2), match the workload's own thread clock: within three
# points on every machine.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

ways="bpf rings ptrace"
! older_than 4.18 || ways="rings ptrace" # programs cannot read stacks there
# Rings get no user stacks here; and these guests have no clock of their own, so that there are no
# samples while their emulator waits for a CPU.
least=850 slower=1
case $(uname -m) in
mips*) ways=rings least=200 slower=4 ;;
armv7l) ways="bpf rings" ;; # of frame pointers ptrace(2) has the first function alone
esac
for way in $ways; do
    # Beside others that want the CPUs, ptrace(2) has one sample for up to three periods, and its shares vary by 1.3 points
    # (one standard deviation of 20 runs of two seconds beside 12 busy loops): three times the samples.
    seconds=$((2 * slower))
    [ "$way" != ptrace ] || seconds=6
    # shellcheck disable=SC2086 # words
    "$STACKBOX" profile $FRAMES --collect $way -F 997 -f -- "$WORKLOADS/burn" -s ${seconds}000 -F 997 >"$scratch/out" 2>"$scratch/burn.out"
    greater=$(folded_sum "$scratch/out" ';main;(.*;)?greater;spin[; ]')
    lesser=$(folded_sum "$scratch/out" ';main;(.*;)?lesser;spin[; ]')
    truth=$(($(count_of burn greater) * 1000 / ($(count_of burn greater) + $(count_of burn lesser))))
    between "$way: there are enough samples" $((greater + lesser)) $((least * seconds)) $((1250 * seconds))
    between "$way: the greater function's share, in tenths of a point" \
        $((greater * 1000 / (greater + lesser + 1))) \
        $((truth - 30)) $((truth + 30))
done
