#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.12,newest
# host: yes
#
# How applets separate stacks, by the same words: by process (the default), by thread, by name. The
# workload prints its own threads.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"
choose_event

# labels: the processes or threads of the text's blocks, in any layout, each once
labels()
{
    sed -n -e 's/^    \(-\|target:\|waker:\)  *\([^ ]\)/\2/p' -e 's/^    \([^ ].* ([0-9/]*)\)$/\1/p' \
        -e 's/^    \([^ ].* ([0-9]* process[es]*)\)$/\1/p' "$scratch/out" | sort -u
}

# ours: those of the workload, found by its names
ours()
{
    labels | grep -e "^$PREFIX" -e "^$1 " | sort -u | tr '\n' ' '
}

# by APPLET WORKLOAD WAY WAY: two threads of one process, and their process, which has another name. Kernel stacks are
# enough, and take no tables.
by()
{
    applet=$1 workload=$2 one=$3 two=$4
    for form in "" "--by process" "--by thread" "--by name" "--by-name"; do
        "start_$workload" -n 8 $ways
        tids="$(tid_of "$workload" "$one") $(tid_of "$workload" "$two")"
        # shellcheck disable=SC2086 # words
        "trace_$workload" "$applet" -K $form -t "$(echo "$tids" | tr ' ' ',')"
        case $form in
        *process | "") expected="$workload ($pid) " ;;
        *thread) expected="$PREFIX$one ($pid/${tids% *}) $PREFIX$two ($pid/${tids#* }) " ;;
        *) expected="$PREFIX$one (1 process) $PREFIX$two (1 process) " ;;
        esac
        is "$applet${form:+ $form}" "$(ours "$workload")" "$expected"
    done
    for form in "" "--by process" "--by thread" "--by name"; do
        "start_$workload" -n 8 $ways
        tids="$(tid_of "$workload" "$one") $(tid_of "$workload" "$two")"
        # shellcheck disable=SC2086 # words
        "trace_$workload" "$applet" -f -K $form -t "$(echo "$tids" | tr ' ' ',')"
        case $form in
        *process) expected="$workload ($pid)" ;;
        *thread) expected="$PREFIX$one ($pid/${tids% *}) $PREFIX$two ($pid/${tids#* })" ;;
        *) expected="$PREFIX$one $PREFIX$two" ;;
        esac
        is "$applet -f $form: names at the root" "$(sed 's/;.*//' "$scratch/out" | sort -u |
            grep -e "^$PREFIX" -e "^$workload" | tr '\n' ' ')" "$expected "
    done
}
ways="-o nap,read"
by offcputime sleeps nap read

# Both sides are labelled. Threads that wake each other belong to one process.
start_wakes -n 8 pipe
trace_wakes offwaketime -p @PID
contains "offwaketime: the waiter is labelled" "$scratch/out" "    target:          wakes ($pid)"
contains "offwaketime: the waker is labelled" "$scratch/out" "    waker:           wakes ($pid)"
for applet in offwaketime wakeuptime; do
    start_wakes -n 8 pipe
    tids="$(tid_of wakes 0) $(tid_of wakes 1)"
    trace_wakes $applet --by thread -p @PID
    contains "$applet --by thread: the waiter is labelled" "$scratch/out" \
        "    target:          ${PREFIX}1 ($pid/${tids#* })"
    contains "$applet --by thread: the waker is labelled" "$scratch/out" \
        "    waker:           ${PREFIX}0 ($pid/${tids% *})"
    start_wakes -n 8 pipe
    trace_wakes $applet --by name -p @PID
    contains "$applet --by name: the waker is labelled" \
        "$scratch/out" "    waker:           ${PREFIX}0 (1 process)"
done
start_wakes -n 8 pipe
trace_wakes wakeuptime -p @PID
contains "wakeuptime: the waiter is labelled" "$scratch/out" "    target:          wakes ($pid)"
contains "wakeuptime: the waker is labelled" "$scratch/out" "    waker:           wakes ($pid)"

# count ARG...: counts calls of two threads of a process
count()
{
    start_workload one calls -w -k -t 2 -n 50 -N "$PREFIX"
    start_tracing stackcount "$@" -p "$(pid_of one),$$" "$EVENT"
    go one
    finish_stackbox
    one=$(pid_of one)
    finish_workload one
}

# sums: the sums of the text's blocks, by label
sums()
{
    awk '/^    [^ ].* \(.*\)$/ { label = substr($0, 5); next }
        /^    [0-9]+$/ && label != "" { sum[label] += $1; label = "" }
        END { for (label in sum) print label, sum[label] }' "$scratch/out" | sort
}
for stacks in "" -K -U; do
    # shellcheck disable=SC2086 # words
    count $stacks --by process
    is "stackcount $stacks --by process" "$(sums)" "$PREFIX ($one) 100"
    # shellcheck disable=SC2086 # words
    count $stacks --by thread
    is "stackcount $stacks --by thread: two threads of it" \
        "$(sums | sed "s,^$PREFIX ($one/[0-9]*) ,thread ,; s,^$PREFIX ($one) ,thread ," | tr '\n' ' ')" \
        "thread 50 thread 50 "
    # shellcheck disable=SC2086 # words
    count $stacks --by-name
    is "stackcount $stacks --by-name" "$(sums)" "$PREFIX (1 process) 100"
done
count
is "stackcount" "$(sums)" "$PREFIX ($one) 100"
count -K
is "stackcount -K alone: there are no names" "$(sums)" ""
count -K -P
is "stackcount -K -P" "$(sums)" "$PREFIX ($one) 100"
count -f --by process
is "stackcount -f --by process" "$(folded_sum "$scratch/out" "^$PREFIX \\($one\\);")" 100
count -f
is "stackcount -f" "$(folded_sum "$scratch/out" "^$PREFIX;")" 100

# A process that changes its name has one name, even if its threads had others before.
cat >"$scratch/renamed.sh" <<'END'
kill -0 $$
kill -0 $$
printf another >/proc/$$/comm
kill -0 $$
END
if have_syscall_tracepoints; then
    run_stackbox stackcount -U t:syscalls:sys_enter_kill -- sh "$scratch/renamed.sh"
    is "a process has one name, its last" \
        "$(sums | sed 's/([0-9]*)/(PID)/')" "another (PID) 3"
    run_stackbox stackcount -U --by thread t:syscalls:sys_enter_kill -- sh "$scratch/renamed.sh"
    is "a thread has all the names it had" \
        "$(sums | sed 's/([0-9]*)/(PID)/' | tr '\n' ' ')" "another (PID) 1 sh (PID) 2 "
else
    skip "renamed" "this kernel has no tracepoints of system calls"
fi

# profile, with a second thread
start_workload one burn -w -k -s 1000 -F 997 -N "$PREFIX"
trace_workload one profile -F 997 --by thread -p "$(pid_of one)"
is "profile --by thread: one number if PID and TID are the same" "$(labels | grep "^$PREFIX")" \
    "$PREFIX ($(pid_of one))"

run_stackbox stacksnoop --by name "$EVENT"
is "stacksnoop --by name: refused" "$status $(grep -c -- '--by name: stacksnoop prints each event' "$scratch/err")" "2 1"
run_stackbox stacksnoop --by thread --max 1 -D 0.2 "$EVENT"
is "stacksnoop --by thread" $status 0
