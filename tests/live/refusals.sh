#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.1,6.12,newest
# host: yes
#
# Each refusal is one line that says what to do, and exits with 1.
. "${0%/*}/lib.sh"

EVENT=t:syscalls:sys_enter_getppid
DENY="$WORKLOADS/deny"

# refused NAME TEXT "DENIAL..." ARG...: stackcount under a denial is refused with TEXT, in one line
refused()
{
    name=$1 text=$2 denials=$3
    shift 3
    # shellcheck disable=SC2086 # words
    "$WORKLOADS/session" --limit 60 "$DENY" $denials -- "$STACKBOX" stackcount -D 1 "$@" \
        </dev/null >"$scratch/out" 2>"$scratch/err"
    status=$?
    if [ $status = 1 ] && [ "$(wc -l <"$scratch/err")" -eq 1 ] &&
        grep -qF -e "$text" "$scratch/err"; then
        pass "$name"
    else
        fail "$name" "status $status, \"$(tr '\n' '|' <"$scratch/err")\""
    fi
}

# Does this kernel attach to many functions by one link?
by_link()
{
    "$STACKBOX" stackcount -f -D 0.1 --attach-by multi vfs_read </dev/null >"$scratch/linked" 2>&1
}

# Privileges
have_root || {
    run_stackbox stackcount $EVENT
    contains "not root: it is refused" "$scratch/err" "run it as root, or give it CAP_BPF and CAP_PERFMON"
    is "not root: exit status" $status 1
    exit 0
}
# Before 5.8 one capability, CAP_SYS_ADMIN, stands for both.
has_two_rights()
{
    [ "$(cat /proc/sys/kernel/cap_last_cap)" -ge 39 ]
}

# A user who is not root inherits root's limits.
ulimit -l unlimited 2>/dev/null
# Some kernels before 5.8 let any user create maps: then tracefs is the first refusal.
either="CAP_BPF and CAP_PERFMON are missing: run it as root" lacking="CAP_BPF is missing"
has_two_rights || either=": run it as root, or " lacking=": run it as root, or "
refused "not root" "$either" "--uid 65534" $EVENT
refused "no CAP_BPF" "$lacking" "--cap sys_admin --cap bpf" --collect bpf $EVENT
refused "no bpf(2) by seccomp" "a seccomp filter blocks bpf(2)" "--syscall bpf:ENOSYS" --collect bpf $EVENT
refused "bpf(2) refused by seccomp" "a seccomp filter blocks bpf(2)" "--syscall bpf:EPERM" --collect bpf $EVENT
refused "what Docker refuses" "give the container CAP_PERFMON (--cap-add PERFMON; --cap-add SYS_ADMIN before Linux 5.8)" \
    "--container --cap sys_admin --cap perfmon --cap bpf" $EVENT
refused "neither bpf(2) nor perf_event_open(2)" "a seccomp filter blocks bpf(2)" \
    "--syscall bpf:ENOSYS --syscall perf_event_open:ENOSYS" $EVENT
refused "perf_event_open(2) refused by seccomp" "a seccomp filter blocks" \
    "--syscall perf_event_open:EACCES" $EVENT
refused "no perf_event_open(2) by seccomp" "a seccomp filter blocks perf_event_open(2)" \
    "--syscall perf_event_open:ENOSYS" $EVENT

# Root elsewhere: in a user namespace, and without /proc.
if unshare -U -r true 2>/dev/null; then
    unshare -U -r "$STACKBOX" stackcount $EVENT </dev/null >"$scratch/out" 2>"$scratch/err"
    status=$? what="cannot create maps: "
    # By ptrace(2), which needs no capability.
    case $EVENT in t:syscalls:*) even_so="; -p PID and -- COMMAND work even so" ;; *) even_so= ;; esac
    # Before 5.8 any user may create maps, and the kernel refuses something else first.
    has_two_rights || what=$(sed -n 's/^stackcount: \(.*\)root in a .*/\1/p' "$scratch/err")
    is "root of a user namespace is refused" "$status $(cat "$scratch/err")" "1 stackcount: ${what}root \
in a user namespace has no privileges over the kernel: run it as root outside the container$even_so"
else
    skip "root of a user namespace is refused" "this kernel has no user namespaces"
fi
mkdir "$scratch/root" && cp "$STACKBOX" "$scratch/root/stackbox"
chroot "$scratch/root" /stackbox stackcount vfs_read 2>"$scratch/err" </dev/null
is "no /proc: a function is refused: exit status" $? 1
contains "no /proc: a function is refused" \
    "$scratch/err" "cannot read /proc/kallsyms, which lists the kernel's functions"
chroot "$scratch/root" /stackbox stackcount -K -D 0.3 t:sched:sched_switch </dev/null \
    >"$scratch/out" 2>"$scratch/err"
status=$?
if grep -q 'sys_fsopen$' /proc/kallsyms; then
    is "no /proc: a tracepoint can be traced" $status 0
    is "no /proc: but functions have no names" "$(cat "$scratch/err")" "stackcount: functions have no names because \
/proc is not mounted: mount -t proc proc /proc"
    chroot "$scratch/root" /stackbox profile -U -D 0.5 -F 499 </dev/null >"$scratch/out" 2>"$scratch/err"
    if grep -q 'end early' "$scratch/err"; then
        contains "no /proc: why stacks end early" "$scratch/err" "/proc is not mounted, which tells what programs have mapped"
    fi
    lacks "no /proc: no file is blamed" "$scratch/err" 'for the first time'
    chroot "$scratch/root" /stackbox walltime -p 1 -D 0.2 </dev/null >"$scratch/out" 2>"$scratch/err"
    is "no /proc: walltime reports" "$? $(grep -c cannot "$scratch/err")" "0 0"
    contains "no /proc: walltime" "$scratch/err" "because /proc is not mounted: mount -t proc proc /proc"
fi
# Before 5.2 tracefs takes a place to be mounted at.
"$DENY" --syscall fsopen:ENOSYS -- chroot "$scratch/root" /stackbox stackcount -D 0.3 t:sched:sched_switch </dev/null \
    >"$scratch/out" 2>"$scratch/err"
is "no /proc: no place for tracefs" "$? $(sed 's/([A-Z][^)]*)/(ERROR)/' "$scratch/err")" \
    "1 stackcount: tracefs cannot be opened (ERROR): mount it at /sys/kernel/tracing"
"$DENY" --syscall bpf:EPERM -- chroot "$scratch/root" /stackbox stackcount --collect bpf $EVENT </dev/null \
    >"$scratch/out" 2>"$scratch/err"
contains "no /proc: a denial is recognized" "$scratch/err" "a seccomp filter blocks bpf(2)"

# tracefs: the mount is our own, and if one way is denied, another is used.
if without_tracefs; then
    refused "no tracefs" "tracefs cannot be read: run it as root" \
        "--syscall fsopen:EPERM --syscall mount:EPERM --syscall unshare:EPERM" $EVENT
else
    skip "no tracefs" "tracefs is mounted here, and cannot be unmounted"
fi
cat /proc/self/mountinfo >"$scratch/before"
start_workload one calls -w -k -n 100
start_stackbox stackcount -f $EVENT
is "no mount can be seen" "$(cat /proc/self/mountinfo)" "$(cat "$scratch/before")"
go one
finish_stackbox
finish_workload one
"$WORKLOADS/session" --limit 60 "$DENY" --syscall fsopen:ENOSYS -- "$STACKBOX" stackcount \
    -f t:raw_syscalls:sys_enter -- "$WORKLOADS/calls" -n 100 </dev/null >"$scratch/out" 2>"$scratch/err"
is "without fsopen(2) it is mounted in a namespace of its own" "$(folded_sum "$scratch/out" ';make_calls;')" 100
is "and that mount cannot be seen either" "$(cat /proc/self/mountinfo)" "$(cat "$scratch/before")"

# Names.
run_stackbox stackcount t:sched:sched_swich
is "an unknown tracepoint is refused" "$status $(cat "$scratch/err")" \
    '1 stackcount: 0 tracepoints matched by "t:sched:sched_swich"; near: t:sched:sched_switch'
run_stackbox stackcount 't:nosuch*:*'
is "so is a wildcard that matches none" "$status $(cat "$scratch/err")" \
    '1 stackcount: 0 tracepoints matched by "t:nosuch*:*"'
run_stackbox stackcount vfs_raed
is "an unknown function is refused" "$status $(sed 's/vfs_read,.*/vfs_read/' "$scratch/err")" \
    '1 stackcount: 0 functions matched by "vfs_raed"; near: vfs_read'
run_stackbox stackcount --depth 60000 $EVENT
if [ -e /proc/sys/kernel/perf_event_max_stack ]; then
    contains "more frames than the kernel allows are refused" "$scratch/err" "sysctl kernel.perf_event_max_stack"
else
    contains "more frames than the kernel allows are refused" "$scratch/err" "it takes 1 to 127"
    lacks "more frames than the kernel allows: nothing can be set" "$scratch/err" sysctl
fi

if have_kprobes; then
    way=pmu
    [ -d /sys/bus/event_source/devices/kprobe ] || way=tracefs
    run_stackbox stackcount --attach-by $way -D 1 do_int3
    contains "a function that cannot be traced is refused" "$scratch/err" "cannot be traced"
    is "a function that cannot be traced: exit status" $status 1
    run_stackbox stackcount -f -D 0.1 --attach-by $way do_int3 vfs_read
    contains "together with one that can, it is skipped, and that is reported" "$scratch/err" "skipped 1 of 2"
    is "together with one that can: exit status" $status 0
    run_stackbox stackcount -f -D 0.1 --attach-by $way vfs_read+0x1
    is "between two instructions: exit status" $status 1
fi
if have_kprobes && ! has_two_rights; then
    skip "no CAP_PERFMON" "this kernel has no CAP_BPF (5.8)"
elif have_kprobes; then
    refused "no CAP_PERFMON" "CAP_PERFMON is missing" "--cap sys_admin --cap perfmon" vfs_read
    # With both capabilities, and without root: no tracefs, no names, but the count is right.
    BOTH="--only bpf --only perfmon --uid 65534"
    set_sysctl kernel/perf_event_paranoid 2
    for way in pmu multi; do
        [ $way = pmu ] || by_link || continue
        start_workload one calls -w -k -n 100
        under="$DENY $BOTH --"
        trace_workload one stackcount -f --attach-by $way -p "$(pid_of one)" ${CALL}getppid
        under=
        is "two capabilities are enough: $way" "$(folded_sum "$scratch/out") $status" "100 0"
        contains "and it says that names are hidden: $way" "$scratch/err" "with CAP_SYSLOG"
    done
    refused "two capabilities: tracepoints" "tracefs cannot be read: run it as root" "$BOTH" $EVENT
    refused "two capabilities: tracefs" "--attach-by: tracefs cannot be read: run it as root" \
        "$BOTH" --attach-by tracefs vfs_read
    refused "CAP_BPF alone" "cannot trace: CAP_PERFMON is missing" "--only bpf --uid 65534" vfs_read
    refused "CAP_PERFMON alone" "cannot create maps: CAP_BPF is missing" "--only perfmon --uid 65534" \
        --collect bpf vfs_read
    by_link && refused "CAP_BPF alone: multi" "cannot trace: CAP_PERFMON is missing" \
        "--only bpf --uid 65534" --attach-by multi vfs_read
    # Debian's level 3 denies perf_event_open(2) even with both capabilities.
    set_sysctl kernel/perf_event_paranoid 3
    refused "perf_event_paranoid" "sysctl kernel.perf_event_paranoid=2" \
        "$BOTH" --attach-by pmu vfs_read
    if by_link; then
        # shellcheck disable=SC2086 # words
        "$WORKLOADS/session" --limit 60 "$DENY" $BOTH -- \
            "$STACKBOX" stackcount -f -D 0.5 vfs_read </dev/null >"$scratch/out" 2>"$scratch/err"
        is "kprobe.multi does not need perf_event_open(2)" $? 0
    fi
    reset_sysctls
fi
# Not on the host: tests that run at the same time would see no names.
if have_kprobes && [ "$GUEST" ]; then
    # With hidden addresses, a name that appears several times may be one function or several.
    set_sysctl kernel/kptr_restrict 2
    other=__do_sys_getppid
    grep -q " $other\$" /proc/kallsyms || other=vfs_mknod
    run_stackbox stackcount -f -D 0.1 ${CALL}getppid $other
    contains "a name that appears several times is refused if addresses are hidden" \
        "$scratch/err" "the kernel hides its addresses, so a function with"
    run_stackbox stackcount -f -D 0.1 vfs_read
    lacks "a name that appears once is not" "$scratch/err" "the kernel hides its addresses, so a function"
    reset_sysctls
fi

# Before 5.11 maps count against RLIMIT_MEMLOCK: stackbox finds out with a map of 64 KB.
"$DENY" --memlock 65536 --cap sys_resource -- "$STACKBOX" stackcount -D 0.1 $EVENT </dev/null \
    >"$scratch/out" 2>"$scratch/err"
if [ $? = 0 ]; then
    pass "maps do not count against RLIMIT_MEMLOCK"
else
    contains "RLIMIT_MEMLOCK: it is named" "$scratch/err" "RLIMIT_MEMLOCK is 64 KB, and this kernel counts maps"
    contains "RLIMIT_MEMLOCK: it says what to do" "$scratch/err" "ulimit -l unlimited"
fi
