#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
# later: it has a sanitized build, and takes minutes
#
# Fault injection: a run without faults finds each place that allocates memory or makes a system
# call, and then each fails once. The result is a reported error, or a report that is right, or one
# that says what is missing: no crash, no leak, no wrong number, no half line. The build for this
# test has sanitizers, including LeakSanitizer (tests/faults).
#
#     FAULTS=sites sh tests/live/faults.sh     each place, with one of the errors that make sense;
#                                              `make test-guests` takes every twelfth of these
#     FAULTS=errors sh tests/live/faults.sh    each place, with every one of them
#     FAULTS=all sh tests/live/faults.sh       every call, with one of these in turn: an hour and more,
#                                              some minutes after unshare -pf --mount-proc
#     FAULTS=calls sh tests/live/faults.sh     every system call of every applet, and what is left in the kernel:
#                                              an hour; scripts/proof.sh calls makes the machine small for it:
#                                              few processes, and with FEW_NAMES=yes few of the kernel's names
#     FAULTS='uprobe malloc:12:ENOMEM' ...     only this one, with its output
#     ONLY='uprobe list' SHARE=10 ...          only these runs, and every tenth fault
. "${0%/*}/lib.sh"
. "${0%/*}/lib_left.sh"

# In a guest, settings come from the kernel command line (faults=calls, share=N, only=RUN), and the program's
# libraries lie next to it (scripts/proof.sh).
[ -z "$GUEST" ] || FAULTS=${FAULTS:-$(word faults)} ONLY=${ONLY:-$(word only)} SHARE=${SHARE:-$(word share)}
if [ -d build/proof/lib ] && [ "$GUEST" ]; then
    mkdir -p /lib64
    cp build/proof/lib/* /lib64/
    export LD_LIBRARY_PATH=/lib64
fi
FAULTY=${FAULTY:-$PWD/build/asan/faulty/stackbox}
share=${SHARE:-1}
[ -n "${FAULTS:-}" ] || FAULTS=sites share=${SHARE:-12}
JOBS=${JOBS:-4}
export FAULT_FRAMES="${FAULT_FRAMES:-6}"
RUNS="tracepoint unwind uprobe packed text pmu tracefs regex quiet list profile offcputime wakeuptime offwaketime
    snoop snoop-perf files rings-blocked"
# Unwind tables of all mapped files take thousands of calls more: one run makes them.
way=
if [ "$FAULTS" = calls ]; then
    RUNS="$RUNS walltime rings rings-profile rings-offwaketime rings-snoop sbx report flamegraph verdict check"
    way='--unwind fp'
    [ -z "$GUEST" ] || RUNS="kprobe kprobe-pmu kprobe-tracefs kprobe-snoop"
fi

have_root || skip_all "tracing needs root"
[ -x "$FAULTY" ] || skip_all "there is no build with faults: run make SANITIZE=1 ... faulty"
have_uprobes || skip_all "this kernel has no uprobes"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99 LSAN_OPTIONS=exitcode=99
TARGET=$WORKLOADS/chains:target
CHAINS="$WORKLOADS/chains -n 20 -m 10"

# words RUN: prints its command line
# shellcheck disable=SC2086 # words
words()
{
    case $1 in
    tracepoint) echo stackcount $way -f t:syscalls:sys_enter_getppid -- $CHAINS ;;
    unwind) echo stackcount -f --unwind tables t:syscalls:sys_enter_getppid -- $CHAINS ;;
    uprobe) echo stackcount $way -f "$TARGET" -- $CHAINS ;;
    packed) echo stackcount $way -f "$WORKLOADS/chains-packed:targe*" -- "$WORKLOADS/chains-packed" -n 20 -m 10 ;;
    text) echo stackcount $way -i 0.02 -T -d "$TARGET" -- $CHAINS ;;
    pmu) echo stackcount $way -f --attach-by pmu "$TARGET" -- $CHAINS ;;
    tracefs) echo stackcount $way -f --attach-by tracefs "$TARGET" -- $CHAINS ;;
    regex) echo stackcount $way -f -r "$WORKLOADS/chains:^targe(t|x)\$" -- $CHAINS ;;
    quiet) echo stackcount $way -D 0.05 -i 0.02 -K t:sched:sched_process_hang ;;
    list) echo stackcount --list "$WORKLOADS/chains:chain_*" "t:sched:sched_process_h*" ;;
    profile) echo profile $way -f -F 997 -- "$WORKLOADS/burn" -s 40 ;;
    offcputime) echo offcputime $way -f -- "$WORKLOADS/sleeps" -n 3 -u 3000 -o nap ;;
    wakeuptime) echo wakeuptime $way -f -- "$WORKLOADS/wakes" -n 3 -u 2000 pipe ;;
    offwaketime) echo offwaketime $way -f -- "$WORKLOADS/wakes" -n 3 -u 2000 pipe ;;
    snoop) echo stacksnoop $way "$TARGET" -- $CHAINS ;;
    snoop-perf) echo stacksnoop $way --format perf --buffer perf "$TARGET" -- $CHAINS ;;
    files) echo stackcount $way --flat -o x.svg -o x.folded -o x.speedscope.json -o x.pb.gz "$TARGET" -- $CHAINS ;;
    walltime) echo walltime $way -f -- "$WORKLOADS/sleeps" -n 3 -u 3000 -o nap ;;
    rings) echo stackcount $way --collect rings -f t:syscalls:sys_enter_getppid -- $CHAINS ;;
    rings-profile) echo profile $way --collect rings -f -F 997 -- "$WORKLOADS/burn" -s 40 ;;
    rings-offwaketime) echo offwaketime $way --collect rings -f -- "$WORKLOADS/wakes" -n 3 -u 2000 pipe ;;
    rings-blocked) echo offcputime $way -f --collect rings -D 0.05 -p $sleeper ;;
    rings-snoop) echo stacksnoop $way --collect rings t:syscalls:sys_enter_getppid -- $CHAINS ;;
    sbx) echo stackcount $way -f -o y.sbx "$TARGET" -- $CHAINS ;;
    report) echo report -f -o x.svg -o x.pb.gz "$scratch/given.sbx" ;;
    flamegraph) echo flamegraph --format folded -o x.svg "$scratch/given.folded" ;;
    verdict) echo flamegraph --diff "$scratch/given.folded" --fail-above 5 "$scratch/given.sbx" ;;
    check) echo check ;;
    kprobe) echo stackcount $way -f ${CALL}getppid -- $CHAINS ;;
    kprobe-pmu) echo stackcount $way -f --attach-by pmu ${CALL}getppid -- $CHAINS ;;
    kprobe-tracefs) echo stackcount $way -f --attach-by tracefs ${CALL}getppid -- $CHAINS ;;
    kprobe-snoop) echo stacksnoop $way ${CALL}getppid -- $CHAINS ;;
    esac
}

# errors KIND: how calls of this kind fail. The kernel's ENOENT is the end of a map, so it is not a
# fault.
errors()
{
    case $1 in
    malloc) echo ENOMEM ;;
    mmap) echo ENOMEM EPERM ;;
    thread | fork) echo EAGAIN ;;
    bpf) echo ENOMEM EPERM EINVAL EAGAIN E2BIG EBUSY ;;
    perf) echo ENOMEM EPERM EINVAL EMFILE ;;
    read) echo EIO EINTR ENOMEM short ;;
    write) echo ENOSPC EIO EINTR short ;;
    open) echo EMFILE ENOMEM EACCES ;;
    descriptor) echo EMFILE ENOMEM ;;
    ioctl) echo EINVAL ENOMEM ;;
    file) echo ENOSPC EIO EACCES ;;
    process) echo EPERM EINVAL ;;
    other) echo ENOMEM EINTR EINVAL ;;
    esac
}

# ---- One run

# run RUN DIRECTORY: runs it with the exported FAULT, in a directory where one of its files exists
# already
run()
{
    rm -rf "$2/files"
    mkdir "$2/files"
    echo old >"$2/files/x.folded"
    # shellcheck disable=SC2046 # words
    (cd "$2/files" && exec "$WORKLOADS/session" --limit 60 "$FAULTY" $(words "$1")) \
        </dev/null >"$2/out" 2>"$2/err" &
    made_by=$!
    wait $made_by
    status=$?
}

# sum_of REGEX FILE: the sum of the last words of lines that match
sum_of()
{
    awk -v regex="$1" '$0 ~ regex { sum += $NF } END { print sum + 0 }' "$2"
}

# figures RUN DIRECTORY: what was counted, and the least and the most that would be right
figures()
{
    case $1 in
    tracepoint | unwind | uprobe | pmu | tracefs | regex | rings | sbx | report | flamegraph | \
        kprobe | kprobe-pmu | kprobe-tracefs)
        echo "$(sum_of '^chains;' "$2/out") 30 30" ;;
    verdict) echo "$(grep -c '^no function ' "$2/out") 1 1" ;;
    check) echo "$(grep -c '^[a-z]*: yes' "$2/out") 9 20" ;;
    packed) echo "$(sum_of '^chains-packed;' "$2/out") 30 30" ;;
    text) echo "$(sum_of '^    [0-9]+$' "$2/out") 30 30" ;;
    files) echo "$(sum_of '^chains;' "$2/files/x.folded") 30 30" ;;
    snoop | rings-snoop | kprobe-snoop) echo "$(grep -cE '^[0-9.]+ +chains .* (target|.*:sys_enter_getppid|.*_getppid)$' "$2/out") 30 30" ;;
    snoop-perf) echo "$(grep -c '^chains .* stackbox:$' "$2/out") 30 30" ;;
    quiet) echo "$(grep -c '^    [0-9]' "$2/out") 0 0" ;;
    rings-blocked) echo "$(grep -c . "$2/out") 0 0" ;;
    list) echo "$(grep -c . "$2/out") 5 5" ;;
    profile | rings-profile)
        awk '/^burn;.*;main;(greater|lesser)[; ]/ { actual += $NF }
             $1 == "count" && /er_least / { least += $NF } $1 == "count" && /wall_most / { most = $NF }
             END { print actual + 0, int(least * 0.75) - 3, int(most * 1.02) + 3 }' "$2/out" "$2/err" ;;
    offcputime | walltime)
        awk '/^nap;.*;nap_inner;/ { actual += $NF }
             $1 == "thread" { time = $6; doubt = $10; more = $11 }
             END { print actual + 0, time - 1000 - doubt, time + 1000 + more }' "$2/out" "$2/err" ;;
    wakeuptime)
        awk '/;pipe_wakes;/ { actual += $NF }
             $1 == "wait" && $2 == "w1" { to_wake = $8; time = $7; doubt = $11; more = $12 }
             END { print actual + 0, to_wake - 1000 - doubt, time + 1000 + more }' "$2/out" "$2/err" ;;
    offwaketime | rings-offwaketime)
        awk '/;pipe_waits;.*;pipe_wakes;/ { actual += $NF }
             $1 == "wait" && $2 == "w1" { time = $7; doubt = $11; more = $12 }
             END { print actual + 0, time - 1000 - doubt, time + 1000 + more }' "$2/out" "$2/err" ;;
    esac
}

# shape RUN FILE: lines that do not belong to that kind of report, and an incomplete last line
shape()
{
    case $1 in
    list | text | quiet | *snoop | check | verdict) ;;
    files) grep -v '^  self%  total%  of [0-9]* [a-z]*$\|^ *[0-9.]* *[0-9.]*  [^ ]' "$2" ;;
    snoop-perf) grep -v '^$\|^[^ ]* [0-9]*/[0-9]* \[[0-9]*\] [0-9.]*: stackbox:$\|^ *[0-9a-f]* .* (.*)$' "$2" ;;
    *) grep -v '^[^;]*;.* [0-9][0-9]*$' "$2" ;;
    esac
    [ ! -s "$2" ] || [ "$(tail -c 1 "$2" | od -An -c)" = '  \n' ] || echo "the last line is incomplete"
}

# half_files DIRECTORY: files that are neither old nor whole, that should not be there, or that are old
# though nothing went wrong
half_files()
{
    for file in "$1"/* "$1"/.[!.]*; do
        case $file in
        */x.folded) [ "$(cat "$file")" = old ] || shape folded "$file" ;;
        */x.svg) [ ! -e "$file" ] || [ "$(tail -n 1 "$file")" = "</svg>" ] || echo "half of $file" ;;
        */x.speedscope.json)
            [ ! -e "$file" ] || [ "$(tail -c 4 "$file" | tr '\n' '|')" = "|]}|" ] || echo "half of $file" ;;
        */x.pb.gz) [ ! -e "$file" ] || gzip -t "$file" 2>/dev/null || echo "half of $file" ;;
        *'*') ;;
        *) echo "$file is left" ;;
        esac
    done
    [ $status != 0 ] || [ "$(cat "$1/x.folded")" != old ] || echo "the old file is there"
    [ $status != 0 ] || { [ -e "$1/x.svg" ] && [ -e "$1/x.pb.gz" ] && [ -e "$1/x.speedscope.json" ]; } || echo "a file is missing"
}

# complaint RUN DIRECTORY FAULT: what is wrong about a run that has ended, or nothing
complaint()
{
    failed=1
    case $(words "$1") in *' -- '*) failed=125 ;; esac
    ! grep -q '^[a-z]*: cannot run "' "$2/err" || failed=126
    if { [ $status -ge 126 ] && [ $status != $failed ]; } || [ $status = 99 ] ||
        grep -q 'Sanitizer\|runtime error:\|^inject: ' "$2/err"; then
        echo "it ended with $status: $(grep -m 3 'Sanitizer\|runtime\|    #[0-9] .* in [a-z]' "$2/err" | tr '\n' '|')"
        return
    fi
    said=no
    ! grep -q '^[a-z]*: .*[a-z]' "$2/err" || said=yes
    # That run prints its messages on stdout.
    [ "$1" != check ] || ! grep -q ': no: ' "$2/out" || said=yes
    # If text could not be written completely, a part of it may be there.
    case $3 in
    write*) [ $status != $failed ] || shape=ignored ;;
    esac
    # If every write fails, stackbox cannot report an error either.
    case $3 in
    write:*+:*) said=yes ;;
    esac
    if [ "${shape:-}" != ignored ] && [ "$(shape "$1" "$2/out")" ]; then
        echo "status $status, stdout is not whole: $(shape "$1" "$2/out" | head -n 1)"
    fi
    [ "$1" != sbx ] || [ ! -e "$2/files/y.sbx" ] || "$STACKBOX" report --format folded "$2/files/y.sbx" >/dev/null 2>&1 ||
        echo "status $status: half of y.sbx"
    [ "$1" != files ] || [ -z "$(half_files "$2/files")" ] ||
        echo "status $status: $(half_files "$2/files" | head -n 1)"
    # The next run removes leftover probes, but this run must report them.
    if [ "${1#kprobe-}.$said" = tracefs.no ] &&
        cat "$scratch/left_tracefs/"[ku]probe_events 2>/dev/null | grep -q "stackbox_${made_by}_"; then
        echo "status $status, a probe is left and nothing reported"
    elif [ $status = $failed ]; then
        [ $said = yes ] || echo "status $status, and nothing reported"
    elif [ $status != 0 ]; then
        echo "status $status"
    else
        check_numbers "$1" "$2"
    fi
}

# check_numbers RUN DIRECTORY: checks a run that claims to have succeeded
check_numbers()
{
    # shellcheck disable=SC2046 # words
    set -- "$1" "$2" $(figures "$1" "$2")
    if [ "$3" -gt "$5" ] || { [ "$3" -lt "$4" ] && [ $said = no ]; }; then
        echo "counted $3, should be $4 to $5"
    fi
    [ $said = no ] && [ -f "$scratch/good.$1" ] && ! sort "$2/out" | cmp -s "$scratch/good.$1" - &&
        echo "other stacks, and nothing reported: $(sort "$2/out" | comm -13 "$scratch/good.$1" - | head -n 1)"
}

# try RUN FAULT DIRECTORY: prints what is wrong
try()
{
    shape=
    export FAULT="$2"
    [ -z "${FAULT_LOGS:-}" ] || { export FAULT_LOG="$3/log"; rm -f "$3/log"; }
    run "$1" "$3"
    wrong=$(complaint "$1" "$3" "$2" | head -n 1)
    # If the machine stood still meanwhile, times mean nothing: a fault is repeatable, a standstill is
    # not.
    case $1.$wrong in
    *profile.counted* | *time.counted*)
        run "$1" "$3"
        wrong=$(complaint "$1" "$3" "$2" | head -n 1) ;;
    esac
    [ -z "$wrong" ] || echo "$1 $2: $wrong"
    [ -z "$wrong" ] || [ -z "${KEEP:-}" ] ||
        cat "$3/log" "$3/out" "$3/err" >"$KEEP/$1.$2" 2>/dev/null
}

# ---- All of them

# runs_well RUN: succeeds without a fault, and without messages; tried twice, since load by others
# may cause lost records
runs_well()
{
    export FAULT_COUNTS="$scratch/counts.$1"
    run "$1" "$scratch/$1"
    unset FAULT_COUNTS
    wrong=$(complaint "$1" "$scratch/$1" none)
    case $1 in
    quiet | verdict | rings-blocked | *profile | *time) [ -z "$wrong" ] ;;
    *) [ -z "$wrong" ] && ! grep -q '^[a-z]*: ' "$scratch/$1/err" ;;
    esac
}

# is_new KIND SITE: no earlier run has a call from there
is_new()
{
    grep -q "^$1@$2\$" "$scratch/known" && return 1
    echo "$1@$2" >>"$scratch/known"
}

# plan RUN: counts its calls, and prints the faults to be tried
plan()
{
    mkdir -p "$scratch/$1"
    tries=5
    until runs_well "$1"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || {
            fail "$1" "without a fault: $wrong $(tail -n 3 "$scratch/$1/err" | tr '\n' '|')"
            return
        }
    done
    case $1 in
    tracepoint | unwind | uprobe | packed | pmu | tracefs | regex | list | files) sort "$scratch/$1/out" >"$scratch/good.$1" ;;
    esac
    while read -r what kind site calls; do
        plan_for "$1" "$what" "$kind" "$site" "$calls"
    done <"$scratch/counts.$1" >>"$scratch/plan"
}

# in_turn KIND: one of its errors, the next one each time
in_turn()
{
    turn=$((turn + 1))
    # shellcheck disable=SC2046 # words
    set -- $(errors "$1")
    shift $((turn % $#))
    error=$1
}

# plan_for RUN site KIND SITE CALLS: the first call from a place fails with one of its errors in turn,
# or with all. plan_for RUN count KIND CALLS: every call of a kind fails.
plan_for()
{
    case $FAULTS.$2 in
    sites.site)
        is_new "$3" "$4" || return 0
        in_turn "$3"
        # A sample of the most frequent kinds.
        case $3 in
        malloc) [ $((turn % 3)) = 0 ] || return 0 ;;
        open | other) [ $((turn % 2)) = 0 ] || return 0 ;;
        esac
        echo "$1 $3@$4:1:$error" ;;
    errors.site)
        is_new "$3" "$4" || return 0
        for error in $(errors "$3"); do
            echo "$1 $3@$4:1:$error"
        done ;;
    calls.count | all.count)
        [ "$FAULTS.$3" != calls.malloc ] || return 0
        number=1
        while [ $number -le "$4" ]; do
            in_turn "$3"
            echo "$1 $3:$number:$error"
            number=$((number + 1))
        done
        plan_lasting "$1" "$3" "$4" ;;
    *.count) plan_lasting "$1" "$3" "$4" ;;
    esac
}

# plan_lasting RUN KIND CALLS: from some call on, memory is exhausted, a disk full, or a limit reached
# for good
plan_lasting()
{
    case $1 in
    uprobe | offwaketime | snoop) ;;
    *) return 0 ;;
    esac
    case $2 in
    malloc) lasting=ENOMEM ;;
    bpf) lasting=EPERM ;;
    read) lasting=EIO ;;
    write) lasting=ENOSPC ;;
    open) lasting=EMFILE ;;
    *) return 0 ;;
    esac
    for tenth in 0 1 2 3 4 5 6 7 8 9; do
        echo "$1 $2:$(($3 * tenth / 10 + 1))+:$lasting"
    done | uniq
}

# work NUMBER: tries every JOBS-th fault of the plan
work()
{
    mkdir -p "$scratch/work.$1"
    awk -v jobs="$JOBS" -v mine="$1" 'NR % jobs == mine' "$scratch/plan" >"$scratch/plan.$1"
    while read -r run fault; do
        try "$run" "$fault" "$scratch/work.$1"
    done <"$scratch/plan.$1" >"$scratch/wrong.$1"
}

# few_names: every run reads all symbols, which is quick with a hundredth of them, and those in
# these runs' stacks
few_names()
{
    awk 'NR % 150 == 1 || / (.*getppid|_stext|_etext|do_syscall_64|entry_SYSCALL_64.*|_*schedule|pipe_(read|write)|do_nanosleep)$/ ||
        / (perf_trace_sys_enter|perf_syscall_enter|register_kprobe|uprobe_register|perf_trace_sched_switch)$/' \
        /proc/kallsyms >"$scratch/kallsyms" && mount --bind "$scratch/kallsyms" /proc/kallsyms
}

[ "$FAULTS" != calls ] || [ ! "$GUEST${FEW_NAMES:-}" ] || few_names || skip_all "nothing can be mounted over kallsyms"
left_begins || skip_all "tracefs cannot be mounted"
# shellcheck disable=SC2086 # words
case $FAULTS in
calls | *:*)
    "$STACKBOX" stackcount -f -o "$scratch/given.sbx" "$TARGET" -- $CHAINS >"$scratch/given" 2>&1 &&
        grep '^chains;' "$scratch/given" >"$scratch/given.folded" || fail "input" "$(cat "$scratch/given")" ;;
esac
case $FAULTS in
*:*)
    mkdir "$scratch/one"
    FAULT_LOGS=yes
    # shellcheck disable=SC2086 # words
    try $FAULTS "$scratch/one"
    cat "$scratch/one/log" "$scratch/one/out" "$scratch/one/err"
    echo "status $status"
    skip_all "only one fault was run, to show it"
    ;;
esac

sleep 100000 &
sleeper=$!
kill_at_end $!
: >"$scratch/plan"
: >"$scratch/known"
turn=0
for run in ${ONLY:-$RUNS}; do
    plan "$run"
done
awk -v share=$share 'NR % share == 1 % share' "$scratch/plan" >"$scratch/sample"
mv "$scratch/sample" "$scratch/plan"
number=0 workers=
while [ $number -lt "$JOBS" ]; do
    work $number &
    workers="$workers $!"
    number=$((number + 1))
done
# shellcheck disable=SC2086 # words
wait $workers
tried=$(wc -l <"$scratch/plan")
cat "$scratch"/wrong.* | sort >"$scratch/wrong"
[ -s "$scratch/wrong" ] || pass "$tried calls failed, each handled well"
[ "$FAULTS" != calls ] || cut -d ' ' -f 1 "$scratch/plan" | sort | uniq -c
while read -r line; do
    fail "${line%%: *}" "${line#*: }"
done <"$scratch/wrong"

# ---- When nothing can be written

# outputs RUN: stdout is full, or closed; stderr is
outputs()
{
    good=$scratch/good.$1 failed=1
    case $(words "$1") in *' -- '*) failed=125 ;; esac
    # shellcheck disable=SC2046 # words
    set -- "$1" $(words "$1")
    run=$1
    shift
    "$FAULTY" "$@" </dev/null >/dev/full 2>"$scratch/err"
    status=$?
    is "$run: a full stdout is reported" \
        "$status $(grep -c '^[a-z]*: .*No space left on device$' "$scratch/err")" \
        "$failed 1"
    "$FAULTY" "$@" </dev/null >&- 2>"$scratch/err"
    status=$?
    is "$run: a closed stdout is reported" \
        "$status $(grep -c '^[a-z]*: .*stdout is closed' "$scratch/err")" "$failed 1"
    "$FAULTY" "$@" </dev/null >"$scratch/out" 2>/dev/full
    status=$?
    is "$run: a full stderr does no harm" "$status $(sort "$scratch/out" | cmp - "$good")" "0 "
    "$FAULTY" "$@" </dev/null >"$scratch/out" 2>&-
    status=$?
    is "$run: a closed stderr does no harm" "$status $(sort "$scratch/out" | cmp - "$good")" "0 "
}

for run in uprobe list; do
    [ ! -f "$scratch/good.$run" ] || outputs $run
done

# The next run removes what was left, and reported, in tracefs.
unset FAULT
mkdir -p "$scratch/tracefs"
run tracefs "$scratch/tracefs"
wait_until 20 no_text_probes
is "nothing is left in tracefs" "$status $(text_probes)" "0 "
[ "$FAULTS" != calls ] || nothing_left " after $tried calls that failed"
left_ends
