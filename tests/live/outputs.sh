#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10
# host: yes
# later: long runs, with many reports
#
# Reports in files: those of one run agree with each other, every report of a long run has a file, every event
# is in exactly one of them, and stdout is unaffected.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

EVENT=t:syscalls:sys_enter_getppid
QUIET=t:sched:sched_process_hang
mkdir "$scratch/f"
cd "$scratch/f" || exit 1

# names: lists this directory, including hidden names, and empties it
names()
{
    find . -mindepth 1 | sed 's/^\.\///' | sort | tr '\n' ' '
    rm -rf "$scratch/f"/* "$scratch/f"/.[!.]*
}

# text_sum FILE: the sum of the numbers at the ends of a text report's blocks
text_sum()
{
    awk '/^    [0-9]+$/ { sum += $1 } END { print sum + 0 }' "$1"
}

# ---- Several files from one run

run_stackbox stackcount -o r.txt -o r.folded -o r.flat -o r.svg -o r.speedscope.json $EVENT -- \
    "$WORKLOADS/chains" -n 20 -m 10
is "one run writes five files" "$status $(echo r.*)" "0 r.flat r.folded r.speedscope.json r.svg r.txt"
is "the command keeps its stdout" "$(cat "$scratch/out")" "$("$WORKLOADS/chains" -n 20 -m 10)"
is "text" "$(text_sum r.txt)" 30
is "folded" "$(folded_sum r.folded)" 30
is "folded: each chain is right" \
    "$(folded_sum r.folded ';chain_a2;') $(folded_sum r.folded ';chain_b2;')" "20 10"
is "speedscope" "$(sed -n 's/.*"endValue":\([0-9]*\).*/\1/p' r.speedscope.json)" 30
contains "svg" r.svg "30 events"
is "svg: it is whole" "$(tail -n 1 r.svg)" "</svg>"
is "flat: its header" "$(head -n 1 r.flat)" "  self%  total%  of 30 events"
is "flat: it is what awk makes of the folded stacks" "$(sed 1d r.flat)" "$(folded_flat r.folded 2)"
is "flat: the largest self comes first" "$(awk 'NR > 2 && $1 > before { print } { before = $1 }' r.flat)" ""
contains "flat: a third of it is in one chain" r.flat "  33.33  chain_b1"
names >/dev/null

# Samples, with recursion; and kernel and user stacks delimited.
run_stackbox profile -d -F 499 -o p.folded -o p.flat -o p.txt -- "$WORKLOADS/burn" -s 300
is "samples: text and folded agree" "$status $(awk '/^        [0-9]+$/ { sum += $1 } END { print sum + 0 }' p.txt)" \
    "0 $(folded_sum p.folded)"
sed 's/;-\([; ]\)/\1/' p.folded >p.undelimited
is "samples: flat is right" "$(sed 1d p.flat)" "$(folded_flat p.undelimited 2)"
names >/dev/null

run_stackbox stackcount --flat 2 -o all.flat -o r.folded -f $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "-f and --flat exclude each other" "$status $(cat "$scratch/err")" \
    "2 stackcount: -f and --flat are two formats: give one (see stackcount -h)"
run_stackbox stackcount --flat 2 $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "--flat N: N lines, on stdout" "$status $(wc -l <"$scratch/out")" "0 3"
run_stackbox stackcount -D 0.2 --flat $QUIET
is "--flat without events: only its header" "$status $(cat "$scratch/out")" "0   self%  total%  of 0 events"

# Times are printed in microseconds, and flat uses nanoseconds: the difference is less than 0.01 %
# here.
run_stackbox offcputime -o w.folded -o w.flat -- "$WORKLOADS/sleeps" -n 20 -u 3000 -o nap,read,woken
# A wait's own function is the one that waits, not the scheduler's functions that it calls.
folded_flat w.folded 2 >w.total
sed ':again; s/;\(do_nanosleep\|\(__\|io_\)\{0,1\}schedule\(_[a-z_]*\)\{0,1\}\) \([0-9]*\)$/ \4/; t again' w.folded >w.waits
folded_flat w.waits 2 >w.own
is "waits: flat is right" "$status $(sed 1d w.flat | awk '
    function far(a, b) { return a - b > 0.02 || b - a > 0.02 }
    FILENAME == "w.total" { total[$3] = $2; next }
    FILENAME == "w.own" { own[$3] = $1; next }
    !($3 in total) || far(own[$3] + 0, $1) || far(total[$3], $2)
    { delete total[$3] }
    END { for (one in total) print one }' w.total w.own -)" "0 "
names >/dev/null

# ---- What goes to stdout

run_stackbox stackcount --format folded $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "--format alone: the report is on stdout, the command's output is not" \
    "$status $(folded_sum "$scratch/out") $(grep -c CALLS= "$scratch/out")" "0 30 0"
run_stackbox stackcount --format folded -o r.flat $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "--format and a file in another format: both are written" \
    "$status $(folded_sum "$scratch/out") $(sed -n 1p r.flat)" "0 30   self%  total%  of 30 events"
run_stackbox stackcount -f -o r.svg $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "-f and a file: both are written" "$status $(folded_sum "$scratch/out") $(tail -n 1 r.svg)" "0 30 </svg>"
run_stackbox stackcount --format folded -o report $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "--format and a file without an extension: only the file is written" \
    "$status $(folded_sum report) $(grep -c 'CALLS=' "$scratch/out")" "0 30 1"
run_stackbox stackcount -o - -o r.folded $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "-o - is stdout, in text" "$status $(text_sum "$scratch/out") $(folded_sum r.folded)" "0 30 30"
run_stackbox stackcount -f -o /dev/stdout $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "/dev/stdout is stdout" "$status $(folded_sum "$scratch/out") $(grep -c CALLS= "$scratch/out")" "0 30 0"
is "and these files are written" "$(names)" "r.flat r.folded r.svg report "
{
    echo before
    "$STACKBOX" stackcount -f -o /dev/stdout -D 0.1 $QUIET 2>/dev/null
    echo after
} >kept
is "what else is written there is kept" "$(cat kept)" "before
after"
"$STACKBOX" stackcount -f -o /dev/fd/7 $EVENT -- "$WORKLOADS/chains" -n 20 -m 10 7>seventh >/dev/null 2>&1
is "/dev/fd/N is that descriptor" "$? $(folded_sum seventh)" "0 30"
names >/dev/null

# ---- Wrong usage, before anything is traced

# refused NAME WORD... : exit status 2, one line, and no file
refused()
{
    refused=$1
    shift
    run_stackbox "$@" $QUIET
    is "$refused" "$status $(wc -l <"$scratch/err") $(names)" "2 1 "
}
refused "-i and a name for one report" stackcount -i 1 -o r.svg
refused "-i and a name with %% alone" stackcount -i 1 -o 'r%%n.svg'
refused "a name twice" stackcount -o r.svg -o r.folded -o r.svg
refused "an unknown extension" stackcount -o r.html
refused "an unknown format" stackcount --format html
refused "% and something else" stackcount -o 'r%x.svg'

# ---- Many reports

# A call every now and then for a while, by a process with a name of its own.
ROUNDS=200
[ -z "$GUEST" ] || ROUNDS=30
# shellcheck disable=SC2016 # for that shell
run_stackbox stackcount -i 0.05 -o 'p-%n.folded' -o '%t.txt' -o '100%%-%t-%n.flat' $EVENT -- \
    sh -c 'for i in $(seq "$1"); do "$0" -n 10 -N many; sleep 0.05; done' "$WORKLOADS/calls" $ROUNDS
count=$(find . -name 'p-*' | wc -l)
between "there are many reports" "$count" $((ROUNDS / 10)) 100000
# Calls that the kernel skipped may be another process's: ours are counted below.
is "and no errors" \
    "$status $(grep -v '^Tracing\|were missed: they hit while\|may miss events on this kernel\|of user stacks end early' "$scratch/err")" "0 "
is "their numbers have no gaps" "$(find . -name 'p-*' | sort)" \
    "$(seq "$count" | awk '{ printf "./p-%05d.folded\n", $1 }')"
cat p-*.folded >all
is "every event is in exactly one of them" "$(folded_sum all '^many;')" $((ROUNDS * 10))
is "there are as many named by time" "$(find . -name '2*.txt' | wc -l)" "$count"
cat 2*.txt >all
is "and every event is in exactly one of those" \
    "$(awk '/^    many / { getline; sum += $1 } END { print sum }' all)" \
    $((ROUNDS * 10))
is "both orders are the same" \
    "$(find . -name '100%-*' | sort | sed 's/.*-\([0-9]*\)\.flat/\1/')" \
    "$(seq "$count" | awk '{ printf "%05d\n", $1 }')"
between "events are spread over several reports" \
    "$(grep -c '^many;' p-*.folded | grep -vc ':0$')" 3 100000
rm -f p-* 2*.txt 100%-* all
is "there are no other files" "$(names)" ""

# Reports on a signal: the last one has the name that was given.
start_workload one calls -w -k -n 300 -N many
start_stackbox stackcount -o s.folded -o 'n-%n.folded' $EVENT
go one
kill -s USR1 "$stackbox"
wait_until 20 test -e n-00001.folded
start_workload two calls -w -k -n 200 -N many
go two
kill -s USR1 "$stackbox"
wait_until 20 test -e n-00002.folded
is "SIGUSR1: the last report is not written yet" "$(echo s*.folded)" "s.00001.folded s.00002.folded"
start_workload three calls -w -k -n 100 -N many
go three
finish_stackbox
is "SIGUSR1: each has its own events" "$status $(for file in s.00001.folded s.00002.folded s.folded; do
    folded_sum $file '^many;'; done | tr '\n' ' ')" "0 300 200 100 "
is "SIGUSR1: a name with a number stays as given" "$(for file in s.00001 s.00002 s; do cat $file.folded; done |
    cmp - "$(cat n-00001.folded n-00002.folded n-00003.folded >n; echo n)")" ""
is "SIGUSR1: all files are there" "$(names)" \
    "n n-00001.folded n-00002.folded n-00003.folded s.00001.folded s.00002.folded s.folded "
finish_workload one two three
# stdout gets one document only: none before the last report.
start_workload one calls -w -k -n 300 -N many
start_stackbox stackcount --format speedscope $EVENT
go one
kill -s USR1 "$stackbox"
wait_until 20 grep -q "one document" "$scratch/err"
finish_stackbox
is "SIGUSR1: stdout gets one document only" "$status $(grep -c '"exporter"' "$scratch/out")" "0 1"
finish_workload one

# ---- If a command cannot be run, old files stay

echo kept >k.svg
run_stackbox stackcount -o k.svg $EVENT -- ./nothing-here
is "a command that cannot be run leaves old files alone" \
    "$status $(cat k.svg) $(grep -c 'no events' "$scratch/err")" "127 kept 0"
rm -f k.svg
:
