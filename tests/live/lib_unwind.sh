# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Shared by unwind.sh and rings_unwind.sh: a program with misleading frame pointers knows its stack,
# and each of its events must have exactly this stack. $COLLECT: the collector's option, or empty.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_bare.sh"

have_root || skip_all "tracing needs root"
have_tables || { [ "$COLLECT" ] && [ "$NO_TABLES" = "this kernel tells nothing of its types" ]; } || skip_all "$NO_TABLES"

START='_start;[^;]*__libc_start_main[^;]*;__libc_start_call_main;main'
STACK="$START;outer;middle;inner"
NANOSLEEP=$(call_of "$WORKLOADS/bare" nanosleep)
WRITE=$(call_of "$WORKLOADS/bare" write)

# traced WAY NUMBER ARG...: $folded gets the lines of `bare`, traced from before its start until after its
# end
traced()
{
    way=$1 number=$2
    shift 2
    start_workload bare bare -w "$way" "$number"
    start_tracing "$@" $COLLECT -f -p "$(pid_of bare)"
    kill -s USR2 "$(pid_of bare)"
    wait_stackbox
    wait "$(pid_of bare)"
    grep '^bare[;-]' "$scratch/out" >"$scratch/folded"
}

if grep -q ' ksys_read$' /proc/kallsyms && "$STACKBOX" stackcount -D 0.1 -K ksys_read >/dev/null 2>&1; then
    kprobes=yes
else
    kprobes=
fi

traced calls 1000 stackcount -U --unwind tables t:syscalls:sys_enter_getppid
all "a tracepoint" "$STACK;leaf" 1000
traced calls 1000 stackcount -U --unwind tables "$WORKLOADS/bare:leaf"
all "a function's start" "$STACK;leaf" 1000
traced calls 1000 stackcount -U --unwind tables "r:$WORKLOADS/bare:leaf"
all "a function's return" "$STACK" 1000
if [ "$kprobes" ]; then
    traced calls 1000 stackcount -U --unwind tables ${CALL}getppid
    all "a function of the kernel" "$STACK;leaf" 1000
fi
traced calls 1000 stackcount -U --unwind tables --depth 3 t:syscalls:sys_enter_getppid
all "--depth" "middle;inner;leaf" 1000
lacks "--depth: the shorter stacks are not reported as cut" "$scratch/err" 'end early'
# While an emulator waits for a CPU there are no samples, though its clocks go on.
traced spins "$([ "$GUEST" ] && echo 2000 || echo 500)" profile -U --unwind tables -F 499
# Stacks at the program's end are cut: the compiler's startup files have no tables there, and after
# _exit() the stack's memory is gone.
NO_TABLE='deregister_tm_clones|register_tm_clones|__do_global_dtors_aux|frame_dummy|_exit'
# Before gcc 13, C on riscv64 had no tables, nor has the libc that is linked here.
[ "$(uname -m)" != riscv64 ] || NO_TABLE="$NO_TABLE|_[^;]*|printf"
is "samples: no stack is cut" "$(grep -vE "^bare;(_start;|\[no user stack\]|\[truncated\];($NO_TABLE)[; ])" "$scratch/folded" |
    head -n 3)" ""
share=$(awk -v stack="^bare;$STACK;spin" '$0 ~ stack { n += $NF } { all += $NF }
    END { print all ? int(n * 100 / all) : 0 }' "$scratch/folded")
between "samples: percent in the function that spins" "$share" 90 100
if [ -z "$COLLECT" ] || ! skip_deaf "waits"; then
    traced naps 10 offcputime -U --unwind tables
    is "a wait" "$(grep -cE "^bare;$STACK;nap;$NANOSLEEP [0-9]+$" "$scratch/folded")" 1
    traced naps 10 offwaketime -U --unwind tables
    is "waits with their wakers" "$(grep -cvE "^bare;$STACK;nap;$NANOSLEEP;--;" "$scratch/folded")" 0

    # A waker outside -p that started before the trace. At its end it may write to the same pipe.
    mkfifo "$scratch/pipe"
    exec 3<>"$scratch/pipe"
    start_workload bare bare -w tells 30
    cat <&3 3<&- >/dev/null &
    reader=$!
    exec 3>&-
    start_tracing wakeuptime -U --unwind tables $COLLECT -f -p $reader
    finish_workload bare
    kill $reader
    wait_stackbox
    is "a waker outside -p" "$(sed 's/ [0-9]*$//' "$scratch/out" | grep -vE "^bare;$STACK;tell;$WRITE;cat$" |
        grep '^bare;')" ""
    is "a waker outside -p: it is there" "$(grep -cE "^bare;$STACK;tell;$WRITE;cat " "$scratch/out")" 1
fi
# The root is glibc's code that calls makecontext()'s functions, or that they return to.
traced contexts 1000 stackcount -U --unwind tables t:syscalls:sys_enter_getppid
all "a function of makecontext()" "(\[bare\]|__start_?context);run_context;outer;middle;inner;leaf" 1000
# glibc's vfork() has its return address in a register.
traced vforks 100 stackcount -U --unwind tables t:sched:sched_process_fork
all "vfork" "$STACK;beget;[^;]*vfork" 100
# In glibc's clone3(), the code after the system call has no table.
traced spawns 100 stackcount -U --unwind tables t:sched:sched_process_fork
all "posix_spawn" "$STACK;breed;([^;]*;)*[^;]*clone[^;]*" 100

of bare calls 1000 stackcount $COLLECT -U --unwind tables t:syscalls:sys_enter_getppid
all "a command" "$STACK;leaf" 1000
lacks "a command: no messages" "$scratch/err" 'end early'
of bare forks 100 stackcount $COLLECT -U --unwind tables t:syscalls:sys_enter_getppid
all "its children" "$START;outer;middle;inner;leaf" 100

# During execve(2) there is no user stack; samples of it do not count as cut.
if [ -z "$COLLECT" ] && [ -x "$WORKLOADS/chains-static-pie" ]; then
    echo 'i=0; while [ $i -lt 100 ]; do "$1"; i=$((i + 1)); done' >"$scratch/execs"
    # Few samples hit that moment, and fewer still when other tasks compete for the CPUs.
    : >"$scratch/folded"
    tries=0
    until grep -q '\[exec\];-;' "$scratch/folded" || [ $tries = 5 ]; do
        tries=$((tries + 1))
        run_stackbox profile -F 4999 -f -d --unwind tables -- sh "$scratch/execs" "$WORKLOADS/chains-static-pie"
        grep -E '_execve(at)?;' "$scratch/out" | grep -E 'begin_new_exec|load_elf_binary' >>"$scratch/folded"
    done
    is "exec: no stack is cut" "$(grep -cE '^[^;]*;\[truncated\];-;' "$scratch/folded")" 0
    between "exec: there is no stack" "$(grep -cE '^[^;]*;\[exec\];-;' "$scratch/folded")" 1 100000
    # Kernels cannot walk through retpolines: their callers are missing.
    is "exec: nowhere else" "$(grep -F '[exec]' "$scratch/out" | grep -v '__x86_indirect_thunk' |
        grep -vE '^[^;]*;\[exec\];-;.*_execve(at)?;' | head -n 1)" ""
fi

# Each event on its own, leaf first.
run_stackbox stacksnoop $COLLECT -U --unwind tables t:syscalls:sys_enter_getppid -- "$WORKLOADS/bare" calls 100
is "single events have whole stacks" "$(grep -cE '^	(leaf|inner|middle|outer|main|_start)$' "$scratch/out")" 600
lacks "single events: no stack is cut" "$scratch/out" '[truncated]'

# By frame pointers the walk goes wrong, so the tests above prove that the tables work.
traced calls 1000 stackcount -U --unwind fp t:syscalls:sys_enter_getppid
is "by frame pointers alone, stacks are not whole" "$(grep -c ';middle;inner;leaf ' "$scratch/folded")" 0
