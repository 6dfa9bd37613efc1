# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# For writing live tests. It is read by dash on a Debian machine and by busybox's ash in a guest. A test begins
# with
#
#     #!/bin/sh
#     # guests: all            where it runs: all, none, or names: 5.10,6.1,6.12,newest (all)
#     # kernels: 5.10          where only `make test-kernels` runs it
#     # host: yes              on this machine, too: yes, no (yes)
#     # later: REASON          on this machine it runs in `make test-guests` instead of `make test`
#     # again: with TOOLS      there, too: it can do more with these tools, which only `make test-guests` installs, or
#                              does more when $LATER is `yes`
#     # quiet                  on this machine no other test runs at the same time
#     # beside                 other live tests may run at the same time
#     # own clock              it judges times: its guest has --own-clock, see scripts/guest.sh
#     # last                   after the others: its changes in the kernel stay
#     . "${0%/*}/lib.sh"
#
# and prints, through the functions here, `PASS name`, `FAIL name: reason` or `SKIP name: reason`, at least one
# of them. It ends with status 0: an early end counts as a failure, and so does a last command that fails. Its
# environment has STACKBOX, WORKLOADS (a directory of test programs), and in a guest GUEST (its name) and
# MODULES (a directory of *.ko).
#
# At a test's end, lib.sh removes the directory $scratch, and kills programs that the test started.
# A test that depends on the machine's mounts and settings sets them up with lib_machine.sh, which
# restores everything.

# Tests in other directories read this file, too.
for place in "${0%/*}" "${0%/*}/../live" "${0%/*}/live"; do
    [ ! -f "$place/lib_machine.sh" ] || break
done
. "$place/lib_machine.sh"

# Seconds after which a program started by a test is killed.
LIMIT=${LIMIT:-120}

STACKBOX=${STACKBOX:-$PWD/stackbox}
WORKLOADS=${WORKLOADS:-$PWD/build/release/workloads}
GUEST=${GUEST:-}
MODULES=${MODULES:-}

test_name=${0##*/}
test_name=${test_name%.sh}
test_results=0
test_failures=0
test_processes=

scratch=$(mktemp -d "${TMPDIR:-/tmp}/$test_name.XXXXXX") || exit 1
trap test_ends EXIT
trap 'exit 1' HUP INT TERM

# began_at PID: in clock ticks; nothing if it has ended
began_at()
{
    # shellcheck disable=SC2086 # words
    (read -r stat <"/proc/$1/stat" && set -- ${stat##*) } && echo "${20}") 2>/dev/null
}

# kill_at_end PID...: these end with the test, at the latest
kill_at_end()
{
    local process
    for process in "$@"; do
        test_processes="$test_processes $process:$(began_at "$process")"
    done
}

# kill_children: but not another test's processes that now have their numbers
kill_children()
{
    local process
    for process in $test_processes; do
        [ "${process#*:}" != "$(began_at "${process%:*}")" ] || kill -s KILL "${process%:*}"
    done 2>/dev/null
}

test_ends()
{
    test_status=$?
    kill_children
    close_machine
    # Unmounts what the test left mounted, so that rm deletes no files there.
    grep -o " $scratch/[^ ]*" /proc/mounts | sort -r | while read -r mounted; do
        umount -l "$mounted"
    done
    rm -rf "$scratch"
    [ $test_status = 0 ] || [ $test_failures != 0 ] ||
        fail "the whole test" "ended early with status $test_status"
    [ $test_results != 0 ] || fail "the whole test" "printed no result"
    [ $test_failures = 0 ] || exit 1
}

# ---- results

pass()
{
    test_results=$((test_results + 1))
    echo "PASS $test_name: $1"
}

fail()
{
    test_results=$((test_results + 1))
    test_failures=$((test_failures + 1))
    echo "FAIL $test_name: $1: $2"
}

skip()
{
    test_results=$((test_results + 1))
    echo "SKIP $test_name: $1: $2"
}

# skip_all REASON: ends the test, because none of it can run here
skip_all()
{
    test_results=$((test_results + 1))
    echo "SKIP $test_name: $1"
    exit 0
}

# is NAME ACTUAL EXPECTED
is()
{
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1" "got \"$2\", should be \"$3\""
    fi
}

# between NAME ACTUAL LEAST GREATEST: for whole numbers
between()
{
    if [ "$2" -ge "$3" ] 2>/dev/null && [ "$2" -le "$4" ]; then
        pass "$1"
    else
        fail "$1" "got \"$2\", should be $3 to $4"
    fi
}

# contains NAME FILE TEXT: some line of FILE contains TEXT, literally
contains()
{
    if grep -qF -e "$3" "$2"; then
        pass "$1"
    else
        fail "$1" "no \"$3\" in \"$(head -c 600 "$2" | tr '\n' '|')\""
    fi
}

# lacks NAME FILE TEXT
lacks()
{
    if grep -qF -e "$3" "$2"; then
        fail "$1" "there is \"$(grep -F -e "$3" "$2" | head -n 3 | tr '\n' '|')\""
    else
        pass "$1"
    fi
}

# adds_up NAME: stackbox has not reported in $scratch/err that the account of its run does not add
# up.
adds_up()
{
    if grep -q "the account does not add up" "$STACKBOX"; then
        lacks "$1" "$scratch/err" "the account does not add up"
    else
        fail "$1" "stackbox calls that otherwise"
    fi
}

# said REGEX: the number before these words in stackbox's messages, their sum if there are several, or 0
said()
{
    sed -n "s/.*[^0-9]\\([0-9][0-9]*\\) $1.*/\\1/p" "$scratch/err" | folded_sum -
}

# missed: how many events, or samples, the kernel skipped, as stackbox says
missed()
{
    said "[a-z]* were missed"
}

# quiet_for SECONDS FILE: prints FILE, with the time without events replaced by SECONDS if it is
# longer: a run cannot end before it gets a CPU. Leaves out the warning about tracepoints on the
# newest kernels.
quiet_for()
{
    awk -v least="$1" '/may miss events on this kernel/ { next } {
        if (match($0, /no events in [0-9.]+ s$/) && substr($0, RSTART + 13, RLENGTH - 15) + 0 >= least)
            $0 = substr($0, 1, RSTART + 12) least " s"
        print
    }' "$2"
}

# ---- the machine
#
# The kernel stack of getppid(2) on this machine: ${CALL}getppid is the leaf, and $WAY_IN lists its
# callers up to the kernel's entry, without compilers' suffixes (.constprop.0). $PAGE_FAULT is an
# extended regex that matches a frame in each stack of a page fault. $BREAKPOINT is the first byte
# that the kernel writes into a program for a uprobe. $FRAME_WALK says where the kernel's walk by
# frame pointers finds the leaf's caller: in the frame `record`, or in the return address
# `register`, which is valid only until the leaf calls another function; the record then belongs to
# the next frame, whose caller is lost if the leaf has no record yet. Empty: it finds no caller.
# $FRAMES is the option, if needed, for whole stacks of these programs, which keep frame pointers.
# $NO_RETURNS is set on kernels that cannot probe returns of their own functions.
FRAME_WALK= FRAMES= NO_RETURNS=
case $(uname -m) in
x86_64)  CALL=__x64_sys_ PAGE_FAULT='exc_page_fault|do_page_fault' BREAKPOINT=cc FRAME_WALK=record
         WAY_IN='do_syscall_64 entry_SYSCALL_64_after_hwframe'
         case $(uname -r) in
         4.[45].*) CALL=sys_ WAY_IN=entry_SYSCALL_64_fastpath ;;
         4.[6-9].* | 4.1[0-3].*) CALL=sys_ WAY_IN='do_syscall_64 entry_SYSCALL_64_after_swapgs' ;;
         4.1[4-6].*) CALL=sys_ ;;
         esac ;;
aarch64) CALL=__arm64_sys_ PAGE_FAULT=do_mem_abort BREAKPOINT=a0 FRAME_WALK=record
         WAY_IN='invoke_syscall el0_svc_common do_el0_svc el0_svc el0t_64_sync_handler el0t_64_sync'
         case $(uname -r) in
        5.10.*) WAY_IN='el0_svc_common do_el0_svc el0_svc el0_sync_handler el0_sync' ;; # invoke_syscall is inlined
         esac ;;
armv7l)  CALL=sys_ PAGE_FAULT='do_page_fault|do_DataAbort|do_PrefetchAbort' BREAKPOINT=f9 FRAME_WALK=record
         FRAMES='--unwind fp'
         WAY_IN=ret_fast_syscall ;;
riscv64) CALL=__riscv_sys_ PAGE_FAULT=do_page_fault BREAKPOINT=02 FRAME_WALK=register
         WAY_IN='do_trap_ecall_u handle_exception'
         case $(uname -r) in
         6.*) NO_RETURNS=yes ;;
         esac ;;
loongarch64) CALL=sys_ PAGE_FAULT=do_page_fault BREAKPOINT=0c FRAME_WALK=record
         WAY_IN='do_syscall handle_syscall' ;;
s390x)   CALL=__s390x_sys_ PAGE_FAULT=__do_pgm_check BREAKPOINT=00 FRAME_WALK=record
         WAY_IN='__do_syscall system_call' ;;
mips*)   CALL=sys_ PAGE_FAULT=do_page_fault BREAKPOINT=0d WAY_IN='syscall_common' ;;
ppc64le) CALL=sys_ PAGE_FAULT=do_page_fault BREAKPOINT=08
         WAY_IN='system_call_exception system_call_common' ;; # by `sc`, as our workloads make system calls
esac

# lacks_way: $scratch/err says that this kernel lacks the requested way to attach (rings have the
# ways of BPF programs only from 4.18 on)
lacks_way()
{
    grep -q 'this kernel has no' "$scratch/err" ||
        { older_than 4.18 && grep -q -e '--attach-by multi: links need BPF programs' "$scratch/err"; }
}

# refuses_returns: checks that returns of ${CALL}getppid are refused, with the reason, if the kernel
# allows none
refuses_returns()
{
    run_stackbox stackcount "r::${CALL}getppid" -- true
    is "returns are refused" "$status $(grep -c "returns from \"${CALL}getppid\" cannot be traced" "$scratch/err")" "125 1"
}

# ---- what this machine has

# older_than MAJOR.MINOR: is this kernel older?
older_than()
{
    uname -r | awk -F '[.-]' -v than="$1" '{
        split(than, its, ".")
        exit !($1 < its[1] || ($1 == its[1] && $2 < its[2]))
    }'
}

have_root()
{
    [ "$(id -u)" = 0 ]
}

# need PROGRAM...: ends the test if one of these is not installed
need()
{
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || skip_all "$program is not installed"
    done
}

# tool NAME: a program of tests/tools: that of the build under test, if it has one
tool()
{
    [ -x "${BUILD:-}/workloads/$1" ] && echo "$BUILD/workloads/$1" || echo "$WORKLOADS/$1"
}

# word NAME: its value on the kernel's command line
word()
{
    sed -n "s/.*\\<$1=\\([-a-z0-9,]*\\).*/\\1/p" /proc/cmdline
}

# have_tables: can stacks be unwound by tables here? $NO_TABLES says why not
have_tables()
{
    case $(uname -m) in
    x86_64 | aarch64 | riscv64 | loongarch64) ;;
    *) NO_TABLES="tables are not walked on this machine"; return 1 ;;
    esac
    NO_TABLES="this kernel tells nothing of its types"
    [ -r /sys/kernel/btf/vmlinux ]
}

# deaf_cpu: a CPU whose idle task the kernel hides from perf events, even perf(1)'s (seen once)
deaf_cpu()
{
    command -v perf >/dev/null && command -v taskset >/dev/null || return 0
    for cpu in $(cd /sys/devices/system/cpu && ls -d cpu[0-9]* | tr -d 'a-z'); do
        perf stat -x , -C "$cpu" -e sched:sched_switch --filter 'prev_pid == 0' taskset -c "$cpu" sleep 0.2 2>&1 |
            grep '^0,.*sched_switch' >/dev/null && echo "$cpu"
    done | head -n 1
}

# skip_deaf NAME: skips check NAME, and is true, if there is such a CPU
skip_deaf()
{
    local deaf
    deaf=$(deaf_cpu)
    [ "$deaf" ] && skip "$1" "perf(1) sees no switch from the idle task of CPU $deaf either"
}

# cgroups: where cgroup v2 is mounted
cgroups()
{
    sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1
}

have_kprobes()
{
    [ -d /sys/bus/event_source/devices/kprobe ] || grep -q ' register_kprobe$' /proc/kallsyms
}

# Has stackbox breakpoints for ptrace(2) on this machine?
have_breakpoints()
{
    case $(uname -m) in
    x86_64 | aarch64) ;;
    *) return 1 ;;
    esac
}

have_uprobes()
{
    [ -d /sys/bus/event_source/devices/uprobe ] || grep -q ' uprobe_register$' /proc/kallsyms
}

# BPF ring buffers (5.8)
have_ring_buffers()
{
    grep -q ' bpf_ringbuf_reserve$' /proc/kallsyms
}

# Can programs get the pids of a pid namespace (5.7)? If not, tracing is refused in one.
have_pids_of_namespaces()
{
    grep -q ' bpf_get_ns_current_pid_tgid$' /proc/kallsyms
}

# Events of single system calls, t:syscalls:sys_enter_*
have_syscall_tracepoints()
{
    grep -q ' perf_trace_sys_enter\| perf_syscall_enter$' /proc/kallsyms
}

# The tracepoint sched:sched_switch
have_switches()
{
    grep -q ' perf_trace_sched_switch$' /proc/kallsyms
}

# choose_event [NAME]: sets $EVENT to an event of each system call NAME (getppid): a kernel function
# if there are kprobes, since programs on system call tracepoints may be preempted on the newest
# kernels, and then miss events.
choose_event()
{
    if have_kprobes; then
        EVENT=$CALL${1:-getppid}
    elif have_syscall_tracepoints; then
        EVENT=t:syscalls:sys_enter_${1:-getppid}
    else
        skip_all "this kernel has neither kprobes nor tracepoints of system calls"
    fi
}

# load_module NAME: false on the host, and if the guest has no such module
load_module()
{
    [ -n "$MODULES" ] && [ -f "$MODULES/$1.ko" ] || return 1
    grep -q "^$1 " /proc/modules || insmod "$MODULES/$1.ko"
}

# ---- programs

# wait_until SECONDS COMMAND...: tries COMMAND ten times a second until it succeeds
wait_until()
{
    local tries_left=$(($1 * 10))
    shift
    until "$@"; do
        tries_left=$((tries_left - 1))
        [ $tries_left -gt 0 ] || return 1
        sleep 0.1
    done
}

# ended PID: has a process that we started ended, whether it was waited for or not?
ended()
{
    ! [ -d "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# A workload goes by a name that the test gives it: two of the same program can run at the same
# time.
#
#     start_workload one calls -w -n 20000        waits until it prints `ready`, if it has a -w
#     pid_of one
#     go one                                      lets it make its calls, waits until they are done; several
#                                                 names, here and below: one after another
#     calls_of one                                how many it counted itself
#     count_of one a                              how many of them it counted as `a`
#     finish_workload one                         ends it, if it has not ended, and waits for that
#     wait_workload one                           waits for the end of one without -w and -k
#     drop_workload one                           ends it before its `go`
#
# The program is one of $WORKLOADS, or any other by its full path.
start_workload()
{
    local name=$1 program=$2
    shift 2
    case $program in
    /*) ;;
    *) program=$WORKLOADS/$program ;;
    esac
    : >"$scratch/$name.out"
    "$WORKLOADS/session" --limit "$LIMIT" "$program" "$@" </dev/null \
        >"$scratch/$name.out" 2>&1 &
    echo $! >"$scratch/$name.pid"
    kill_at_end $!
    case " $* " in
    *' -w '*) wait_until 20 grep -q '^ready' "$scratch/$name.out" ;;
    esac
}

pid_of()
{
    cat "$scratch/$1.pid"
}

go()
{
    local name
    for name in "$@"; do
        kill -s USR2 "$(pid_of "$name")" && wait_until "$LIMIT" grep -q '^done' "$scratch/$name.out" || return
    done
}

calls_of()
{
    sed -n 's/^done CALLS=//p' "$scratch/$1.out"
}

# count_of NAME PART: the counts are the last thing a workload prints before `done`
count_of()
{
    sed -n "s/^count $2 //p" "$scratch/$1.out"
}

finish_workload()
{
    local name
    for name in "$@"; do
        kill -s USR2 "$(pid_of "$name")" 2>/dev/null
        wait "$(pid_of "$name")"
    done
}

# wait_workload NAME: for one without -w and -k, which a signal could hit before it handles signals
wait_workload()
{
    wait "$(pid_of "$1")"
}

# drop_workload NAME: ends it, whatever it waits for
drop_workload()
{
    local name
    for name in "$@"; do
        kill -s KILL "$(pid_of "$name")" 2>/dev/null
        wait "$(pid_of "$name")" 2>/dev/null
    done
    return 0
}

# Prefix that runs stackbox with fewer rights: under="$WORKLOADS/deny --syscall bpf:EPERM --".
under=

# run_stackbox ARG...: runs it to its end. Output is in $scratch/out and $scratch/err, the exit
# status in $status.
run_stackbox()
{
    # shellcheck disable=SC2086 # words
    "$WORKLOADS/session" --limit "$LIMIT" $under "$STACKBOX" "$@" </dev/null \
        >"$scratch/out" 2>"$scratch/err"
    status=$?
}

# Has tracing begun? The header was printed, on stdout or, if that is only for data, on stderr.
tracing_runs()
{
    grep -qE '^(Tracing|Sampling) ' "$scratch/out" "$scratch/err" || ended "$stackbox"
}

# start_stackbox ARG...: starts it in the background as process $stackbox; false if it ended instead
start_stackbox()
{
    : >"$scratch/out"
    : >"$scratch/err"
    # shellcheck disable=SC2086 # words
    "$WORKLOADS/session" --limit "$LIMIT" $under "$STACKBOX" "$@" </dev/null \
        >"$scratch/out" 2>"$scratch/err" &
    stackbox=$!
    kill_at_end "$stackbox"
    wait_until "$LIMIT" tracing_runs && ! ended "$stackbox"
}

# start_tracing ARG...: the same, and a FAIL if it ended
start_tracing()
{
    start_stackbox "$@" || fail "$*" "did not start: $(tail -n 5 "$scratch/err")"
}

# finish_stackbox [SIGNAL]: ends it by SIGINT or another; results as for run_stackbox
finish_stackbox()
{
    kill -s "${1:-INT}" "$stackbox" 2>/dev/null
    wait_stackbox
}

# wait_stackbox: the same, if it ends by itself
wait_stackbox()
{
    wait "$stackbox"
    status=$?
}

# trace_workload "WORKLOAD..." ARG...: runs stackbox with these arguments while these workloads make their calls, one
# after another, and ends all of them; false, after a FAIL, if it did not start
trace_workload()
{
    local workloads=$1
    shift
    if start_stackbox "$@"; then
        # shellcheck disable=SC2086 # names
        go $workloads || fail "$*" "the workload did not come to its end"
        finish_stackbox
    else
        fail "$*" "did not start: $(cat "$scratch/err")"
        status=none
        # shellcheck disable=SC2086 # names
        drop_workload $workloads
    fi
    # shellcheck disable=SC2086 # names
    finish_workload $workloads
    [ "$status" != none ]
}

# start_held ARG...: starts stackcount and holds its command back: stackcount's open(2) of a FIFO
# blocks until release_held writes to it. $held is the child that waits for stackcount.
start_held()
{
    nobody=$(mktemp -u "$scratch/nobody.XXXXXX") && mkfifo "$nobody"
    read_then=/proc/sys/kernel/perf_event_max_stack
    # Kernels before 4.8 lack this file; there rings collect, whose size depends on /proc/meminfo.
    [ -e $read_then ] || read_then=/proc/meminfo
    # shellcheck disable=SC2016 # for that shell
    "$WORKLOADS/session" --limit "$LIMIT" unshare -m sh -c \
        'mount --bind "$0" "$1" && shift && exec "$@"' "$nobody" "$read_then" \
        "$STACKBOX" stackcount "$@" </dev/null >"$scratch/out" 2>"$scratch/err" &
    stackbox=$!
    kill_at_end "$stackbox"
    wait_until 20 is_held "$stackbox"
}

release_held()
{
    while :; do echo 127 >"$nobody"; done 2>/dev/null &
    kill_at_end $!
}

# is_held PID: does it have a child that waits at a pipe?
is_held()
{
    held=$(grep -l "^PPid:.$1$" /proc/[0-9]*/status 2>/dev/null)
    held=${held#/proc/} held=${held%/status}
    [ "$held" ] && grep -q '^[Ss]tackbox$' "/proc/$held/comm" 2>/dev/null &&
        grep -q '^State:.S' "/proc/$held/status" 2>/dev/null
}

# call_of PROGRAM NAME: the leaf frames of libc's NAME(), as a regular expression. Since 2.41, glibc
# makes cancellable system calls in internal functions, which PROGRAM's symbols show.
call_of()
{
    if grep -q __internal_syscall_cancel "$1"; then
        echo ".*$2(;__syscall_cancel)?;__internal_syscall_cancel"
    else
        echo ".*$2"
    fi
}

# user_stacks FILE: folded stacks without the frames before main or a thread's start function, sorted, with
# equal ones added up
user_stacks()
{
    awk '{
        count = $NF
        sub(/ [0-9]+$/, "")
        if (match($0, /;(main|thread_b|hammer)(;|$)/))
            $0 = substr($0, RSTART + 1)
        sum[$0] += count
    } END { for (stack in sum) print stack, sum[stack] }' "$1" | sort
}

# shape_of FILE: the format of a report, by its beginning, its end and, of pprof, its checksum
shape_of()
{
    if gzip -tc <"$1" >/dev/null 2>&1; then
        echo pprof
        return
    fi
    case $(head -n 1 "$1" | cut -c 1-12),$(tail -n 1 "$1") in
    '<?xml versio,</svg>') echo svg ;;
    '{"$schema":",]}') echo speedscope ;;
    '  self%  tot,'*.*) echo flat ;;
    *) grep -q '^    *[0-9][0-9]*$' "$1" && echo text ;;
    esac
}

# folded_functions FILE [FIRST]: for each frame, from the FIRST of a line on, its own count, that with
# everything it calls (recursion once), and its name, separated by tabs
folded_functions()
{
    awk -v first="${2:-1}" '{
        count = $NF
        sub(/ [0-9]+$/, "")
        frames = split($0, name, ";")
        split("", seen)
        for (at = first; at <= frames; at++)
            if (!(name[at] in seen)) {
                seen[name[at]] = 1
                total[name[at]] += count
            }
        self[name[frames]] += count
    } END {
        for (one in total)
            if (total[one])
                printf "%.0f\t%.0f\t%s\n", self[one], total[one], one
    }' "$1"
}

# folded_flat FILE [FIRST]: the same as in a flat report, below its header
folded_flat()
{
    folded_functions "$@" | sort -t '	' -k 1,1nr -k 2,2nr -k 3 |
        awk -F '\t' -v sum="$(folded_sum "$1")" \
            '{ printf "%7.2f %7.2f  %s\n", 100 * $1 / sum, 100 * $2 / sum, $3 }'
}

# folded_sum FILE [REGEX]: the sum of the counts of folded stacks, or of those that match
folded_sum()
{
    grep -E -e "${2:-}" "$1" | awk '{ sum += $NF } END { printf "%.0f\n", sum }'
}

# counted: the sum of the folded report in $scratch/out
counted()
{
    folded_sum "$scratch/out"
}

open_machine
