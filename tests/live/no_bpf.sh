#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10
# host: yes
#
# If bpf(2) is missing or refused, stackbox collects by rings without an option: all deterministic
# output is the same as with BPF programs, byte by byte, in every format, with the same names.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

SAID="stacks are collected by perf's rings, as"

# perf gets no kernel stacks at tracepoints of system calls.
BOTH="-U $EVENT"
! have_kprobes || BOTH=${CALL}getppid

# by_both NAME ARG...: stackcount's reports by programs and by rings are the same, without what differs from run
# to run
by_both()
{
    local name=$1
    shift
    # A separate filter, as it changes 32-bit ARM's way into the kernel, and so what calls a system call's
    # function.
    under="$WORKLOADS/deny --syscall setns:ENOSYS --"
    run_stackbox stackcount --unwind fp "$@"
    whole "$name"
    mv "$scratch/report" "$scratch/by_bpf"
    # shellcheck disable=SC2086 # words
    under="$WORKLOADS/deny --syscall bpf:$error --"
    run_stackbox stackcount --unwind fp "$@"
    under=
    whole "$name: rings"
    cmp -s "$scratch/by_bpf" "$scratch/report" && pass "$name: the same by rings, $error" ||
        fail "$name: the same by rings, $error" "$(diff "$scratch/by_bpf" "$scratch/report" | head -n 8 | tr '\n' '|')"
    is "$name: and it says so, $error" "$(grep -c "^stackcount: $SAID $why\$" "$scratch/err")" 1
}

# whole NAME: checks that the report is not empty, and removes times and pids, which differ
whole()
{
    [ $status = 0 ] && [ -s "$scratch/out" ] || fail "$1" "status $status, $(tr '\n' '|' <"$scratch/err")"
    sed -E 's/(calls|chains|jit) \([0-9]+\)/\1 (PID)/; s/"(start|end)Value": ?[0-9.]+//; s/on [^ ,]+, ([-0-9: ]+, )?[0-9.]+ s, ([0-9,]+ events)/\2/' \
        "$scratch/out" >"$scratch/report"
}

for error in ENOSYS EPERM; do
    [ $error = ENOSYS ] && why="this kernel has no bpf(2)" || why="bpf(2) is refused"
    # shellcheck disable=SC2086 # words
    for format in text folded flat tree svg speedscope; do
        by_both "$format" --format $format $BOTH -- "$WORKLOADS/calls" -n 3000
    done
    by_both "functions of a program" -f "$WORKLOADS/chains:target" -- "$WORKLOADS/chains" -n 2000 -m 1000
    if [ "$(uname -m)" = x86_64 ]; then
        by_both "names of just-in-time code" -f -U "$EVENT" -- "$WORKLOADS/jit" -n 500 -N jit$$
        contains "names of just-in-time code, $error" "$scratch/report" "jit_"
        rm -f /tmp/perf-*.map.jit$$
    else
        skip "names of just-in-time code" "the workload generates code only for x86-64"
    fi
done

under="$WORKLOADS/deny --syscall bpf:EPERM --"
# So many events within milliseconds that copies of user stacks would not fit into rings
run_stackbox stackcount --unwind fp -f -o "$scratch/x.pb.gz" -o "$scratch/x.folded" -o "$scratch/x.sbx" "$EVENT" -- "$WORKLOADS/calls" -n 3000
is "files" "$status $(folded_sum "$scratch/x.folded" 'work;make_calls')" "0 3000"
[ "$(uname -m)" != armv7l ] || is "who calls a system call's function of a filtered program" \
    "$(folded_sum "$scratch/x.folded" ';__sys_trace_return;sys_getppid')" 3000
gzip -t "$scratch/x.pb.gz" && pass "pprof" || fail "pprof" "it is not whole"
run_stackbox report -f "$scratch/x.sbx"
is "a recording" "$(folded_sum "$scratch/out" 'work;make_calls')" 3000
run_stackbox stackcount --collect bpf "$EVENT" -- true
is "--collect bpf is refused" \
    "$status $(grep -c 'a seccomp filter blocks bpf(2): start' "$scratch/err")" "125 1"
# Old kernels have bpf(2), but not the maps that are needed: 0 is BPF_MAP_CREATE.
under="$WORKLOADS/deny --syscall bpf/0:EINVAL --"
run_stackbox stackcount --unwind fp -f "$EVENT" -- "$WORKLOADS/calls" -n 3000
is "maps are too old: rings collect" "$status $(folded_sum "$scratch/out" 'work;make_calls') $(
    grep -c "^stackcount: $SAID this kernel's bpf(2) cannot\$" "$scratch/err")" "0 3000 1"
run_stackbox stackcount --collect bpf -D 0.1 "$EVENT"
is "maps are too old: --collect bpf is refused" \
    "$status $(cat "$scratch/err")" "1 stackcount: cannot create maps: \
this kernel's bpf(2) runs no programs that read stacks (Linux 4.18, CONFIG_BPF_EVENTS): most applets collect by \
perf's rings instead"
# Or they have no programs that read stacks: 5 is BPF_PROG_LOAD.
under="$WORKLOADS/deny --syscall bpf/5:EINVAL --"
for applet in profile offcputime wakeuptime; do
    run_stackbox $applet --collect bpf -D 0.1
    is "programs are too old: $applet collects by rings" \
        "$status $(grep -c 'Linux 4.18, CONFIG_BPF_EVENTS' "$scratch/err") $(
        wc -l <"$scratch/err")" "1 1 1"
done
