#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.12
# kernels: 5.10,6.1,newest
# host: yes
# beside
#
# Where bpf(2) and perf_event_open(2) are refused, profile interrupts threads by ptrace(2), as root
# and as nobody, without an option. Shares are those of the workload's own clock, stacks are whole,
# profile samples every process, and the traced programs run on undisturbed: signals, stops, execs,
# threads that come and go, a killed stackbox. RUNS=N, or the word runs=N, sets the number of kills.
. "${0%/*}/lib.sh"

[ "$(id -u)" = 0 ] || skip_all "becoming another user needs root"
DENIED="$WORKLOADS/deny --syscall bpf:EPERM --syscall perf_event_open:EPERM"
SAID="profile: stacks are collected by interrupting threads (ptrace), user stacks only, as bpf(2) is refused"
# The user nobody must be able to read the programs.
chmod 755 "$scratch"
mkdir -m 777 "$scratch/reports"
cp "$WORKLOADS/burn" "$WORKLOADS/manners" "$scratch" && chmod 755 "$scratch/burn" "$scratch/manners"
NOBODY="--uid 65534"

# ---- shares and stacks

# whole NAME LEAST MOST: there are samples, and the stacks of nearly all are whole
whole()
{
    all=$(folded_sum "$scratch/out") spins=$(folded_sum "$scratch/out" ';main;(.*;)?(greater|lesser);spin[; ]')
    between "$1: there are samples" "$all" $2 $3
    between "$1: with whole stacks" $((all - spins)) 0 $((all / 20))
    [ $((all - spins)) -le $((all / 20)) ] || grep -vE ';main;(.*;)?(greater|lesser);spin[; ]' "$scratch/out"
}

# An emulated CPU's clocks go on while it stalls: there profile_shares judges, by its own clock.

for who in root nobody; do
    [ $who = root ] && under="$DENIED --" || under="$DENIED $NOBODY --"
    run_stackbox profile -F 997 -f -- "$scratch/burn" -s 4000 -F 997
    is "$who: it says how it collects" "$(grep -cxF "$SAID" "$scratch/err")" 1
    whole "$who" 1000 5000
    [ ! "$GUEST" ] || continue
    cp "$scratch/err" "$scratch/burn.out" # the command prints there
    greater=$(folded_sum "$scratch/out" ';main;(.*;)?greater;spin[; ]')
    lesser=$(folded_sum "$scratch/out" ';main;(.*;)?lesser;spin[; ]')
    truth=$(($(count_of burn greater) * 1000 / ($(count_of burn greater) + $(count_of burn lesser))))
    between "$who: samples of four seconds, whole" $((greater + lesser)) 3780 4100
    between "$who: the greater function's share, in tenths of a point" \
        $((greater * 1000 / (greater + lesser + 1))) $((truth - 30)) $((truth + 30))
done
run_stackbox profile -F 199 -f --by thread -- "$scratch/burn" -s 1000 -F 199 -2
is "two threads" "$status $(sed 's/;.*//' "$scratch/out" | sort -u | grep -c burn)" "0 2"
[ "$GUEST" ] || between "the other thread's samples" "$(folded_sum "$scratch/out" ';burn_other;other;spin[; ]')" 180 220

# ---- running processes

"$WORKLOADS/deny" $NOBODY -- "$scratch/burn" -s 600000 >"$scratch/burn.out" &
burner=$!
kill_at_end "$burner"
wait_until "$LIMIT" grep -q other_tid "$scratch/burn.out"
run_stackbox profile -F 199 -f -D 2 -p $burner
whole "a running process" 5 1000
run_stackbox profile -F 199 -f -D 2 -t $burner
whole "a running thread" 5 1000
run_stackbox profile -F 199 -f -D 2 -p $burner -o "$scratch/reports/x.sbx" -o "$scratch/reports/x.svg"
run_stackbox report -f "$scratch/reports/x.sbx"
whole "a recording" 5 1000
contains "a flame graph" "$scratch/reports/x.svg" "<svg"
run_stackbox profile -f -D 0.2 -p 1
is "another user's" "$status $(cat "$scratch/err")" "1 profile: cannot trace by ptrace(2): thread 1 is another user's, \
which needs CAP_SYS_PTRACE: run it as that user, or as root"
start_stackbox profile -f -p $burner
kept=$stackbox
"$STACKBOX" profile --collect ptrace -f -D 0.2 -p $burner >"$scratch/second" 2>&1
contains "another tracer" "$scratch/second" "and only one can: end that first (a debugger, strace)"
stackbox=$kept
finish_stackbox
is "and it is let go" "$status $(sed -n 's/^TracerPid:[[:space:]]*//p' /proc/$burner/status)" "0 0"
kill -s KILL $burner

# ---- refusals

under="$DENIED --syscall ptrace:EPERM --"
run_stackbox profile --collect ptrace -- true
is "a filter denies ptrace" "$status $(grep -c "ptrace(2): a seccomp filter blocks it: start" "$scratch/err")" "125 1"
under="$DENIED --"
for line in "stackcount vfs_read" "stacksnoop vfs_read" wakeuptime offwaketime; do
    # shellcheck disable=SC2086 # words
    run_stackbox $line --collect ptrace -- true
    is "it is not for $line" "$status $(cat "$scratch/err")" "2 ${line%% *}: --collect ptrace: only for profile, \
walltime and offcputime, and for functions of programs and system calls in stackcount and stacksnoop"
done
for line in "profile -D 1" "offcputime 1" "walltime --comm x 1" "stackcount c:malloc"; do
    only="only for certain programs: give -p or -- COMMAND"
    [ "${line%% *}" != stackcount ] || have_breakpoints || only="this machine has no hardware breakpoints"
    # shellcheck disable=SC2086 # words
    run_stackbox ${line%% *} --collect ptrace ${line#* }
    is "certain programs alone: $line" "$status $(cat "$scratch/err")" "2 ${line%% *}: --collect ptrace: $only"
done
for line in "-e:-e cycles" "-c:-c 1000000" "-K:-K" "-F:-F 5000" "--cgroup:--cgroup /"; do
    # shellcheck disable=SC2086 # words
    run_stackbox profile ${line#*:} --collect ptrace -- true
    is "without ${line%%:*}" "$status $(grep -c "^profile: ${line%%:*}: " "$scratch/err")" "2 1"
done

# For the whole machine these applets are refused, and say what works.
for who in root nobody; do
    [ $who = root ] && under="$DENIED --" || under="$DENIED $NOBODY --"
    for line in "profile -D 1" offcputime "walltime --comm x"; do
        # shellcheck disable=SC2086 # words
        run_stackbox $line
        is "$who: one line says what works where $line does not" \
            "$status $(wc -l <"$scratch/err") $(sed -n 's/.*\(; -p PID.*\)/\1/p' "$scratch/err")" \
            "1 1 ; -p PID and -- COMMAND work even so"
    done
    run_stackbox offwaketime -p $$
    lacks "$who: nothing works for offwaketime" "$scratch/err" "even so"
done
under="$DENIED --syscall ptrace:EPERM --"
run_stackbox offcputime
lacks "without ptrace(2), either" "$scratch/err" "even so"
under="$DENIED --"

# ---- manners

for line in "0:exit 0" "7:exit 7" "137:kill -9 \$\$" "143:kill -15 \$\$"; do
    run_stackbox profile --collect ptrace -- sh -c "${line#*:}"
    is "exit status: ${line#*:}" "$status" "${line%%:*}"
done
under="$DENIED $NOBODY --"
for line in "signals:signals 1000 in order" "stops:stops 20 continues 20" "execs:execs 1" "vforks:vforks 200" "traceme:traceme 1"; do
    run_stackbox profile -F 997 -f -- "$scratch/manners" "${line%%:*}"
    is "${line%%:*}" "$status $(grep -cxF "${line#*:}" "$scratch/err")" "0 1"
done
run_stackbox profile -F 199 -f -- "$scratch/manners" leader 500
is "the first thread ends first" "$status $(grep -c "leader 1" "$scratch/err")" "3 1"
[ "$GUEST" ] || between "and the others are seen" "$(folded_sum "$scratch/out" ';last;burn_here')" 80 120
run_stackbox profile -F 499 -f -- "$scratch/manners" threads 1
burnt=$(sed -n 's/^count burnt //p' "$scratch/err")
all=$(folded_sum "$scratch/out")
[ "$GUEST" ] || between "2,000 threads: samples are their time" "$all" $((burnt * 499 / 1000000000 * 85 / 100)) \
    $((burnt * 499 / 1000000000 * 115 / 100))
# In a pid namespace: while a test beside this one chooses a pid, two of these processes could get the same.
under="$WORKLOADS/deny --pid-namespace -- $DENIED $NOBODY --"
run_stackbox profile -F 997 -f --by process -- "$scratch/manners" processes 15
under="$DENIED $NOBODY --"
is "200 processes go on" "$status $(grep -c "^processes 200" "$scratch/err")" "0 1"
between "and all are seen" "$(sed 's/[; ][^(]*$//' "$scratch/out" | sort -u | wc -l)" 200 201
all=$(folded_sum "$scratch/out")
[ "$GUEST" ] || between "with all of their time" "$all" 2900 3800

# ---- kills

# pick N WORD WORD: the first or the second
pick()
{
    shift "$(($1 + 1))"
    echo "$1"
}

# kill_ptrace WAY WORDS: the traced program ends as it should
kill_ptrace()
{
    "$scratch/manners" "$1" >"$scratch/killed.out" &
    traced=$!
    "$STACKBOX" $(pick $((run / 4 % 2)) profile walltime) --collect ptrace -F 997 --follow -p $traced -f >/dev/null 2>&1 &
    killed=$!
    sleep "0.$(awk -v seed="$run$SEED" 'BEGIN { srand(seed); printf "%03d", rand() * 400 }')"
    kill -s KILL $killed 2>/dev/null
    wait $killed 2>/dev/null
    wait $traced && grep -qx "$2" "$scratch/killed.out" || harmed="$harmed $1:$?:$(cat "$scratch/killed.out")"
}

SEED=${SEED:-$(date +%s)} RUNS=${RUNS:-$(word runs)}
harmed= run=0
while [ $run -lt "${RUNS:-12}" ]; do
    run=$((run + 1))
    case $((run % 4)) in
    0) kill_ptrace signals "signals 1000 in order" ;;
    1) kill_ptrace stops "stops 20 continues 20" ;;
    2) kill_ptrace threads "count burnt [0-9]*" ;;
    3) kill_ptrace processes "processes 200" ;;
    esac
done
is "stackbox is killed $run times: nothing is harmed (seed $SEED)" "$harmed" ""
