#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# seldom: 5.10,newest
# host: yes
#
# Thousands of places at once: all kernel functions, which the machine survives, and all of the C library.
# What is asked for by accident is refused in one line.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

# refused NAME ARG...: one line, with the way out, and nothing else
refused()
{
    name=$1
    shift
    run_stackbox stackcount -f -D 0.1 "$@"
    is "$name: status" $status 1
    is "$name: one line" "$(wc -l <"$scratch/err")" 1
    contains "$name: what to do" "$scratch/err" "narrow the pattern, or give --force"
}

# said TEXT: the number before TEXT in what was said
said()
{
    sed -n "s/.*[^0-9]\\([0-9][0-9]*\\) $1.*/\\1/p" "$scratch/err" | head -n 1
}

note()
{
    echo "  note: $1: $(grep -o 'attached.*\|detached.*' "$scratch/err" | tr '\n' ';')"
}

# known NAME SUM: of the workload `one`
known()
{
    is "$1: a known function" "$2" "$(calls_of one)"
}

if have_kprobes; then
    refused "all functions of the kernel" '*'
    between "all functions of the kernel: how many" "$(said 'functions')" 20000 99999
fi
if have_kprobes && [ "$GUEST" != newest ]; then
    # Ctrl-C while thousands are attached one by one: some are, as the kernel lists them.
    mkdir "$scratch/debugfs" && mount -t debugfs debugfs "$scratch/debugfs"
    some_attached()
    {
        [ "$(grep -c . "$scratch/debugfs/kprobes/list")" -gt 100 ]
    }
    # shellcheck disable=SC2086 # words
    "$WORKLOADS/session" --limit "$LIMIT" "$STACKBOX" stackcount -f --force --attach-by pmu '*' \
        </dev/null >"$scratch/out" 2>"$scratch/err" &
    stackbox=$!
    test_processes="$test_processes $stackbox"
    wait_until "$LIMIT" some_attached
    is "many were attached, and not all" "$? $(ended "$stackbox" && echo ended)" "0 "
    finish_stackbox
    umount "$scratch/debugfs"
    is "Ctrl-C while attaching" "$status $(wc -l <"$scratch/out")" "1 0"
fi

# One link to them all: whatever anybody does runs through it. (What one process does is counted: what
# all do in a kernel that is emulated makes a report of minutes.)
if have_kprobes && grep -q ' bpf_kprobe_multi_link_attach$' /proc/kallsyms; then
    start_workload one calls -w -k -t 2 -n 300
    start_stackbox stackcount -f --debug -K -p "$(pid_of one)" --force '*' ||
        fail "all at once" "$(tail -n 3 "$scratch/err")"
    go one
    sleep 1
    finish_stackbox
    is "all at once: status" $status 0
    note "all at once"
    between "all at once: how many" "$(said 'places, kernel functions')" 20000 99999
    between "all at once: those left out are said" "$(said 'functions that tracing itself calls')" 1000 9999
    # (Any of its names may be shown: all were asked for.)
    known "all at once" "$(folded_sum "$scratch/out" 'sys_getppid ')"
    finish_workload one
    start_workload one calls -w -k -t 2 -n 300
    start_stackbox stackcount -f -K ${CALL}getppid
    go one
    finish_stackbox
    is "all at once: afterwards it traces as before" "$(folded_sum "$scratch/out")" 600
    finish_workload one
elif have_kprobes; then
    start_workload one calls -w -k -t 2 -n 300
    start_stackbox stackcount -f --debug -K 'vfs_*' '*_getppid' ||
        fail "one by one" "$(tail -n 3 "$scratch/err")"
    go one
    finish_stackbox
    note "one by one"
    known "one by one" "$(folded_sum "$scratch/out" 'sys_getppid ')"
    finish_workload one
fi

# All tracepoints: quickly attached, and slow to detach.
refused "all tracepoints" 't:*:*'

# The C library of a shell, in that process alone where links can be of a process.
if [ "$GUEST" ] || ! have_uprobes; then
    skip "all functions of the C library" "there is none here"
elif ! grep -q ' bpf_session_cookie$' /proc/kallsyms; then
    skip "all functions of the C library" "links are of all processes here, which would all wait"
else
    mkfifo "$scratch/word"
    # shellcheck disable=SC2016 # for that shell
    "$WORKLOADS/session" --limit "$LIMIT" sh -c 'read word; i=0
        while [ $i -lt 300 ]; do kill -0 $$; i=$((i + 1)); done; echo done; read word' \
        <"$scratch/word" >"$scratch/shell" &
    shell=$!
    test_processes="$test_processes $shell"
    exec 5>"$scratch/word"
    start_stackbox stackcount -f -U --debug -p $shell 'c:*' || fail "c:*" "$(tail -n 3 "$scratch/err")"
    echo >&5
    wait_until 60 grep -q done "$scratch/shell"
    finish_stackbox
    note "all functions of the C library"
    between "all functions of the C library" "$(said 'places, user functions')" 1000 9999
    is "all functions of the C library: a known one" \
        "$(folded_sum "$scratch/out" ';(__)?kill ')" 300
    exec 5>&-
    wait $shell || true
fi
