#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.1,newest
# host: yes
# later: all applets, hit at random moments, take half a minute
# again: with four times as many runs
#
# Runs of all applets, hit by SIGINT, SIGTERM, SIGHUP or SIGKILL at random moments, under load: nothing is
# left in the kernel, no process is left, and every printed report is whole. Signals and times come from a
# seed, which is printed: SEED=N, or the word seed=N for a guest's kernel, repeats it. RUNS=N, or the word
# runs=N, sets the number of runs.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_whole.sh"
. "${0%/*}/lib_left.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

SEED=${SEED:-$(word seed)} RUNS=${RUNS:-$(word runs)}
SEED=${SEED:-$(date +%s)}
if [ "$GUEST" ]; then
    LANES=2 MOST=1200
else
    [ ! "${LATER:-}" ] || RUNS=${RUNS:-120}
    LANES=4 MOST=300
fi
RUNS=${RUNS:-30}

# The workload splits commands at blanks, but this directory's path may have blanks.
cd "$scratch" || exit 1
ln -s "$STACKBOX" s
ln -s "$WORKLOADS" w
mkdir runs

# ---- looking at what is in the kernel

left_begins || skip_all "tracefs cannot be mounted"

# first_byte: of a function in a running program: $BREAKPOINT if it has a probe
first_byte()
{
    dd if="/proc/$(pid_of probed)/mem" bs=1 skip="$((0x$address))" count=1 2>/dev/null |
        od -An -tx1 | tr -d ' '
}

# ---- what is run

# commands: KIND, then the command line
commands()
{
    cat <<'END'
text stackcount -i 0.05 ./w/many:many_00*
folded stackcount -f -i 0.05 r:./w/many:many_000
text stackcount -P -T -i 0.05 t:sched:sched_switch
folded stackcount -f -P -i 0.05 t:syscalls:sys_enter_getppid
text profile -F 997 -i 0.05
folded profile -f -d -F 4999 -i 0.05
text offcputime -i 0.05
text wakeuptime -i 0.05
folded offwaketime -f -i 0.05
text offwaketime --unfinished -T -i 0.05
snoop stacksnoop t:sched:sched_switch
perf stacksnoop --format perf ./w/many:many_000
text stackcount --attach-by tracefs -i 0.05 ./w/many:many_001
folded stackcount --attach-by pmu -f -i 0.05 ./w/many:many_00*
text stackcount -i 0.05 t:sched:sched_switch -- ./w/family -c 20
folded profile -f -F 997 -i 0.05 -- ./w/burn -s 100
text offcputime -i 0.05 -- ./w/brief -c 20
text stackcount -v -s -i 0.05 ./w/brief:brief_inner -- ./w/brief -c 20 -n 5 -l 0
folded walltime -f -i 0.05 -- ./w/burn -s 100
text stackcount --collect rings -i 0.05 t:sched:sched_switch
folded profile --collect rings -f -F 997 -i 0.05
END
    have_kprobes || return 0
    cat <<'END'
text stackcount -i 0.05 vfs_read
folded stackcount -f --attach-by pmu -i 0.05 vfs_read vfs_write r::vfs_read
text stackcount --attach-by tracefs -i 0.05 vfs_read
snoop stacksnoop -K r::vfs_write
END
    # The first that works
    ./s stackcount --attach-by multi -D 0.01 vfs_read >/dev/null 2>&1 || return 0
    cat <<'END'
text stackcount --attach-by multi -T -i 0.05 vfs_* r::vfs_read
END
}

# load: makes all traced events happen all the time
load()
{
    while :; do w/many -n 20; w/brief -c 20 -l 100; done >/dev/null 2>&1 &
    kill_at_end $!
    [ -z "$GUEST" ] || return 0 # in emulation one loop leaves little CPU time
    while :; do w/calls -n 3000; w/family -c 10; done >/dev/null 2>&1 &
    kill_at_end $!
}

# ---- the checks do find leftovers

address=$(printf %x "$(w/many -A | tr -cd '0-9 ' | cut -d ' ' -f 3)")
start_workload probed many -w
usual=$(first_byte)
start_stackbox stackcount -f "$WORKLOADS/many:many_000" || fail "starts" "$(cat err)"
is "a probe is seen if there is one" "$(first_byte)" $BREAKPOINT
all_ids | sort -u | sort - ids_before ids_before | uniq -u | cut -d ' ' -f 1 | sort -u | tr '\n' ' ' >kinds
contains "programs and maps are seen" kinds "map prog"
finish_stackbox
drop_workload probed

# ---- a report is one write(2), which a kill lets happen or not. That holds up to 1 MiB, and on a
# busy machine only with short stacks

mkdir writes
w/packets writes ./s stackcount -P -K --depth 8 -D 0.6 -i 0.2 t:sched:sched_switch 2>err
is "a run whose writes are recorded succeeds" "$?" 0
last=$(find writes -type f | grep -c .)
is "its last write is recorded" "$(cat "writes/$last")" Detaching...
for number in $(seq 2 $((last - 1))); do
    cat writes/1 "writes/$number" >"writes/$number.out"
    echo "writes/$number.out text ended $(wc -c <"writes/$number.out") 2 write $number" >one
    judge_whole one
    [ "$(tail -c 2 "writes/$number" | od -An -c | tr -d ' ')" = '\n\n' ] || echo "write $number: incomplete"
done | sort | cut -d ' ' -f 1-3 | uniq -c >judged
is "each write is one report" "$(sed 's/^ *[0-9]* //' judged)" "whole 1 1"

# ---- the runs

commands >commands
cut -d ' ' -f 2- commands | sed 's,^,./s ,' >lines
load
w/signal_runs -n "$RUNS" -l $LANES -s "$SEED" -m $MOST -d runs lines >signalled 2>&1
is "all runs and all their processes ended (seed $SEED)" \
    "$? $(grep -c '^run ' signalled) $(grep -cv '^run ' signalled)" "0 $RUNS 0"
kill_children

# A run may end by itself; before anything is traced, by the signal or with status 1, and nothing
# printed; or like the command that it ran.
awk 'NR == FNR { line[FNR] = $0; next }
    $1 == "run" {
        text = line[$3]
        by_command = text ~ / -- /
        before = !$7 && ($6 == 1 || $6 == 1000 + $4)
        ended = $6 == 0 || before || $6 == 1009 && $4 == 9 || by_command && $6 == 128 + $4
        if (!ended) print $0, text
    }' commands signalled >wrong_ends
is "each run ended as it should (seed $SEED)" "$(head -n 3 wrong_ends)" ""

# A text report has a last line, unless the run was killed.
awk 'NR == FNR { line[FNR] = $0; next }
    $1 == "run" {
        kind = line[$3]
        sub(/ .*/, "", kind)
        print "runs/" $2 ".out", kind, $6 == 1009 ? "killed" : "ended", $7, $8, "run", $2, line[$3]
    }' commands signalled >printed
judge_whole printed >judged
is "every report is whole (seed $SEED)" "$(grep -v '^whole ' judged | head -n 3)" ""
awk '$3 == "ended" && $4 && / (stackcount|wakeuptime) / && $2 == "text" { print $1 }' printed |
    while read -r file; do
        [ "$(tail -n 1 "$file")" = Detaching... ] || echo "$file: $(tail -n 1 "$file")"
    done >unfinished
is "every run that was not killed printed its last line (seed $SEED)" "$(head -n 3 unfinished)" ""
cat runs/*.err | grep -E 'cannot|failed|Sanitizer|runtime error' | sort | uniq -c >complaints
is "no run failed (seed $SEED)" "$(head -n 3 complaints)" ""
# shellcheck disable=SC2046 # words
set -- $(grep '^whole ' judged)
[ "${3:-0}" -ge 1 ] && pass "$3 reports were printed, $4 stacks and events in all" ||
    fail "reports were printed" "$(cat judged)"

# ---- what is left

start_workload probed many -w
is "no probe in a program is left (seed $SEED)" "$(first_byte)" "$usual"
nothing_left " (seed $SEED)"
drop_workload probed
left_ends
cd /
