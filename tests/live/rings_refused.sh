#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
#
# Requests that rings cannot or should not serve: one sentence each, with advice.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

# refused NAME TEXT APPLET ARG...: is refused, in one line with TEXT
refused()
{
    local name=$1 text=$2
    shift 2
    "$STACKBOX" "$@" --collect rings >"$scratch/out" 2>"$scratch/err"
    one_sentence "$name" $? "$text"
}

# one_sentence NAME STATUS TEXT [RIGHT-STATUS]: one line on stderr has TEXT
one_sentence()
{
    is "$1: exit status and lines" "$2 $(wc -l <"$scratch/err") $(wc -c <"$scratch/out")" "${4:-1} 1 0"
    contains "$1" "$scratch/err" "$3"
}

# as_nobody COMMAND...: runs it as a user without privileges, who can execute `$scratch/box`
cp "$STACKBOX" "$scratch/box"
chmod 755 "$scratch" "$scratch/box"
as_nobody()
{
    "$WORKLOADS/deny" --cap all --uid 65534 --memlock "${memlock:-65536}" -- "$@"
}

# ---- Too many

if have_kprobes; then
    refused "all functions of the kernel" "are more than the 10000 traced without asking" stackcount -D 0.1 '*'
    refused "hundreds of functions" \
        "functions one by one would take about" stackcount -D 0.1 'tcp_*' 'ip*' 'sk*'
    with_tracefs || skip_all "tracefs cannot be mounted"
    is "no probe is left" "$(grep -c stackbox /sys/kernel/tracing/kprobe_events)" 0
    # Functions that tracing itself calls are left out, unless they are named.
    "$STACKBOX" stackcount --collect rings --debug -f -D 0.1 get_perf_callchain >"$scratch/out" 2>"$scratch/err"
    is "one that tracing itself calls can be named" "$?" 0
else
    refused "no kernel probes" "this kernel has no kprobes (CONFIG_KPROBE_EVENTS): use tracepoints, such as" \
        stackcount -D 0.1 vfs_read
fi
if have_syscall_tracepoints; then
    refused "hundreds of tracepoints" "functions one by one would take about" stackcount -D 0.1 't:syscalls:*'
fi
"$STACKBOX" stackcount --collect rings --attach-by multi -D 0.1 "$WORKLOADS/chains:target" >"$scratch/out" 2>"$scratch/err"
is "--attach-by links: exit status" $? 2
contains "links" "$scratch/err" "--attach-by multi: links need BPF programs"

# ---- Limits of the machine

in_own_mounts()
{
    [ "$own_mounts" = own ]
}

if in_own_mounts && without_tracefs; then
    no_mount="$WORKLOADS/deny --syscall mount:EPERM --syscall fsmount:EPERM --syscall fsopen:EPERM --"
    for applet in "stackcount t:sched:sched_switch" "offcputime" "stacksnoop t:sched:sched_switch"; do
        # shellcheck disable=SC2086 # words
        $no_mount "$STACKBOX" $applet --collect rings -D 0.1 >"$scratch/out" 2>"$scratch/err"
        one_sentence "${applet%% *} without tracefs" $? "tracefs cannot be read: run it as root"
    done
    # shellcheck disable=SC2086
    $no_mount "$STACKBOX" profile --collect rings -f -D 0.1 >"$scratch/out" 2>"$scratch/err"
    is "profile does not need tracefs" $? 0
    with_tracefs || skip_all "tracefs cannot be mounted"
fi

if in_own_mounts && mount --bind /dev/null /proc/kallsyms 2>/dev/null; then
    "$STACKBOX" stackcount --collect rings -K -f t:sched:sched_process_fork -- sh -c '(exit 0); :' >"$scratch/out" \
        2>"$scratch/err"
    is "no kallsyms: events are counted" "$(folded_sum "$scratch/out")" 1
    is "no kallsyms: it is reported" "$(grep -c "functions have no names" "$scratch/err")" 1
    is "no kallsyms: frames are addresses" "$(grep -c clone "$scratch/out")" 0
    umount /proc/kallsyms
fi

# ---- Limits of a user

if set_sysctl kernel/perf_event_paranoid 3; then
    # Debian's and some other kernels; elsewhere 3 is like 2.
    if ! as_nobody "$scratch/box" profile --collect rings -f -D 0.1 -- true >"$scratch/out" 2>"$scratch/err"; then
        one_sentence "kernel.perf_event_paranoid 3" 125 \
            "perf_event_open(2) is refused at kernel.perf_event_paranoid = 3: run it as root, or lower it" 125
    else
        skip "kernel.perf_event_paranoid 3" "this kernel treats 3 like 2"
    fi
    reset_sysctls
fi
# One user's memory for all CPUs' rings: the first CPU's rings leave enough for the last one's.
if set_sysctl kernel/perf_event_paranoid 2 && set_sysctl kernel/perf_event_mlock_kb 536; then
    memlock=0
    cp "$WORKLOADS/burn" "$scratch/burn"
    as_nobody "$scratch/box" profile --collect rings -f -F 997 -- "$scratch/burn" -s 1000 >"$scratch/out" \
        2>"$scratch/err"
    lacks "little memory for rings: processes are tracked" "$scratch/err" "cannot track processes"
    between "little memory for rings: samples with names" "$(folded_sum "$scratch/out" ';main;')" 100 1100
    reset_sysctls
fi
if set_sysctl kernel/perf_event_paranoid 2 && set_sysctl kernel/perf_event_mlock_kb 4; then
    memlock=0
    as_nobody "$scratch/box" profile --collect rings -f -D 0.1 -- true >"$scratch/out" 2>"$scratch/err"
    one_sentence "no memory for rings" $? \
        "the kernel refuses the memory for the rings, of which a user may have 4 KB" 125
    reset_sysctls
fi
