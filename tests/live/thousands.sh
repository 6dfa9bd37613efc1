#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
#
# Thousands of probes at once: all kernel functions, which the machine survives, and all functions
# of the C library. stackbox refuses a probably accidental request in one line.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

# refused NAME ARG...: one line that says what to do, and nothing else
refused()
{
    name=$1
    shift
    run_stackbox stackcount -f -D 0.1 "$@"
    is "$name: exit status" $status 1
    is "$name: one line" "$(wc -l <"$scratch/err")" 1
    contains "$name: what to do" "$scratch/err" "narrow the pattern, or give --force"
}

note()
{
    echo "  note: $1: $(grep -o 'attached.*\|detached.*' "$scratch/err" | tr '\n' ';')"
}

# known NAME SUM: a known function has the calls of the workload `one`
known()
{
    is "$1: a known function has its calls" "$2" "$(calls_of one)"
}

if have_kprobes; then
    refused "all functions of the kernel" '*'
    between "all functions of the kernel: it says how many" "$(said 'functions')" 20000 99999
fi
if have_kprobes && [ "$GUEST" != newest ]; then
    # Ctrl-C while thousands are attached one by one: by then some are, as the kernel lists.
    mkdir "$scratch/debugfs" && mount -t debugfs debugfs "$scratch/debugfs"
    some_attached()
    {
        [ "$(grep -c . "$scratch/debugfs/kprobes/list")" -gt 100 ]
    }
    # shellcheck disable=SC2086 # words
    "$WORKLOADS/session" --limit "$LIMIT" "$STACKBOX" stackcount -f --force --attach-by pmu '*' \
        </dev/null >"$scratch/out" 2>"$scratch/err" &
    stackbox=$!
    kill_at_end "$stackbox"
    wait_until "$LIMIT" some_attached
    is "many were attached, but not all" "$? $(ended "$stackbox" && echo ended)" "0 "
    finish_stackbox
    umount "$scratch/debugfs"
    is "Ctrl-C while attaching ends it" "$status $(wc -l <"$scratch/out")" "1 0"
fi

# One link to all of them: everything that runs goes through it. (Only one process is counted: all
# processes of an emulated kernel would make a report take minutes.)
if have_kprobes && grep -q ' bpf_kprobe_multi_link_attach$' /proc/kallsyms; then
    start_workload one calls -w -k -t 2 -n 300
    start_tracing stackcount -f --debug -K -p "$(pid_of one)" --force '*'
    go one
    sleep 1
    finish_stackbox
    is "all at once: exit status" $status 0
    note "all at once"
    between "all at once: thousands are attached" "$(said 'places, kernel functions')" 20000 99999
    between "all at once: those left out are reported" "$(said 'functions that tracing itself calls')" 1000 9999
    # (Any of its names may be shown, as all were asked for.)
    known "all at once" "$(folded_sum "$scratch/out" 'sys_getppid ')"
    finish_workload one
    start_workload one calls -w -k -t 2 -n 300
    trace_workload one stackcount -f -K ${CALL}getppid
    is "all at once: afterwards tracing works as before" "$(folded_sum "$scratch/out")" 600
elif have_kprobes; then
    start_workload one calls -w -k -t 2 -n 300
    trace_workload one stackcount -f --debug -K 'vfs_*' '*_getppid'
    note "one by one"
    known "one by one" "$(folded_sum "$scratch/out" 'sys_getppid ')"
fi

# All tracepoints: quickly attached, and slow to detach.
refused "all tracepoints" 't:*:*'

# The C library of a shell, in that process only, if links can be limited to a process.
if [ "$GUEST" ] || ! have_uprobes; then
    skip "all functions of the C library" "there is no shared C library here"
elif ! grep -q ' bpf_session_cookie$' /proc/kallsyms; then
    skip "all functions of the C library" "links apply to all processes here, which would all be slowed"
else
    run_stackbox stackcount 'c:*'
    is "all functions of the C library in all programs" \
        "$status $(sed 's/[0-9]* functions are/N functions are/' "$scratch/err")" \
        "1 stackcount: N functions are more than the 1000 traced in all programs without asking, which would get \
slower: choose a process (-p), narrow the pattern, or give --force"
    mkfifo "$scratch/word"
    # shellcheck disable=SC2016 # for that shell
    "$WORKLOADS/session" --limit "$LIMIT" sh -c 'read word; i=0
        while [ $i -lt 300 ]; do kill -0 $$; i=$((i + 1)); done; echo done; read word' \
        <"$scratch/word" >"$scratch/shell" &
    shell=$!
    kill_at_end "$shell"
    exec 5>"$scratch/word"
    start_tracing stackcount -f -U --debug -p $shell 'c:*'
    echo >&5
    wait_until 60 grep -q done "$scratch/shell"
    finish_stackbox
    note "all functions of the C library"
    between "all functions of the C library" "$(said 'places, user functions')" 1000 9999
    is "all functions of the C library: a known one has its calls" \
        "$(folded_sum "$scratch/out" ';(__)?kill ')" 300
    exec 5>&-
    wait $shell || true
fi
