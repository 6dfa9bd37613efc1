#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: no
#
# 32-bit ARM, on boards: by rings, system calls and samples have whole stacks of Thumb code without
# frame pointers, by rows made from the code and, where it gives none, from .ARM.exidx.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_bare.sh"

[ "$(uname -m)" = armv7l ] || skip_all "this test is for 32-bit ARM"

START='_start;[^;]*__libc_start_main[^;]*;__libc_start_call_main;main'
STACK='outer;middle;inner'

rings='--collect rings'
of bare calls 1000 stackcount $rings -U t:syscalls:sys_enter_getppid
all "system calls" "$START;$STACK;leaf" 1000
lacks "system calls: no messages" "$scratch/err" 'end early'
of bare calls 1000 stackcount $rings -U --depth 3 t:syscalls:sys_enter_getppid
all "--depth" "middle;inner;leaf" 1000
of bare forks 100 stackcount $rings -U t:syscalls:sys_enter_getppid
all "children" "$START;outer;middle;inner;leaf" 100
of bare threads 100 stackcount $rings -U t:syscalls:sys_enter_getppid
all "a thread" "\[bare\];start_thread;run_thread;$STACK;leaf" 100
of bare signals 100 stackcount $rings -U t:syscalls:sys_enter_getppid
all "a signal handler" "$START;[^;]*kill;[^;]*;handle;$STACK;leaf" 100
of bare naps 10 offcputime $rings -U
is "waits" "$(cut -d ' ' -f 1 "$scratch/folded" | grep -cE "^bare;$START;$STACK;nap;.*nanosleep.*")" 1

run_stackbox stacksnoop $rings -U t:syscalls:sys_enter_getppid -- "$WORKLOADS/bare" calls 100
is "single events have whole stacks" "$(grep -cE '^	(leaf|inner|middle|outer|main|_start)$' "$scratch/out")" 600

# A sample may hit any instruction, those of the start included. While an emulator waits for a CPU there are none,
# though its clocks go on.
of bare spins 3000 profile $rings -U -F 499
is "samples: no callers are made up" \
    "$(grep -vE "^bare;(\[truncated\];([^;]*|.*;__libc_do_syscall)|_start;__libc_start_main(;.*)?|$START(;.*)?|\[no user stack\]) [0-9]+\$" \
    "$scratch/folded" | head -n 3)" ""
between "samples: percent with a whole stack" "$(share_of "^bare;$START;$STACK;spin ")" 80 100
of bare-debug spins 3000 profile $rings -U -F 499
between "samples, by debug information: percent with a whole stack" \
    "$(share_of "^bare;$START;$STACK;spin ")" 80 100

"$WORKLOADS/deny" --syscall bpf:ENOSYS -- "$STACKBOX" stackcount -U -f t:syscalls:sys_enter_getppid \
    -- "$WORKLOADS/bare" calls 1000 >"$scratch/out" 2>"$scratch/err"
grep '^bare[;-]' "$scratch/out" >"$scratch/folded"
all "without bpf(2)" "$START;$STACK;leaf" 1000
"$WORKLOADS/deny" --syscall bpf:ENOSYS -- "$STACKBOX" check >"$scratch/out" 2>"$scratch/err"
is "without bpf(2): check says so" "$(grep -c '^unwind tables: yes$' "$scratch/out")" 1

of bare calls 1000 stackcount -U t:syscalls:sys_enter_getppid
all "by programs: only the first function" "leaf" 1000
contains "by programs: it says what shows more" "$scratch/err" '--collect rings'
