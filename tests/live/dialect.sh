#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# host: yes
#
# Words of other tools: they mean the same as ours, or the message suggests ours.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

# same WORD OUR-WORD: both mean the same places
same()
{
    run_stackbox stackcount --list "$2"
    mv "$scratch/out" "$scratch/ours"
    run_stackbox stackcount --list "$1"
    is "${1%%:*}:...${1##*:}: it means the same as ours" \
        "$status $(cat "$scratch/out")" "0 $(cat "$scratch/ours")"
    is "${1%%:*}:...${1##*:}: it matches something" "$(grep -c . "$scratch/ours" | sed 's/[1-9].*/some/')" some
}

chains=$(cd "$WORKLOADS" && pwd)/chains
usdt=$(cd "$WORKLOADS" && pwd)/usdt
same "uprobe:$chains:target" "$chains:target"
same "uretprobe:$chains:target" "r:$chains:target"
same "usdt:$usdt:truth:plain" "u:$usdt:truth:plain"
same "usdt:$usdt:plain" "u:$usdt:plain"
same tracepoint:sched:sched_switch t:sched:sched_switch
same sched:sched_switch t:sched:sched_switch
same 'sched:sched_wak*' 't:sched:sched_wak*'
if grep -q ' T vfs_read$' /proc/kallsyms; then
    same kprobe:vfs_read vfs_read
    same kretprobe:vfs_read r::vfs_read
    run_stackbox stackcount vfs_read no_such_word
    is "an argument that is not a command is explained" "$status $(cat "$scratch/err")" \
        "1 stackcount: 0 functions matched by \"no_such_word\""
    run_stackbox stackcount vfs_read sleep
    is "a command without -- is explained" "$status $(sed 's/\(near\|libc has it\):.*; d/d/' "$scratch/err")" \
        "1 stackcount: 0 functions matched by \"sleep\"; did you mean -- sleep?"
fi

# It is traced as a tracepoint, too: its stacks are the same.
if have_syscall_tracepoints; then
    start_workload one calls -w -k -n 100
    trace_workload one stackcount -f -K -p "$(pid_of one)" syscalls:sys_enter_getppid
    is "a:b is counted" "$(folded_sum "$scratch/out")" 100
fi

run_stackbox stackcount t:sched:sched_fork
is "words of other tools are explained" "$status $(cat "$scratch/err")" \
    "1 stackcount: 0 tracepoints matched by \"t:sched:sched_fork\"; near: t:sched:sched_process_fork"

# A program that was just built.
mkdir "$scratch/here"
cp "$chains" "$scratch/here/goapp"
cd "$scratch/here" || exit 1
case $STACKBOX in /*) ;; *) STACKBOX=$OLDPWD/$STACKBOX ;; esac
run_stackbox stackcount --list goapp:target
is "a program in this directory is found by its name" "$status $(cat "$scratch/out")" "0 $(pwd -P)/goapp:target"
echo text >goapp
run_stackbox stackcount --list goapp:target
is "a file that is not a program is refused" \
    "$status $(grep -c 'no library or program "goapp"' "$scratch/err")" "1 1"
cd "$OLDPWD" || exit 1

run_stackbox profile -ag -D 0.1
is "-ag" "$status $(head -n 1 "$scratch/err")" "0 profile: -g: stacks are always taken; -a marks kernel \
functions, and all CPUs are traced unless -C names one"
run_stackbox profile -g -f -D 0.1
contains "-g" "$scratch/err" "profile: -g: stacks are always taken"

# A cgroup as systemd names it.
cgroups=$(cgroups)
if [ ! "$cgroups" ] && [ "$GUEST" ] && mkdir "$scratch/cgroups" &&
    mount -t cgroup2 cgroup2 "$scratch/cgroups"; then
    cgroups=$scratch/cgroups
fi
if [ "$cgroups" ] && mkdir "$cgroups/dialect$$.slice" 2>/dev/null; then
    run_stackbox profile -f --cgroup dialect$$.slice -D 0.1
    is "a cgroup below the mount" "$status $(grep -c cgroup: "$scratch/err")" "0 0"
    run_stackbox profile -f --cgroup /dialect$$.slice -D 0.1
    is "the same with a leading slash" "$status $(grep -c cgroup: "$scratch/err")" "0 0"
    rmdir "$cgroups/dialect$$.slice"
else
    skip "a cgroup below the mount" "no cgroup v2 can be made here"
fi
run_stackbox profile --cgroup no_such.slice
is "an unknown cgroup is refused" "$status $(cat "$scratch/err")" \
    "1 profile: --cgroup: \"no_such.slice\": No such file or directory"
