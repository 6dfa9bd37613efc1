#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10
# host: no
#
# check on a machine whose owner has restricted something: it says what, and how to fix it, and the applets
# behave accordingly.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_check.sh"

RIGHTS="CAP_BPF and CAP_PERFMON are missing: run it as root"
DENY="$WORKLOADS/deny"
BOTH="$DENY --only bpf --only perfmon --uid 65534 --"

# A user who is not root inherits root's limits.
ulimit -l unlimited 2>/dev/null
set_sysctl kernel/kptr_restrict 2
look_at_all
tells "kptr_restrict" "kallsyms addresses" "kernel.kptr_restrict below 2"
run_stackbox stackcount -f -K -D 0.5 t:sched:sched_switch
contains "kptr_restrict: the applet says the same" "$scratch/err" "$(sentence_of "kallsyms addresses")"
# (On 5.10 the tracepoints of system calls have no kernel stack.)
named=t:syscalls:sys_enter_getppid
have_kprobes && named=${CALL}getppid
for by in bpf rings; do
    start_workload one calls -w -k -n 100
    trace_workload one stackcount -f -K --collect $by -p "$(pid_of one)" $named
    is "kptr_restrict: $by: the count is right" "$(folded_sum "$scratch/out")" 100
    contains "kptr_restrict: $by: it is reported" "$scratch/err" "kernel.kptr_restrict below 2"
    is "kptr_restrict: $by: frames are addresses" "$(grep -c getppid "$scratch/out")" 0
done
reset_sysctls

# Debian's own levels: 3 and 4 deny perf_event_open(2) to all but root.
set_sysctl kernel/perf_event_paranoid 4
under=$BOTH
agree "perf_event_paranoid"
tells "perf_event_paranoid" "perf sampling" "sysctl kernel.perf_event_paranoid=2"
tells "perf_event_paranoid" profile "at kernel.perf_event_paranoid = 4: run it as root"
under=
look_at_all
begins "perf_event_paranoid: root" "perf_event_open(2)" "yes: kernel.perf_event_paranoid is 4"
reset_sysctls
set_sysctl kernel/perf_event_paranoid 2
under=$BOTH
agree "perf_event_paranoid of 2"
begins "perf_event_paranoid of 2" profile yes
under=
reset_sysctls

for value in 2 0; do
    set_sysctl kernel/unprivileged_bpf_disabled $value
    [ "$(cat /proc/sys/kernel/unprivileged_bpf_disabled)" = $value ] || continue
    under="$DENY --uid 65534 --"
    [ $value = 2 ] && look_at_all || agree "unprivileged_bpf_disabled=$value"
    tells "unprivileged_bpf_disabled=$value" wakeuptime "$RIGHTS"
    under=
    reset_sysctls
done

set_sysctl net/core/bpf_jit_enable 0
if [ "$(cat /proc/sys/net/core/bpf_jit_enable)" = 0 ]; then
    agree "no JIT"
    tells "no JIT" JIT "sysctl net.core.bpf_jit_enable=1"
    begins "no JIT" profile yes
else
    skip "no JIT" "this kernel has no interpreter"
fi
reset_sysctls
look_at_all
begins "JIT" JIT yes

# Before 5.11 maps count against RLIMIT_MEMLOCK.
under="$DENY --memlock 65536 --cap sys_resource --"
look_at_all
case $GUEST in
5.10*) agree "RLIMIT_MEMLOCK"
       tells "RLIMIT_MEMLOCK" memory "ulimit -l unlimited" ;;
*)     begins "RLIMIT_MEMLOCK" memory yes ;;
esac
under=

umount /sys/fs/cgroup
look_at_all
tells "no cgroups" "cgroup v2" "mount it"
if mount -t cgroup -o none,name=stackbox cgroup /sys/fs/cgroup; then
    look_at_all
    tells "cgroup v1 alone" "cgroup v2" "mount it (mount -t cgroup2"
    run_stackbox stackcount --cgroup /sys/fs/cgroup t:sched:sched_switch
    is "cgroup v1 alone: the applet says the same" \
        "$status $(grep -c 'is cgroup version 1, .*mount version 2' "$scratch/err")" "1 1"
    umount /sys/fs/cgroup
else
    skip "cgroup v1 alone" "this kernel has no cgroup v1"
fi
mount -t cgroup2 cgroup2 /sys/fs/cgroup
look_at_all
begins "cgroup v2" "cgroup v2" yes
