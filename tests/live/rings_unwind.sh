#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10
# kernels: 6.1,6.12,newest
# host: yes
#
# stackbox unwinds samples in perf's rings by tables, as BPF programs do in the kernel: the same
# stacks, even without bpf(2).
COLLECT='--collect rings'
. "${0%/*}/lib_unwind.sh"

"$WORKLOADS/deny" --syscall bpf:ENOSYS -- "$STACKBOX" stackcount $COLLECT -U -f t:syscalls:sys_enter_getppid \
    -- "$WORKLOADS/bare" calls 1000 >"$scratch/out" 2>"$scratch/err"
grep '^bare[;-]' "$scratch/out" >"$scratch/folded"
all "no bpf(2)" "$STACK;leaf" 1000
"$WORKLOADS/deny" --syscall bpf:ENOSYS -- "$STACKBOX" check >"$scratch/out" 2>"$scratch/err"
is "no bpf(2): check says so" "$(grep -c '^unwind tables: yes\(: in [^:]*\)*$' "$scratch/out")" 1
