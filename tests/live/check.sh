#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
# later: forty seconds, in which each applet is refused everything in turn
#
# check says what works and what does not, and the applets behave accordingly, in each state of a
# machine or its user. The test provokes each reason that check names.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_check.sh"

DENY="$WORKLOADS/deny"
RIGHTS="CAP_BPF and CAP_PERFMON are missing: run it as root"
NO_TRACEFS="tracefs cannot be read: run it as root, or with CAP_SYS_ADMIN to mount it"

have_root || {
    look_at_all
    is "not root: status" $check_status 1
    tells "not root" wakeuptime "run it as root, or give it CAP_BPF and CAP_PERFMON"
    exit 0
}

# Nothing is left behind: programs, maps and links are gone as soon as check is.
"$WORKLOADS/bpf_ids" >"$scratch/before" 2>"$scratch/err"
cat /proc/self/mountinfo >"$scratch/mounts"
agree "root"
agree_on_events "root"
[ "$(cat /proc/self/mountinfo)" = "$(cat "$scratch/mounts")" ] &&
    pass "no mount is left" || fail "no mount is left" "$(diff /proc/self/mountinfo "$scratch/mounts")"
if [ "$GUEST" ]; then
    nothing_stays()
    {
        "$WORKLOADS/bpf_ids" >"$scratch/after"
        cmp -s "$scratch/before" "$scratch/after"
    }
    run_stackbox check
    wait_until 10 nothing_stays
    is "no BPF object is left" "$(cat "$scratch/after")" "$(cat "$scratch/before")"
fi
# Before 4.18 bpf(2) runs no programs that read stacks.
if older_than 4.18; then
    tells "root" "bpf(2)" "(Linux 4.18, CONFIG_BPF_EVENTS)"
else
    begins "root" "bpf(2)" yes
fi
# has_maps FUNCTION: check's expected answer about maps that this kernel function makes or reads:
# arrays of maps came with 4.12, per-CPU maps with 4.6
has_maps()
{
    grep -q " $1\$" /proc/kallsyms && echo yes ||
        echo "no: this kernel's bpf(2) runs no programs that read stacks (Linux 4.18"
}
maps=$(has_maps array_of_map_alloc)
for name in memory "stack maps"; do
    begins "root" "$name" "$maps"
done
begins "root" "ring buffer" "$(has_maps bpf_percpu_array_copy)"
for name in "perf sampling" tracefs tracepoints "switches and wakeups" "-- COMMAND" "kallsyms addresses" \
    "user functions" "execs and exits"; do
    begins "root" "$name" yes
done
# Answers known by other means
is "root: kernel functions: as the kernel's configuration says" "$(line_of "kernel functions" | cut -c 1-2)" \
    "$(have_kprobes && echo ye || echo no)"
is "root: kprobe multi" "$(line_of "kprobe multi" | cut -c 1-2)" \
    "$(grep -q ' register_fprobe_ips$' /proc/kallsyms && echo ye || echo no)"
is "root: uprobe multi" "$(line_of "uprobe multi" | cut -c 1-2)" \
    "$(grep -q ' bpf_uprobe_multi_link_attach$' /proc/kallsyms && echo ye || echo no)"
is "root: BTF" "$(line_of BTF | cut -c 1-2)" "$([ -r /sys/kernel/btf/vmlinux ] && echo ye || echo no)"
is "root: no lockdown" "$(line_of "no lockdown" | cut -c 1-2)" \
    "$(grep -qE '\[(integrity|confidentiality)\]' /sys/kernel/security/lockdown 2>/dev/null &&
        echo no || echo ye)"

# The shell that started check has mapped this file, and readelf counts its tables.
library=$(sed -n 's/.* \(\/.*\/\(libc\.so\.6\|ld-musl-[^/]*\)\)$/\1/p' /proc/$$/maps | head -n 1)
if [ -z "$library" ] || ! command -v readelf >/dev/null; then
    skip "functions of the C library" "there is none, or no readelf"
else
    is "functions of the C library with tables" "$(line_of "unwind tables" | sed -n \
        "s|^yes: in $library \([0-9]*\) functions have rows from unwind tables, [0-9]* from their code, [0-9]* have none$|\1|p")" \
        "$(readelf --debug-dump=frames "$library" 2>/dev/null | grep -c ' FDE ')"
fi

# The named applets decide the exit status.
under="$DENY --syscall perf_event_open:EACCES --"
run_stackbox check flamegraph
is "an applet that can run: exit status" "$status $(tail -n 1 "$scratch/out")" "0 flamegraph: yes"
run_stackbox check flamegraph profile
is "two applets, of which one cannot run: exit status" \
    "$status $(tail -n 2 "$scratch/out" | cut -c 1-14 | tr '\n' '|')" \
    "1 flamegraph: ye|profile: no: a|"
under=

# JSON: another tool's reader finds what the text has.
if command -v node >/dev/null; then
    cat >"$scratch/read.mjs" <<'END'
import { readFileSync } from "node:fs";
const told = JSON.parse(readFileSync(0, "utf8"));
const titles = new Map(told.checks.map((check) => [check.key, check.name]));
function line(one) {
    if (!one.yes)
        return `${one.name}: no: ${one.why}${one.what_to_do ? ": " + one.what_to_do : ""}`;
    const without = (one.without ?? []).map(({ what, because }) =>
        what === titles.get(because) ? what : `${what} (${titles.get(because)})`);
    const parts = [...(one.by === "rings" ? ["by perf's rings"] : one.by === "ptrace" ? ["by ptrace"] : []),
        ...(without.length ? ["without " + without.join(", ")] : [])];
    const more = parts.length ? parts.join(", ") : one.detail;
    return `${one.name}: yes${more ? ": " + more : ""}`;
}
for (const one of [...told.checks, ...told.applets])
    if (!["memory", "wait_memory"].includes(one.key))
        console.log(line(one));
END
    for denial in "--cap 0" "--syscall bpf:EPERM" "--only bpf --only perfmon --uid 65534"; do
        under="$DENY $denial --"
        run_stackbox check --format json
        is "JSON has what the text has: $denial" "$(node "$scratch/read.mjs" <"$scratch/out" 2>&1)" \
            "$(run_stackbox check; grep -v '^memory' "$scratch/out")"
    done
    under=
else
    skip "JSON" "node is not installed"
fi

# ---- Privileges

# Before 4.15 every user sees the kernel's addresses, if kernel.kptr_restrict is 0.
addresses_are_hidden()
{
    ! older_than 4.15 || [ "$(cat /proc/sys/kernel/kptr_restrict)" != 0 ]
}

# hides_addresses NAME: this user cannot see the kernel's addresses, if the kernel ever hides them
hides_addresses()
{
    if addresses_are_hidden; then
        tells "$1" "kallsyms addresses" "with CAP_SYSLOG"
    else
        begins "$1" "kallsyms addresses" yes
    fi
}

# A user who is not root inherits root's limits.
ulimit -l unlimited 2>/dev/null
under="$DENY --uid 65534 --"
agree "nobody"
agree_on_events "nobody"
for name in JIT memory "perf sampling"; do
    tells "nobody" "$name" "$RIGHTS"
done
# Before 4.17 all probes are text in tracefs, and before 5.8 any user may create maps.
if older_than 4.17; then
    why=$NO_TRACEFS
else
    why=$RIGHTS
fi
! have_kprobes || tells "nobody" "kernel functions" "$why"
BREAKPOINTS="yes: by ptrace, without others' programs, kernel stacks"
begins "nobody" stackcount "$BREAKPOINTS"
begins "nobody" flamegraph yes
# What works without privileges depends on the machine's settings.
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
    begins "nobody" profile "yes: by perf's rings, without others' programs (collecting by rings)"
    without=$([ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 1 ] || echo ", without kernel stacks")
    is "nobody: rings of your own programs" "$(line_of "rings of your own programs")" \
        "yes: profile with -p PID or -- COMMAND$without"
else
    begins "nobody" profile "yes: by ptrace, without others' programs, kernel stacks (collecting by rings)"
fi
hides_addresses "nobody"
tells "nobody" "others' processes" "give it CAP_SYS_PTRACE"
tells "nobody" "exact intervals" "give it CAP_SYS_NICE"
tells "nobody" capabilities "missing: CAP_BPF (maps and programs), CAP_PERFMON"
tells "nobody" tracefs "run it as root"

under="$DENY --only bpf --uid 65534 --"
agree "CAP_BPF alone"
begins "CAP_BPF alone" memory yes
begins "CAP_BPF alone" stackcount "$BREAKPOINTS"
tells "CAP_BPF alone" capabilities "held: CAP_BPF: run it as root"
under="$DENY --only perfmon --uid 65534 --"
agree "CAP_PERFMON alone"
agree_on_events "CAP_PERFMON alone"
tells "CAP_PERFMON alone" memory "CAP_BPF is missing: run it as root"

BOTH="$DENY --only bpf --only perfmon --uid 65534 --"
under=$BOTH
agree "both capabilities"
agree_on_events "both capabilities"
for name in memory "ring buffer" "execs and exits"; do
    begins "both capabilities" "$name" yes
done
tells "both capabilities" tracefs "tracefs cannot be read: run it as root"
tells "both capabilities" "uprobe PMU" "give it CAP_SYS_ADMIN"
under="$DENY --cap syslog --"
look_at_all
hides_addresses "no CAP_SYSLOG"
run_stackbox stackcount -f -K -D 0.5 t:sched:sched_switch
if addresses_are_hidden; then
    contains "no CAP_SYSLOG: the applet says the same" "$scratch/err" "$(sentence_of "kallsyms addresses")"
else
    lacks "no CAP_SYSLOG: the applet has names" "$scratch/err" "have no names"
fi
under=

# ---- Calls that a seccomp filter denies

for error in EPERM ENOSYS; do
    under="$DENY --syscall bpf:$error --"
    agree "bpf(2): $error"
    agree_on_events "bpf(2): $error"
    tells "bpf(2): $error" "bpf(2)" "a seccomp filter blocks bpf(2): start the container"
    for name in stackcount profile offcputime wakeuptime offwaketime stacksnoop; do
        begins "bpf(2): $error" "$name" "yes: by perf's rings"
    done
    begins "bpf(2): $error" walltime "yes: by ptrace, without others' programs, whole kernel stacks (bpf(2))"
    for name in stackcount stacksnoop; do
        is "bpf(2): $error: $name has no values" \
            "$(line_of $name | grep -c -e 'without .*--if, --sum, --print (bpf(2))')" 1
    done
    run_stackbox stackcount --if 'comm == "x"' -D 0.1 t:sched:sched_switch
    is "bpf(2): $error: the applet refuses values, too" \
        "$status $(grep -c 'not from rings$' "$scratch/err")" "1 1"
    is "bpf(2): $error: exit status" $check_status 0
done
# Maps came with Linux 3.18, and programs that read stacks with 4.18. 5 is BPF_PROG_LOAD.
under="$DENY --syscall bpf/5:EINVAL --"
look_at_all
begins "no programs that read stacks" memory "$maps"
tells "no programs that read stacks" "bpf(2)" "Linux 4.18"
for name in stackcount offcputime; do
    begins "no programs that read stacks" "$name" "yes: by perf's rings"
done
one_way "no programs that read stacks" stackcount tracepoints t:sched:sched_process_exec
one_way "no programs that read stacks" offcputime ""
under="$DENY --syscall bpf/5:EINVAL --syscall perf_event_open:EACCES --"
agree "no programs that read stacks, and no rings"
begins "no programs that read stacks, and no rings" stackcount "$BREAKPOINTS"
begins "no programs that read stacks, and no rings" offcputime "yes: by ptrace, without others' programs, whole kernel stacks"
# What Docker denies by default.
under="$DENY --container --cap sys_admin --cap perfmon --cap bpf --"
agree "container"
for name in stackcount profile offcputime wakeuptime offwaketime stacksnoop; do
    tells "container" "$name" "give the container CAP_PERFMON (--cap-add PERFMON; --cap-add SYS_ADMIN before"
done
under="$DENY --syscall bpf:ENOSYS --syscall perf_event_open:ENOSYS --"
agree "neither bpf(2) nor perf_event_open(2)"
is "neither bpf(2) nor perf_event_open(2): exit status" $check_status 1
under="$DENY --syscall perf_event_open:EACCES --"
agree "perf_event_open(2) refused by seccomp"
tells "perf_event_open(2) refused by seccomp" "perf_event_open(2)" "a seccomp filter blocks"
# 24 and 25 are BPF_MAP_LOOKUP_BATCH and BPF_MAP_LOOKUP_AND_DELETE_BATCH.
under="$DENY --syscall bpf/25:EINVAL --"
look_at_all
tells "no batches" "map batch" "Linux 5.6"
begins "no batches" stackcount yes
# Before 4.17 probes are text in tracefs alone. Without /sys there are no PMUs; 28 is BPF_LINK_CREATE.
printf '%s\n' '#!/bin/sh' 'mount -t tmpfs none /sys && exec "$@"' >"$scratch/without_sys"
chmod 755 "$scratch/without_sys"
CLOSED="--syscall fsopen:EPERM --syscall mount:EPERM --syscall unshare:EPERM"
under="unshare -m $scratch/without_sys $DENY --syscall bpf/28:EINVAL $CLOSED --"
agree "probes are text, and tracefs is denied"
tells "probes are text, and tracefs is denied" "kernel functions" \
    "$(have_kprobes && echo "$NO_TRACEFS" || echo "this kernel has no kprobes (CONFIG_KPROBE_EVENTS): use ")"
tells "probes are text, and tracefs is denied" "user functions" \
    "$(have_uprobes && echo "$NO_TRACEFS" || echo "this kernel has no uprobes (CONFIG_UPROBE_EVENTS): use ")"
# Both kinds of machines exist: tracefs is not mounted, or is where systemd mounts it.
if without_tracefs; then
    under="$DENY $CLOSED --"
    agree "tracefs denied"
    tells "tracefs denied" tracepoints "tracefs cannot be read: run it as root"
    under="$DENY --syscall fsopen:ENOSYS --"
    look_at_all
    begins "tracefs in a namespace of its own" tracepoints yes
else
    skip "tracefs denied" "tracefs is mounted here, and cannot be unmounted"
fi
if with_tracefs; then
    under="$DENY $CLOSED --"
    look_at_all
    begins "tracefs is mounted" tracefs yes
    one_way "tracefs is mounted" stackcount tracepoints t:sched:sched_process_exec
    under="$DENY --uid 65534 --"
    look_at_all
    tells "tracefs is mounted, and nobody may look" tracefs "run it as root"
else
    skip "tracefs is mounted" "it cannot be mounted here"
fi
under=

# ---- Where it runs

if unshare -U -r true 2>/dev/null; then
    under="unshare -U -r"
    agree "root of a user namespace"
    begins "root of a user namespace" stackcount "$BREAKPOINTS"
    under=
else
    skip "root of a user namespace" "this kernel has no user namespaces"
fi
mkdir "$scratch/root" && cp "$STACKBOX" "$scratch/root/stackbox"
chroot "$scratch/root" /stackbox check </dev/null >"$scratch/checked" 2>"$scratch/err"
# Before 5.2 tracefs cannot be mounted without a mount point, and in a chroot there may be none.
is "no /proc, no /sys: it can run" "$? $(cat "$scratch/err")" \
    "$(grep -q 'sys_fsopen$' /proc/kallsyms && echo 0 || echo 1) "
tells "no /proc" "kallsyms addresses" "mount /proc"
tells "no /proc" "others' processes" "mount /proc"
tells "no /sys" BTF "mount /sys"
tells "no /sys" "cgroup v2" "mount it"

# Several checks at the same time, some of which make text probes: each removes its own. (On the
# host, other tools may have probes.)
text_probes()
{
    cat "$scratch/tracefs/kprobe_events" "$scratch/tracefs/uprobe_events" 2>/dev/null | grep ":stackbox_"
}
mkdir "$scratch/tracefs"
if [ "$GUEST" ] && mount -t tracefs tracefs "$scratch/tracefs"; then
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        chroot "$scratch/root" /stackbox check >"$scratch/checked" 2>&1
    done
    is "no probe is left" "$(text_probes)" ""
    umount "$scratch/tracefs"
else
    skip "no probe is left" "other runs' probes are on this machine"
fi
