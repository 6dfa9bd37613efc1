#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.1,newest
# kernels: 6.12
# host: no
#
# Where the kernel names its functions itself (Linux 5.16), it names them as a pass over /proc/kallsyms does: the
# first byte, the middle and the last byte of thousands of functions, and of all that have several names; of modules
# and BPF programs as well. Where the kernel hides its addresses, stackbox does not
# ask it. (Not on the host: tests that run at the same time would see no names either.)
. "${0%/*}/lib.sh"

have_root || skip_all "the kernel's addresses are for root"
load_module dummy
load_module veth
load_module nlmon

set_sysctl kernel/kptr_restrict 1
choose_event
start_tracing stackcount -K "$EVENT"
"$WORKLOADS/kernel_names" 23 >"$scratch/answers" 2>"$scratch/why"
status=$?
finish_stackbox
! older_than 5.16 || skip_all "this kernel cannot be asked"
is "it can be asked" $status 0
is "it says what /proc/kallsyms says" "$(grep -v '^[0-9]' "$scratch/answers" | head -n 9)" ""
addresses=$(sed -n 's/ addresses.*//p' "$scratch/answers")
told=$(sed -n 's/.*, \([0-9]*\) named.*/\1/p' "$scratch/answers")
in_modules=$(sed -n 's/.*, \([0-9]*\) in modules/\1/p' "$scratch/answers")
between "addresses" "$addresses" 3000 100000
# Some kernels mark much of their data as text: stackbox leaves that to the pass.
between "it names most" "$told" $((addresses * 6 / 10)) "$addresses"
if grep -q '^dummy ' /proc/modules 2>/dev/null; then
    between "modules' functions, too" "$in_modules" 3 10000
else
    skip "modules' functions, too" "none of ours is loaded on this machine"
fi

set_sysctl kernel/kptr_restrict 2
"$WORKLOADS/kernel_names" 23 >"$scratch/answers" 2>&1
is "it is not asked for what it hides" $? 77
