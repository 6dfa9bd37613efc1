#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
#
# Which events count, and under which name: filters choose exactly the right ones, and stackbox
# separates or merges processes, even by a namespace's pids.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

N=1000
# No other process has this name.
NAME=calls$$
EVENT=t:syscalls:sys_enter_getppid
# An event with a kernel stack. (On 5.10 tracepoints of system calls have none.)
PLACE=$EVENT
have_kprobes && PLACE=${CALL}getppid

# thread NAME N: the N-th thread of a workload; the main thread is the first
thread()
{
    ls "/proc/$(pid_of "$1")/task" | sort -n | sed -n "${2}p"
}

# picked NAME EXPECTED OPTION...: two threads on two CPUs make N calls each, of which EXPECTED are
# counted. Then the next workload is started, so that the next test's options can name its threads.
picked()
{
    name=$1 expected=$2
    shift 2
    trace_workload two stackcount -f "$@" $EVENT
    is "$name" "$(counted)" "$expected"
    start_workload two calls -w -k -t 2 -n $N
}

start_workload two calls -w -k -t 2 -n $N
picked "-p: a process, all its threads" $((2 * N)) -p "$(pid_of two)"
picked "-t: one thread" $N -t "$(thread two 2)"
picked "-L: two threads" $((2 * N)) -L "$(thread two 2),$(thread two 3)"
picked "-t: the thread that makes no calls" 0 -t "$(thread two 1)"
picked "-p and -t: both must hold" 0 -p $$ -t "$(thread two 2)"
if [ "$(nproc)" -gt 1 ]; then
    picked "-C: one CPU" $N -p "$(pid_of two)" -C 1
    picked "-c: the same, as in bcc" $N -p "$(pid_of two)" -c 0
else
    skip "-C" "one CPU"
fi
go two
finish_workload two

# Several processes: chosen, told apart, merged, the largest.
start_three()
{
    for i in 1 2 3; do
        start_workload $i calls -w -k -n $((i * 100)) -N "calls"
    done
}
start_three
trace_workload "1 2 3" stackcount -f -P -K -p "$(pid_of 1),$(pid_of 3)" $PLACE
is "-p: two of three processes are counted" "$(counted)" 400
is "-P: each process has its own blocks" "$(folded_sum "$scratch/out" "^calls \\($(pid_of 1)\\);") \
$(folded_sum "$scratch/out" "^calls \\($(pid_of 3)\\);")" "100 300"
start_three
trace_workload "1 2 3" stackcount -K -p "$(pid_of 1),$(pid_of 2),$(pid_of 3)" $PLACE
is "-K: one block for all processes" "$(grep '^    ' "$scratch/out")" "    600"
start_three
trace_workload "1 2 3" stackcount --top 1 --unwind fp -p "$(pid_of 1),$(pid_of 2),$(pid_of 3)" $PLACE
is "--top: the largest is shown" "$(grep '^    ' "$scratch/out" | tr '\n' ' ')" \
    "    calls ($(pid_of 3))     300 "
is "--top: what is left out is reported" "$(cat "$scratch/err")" \
    "stackcount: --top left out 2 more stacks with 300 events"

# A process or thread that reuses the number of an ended one is not traced.
# next_owner NAME TIDS OPTION...: of two processes, one ends, another gets a number of it (the TIDS-th thread's)
next_owner()
{
    name=$1 number=$(thread two "$2")
    shift 2
    start_tracing stackcount -f "$@" $EVENT
    go two
    finish_workload two
    "$WORKLOADS/reuse" -a "$number" -n 700 -N $NAME "$WORKLOADS/north" >"$scratch/reused"
    go one
    finish_stackbox
    finish_workload one
    if grep -q '^skip' "$scratch/reused"; then
        skip "$name" "$(cat "$scratch/reused")"
    else
        is "$name" "$(tail -n 1 "$scratch/reused") $(counted)" "done CALLS=700 $N"
    fi
    begin_next_owner
}
begin_next_owner()
{
    start_workload one calls -w -k -n 300
    start_workload two calls -w -k -t 2 -n 350
}
N=1000
begin_next_owner
for collect in bpf rings; do
    next_owner "$collect: -p: a number's next owner" 1 --collect $collect -p "$(pid_of one),$(pid_of two)"
    next_owner "$collect: --follow: the same" 1 --collect $collect --follow -p "$(pid_of one),$(pid_of two)"
    N=650
    next_owner "$collect: -t: the same" 2 --collect $collect -t "$(thread one 2),$(thread two 2)"
    N=1000
    # A thread that executes a program has its process's number afterwards.
    start_workload gone north -t -w -n 100 -r 2 "$WORKLOADS/north"
    trace_workload gone stackcount -f --collect $collect -t "$(thread gone 2)" $EVENT
    is "$collect: -t: a thread that executes a program is the same thread" "$(counted)" 100
done
for name in one two; do
    go $name
    finish_workload $name
done

# --depth keeps the frames at the leaf.
for depth in 127 3; do
    start_workload deep spread -w -k -n 1 -r 10
    trace_workload deep stackcount -U -p "$(pid_of deep)" --depth $depth $EVENT
    grep '^  [^ ]' "$scratch/out" >"$scratch/frames-$depth"
    is "--depth $depth: all calls are counted" "$(sed -n 's/^    //p' "$scratch/out")" 10
done
between "a deep stack has all its frames" "$(wc -l <"$scratch/frames-127")" 10 40
is "--depth 3: three frames from the leaf" "$(cat "$scratch/frames-3")" \
    "$(head -n 3 "$scratch/frames-127")"

# One slot for stacks: events count even if their stack has no slot.
start_workload deep spread -w -k -n 200 -r 5
trace_workload deep stackcount -f --debug -p "$(pid_of deep)" --stack-storage-size 1 $PLACE
is "--stack-storage-size 1: all calls are counted" "$(($(counted) + $(said "events were not counted")))" 1000
contains "--stack-storage-size 1: the loss is reported" "$scratch/err" "events are counted without their stack"

# Command names may have any bytes.
for format in -P -Pf; do
    start_workload odd calls -w -k -n 10 -N 'a\x01\x1b[\xff;b\xc3\xa4'
    trace_workload odd stackcount $format -p "$(pid_of odd),$$" $EVENT
    if [ $format = -P ]; then
        contains "an odd command name is escaped in text" "$scratch/out" \
            "    a\\x01\\x1b[\\xff;bä ($(pid_of odd))"
    else
        contains "an odd command name is escaped in folded stacks" "$scratch/out" \
            "a\\x01\\x1b[\\xff:bä ($(pid_of odd));"
    fi
done

# without COMMAND: all calls are counted on a kernel without this command of bpf(2)
without()
{
    start_workload one calls -w -k -t 2 -n $N
    under="$WORKLOADS/deny --syscall bpf/$1:EINVAL --"
    trace_workload one stackcount -f -i 0.3 --debug -p "$(pid_of one)" $PLACE
    under=
    is "without bpf(2)'s command $1 all calls are counted" "$(counted)" $((2 * N))
}
# 25 is BPF_MAP_LOOKUP_AND_DELETE_BATCH, 28 is BPF_LINK_CREATE.
without 25
without 28
have_kprobes && contains "without links, PMU events are used" "$scratch/err" \
    "by kprobe PMU events"

# --cgroup: the tasks in it and below it, and no others
cgroups=$(cgroups)
mine=$cgroups/test$$
if [ "$cgroups" ] && mkdir "$mine" "$mine/below" "$cgroups/other$$" 2>"$scratch/why"; then
    for place in test$$ test$$/below other$$; do
        name=in_${place##*/}
        start_workload "$name" calls -w -k -n 10 -N "$NAME"
        pid_of "$name" >"$cgroups/$place/cgroup.procs"
    done
    trace_workload "in_test$$ in_below in_other$$" stackcount -f --cgroup "$mine" $EVENT
    is "a cgroup and those below it are counted" "$(counted)" 20
    rmdir "$mine/below" "$mine" "$cgroups/other$$"
    run_stackbox stackcount --cgroup /proc $EVENT
    is "a directory that is not a cgroup is refused" "$status $(cat "$scratch/err")" \
        "1 stackcount: --cgroup: \"/proc\" is not a cgroup v2 directory, as found below /sys/fs/cgroup"
    run_stackbox stackcount --cgroup /nowhere $EVENT
    is "an unknown cgroup is refused" "$status $(cat "$scratch/err")" \
        "1 stackcount: --cgroup: \"/nowhere\": No such file or directory"
else
    skip "cgroups" "no cgroup v2 to make one in: $(cat "$scratch/why" 2>/dev/null)"
fi

# A pid namespace has its own pids; a process outside it has the host's. Rings show all outside
# processes as one: so the test counts a call that no other process makes, as shells do getppid().
choose_event getsid
mkfifo "$scratch/word"
cat >"$scratch/inside.sh" <<'END'
$below "$WORKLOADS/calls" -c getsid -w -k -n 70 -N calls <"$scratch/word" >"$scratch/inside.out" &
exec 9>"$scratch/word"
tries=100
until inside=$(grep -lx calls /proc/[0-9]*/comm) || [ $((tries -= 1)) = 0 ]; do
    sleep 0.1
done
inside=${inside#/proc/} inside=${inside%/comm}
echo $inside >"$scratch/inside.pid"
[ $# -lt 2 ] || [ "$1" != -p ] || { shift 2 && set -- -p "$inside" "$@"; }
"$WORKLOADS/session" --limit 60 "$STACKBOX" stackcount "$@" </dev/null >"$scratch/out" 2>"$scratch/err" &
stackbox=$!
tries=100
until grep -q '^Tracing' "$scratch/out" "$scratch/err" || [ $((tries -= 1)) = 0 ]; do
    sleep 0.1
done
echo >&9
: >"$scratch/started"
until [ -f "$scratch/finish" ] || [ $((tries -= 1)) = -100 ]; do
    sleep 0.1
done
kill -s INT $stackbox
wait $stackbox
echo >&9
END
below=
export scratch WORKLOADS STACKBOX below
# inside ARG...: stackcount in a pid namespace, while workloads there and outside make their calls
inside()
{
    rm -f "$scratch/started" "$scratch/finish" "$scratch/inside.pid"
    for file in out err inside.out; do
        : >"$scratch/$file"
    done
    start_workload outside calls -c getsid -w -k -n 30 -N $NAME
    "$WORKLOADS/deny" --pid-namespace -- sh "$scratch/inside.sh" "$@" 2>"$scratch/why" &
    namespace=$!
    kill_at_end "$namespace"
    wait_until 30 test -f "$scratch/started" || return
    go outside
    wait_until 30 grep -q '^done' "$scratch/inside.out"
    : >"$scratch/finish"
    wait $namespace
    finish_workload outside
}
if ! "$WORKLOADS/deny" --pid-namespace -- true 2>"$scratch/why"; then
    skip "pid namespaces" "$(cat "$scratch/why")"
else
    who="$NAME \\(host [0-9]*\\)"
    if ! have_pids_of_namespaces; then
        who='\[outside\] \(0\)' # by rings
        under="$WORKLOADS/deny --pid-namespace --"
        run_stackbox stackcount --collect bpf -f -P $EVENT
        under=
        is "in a pid namespace, whose pids this kernel does not give to programs: refused" \
            "$status $(cat "$scratch/err")" \
            "1 stackcount: cannot trace: in a container with its own PIDs this needs \
Linux 5.7: run it outside, where -p takes the host's PIDs"
    fi
    inside -f -P $EVENT
    is "in a pid namespace: pids are the namespace's" \
        "$(folded_sum "$scratch/out" "^calls \\($(cat "$scratch/inside.pid")\\);")" 70
    is "and a process outside it is shown as such" "$(folded_sum "$scratch/out" "^$who;")" 30
    # By BPF programs all its frames are unknown: one line with their number.
    ! have_pids_of_namespaces || is "its unknown frames are one" \
        "$(grep "^$NAME (host [0-9]*);" "$scratch/out" | grep -c ';\[unknown\] ([0-9]* frames)[; ]')" 1
    is "and not one after the other" "$(grep -c ';\[unknown\];\[unknown\]' "$scratch/out")" 0
    inside $EVENT
    is "text shows it, too" "$(grep -cE "^    $who\$" "$scratch/out")" 1
    inside --collect rings -f -P -K $EVENT
    is "by rings: pids are the namespace's" \
        "$(folded_sum "$scratch/out" "^calls \\($(cat "$scratch/inside.pid")\\);")" 70
    is "by rings: a process outside it is shown as such" "$(folded_sum "$scratch/out" '^\[outside\] \(0\);')" 30
    inside -p OURS -f -P $EVENT
    is "-p takes a pid in the namespace" "$(cat "$scratch/inside.pid") $(counted)" "2 70"

    # The process is in a namespace of its own, below that.
    below="$WORKLOADS/deny --pid-namespace --"
    for collect in bpf rings; do
        if [ $collect = bpf ] && { older_than 5.10 || ! [ -r /sys/kernel/btf/vmlinux ]; }; then
            skip "bpf: -p takes a process in a namespace below" "it takes Linux 5.10 and BTF"
            continue
        fi
        inside -p OURS -f -P --collect $collect $EVENT
        is "$collect: -p takes a process in a namespace below" "$(counted)" 70
        inside -f -P --collect $collect $EVENT
        is "$collect: it has its number here, and frames" \
            "$(folded_sum "$scratch/out" "^calls \\($(cat "$scratch/inside.pid")\\);.*[a-z]")" 70
    done
    below=
    # Its limit of pids says nothing about the host's (6.14: before, there is only one).
    if older_than 6.14; then
        skip "in a pid namespace with few pids" "it takes Linux 6.14"
    else
        "$WORKLOADS/deny" --pid-namespace -- sh -c 'echo 400 >/proc/sys/kernel/pid_max &&
            exec "$STACKBOX" stackcount -f "$1" -- "$WORKLOADS/calls" -c getsid -n 50' few $EVENT >"$scratch/out" 2>"$scratch/err"
        is "in a pid namespace with few pids a command is followed" "$(counted)" 50
        if ! skip_deaf "and its waits are reported by rings"; then
            "$WORKLOADS/deny" --pid-namespace -- sh -c 'echo 400 >/proc/sys/kernel/pid_max &&
                exec "$STACKBOX" offcputime --collect rings -f -- sleep 0.2' few >"$scratch/out" 2>"$scratch/err"
            is "and its waits are reported by rings" "$? $(grep -c '^sleep;' "$scratch/out")" "0 1"
        fi
    fi
fi
