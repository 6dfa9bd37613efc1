#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# seldom: 5.10
# host: yes
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

# names: what is in this directory, hidden names too; and all of it is removed
names()
{
    find . -mindepth 1 | sed 's/^\.\///' | sort | tr '\n' ' '
    rm -rf "$scratch/f"/* "$scratch/f"/.[!.]*
}

# text_sum FILE: of the numbers that end the blocks of a text report
text_sum()
{
    awk '/^    [0-9]+$/ { sum += $1 } END { print sum + 0 }' "$1"
}

# ---- Several of one run

run_stackbox stackcount -o r.txt -o r.folded -o r.flat -o r.svg -o r.speedscope.json $EVENT -- \
    "$WORKLOADS/chains" -n 20 -m 10
is "five files of one run" "$status $(echo r.*)" "0 r.flat r.folded r.speedscope.json r.svg r.txt"
is "the command has its stdout for itself" "$(cat "$scratch/out")" "$("$WORKLOADS/chains" -n 20 -m 10)"
is "text" "$(text_sum r.txt)" 30
is "folded" "$(folded_sum r.folded)" 30
is "folded: each chain" "$(folded_sum r.folded ';chain_a2;') $(folded_sum r.folded ';chain_b2;')" "20 10"
is "speedscope" "$(sed -n 's/.*"endValue":\([0-9]*\).*/\1/p' r.speedscope.json)" 30
contains "svg" r.svg "30 events"
is "svg is whole" "$(tail -n 1 r.svg)" "</svg>"
is "flat: its header" "$(head -n 1 r.flat)" "  self%  total%  name"
is "flat: what awk makes of the folded one" "$(sed 1d r.flat)" "$(folded_flat r.folded 2)"
is "flat: greatest self first" "$(awk 'NR > 2 && $1 > before { print } { before = $1 }' r.flat)" ""
contains "flat: a third of it is one chain's" r.flat "  33.33  chain_b1"
names >/dev/null

# Samples, with recursion; both halves of the stacks parted, too.
run_stackbox profile -d -F 499 -o p.folded -o p.flat -o p.txt -- "$WORKLOADS/burn" -s 300
is "samples: text and folded agree" "$status $(awk '/^        [0-9]+$/ { sum += $1 } END { print sum + 0 }' p.txt)" \
    "0 $(folded_sum p.folded)"
sed 's/;-\([; ]\)/\1/' p.folded >p.undelimited
is "samples: flat" "$(sed 1d p.flat)" "$(folded_flat p.undelimited 2)"
names >/dev/null

run_stackbox stackcount --flat 2 -o all.flat -o r.folded -f $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "-f and --flat are two formats" "$status $(cat "$scratch/err")" \
    "2 stackcount: -f and --flat are two formats: give one (see stackcount -h)"
run_stackbox stackcount --flat 2 $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "--flat N: so many lines, on stdout" "$status $(wc -l <"$scratch/out")" "0 3"
run_stackbox stackcount -D 0.2 --flat $QUIET
is "--flat without events: its header" "$status $(cat "$scratch/out")" "0   self%  total%  name"

# Times are shown in microseconds, and flat knows nanoseconds: that is less than a hundredth here.
run_stackbox offcputime -o w.folded -o w.flat -- "$WORKLOADS/sleeps" -n 20 -u 3000 -o nap,read,woken
# Own is what a thread waits in: what it calls of the scheduler is not.
folded_flat w.folded 2 >w.total
sed ':again; s/;\(do_nanosleep\|\(__\|io_\)\{0,1\}schedule\(_[a-z_]*\)\{0,1\}\) \([0-9]*\)$/ \4/; t again' w.folded >w.waits
folded_flat w.waits 2 >w.own
is "waits: flat" "$status $(sed 1d w.flat | awk '
    function far(a, b) { return a - b > 0.02 || b - a > 0.02 }
    FILENAME == "w.total" { total[$3] = $2; next }
    FILENAME == "w.own" { own[$3] = $1; next }
    !($3 in total) || far(own[$3] + 0, $1) || far(total[$3], $2)
    { delete total[$3] }
    END { for (one in total) print one }' w.total w.own -)" "0 "
names >/dev/null

# ---- What goes to stdout

run_stackbox stackcount --format folded $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "--format alone: stdout, which the command has not" \
    "$status $(folded_sum "$scratch/out") $(grep -c CALLS= "$scratch/out")" "0 30 0"
run_stackbox stackcount --format folded -o r.flat $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "--format and a file of another one: both" \
    "$status $(folded_sum "$scratch/out") $(sed -n 1p r.flat)" "0 30   self%  total%  name"
run_stackbox stackcount -f -o r.svg $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "-f likewise" "$status $(folded_sum "$scratch/out") $(tail -n 1 r.svg)" "0 30 </svg>"
run_stackbox stackcount --format folded -o report $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "--format for a file without an ending: it alone" \
    "$status $(folded_sum report) $(grep -c 'CALLS=' "$scratch/out")" "0 30 1"
run_stackbox stackcount -o - -o r.folded $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "-o - is stdout, and text" "$status $(text_sum "$scratch/out") $(folded_sum r.folded)" "0 30 30"
run_stackbox stackcount -f -o /dev/stdout $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
is "/dev/stdout is stdout" "$status $(folded_sum "$scratch/out") $(grep -c CALLS= "$scratch/out")" "0 30 0"
is "and there are these files" "$(names)" "r.flat r.folded r.svg report "
{
    echo before
    "$STACKBOX" stackcount -f -o /dev/stdout -D 0.1 $QUIET 2>/dev/null
    echo after
} >kept
is "what else is written there stays" "$(cat kept)" "before
after"
"$STACKBOX" stackcount -f -o /dev/fd/7 $EVENT -- "$WORKLOADS/chains" -n 20 -m 10 7>seventh >/dev/null 2>&1
is "/dev/fd/N is that descriptor" "$? $(folded_sum seventh)" "0 30"
names >/dev/null

# ---- Wrong usage, before anything is traced

# refused NAME WORD... : exit 2, one line, and no file
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
refused "an ending that says nothing" stackcount -o r.html
refused "a format that is none" stackcount --format html
refused "% and something else" stackcount -o 'r%x.svg'

# ---- Many reports

# A call every now and then, for a while: by a name that nobody else has.
ROUNDS=200
[ -z "$GUEST" ] || ROUNDS=30
# shellcheck disable=SC2016 # for that shell
run_stackbox stackcount -i 0.05 -o 'p-%n.folded' -o '%t.txt' -o '100%%-%t-%n.flat' $EVENT -- \
    sh -c 'for i in $(seq "$1"); do "$0" -n 10 -N many; sleep 0.05; done' "$WORKLOADS/calls" $ROUNDS
count=$(find . -name 'p-*' | wc -l)
between "many reports" "$count" $((ROUNDS / 10)) 100000
# What the kernel kept from the program may be another process's call: ours are counted below.
is "and nothing was wrong" "$status $(grep -v '^Tracing\|were missed: they hit while\|may miss events on this kernel\|of user stacks end early' "$scratch/err")" "0 "
is "their numbers have no gaps" "$(find . -name 'p-*' | sort)" \
    "$(seq "$count" | awk '{ printf "./p-%05d.folded\n", $1 }')"
cat p-*.folded >all
is "every event is in one of them" "$(folded_sum all '^many;')" $((ROUNDS * 10))
is "those by time are as many" "$(find . -name '2*.txt' | wc -l)" "$count"
cat 2*.txt >all
is "and every event is in one of those" "$(awk '/^    many / { getline; sum += $1 } END { print sum }' all)" \
    $((ROUNDS * 10))
is "in order of time they are numbered" \
    "$(find . -name '100%-*' | sort | sed 's/.*-\([0-9]*\)\.flat/\1/')" \
    "$(seq "$count" | awk '{ printf "%05d\n", $1 }')"
between "not all reports are empty, and not all events in one" \
    "$(grep -c '^many;' p-*.folded | grep -vc ':0$')" 3 100000
rm -f p-* 2*.txt 100%-* all
is "there is nothing else" "$(names)" ""

# A report now and then, by a signal: the last one has the name that was given.
start_workload one calls -w -k -n 300 -N many
start_stackbox stackcount -o s.folded -o 'n-%n.folded' $EVENT
go one
kill -s USR1 "$stackbox"
wait_until 20 test -e n-00001.folded
start_workload two calls -w -k -n 200 -N many
go two
kill -s USR1 "$stackbox"
wait_until 20 test -e n-00002.folded
is "SIGUSR1: the last report is not there yet" "$(echo s*.folded)" "s.00001.folded s.00002.folded"
start_workload three calls -w -k -n 100 -N many
go three
finish_stackbox
is "SIGUSR1: each has its own events" "$status $(for file in s.00001.folded s.00002.folded s.folded; do
    folded_sum $file '^many;'; done | tr '\n' ' ')" "0 300 200 100 "
is "SIGUSR1: a name with a number is as it was" "$(for file in s.00001 s.00002 s; do cat $file.folded; done |
    cmp - "$(cat n-00001.folded n-00002.folded n-00003.folded >n; echo n)")" ""
is "SIGUSR1: all the files" "$(names)" \
    "n n-00001.folded n-00002.folded n-00003.folded s.00001.folded s.00002.folded s.folded "
for name in one two three; do
    finish_workload $name
done
# What stdout gets is one document: none before the last.
start_workload one calls -w -k -n 300 -N many
start_stackbox stackcount --format speedscope $EVENT
go one
kill -s USR1 "$stackbox"
wait_until 20 grep -q "one document" "$scratch/err"
finish_stackbox
is "SIGUSR1: a document has no other before it" "$status $(grep -c '"exporter"' "$scratch/out")" "0 1"
finish_workload one

# ---- A command that cannot be run is no reason to lose what was there

echo kept >k.svg
run_stackbox stackcount -o k.svg $EVENT -- ./nothing-here
is "a command that cannot be run" "$status $(cat k.svg) $(grep -c 'no events' "$scratch/err")" "127 kept 0"
rm -f k.svg
:
