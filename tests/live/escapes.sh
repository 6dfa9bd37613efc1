#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
#
# Names of files, functions, probes, processes and others are untrusted. Wherever stackbox shows
# them, no byte that controls a terminal reaches it.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"
need objcopy

# Escape, carriage return, backspace, delete, C1 as UTF-8, and a byte that is not UTF-8
ODD=$(printf 'o\033[31m\r\b\177\302\233d\233')
SHOWN='o\x1b[31m\x0d\x08\x7f\xc2\x9bd\x9b'
CONTROLS=$(printf '[\001-\010\013-\037\177]\|\302[\200-\237]')
N=20

# harmless NAME [FILE...]: what was printed has none of these bytes, but still has the name
harmless()
{
    name=$1
    shift
    [ $# != 0 ] || set -- "$scratch/out" "$scratch/err"
    if cat "$@" | LC_ALL=C grep -q "$CONTROLS"; then
        fail "$name" "$(cat "$@" | LC_ALL=C grep "$CONTROLS" | head -n 2 | od -An -c | head -n 5)"
    elif cat "$@" | grep -qF -e "$SHOWN"; then
        pass "$name"
    else
        fail "$name" "the name is not there: $(cat "$@" | head -c 400)"
    fi
}

# The file's path, the function's and the process's name are odd, all at once.
mkdir "$scratch/$ODD"
it=$scratch/$ODD/$ODD
objcopy --redefine-sym target="$ODD" \
    --redefine-sym chain_a1="_Z5$(printf 'f\033[1m')v" "$WORKLOADS/chains" "$it" || fail "the program" "objcopy"

run_stackbox stackcount --list "$it:*"
is "--list: exit status" $status 0
harmless "--list"
run_stackbox stackcount --debug -i 0.2 -v "$it:*d*" -- "$it" -n $N
is "a report: exit status" $status 0
harmless "a report and --debug" "$scratch/out"
# What --debug prints has no foreign names: only the bytes are checked.
echo "$SHOWN" >>"$scratch/err"
harmless "what is said with --debug" "$scratch/err"
for options in -f -P -s "-U -a"; do
    # shellcheck disable=SC2086 # words
    run_stackbox stackcount $options t:syscalls:sys_enter_getppid -- "$it" -n $N
    harmless "a report, $options" "$scratch/out"
done
for format in text perf; do
    run_stackbox stacksnoop --format $format "$it:*d*" -- "$it" -n $N
    harmless "events, $format" "$scratch/out"
done
run_stackbox stackcount -o "$scratch/$ODD/x.folded" -o "$scratch/$ODD/x.svg" -o "$scratch/$ODD/x.speedscope.json" \
    --flat t:syscalls:sys_enter_getppid -- "$it" -n $N
harmless "--flat" "$scratch/out"
for file in x.folded x.svg x.speedscope.json; do
    # JSON has a \ before each \.
    sed 's/\\\\/\\/g' "$scratch/$ODD/$file" >"$scratch/plain"
    harmless "a file, $file" "$scratch/plain"
done
run_stackbox flamegraph --format text "$scratch/$ODD/x.folded"
is "a flame graph: exit status" $status 0

# Probes of a provider with an odd name, as long as the real one
LC_ALL=C sed "s/truth/$(printf '\033[1m\r')/g" "$WORKLOADS/usdt-sdt" >"$scratch/$ODD/usdt"
chmod +x "$scratch/$ODD/usdt"
run_stackbox stackcount --list "u:$scratch/$ODD/usdt:*"
harmless "--list of USDT probes"
contains "--list: the provider's name" "$scratch/out" 'usdt:\x1b[1m\x0d:plain'
run_stackbox stackcount "u:$scratch/$ODD/usdt:*:plan"
harmless "a similar probe"

# ---- Errors

# wrong NAME ARG...: is refused, with a harmless message
wrong()
{
    name=$1
    shift
    run_stackbox "$@"
    [ $status != 0 ] || fail "$name: exit status" 0
    harmless "an error: $name" "$scratch/err"
}

wrong "no such file" stackcount "/nowhere/$ODD:f"
wrong "no such library" stackcount "$ODD:f"
wrong "no such function" stackcount "$it:nosuch"
wrong "a similar function" stackcount "$WORKLOADS/chains:$ODD"
wrong "no such probe" stackcount "u:$it:$ODD"
wrong "no such tracepoint" stackcount "t:$ODD:x"
wrong "no such event" stackcount "t:sched:$ODD"
wrong "a regular expression" stackcount -r "$it:($ODD"
wrong "no such cgroup" stackcount --cgroup "/nowhere/$ODD" t:sched:sched_switch
wrong "no such command" stackcount t:sched:sched_switch -- "/nowhere/$ODD"
wrong "an output that cannot be written" stackcount -D 0.1 -o "/nowhere/$ODD/x.svg" t:sched:sched_process_hang
wrong "a missing input" flamegraph "/nowhere/$ODD"
printf '#!/bin/%s\n' "$ODD" >"$scratch/$ODD/script"
wrong "a script" stackcount "$scratch/$ODD/script:f"
echo text >"$scratch/$ODD/text"
wrong "a text" stackcount "$scratch/$ODD/text:f"
wrong "a directory" stackcount "$scratch/$ODD:f"

# A file that was written to afterwards
start_workload one "$it" -w -k -n $N
start_tracing stackcount -f -p "$(pid_of one)" t:syscalls:sys_enter_getppid
go one
touch "$it"
finish_stackbox
finish_workload one
contains "a note of a file" "$scratch/err" "$SHOWN was modified after it was mapped"
harmless "a note of a file, its bytes"
