#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
# later: it takes two minutes
#
# Each applet, in each place that it may be copied to, is right, or says in one line what it lacks,
# as root and as a user. (On a machine with nothing else, tests/workloads/carried.c is the init.)
. "${0%/*}/lib.sh"
. "${0%/*}/lib_places.sh"

have_root || skip_all "other places need root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

MISSING="CAP_BPF and CAP_PERFMON are missing: run it as root, or give it "
NO_TRACEFS="tracefs cannot be read: run it as root, or with CAP_SYS_ADMIN to mount it"

# If both collectors are refused, the message says what perf's rings need, which is less.
RINGS="cannot collect by perf's rings: a seccomp filter blocks perf_event_open(2): "

# The applets that work without privileges, if the machine allows it.
OWN="flamegraph~ check~ report~ profile~ offcputime~ walltime~ program~ process~ tracepoint~ events~"

# denied "RIGHTS..." PLACE...: runs it where we are, with fewer privileges
denied()
{
    denials=$1
    shift
    # shellcheck disable=SC2086 # words
    carried "$WORKLOADS/deny" $denials -- "$WORKLOADS/carried" ${kprobes:+-k} -s "$STACKBOX" \
        -n "$WORKLOADS/known" "$@"
}

# ---- as it is, and as any user: only root may enter $scratch, so the binary is run by another path

here plain
root=$scratch/root
make_root "$root"
chmod 755 "$scratch"
carried "$root/carried" ${kprobes:+-k} -U 65534 -s "$root/stackbox" -n "$root/known" plain-user \
    $OWN "all=$MISSING"

# ---- in a root directory with nothing else: no /tmp, /dev, /sys, /etc/passwd, /etc/localtime

carried chroot "$root" /carried ${kprobes:+-k} -u no-proc \
    "function=cannot read /proc/kallsyms, which lists the kernel's functions"
carried chroot "$root" /carried ${kprobes:+-k} -u -U 65534 no-proc-user $OWN "all=$MISSING"
mount -t proc proc "$root/proc" || fail "chroot" "/proc cannot be mounted there"
carried chroot "$root" /carried ${kprobes:+-k} proc-alone
mkdir "$root/reports"
carried chroot "$root" /carried -c 02 -o /reports no-dev-and-no-descriptors
carried chroot "$root" /carried ${kprobes:+-k} -U 65534 proc-alone-user $OWN "all=$MISSING"

# All formats that it writes, at once.
known_to()
{
    chroot "$root" /stackbox "$@" -- /known -r 2 calls 300 </dev/null >"$scratch/out" 2>"$scratch/err"
    status=$?
}
known_to stackcount -U -o /reports/a.txt -o /reports/a.folded -o /reports/a.flat -o /reports/a.svg \
    -o /reports/a.pb.gz -o /reports/a.speedscope.json /known:called
is "all outputs: exit status" $status 0
is "all outputs: text is right" "$(grep -cx '    300' "$root/reports/a.txt")" 1
is "all outputs: folded is right" "$(sed 's/.*;//' "$root/reports/a.folded")" "called 300"
is "all outputs: flat is right" "$(grep -cx ' *100\.00 *100\.00  called' "$root/reports/a.flat")" 1
is "all outputs: svg is right" "$(grep -c '<title>called (300 ' "$root/reports/a.svg")" 1
is "all outputs: pprof is right" "$(gunzip -c "$root/reports/a.pb.gz" | grep -ac 'called')" 1
is "all outputs: speedscope is right" "$(grep -c '"name": *"called"' "$root/reports/a.speedscope.json")" 1
is "all outputs: nothing else is left" \
    "$(find "$root" -xdev -type f | sed "s|$root||" | sort | tr '\n' ' ')" "/carried /known \
/reports/a.flat /reports/a.folded /reports/a.pb.gz \
/reports/a.speedscope.json /reports/a.svg /reports/a.txt /stackbox "

# ---- the same, where nothing can be written

ln -s stackbox "$root/profile"
in_read_only()
{
    # shellcheck disable=SC2016 # for that shell
    unshare -m sh -c 'mount --bind "$0" "$0" && mount -t proc proc "$0/proc" &&
        mount -o remount,bind,ro "$0" && exec chroot "$0" "$@"' "$root" "$@"
}
carried in_read_only /carried ${kprobes:+-k} read-only
carried in_read_only /carried ${kprobes:+-k} -U 65534 read-only-user $OWN "all=$MISSING"
in_read_only /profile -o /reports/b.folded -- /known burns 1 </dev/null >"$scratch/out" \
    2>"$scratch/err"
is "a report that cannot be written is reported" "$? $(cat "$scratch/err")" \
    '125 profile: -o: cannot write "/reports/b.folded": Read-only file system'
in_read_only /profile -f 0.3 </dev/null >"$scratch/out" 2>"$scratch/err"
is "a link with an applet's name works" $? 0
in_read_only /stackbox --install / </dev/null >"$scratch/out" 2>"$scratch/err"
is "links that cannot be made are reported in one line" "$? $(grep -c . "$scratch/err")" "1 1"
umount "$root/proc"

# ---- containers

mkdir "$scratch/reports"

in_namespaces()
{
    unshare -U -r -m -p -n -f --mount-proc "$@"
}
NOT_OURS="root in a user namespace has no privileges over the kernel: run it as root outside the \
container"
if in_namespaces true 2>/dev/null; then
    carried in_namespaces "$WORKLOADS/deny" --container -- "$WORKLOADS/carried" ${kprobes:+-k} \
        -s "$STACKBOX" -n "$WORKLOADS/known" namespaces flamegraph~ check~ report~ "walltime=$NOT_OURS" \
        "all=${RINGS}start the container or service with a filter that allows it"
else
    skip "namespaces" "this kernel gives nobody a user namespace"
fi
denied --container -o "$scratch/reports" filtered flamegraph~ check~ report~ \
    "walltime=a seccomp filter blocks bpf(2): start the container or service without that filter, or with one that \
allows bpf and perf_event_open" "all=${RINGS}start the container or service with a filter that allows it"
is "no report was written there" "$(ls "$scratch/reports")" ""
# The capabilities that container engines leave to root.
LEFT="--only chown --only dac_override --only 3 --only 4 --only kill --only 6 --only setuid --only 8"
denied "--pid-namespace $LEFT --container" container flamegraph~ check~ report~ "walltime=$MISSING" \
    "all=${RINGS}give the container CAP_PERFMON (--cap-add PERFMON; --cap-add SYS_ADMIN before Linux 5.8)"
# A container with the privileges. (Without tracefs some applets use the kernel's own types, if they
# can.)
without_tracefs || skip "container-with-rights" "tracefs is mounted here, and not to be unmounted"
rights="--pid-namespace --only bpf --only perfmon --only sys_ptrace --only syslog"
[ "$(mounts_of tracefs debugfs)" ] ||
    denied "$rights" container-with-rights "tracepoint=$NO_TRACEFS" "events=$NO_TRACEFS" "all~$NO_TRACEFS"
# shellcheck disable=SC2086 # words
"$WORKLOADS/deny" $rights -- "$STACKBOX" profile -F 99 -- "$WORKLOADS/burn" -s 200 -N inside \
    </dev/null >"$scratch/out" 2>"$scratch/err"
tid=$(sed -n 's/^count tid //p' "$scratch/err")
is "processes have the container's pids" \
    "$(sed -n 's/^    -  *inside (\([0-9]*\))$/\1/p' "$scratch/out" | sort -u)" "$tid"

# The first process of a container may exit, which must not confuse stackbox.
unshare -p -f --mount-proc "$STACKBOX" profile -f -D 0.3 -I </dev/null >"$scratch/out" 2>"$scratch/err"
is "it runs as the first process of a container" \
    "$? $(grep -v '^Sampling\|of user stacks end early' "$scratch/err")" "0 "

# ---- descriptors, the environment, the terminal

for closed in 0 1 2 012; do
    here -c $closed -o "$scratch/reports" "without-descriptor-$closed"
done
carried env -i "$WORKLOADS/carried" ${kprobes:+-k} -s "$STACKBOX" -n "$WORKLOADS/known" no-environment
carried env LANG= LC_ALL=de_DE.UTF-8 LC_NUMERIC=xx_YY.broken TZ=Not/There+99 TERM=dumb \
    POSIXLY_CORRECT=1 "$WORKLOADS/carried" ${kprobes:+-k} -s "$STACKBOX" -n "$WORKLOADS/known" odd-environment
for zone in "" Not/There+99 UTC-14 :/dev/null; do
    TZ=$zone run_stackbox stackcount -T -i 0.2 -D 0.3 t:sched:sched_process_hang
    is "the time of day is right with TZ=\"$zone\"" \
        "$(grep -cE '^[012][0-9]:[0-5][0-9]:[0-6][0-9]$' "$scratch/out") $status" "2 0"
done
here -t 10 terminal-of-10
here -t 0 terminal-of-0
here -t 1 -o "$scratch/reports" terminal-of-1-and-files
is "none of these left a file" "$(ls "$scratch/reports")" ""

# ---- the binary is deleted, or the host's name is not text

cp "$STACKBOX" "$scratch/gone"
exec 9<"$scratch/gone"
rm "$scratch/gone"
carried "$WORKLOADS/carried" ${kprobes:+-k} -s /proc/self/fd/9 -n "$WORKLOADS/known" deleted-binary
exec 9<&-
# shellcheck disable=SC2016 # for that shell
unshare -u sh -c 'printf "a\033[31m<b>\377\"" >/proc/sys/kernel/hostname && exec "$@"' sh \
    "$STACKBOX" profile -D 0.2 -o "$scratch/name.svg" -o "$scratch/name.txt" \
    -o "$scratch/name.speedscope.json" </dev/null >"$scratch/out" 2>"$scratch/err"
is "it works with an odd host name" $? 0
is "the host name is escaped everywhere" \
    "$(cat "$scratch"/name.* | LC_ALL=C grep -c "$(printf '\033\|\377')")" 0
is "and is text in the flame graph" "$(grep -c 'a\\x1b\[31m&lt;b&gt;\\xff' "$scratch/name.svg")
$(grep -c '<b>' "$scratch/name.svg")" "1
0"

# ---- how wide a terminal is

# on_terminal COLUMNS TERM FILE WORD...: stdout goes to FILE, or to the terminal (-); what the
# terminal got is in $scratch/raw.COLUMNS
on_terminal()
{
    columns=$1 term=$2 file=$3
    shift 3
    [ "$file" = - ] && file=/dev/tty
    # shellcheck disable=SC2016 # for that shell
    "$WORKLOADS/session" --limit 60 --terminal --columns "$columns" env TERM="$term" FILE="$file" \
        sh -c 'exec "$@" >"$FILE"' sh "$STACKBOX" "$@" </dev/null >"$scratch/raw.$columns"
}

# end_of: the last message, without how long the run really took
end_of()
{
    sed 's/ in [0-9.]* s\r$/ in N s/'
}

# Valid, but never hit: no process hangs here.
QUIET="-D 2.5 t:sched:sched_process_hang"
processes=
for columns in 80 40 10 1 0; do
    # shellcheck disable=SC2086 # words
    on_terminal $columns xterm "$scratch/report.$columns" stackcount $QUIET &
    processes="$processes $!"
done
# shellcheck disable=SC2086 # words
wait $processes
for columns in 80 40 10 1 0; do
    # Each line overwrites the last one; before the last message the line is empty again.
    is "progress fits $columns columns" "$(awk -v columns=$columns 'BEGIN { RS = "\r\033\\[K" }
        NR == 1 && $0 != "" { wrong = wrong " begins with " $0 }
        { if (length(last) >= (columns ? columns : 80)) wrong = wrong " too long: " last; last = $0 }
        END { print (NR > 2 ? "some" : "none") wrong, last }' "$scratch/raw.$columns" | end_of)" \
        "some stackcount: no events in N s"
done
# shellcheck disable=SC2086 # words
on_terminal 80 dumb "$scratch/report" stackcount $QUIET
is "no progress on a dumb terminal" "$(end_of <"$scratch/raw.80")" "stackcount: no events in N s"
for words in "" -h "profile -h"; do
    # shellcheck disable=SC2086 # words
    on_terminal 10 xterm - $words
    # shellcheck disable=SC2086 # words
    is "other output is not cut to 10 columns: stackbox $words" "$(tr -d '\r' <"$scratch/raw.10")" \
        "$("$STACKBOX" $words)"
done
printf 'known_to_nobody;a_function_with_a_name_that_is_long 3\n' >"$scratch/stacks"
on_terminal 10 xterm - flamegraph --format text "$scratch/stacks"
is "other output is not cut to 10 columns: a report" "$(tr -d '\r' <"$scratch/raw.10")" \
    "$("$STACKBOX" flamegraph --format text "$scratch/stacks")"
