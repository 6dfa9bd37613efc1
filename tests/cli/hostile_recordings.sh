#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# report, flamegraph: forged recordings, each of a few hundred kilobytes at most. They take memory
# and time in proportion to their size, and no byte in them reaches a terminal as a command.

. "${0%/*}/../live/lib.sh"

command -v python3 >/dev/null || skip_all "python3, which makes the recordings, is not installed"
make=$(cd "${0%/*}/../recordings" && pwd)/make.py
cd "$scratch" || exit 1

# recording FILE MEASURE FILES PROCESSES SYMBOLS ENTRIES: MEASURE is three words and how much an event stands for,
# the rest what follows its section's number
recording()
{
    printf 'section 2\n%s "0.2" "%s" "profile" "h" "k" "x86_64" ""\n1000000000 2000000000 1 "%s" ""\n1 2 3\n' \
        "${flags:-3}" "${applet:-profile}" "${losses:-}" >text
    printf '%s %s %s 0\n%s\n1 1 0 0\n' "${layout:-1 1}" "${by:-0}" "${top:-0}" "$2" >>text
    printf 'section 3\n%s\nsection 4\n%s\nsection 5\n%s\nsection 6\n%s\n' "$3" "$4" "$5" "$6" >>text
    python3 "$make" text "$1"
}

kernel='5 "" 0xffffffff81000000 0x1000000 0' samples='"samples" "cpu" "nanoseconds" 20408163'
# entry VALUE SYMBOL: of a kernel stack with one frame
entry()
{
    echo "0 $1 1 0   0 1 0 \"t\" 5 $2 0"
}

# repeat WORD COUNT
repeat()
{
    awk -v word="$1" -v count="$2" 'BEGIN { while (count--) print word }'
}

# long CHARACTER COUNT
long()
{
    awk -v word="$1" -v count="$2" 'BEGIN { while (count--) printf "%s", word }'
}

# within NAME MEMORY ARG...: the run succeeds within 20 seconds of CPU time, and in MEMORY KB
# without sanitizers (which take 20 terabytes)
within()
{
    name=$1 memory=$2
    shift 2
    case $BUILD in
    */asan) memory=unlimited ;;
    esac
    (
        ulimit -t 20
        ulimit -v "$memory"
        exec "$STACKBOX" "$@"
    ) >out 2>err
    status=$?
    is "$name" "$status $([ -s out ] && echo there)" "0 there"
}

# ---- Memory and time

recording one.sbx "$samples" "1 5 \"$(long k 100000)\" 0xffffffff81000000 0 0" "1 1 0" \
    "1 0 0 0xffffffff81000000 20000 $(repeat '~1 0' 20000)" "1 $(entry 1 0)"
within "a module with a long name and many symbols" 200000 report one.sbx

# A template argument that contains each previous one twice, by the rules of the C++ ABI
nested=$(awk 'BEGIN { digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"; printf "_Z1f1pI1A1AE"
    for (i = 0; i < 20; i++) { s = "S" substr(digits, i + 2, 1) "_"; printf "S_I%s%sE", s, s } }')
recording nested.sbx "$samples" "2 $kernel 3 \"\"" "1 1 0" "1 1 1 0 20000 $(repeat "~1 \"$nested\"+0 0" 20000)" \
    "1 0 1 1 0   0 1 0 \"t\" 0 5 0"
within "a name that is long once demangled, and many symbols" 300000 report nested.sbx
contains "what was left out is told" err "names were left out: names take more than 32 MB"

modules='6 "ma" 0xffffffffc0000000 0 0 6 "mb" 0xffffffffc0000000 0 0'
recording modules.sbx "$samples" "3 $kernel $modules" "1 1 0" \
    "2 0 1 0xffffffffc0000000 40000 $(repeat '~8 "f"+0 0' 40000) 0 2 0xffffffffc0000004 40000 $(repeat '~8 "f"+0 0' 40000)" \
    "80 $(awk 'BEGIN { for (i = 0; i < 80; i++) { print "0 1 1 0  0 1 0 \"t\" 4001"
        for (at = 0; at < 1000; at++) print i * 1000 + at; print 0 } }')"
within "as pprof, symbols that are in two modules in turn" 400000 report --format pprof modules.sbx

recording deep.sbx "$samples" "1 $kernel" "1 1 0" "1 0 0 0xffffffff81000000 1 ~16 \"$(long n 100000)\"+0 0" \
    "1 0 1 1 0   0 1 0 \"t\" $((3000 * 4 + 1)) $(repeat 0 3000) 0"
"$STACKBOX" report -f deep.sbx >out 2>err
is "a report beyond 200 MB is refused, with what to do" "$? $(cat out err)" "1 report: \"deep.sbx\" makes a\
 report of more than 200 MB: take report's --top N, --flat, or -o FILE.svg"
within "and --flat works" 1000000 report --flat deep.sbx

# ---- Sums

recording sums.sbx "$samples" "1 $kernel" "1 1 0" \
    "1 0 0 0xffffffff81000000 3 ~16 \"a\"+0 0 ~16 \"b\"+0 0 ~16 \"c\"+0 0" \
    "3 $(entry 9223372036854775808 0) $(entry 9223372036854775808 1) $(entry 5 2)"
within "sums beyond 64 bits" 100000 report --flat sums.sbx
is "no share is beyond 100 percent" "$(awk 'NR > 1 && ($1 > 100 || $2 > 100)' out)" ""
is "the larger ones come first" "$(awk 'NR > 1 { print $3 }' out | head -n 2 | sort | tr '\n' ' ')" "a b "

# ---- Bytes for a terminal

# 0x9b by itself and as U+009B, what sets a window's title, a byte that is not UTF-8, and what turns text around
evil=$(printf 'x\302\2331m\2335n\033]0;t\007\377\342\200\256')
applet=$evil losses=$evil
recording evil.sbx "\"$evil\" \"$evil\" \"$evil\" 0" "1 $kernel" "1 1 2 \"$(printf '\302\2331m\033[')\"" \
    "1 0 0 0xffffffff81000000 1 ~16 \"$evil\"+0 0" "2 $(entry 1 0) $(entry 2 0)"
applet='' losses=''
for format in text folded flat svg speedscope; do
    within "as $format" 100000 report --top 1 --format $format evil.sbx
    is "as $format: nothing for a terminal" \
        "$(cat out err | LC_ALL=C tr -d '\n\t\040-\176' | wc -c)" 0
done

# ---- Several

losses='3 of 9 events were lost'
recording lost1.sbx "$samples" "1 $kernel" "1 1 0" "1 0 0 0xffffffff81000000 1 ~16 \"a\"+0 0" "1 $(entry 2 0)"
top=1 losses='13 of 9 events were lost'
recording lost2.sbx "$samples" "1 $kernel" "1 1 0" \
    "1 0 0 0xffffffff81000000 2 ~16 \"a\"+0 0 ~16 \"b\"+0 0" "2 $(entry 2 0) $(entry 3 1)"
top='' losses=''
within "two that lost events are added up" 100000 report -f lost1.sbx lost1.sbx lost2.sbx
is "each tells its losses" "$(cat err)" "report: lost1.sbx: 3 of 9 events were lost
report: lost1.sbx: 3 of 9 events were lost
report: lost2.sbx: 13 of 9 events were lost"
is "the --top of one leaves nothing of the others out" "$(sort out | tr '\n' '|')" "t;a 6|t;b 3|"

"$STACKBOX" flamegraph --format folded lost2.sbx >out 2>err
is "a picture shows all stacks in spite of --top" "$(sort out | tr '\n' '|')" "t;a_[k] 2|t;b_[k] 3|"
flags=15
recording offsets.sbx "$samples" "1 $kernel" "1 1 0" "1 0 0 0xffffffff81000000 1 ~16 \"a\"+0 0" "1 $(entry 2 0)"
flags=''
"$STACKBOX" report -f offsets.sbx >out
is "recorded with -s, names have offsets" "$(cat out)" "t;a+0x0 2"
"$STACKBOX" report --diff -f lost1.sbx offsets.sbx >out 2>err
is "not if compared with one without" "$(cat out)" "t;a_[k] 2 2"
"$STACKBOX" report --diff --by process -f lost1.sbx offsets.sbx >out 2>err
is "--by counts for comparisons" "$(cat out)" "t (1);a_[k] 2 2"

by=2
recording threads.sbx "$samples" "1 $kernel" "1 1 0" "1 0 0 0xffffffff81000000 1 ~16 \"a\"+0 0" "1 $(entry 2 0)"
by=''
for files in 'threads.sbx lost1.sbx' 'lost1.sbx threads.sbx'; do
    # shellcheck disable=SC2086 # words
    "$STACKBOX" report --by thread $files >out 2>err
    is "--by thread $files: the one without threads is named" "$? $(tail -n 1 err)" \
        "1 report: \"lost1.sbx\" has no threads: record it with --by thread"
done

layout='2 1000'
recording waits.sbx '"waits" "blocked" "microseconds" 0' "1 $kernel" "1 1 0" \
    "1 0 0 0xffffffff81000000 1 ~16 \"a\"+0 0" "1 $(entry 2 0)"
layout=''
for command in 'report --diff' 'flamegraph --diff' flamegraph; do
    # shellcheck disable=SC2086 # words
    "$STACKBOX" $command lost1.sbx waits.sbx >out 2>err
    is "$command: samples and waits cannot be compared" "$? $(tail -n 1 err)" \
        "1 ${command%% *}: \"lost1.sbx\" has samples, \"waits.sbx\" us of waits by waker: record both in the same way"
done

# A thread's name that would make its line a comment
recording thread.sbx "$samples" "1 $kernel" "1 1 2 \"# x\"" "1 0 0 0xffffffff81000000 1 ~16 \"a\"+0 0" \
    "1 0 7 1 0   0 1 0 \"# x\" 5 0 0"
"$STACKBOX" report -f thread.sbx >out 2>err
is "a thread named # x is in folded stacks" "$(cat out)" '\x23 x;a 7'
"$STACKBOX" flamegraph --format folded out out >again 2>err
is "and in what reads them" "$(cat again)" '\x23 x;a 14'

# ---- Pipes

mkfifo pipe
printf 'a;b 3\n' >pipe &
"$STACKBOX" flamegraph --diff pipe --format text lost1.sbx >out 2>err
is "--diff reads a FIFO that has only one reader" "$? $(grep -c 'before 3, now 2' err)" "0 1"
wait
