#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.12
# kernels: 5.10,6.1,newest
# host: yes
# beside
#
# Where bpf(2) and perf_event_open(2) are refused, walltime and offcputime interrupt threads by
# ptrace(2), as root and as nobody, without an option: waits are as long as the workload measured
# them, at their own stacks; a thread's total is its lifetime; and no system call fails by it.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

[ "$(id -u)" = 0 ] || skip_all "becoming another user needs root"
DENIED="$WORKLOADS/deny --syscall bpf:EPERM --syscall perf_event_open:EPERM"
SAID="stacks are collected by interrupting threads (ptrace), as bpf(2) is refused"
chmod 755 "$scratch"
cp "$WORKLOADS/burn" "$WORKLOADS/manners" "$WORKLOADS/sleeps" "$scratch"
chmod 755 "$scratch/burn" "$scratch/manners" "$scratch/sleeps"
NOBODY="--uid 65534"

# ---- waits

# of WAY FIELD: what `sleeps` measured for that thread: 6 is its time, 10 and 11 DOUBT and MORE
of()
{
    awk -v way="$1" -v field="$2" '$1 == "thread" && $2 == way { print $field }' "$scratch/err"
}

# waits APPLET STATE: each way's waits, including run-queue time after them, as in the thread's own
# measure. At either end, up to a tick's period counts for what the thread did before or after: 5
# ms, or, beside busy threads, ten times that. In 2.5 s of waits that is 4 %.
waits()
{
    for way in nap tmout woken read mixed vfork; do
        blocked=$(folded_sum "$scratch/out" "^$way;$2.*sleeper;${way}_outer;${way}_inner[ ;]")
        late=$(folded_sum "$scratch/out" "^$way;\[runnable\]")
        between "$1: $way (${blocked:-?} us blocked, ${late:-?} us late)" $((blocked)) \
            $(($(of $way 6) - $(of $way 10) - late - 100000)) $(($(of $way 6) + $(of $way 11) + 100000))
    done
}

for who in root nobody; do
    [ $who = root ] && under="$DENIED --" || under="$DENIED $NOBODY --"
    run_stackbox walltime -F 199 -f -- "$scratch/sleeps" -n 100 -o nap,tmout,woken,read,mixed,vfork
    is "$who: it says how it collects" "$status $(grep -cxF "walltime: $SAID" "$scratch/err")" "0 1"
    [ "$GUEST" ] || waits "walltime, $who" '\[blocked\];'
done
# offcputime reports every wait of the threads, and nothing else: it ticks 49 times a second.
run_stackbox offcputime -f -- "$scratch/sleeps" -o nap,read -n 160
is "offcputime says how it collects" "$status $(grep -cxF "offcputime: $SAID" "$scratch/err")" "0 1"
for way in nap read; do
    blocked=$(folded_sum "$scratch/out" "^$way;.*sleeper;${way}_outer;${way}_inner[ ;]")
    [ "$GUEST" ] || between "offcputime: $way" $((blocked)) $(($(of $way 6) - $(of $way 10) - 200000)) \
        $(($(of $way 6) + $(of $way 11) + 200000))
done
lacks "offcputime: no marks" "$scratch/out" "[blocked]"
lacks "offcputime: nothing that ran" "$scratch/out" "[running]"

# Each wait ends with a signal, at which the kernel drops the pending interruption: stackbox still
# watches the thread to the end. Waits hardly longer than a tick count in part for what was before.
run_stackbox walltime -F 499 -f -- "$scratch/sleeps" -n 500 -u 4000 -o vfork
blocked=$(folded_sum "$scratch/out" '^vfork;.*sleeper;vfork_outer;vfork_inner[ ;]')
# Between two waits the thread waits for the child's end; emulated, all else takes as long, too.
reaped=$(folded_sum "$scratch/out" '^vfork;.*;vfork_inner;reap[ ;]')
most=$(($(of vfork 6) + $(of vfork 11) + reaped + 100000))
[ ! "$GUEST" ] || most=$(folded_sum "$scratch/out" '^vfork;')
between "a signal at each wait" "$blocked" $(($(of vfork 6) * 3 / 4)) "$most"

# ---- all of the time

run_stackbox walltime -F 199 -f --by thread -- "$scratch/burn" -s 2000 -F 1000
mine=$(folded_sum "$scratch/out" '^burn \(') ran=$(folded_sum "$scratch/out" '^burn \(.*;\[running\]')
cp "$scratch/err" "$scratch/burn.out" # the command prints there
# Besides burning, the program starts and exits.
between "the whole is how long it lived" "$mine" $(($(count_of burn wall_most) * 1000 - 2000)) \
    $(($(count_of burn wall_most) * 1000 + 300000))
burnt=$((($(count_of burn greater) + $(count_of burn lesser)) / 1000))
[ "$GUEST" ] || between "it ran for as long as it says" "$ran" $((burnt - 5000)) $((burnt + 60000))
greater=$(folded_sum "$scratch/out" '\[running\].*;greater;spin[; ]')
lesser=$(folded_sum "$scratch/out" '\[running\].*;lesser;spin[; ]')
# A guest's CPU may stall before the functions begin: this time is not theirs.
between "and what it burnt is at its own stacks" $((greater + lesser)) $((burnt * 9 / 10)) "$ran"

# ---- manners

under="$DENIED $NOBODY --"
run_stackbox walltime -F 997 -f -- "$scratch/manners" calls
# On other machines, a call may fail if it is interrupted just as it begins (src/docs/kernels.md).
least=180
[ "$(uname -m)" = x86_64 ] || least=150
is "the program goes on" "$status" 0
between "timeouts stay what they were" "$(sed -n 's/^calls //p' "$scratch/err")" $least 180
# Emulated machines have few ticks: several runs find what one run misses.
epoll=epoll_times_out signal=signal_times_out
case $(uname -m) in
mips*) epoll=epoll_wait ;; # the C library has no table for it
# stackbox does not interrupt these calls; the caller of libc's function is then in a register.
loongarch64) epoll=epoll_pwait signal=sigtimedwait ;;
esac
calls="$epoll recv semtimedop $signal sleep_times_out futex_times_out poll_times_out select_times_out"
least=$([ "$GUEST" ] && echo 1 || echo 300000) runs=1
cp "$scratch/out" "$scratch/calls"
missing() { for call in $calls; do grep -q "\[blocked\].*$call" "$scratch/calls" || echo "$call"; done; }
while [ "$GUEST" ] && [ $runs -lt 5 ] && [ "$(missing)" ]; do
    run_stackbox walltime -F 997 -f -- "$scratch/manners" calls
    cat "$scratch/out" >>"$scratch/calls"
    runs=$((runs + 1))
done
for call in $calls; do
    between "$call" "$(folded_sum "$scratch/calls" "\[blocked\].*$call")" "$least" $((runs * 3000000))
done
# A write or a read that is interrupted while it waits ends with a part; seldom, just as it begins to wait, it is.
run_stackbox walltime -F 997 -f -- "$scratch/manners" wholes
between "what is written and read is whole" "$(sed -n 's/^wholes //p' "$scratch/err")" 30 40
for line in "signals:signals 1000 in order" "stops:stops 20 continues 20" "vforks:vforks 200"; do
    run_stackbox walltime -F 997 -f -- "$scratch/manners" "${line%%:*}"
    is "${line%%:*}" "$status $(grep -cxF "${line#*:}" "$scratch/err")" "0 1"
done

# ---- reports

"$WORKLOADS/deny" $NOBODY -- "$scratch/sleeps" -o nap -n 2000 >/dev/null &
sleeper=$!
kill_at_end "$sleeper"
mkdir -m 777 "$scratch/reports"
run_stackbox walltime -f -D 1 -p $sleeper -o "$scratch/reports/x.sbx" -o "$scratch/reports/x.svg" -o "$scratch/reports/x.folded"
is "a running process, by all formats" "$status" 0
run_stackbox report -f "$scratch/reports/x.sbx"
is "a recording names the same" "$(sort "$scratch/out" | md5sum)" "$(sort "$scratch/reports/x.folded" | md5sum)"
between "what a second has" "$(folded_sum "$scratch/out" 'nap_inner')" 700000 1500000
run_stackbox offcputime -f -D 2 -i 1 -p $sleeper
between "intervals" "$(folded_sum "$scratch/out" 'nap_inner')" 1400000 2600000
kill -s KILL $sleeper

# ---- the kernel's part

# kernel_of PID: root to leaf, joined by `;`, as its stack file says, or wchan below the system call
kernel_of()
{
    part=$(sed -n 's/^\[<[0-9a-f]*>\] \([^+ ]*\)+.*/\1/p' "/proc/$1/stack" 2>/dev/null | sed '1!G;h;$!d' | tr '\n' ';')
    part=${part%;}
    [ "$part" ] && [ $who = root ] || part=$call\;$(sed 's/^0$//' "/proc/$1/wchan")
    echo "${part%;}"
}

# What sleep(1) is in, on 32-bit machines, too.
call=sys_clock_nanosleep
[ "$(getconf LONG_BIT 2>/dev/null || echo 64)" = 64 ] || call=${call}_time64
for who in root nobody; do
    [ $who = root ] && user= || user=$NOBODY
    # shellcheck disable=SC2086 # words
    "$WORKLOADS/deny" --syscall bpf:EPERM $user -- sleep 1000 &
    sleeper=$!
    kill_at_end "$sleeper"
    tries=0
    until [ "$(cat /proc/$sleeper/comm)" = sleep ] || [ $tries = 50 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    sleep 0.5
    kernel=$(kernel_of $sleeper)
    [ "$kernel" ] || { skip "$who: the kernel's part" "this kernel does not tell"; continue; }
    under="$DENIED $user --"
    run_stackbox offcputime -K -f -D 2 -p $sleeper
    between "$who: -K: the wait is in $kernel" "$(folded_sum "$scratch/out" "^sleep;$kernel [0-9]")" 1000000 2900000
    run_stackbox offcputime -K -v -D 1 -p $sleeper
    is "$who: -v: it has no address" "$(grep -c "^    -                ${kernel##*;}\$" "$scratch/out")" 1
    # This run interrupts the thread, after which the kernel shows less.
    run_stackbox walltime -f -D 2 -p $sleeper
    between "$who: it is behind the program's own" "$(folded_sum "$scratch/out" "^sleep;\[blocked\];.*;$kernel [0-9]")" \
        $([ "$GUEST" ] && echo 1 || echo 1000000) 2900000
    run_stackbox offcputime -U -f -D 1 -p $sleeper
    lacks "$who: -U: the program's own alone" "$scratch/out" ";$kernel "
    is "$who: -U: it says so" "$(grep -c 'interrupting threads (ptrace), user stacks only, as' "$scratch/err")" 1
    kill -s KILL $sleeper
done

# ---- refusals

for line in "-m:offcputime -m 1000" "-M:offcputime -M 1000" "-k:offcputime -k" "-m:walltime -m 1000" \
    "-F:walltime -F 5000" "--cgroup:walltime --cgroup /"; do
    # shellcheck disable=SC2086 # words
    run_stackbox ${line#*:} --collect ptrace -- true
    is "without ${line#*:}" "$status $(grep -c "^[a-z]*: ${line%%:*}: " "$scratch/err")" "2 1"
done
for applet in offcputime walltime; do
    run_stackbox check $applet
    is "check $applet" "$status $(sed 's/ (.*//' "$scratch/out" | grep "^$applet:")" \
        "0 $applet: yes: by ptrace, without others' programs, whole kernel stacks"
done

# ---- set-user-ID programs

under="$DENIED $NOBODY --"
cp "$scratch/manners" "$scratch/owned" && chmod 4755 "$scratch/owned"
for applet in walltime offcputime profile; do
    run_stackbox $applet -f -- sh -c "$scratch/owned nothing; true"
    is "$applet: a program ran without its owner's rights" "$status $(grep -c "^$applet: 1 set-user-ID programs (owned) ran without" \
        "$scratch/err")" "0 1"
done
