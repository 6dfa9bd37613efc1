#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Files for speedscope, read by speedscope's own importer. awk works out from the folded file of the same run
# what it must find.

. "${0%/*}/../live/lib.sh"

PACKAGE=${NPM:-$PWD/build/npm}/node_modules/speedscope
here=${0%/*}

have_root || skip_all "tracing needs root"
command -v node >/dev/null || skip_all "node, to run speedscope's importer, is not installed"
[ -f "$PACKAGE/package.json" ] ||
    skip_all "speedscope is not installed: npm install --prefix build/npm speedscope"

# import FILE: imports it into $scratch/read
import()
{
    timeout 120 node "$here/speedscope.mjs" "$PACKAGE" "$1" >"$scratch/read" 2>"$scratch/read.err"
    case $? in
    0) return 0 ;;
    77) skip_all "$(cat "$scratch/read.err")" ;;
    esac
    fail "$1 is imported" "$(head -c 300 "$scratch/read.err")"
    return 1
}

# stacks_read INDEX FACTOR: a profile's stacks as folded lines, with weights divided by FACTOR
stacks_read()
{
    awk -F '\t' -v index_of="$1" -v factor="$2" \
        '$1 == "stack" && $2 == index_of { printf "%s %.0f\n", $3, $4 / factor }' "$scratch/read" |
        LC_ALL=C sort
}

# stacks_of FOLDED: the same, without stacks of weight 0, which are not shown
stacks_of()
{
    awk '{ count = $NF; sub(/ [0-9]+$/, ""); sum[$0] += count }
         END { for (stack in sum) if (sum[stack]) printf "%s %.0f\n", stack, sum[stack] }' "$1" |
        LC_ALL=C sort
}

# frames_of FOLDED: each name's own weight, and that with what it calls
frames_of()
{
    folded_functions "$1" | awk -F '\t' '{ print $3, $1, $2 }' | LC_ALL=C sort
}

# frames_read INDEX FACTOR: the same from a profile
frames_read()
{
    awk -F '\t' -v index_of="$1" -v factor="$2" \
        '$1 == "frame" && $2 == index_of { printf "%s %.0f %.0f\n", $3, $5 / factor, $6 / factor }' \
        "$scratch/read" | LC_ALL=C sort
}

# ambiguous INDEX: names with several files, and so with several frames
ambiguous()
{
    awk -F '\t' -v index_of="$1" '$1 == "frame" && $2 == index_of && seen[$3]++ == 1 { print $3 }' \
        "$scratch/read"
}

# without_ambiguous INDEX: lines NAME SELF TOTAL without these names
without_ambiguous()
{
    ambiguous "$1" >"$scratch/ambiguous"
    awk 'FILENAME != "-" { left_out[$0] = 1; next }
         { name = $0; sub(/ [0-9]+ [0-9]+$/, "", name) } !(name in left_out)' "$scratch/ambiguous" -
}

# said INDEX: a profile's name and unit
said()
{
    awk -F '\t' -v index_of="$1" '$1 == "profile" && $2 == index_of { print $3 ", " $4 }' "$scratch/read"
}

# compare NAME INDEX FACTOR FOLDED: compares stacks, frames and the sum
compare()
{
    stacks_of "$4" >"$scratch/stacks"
    between "$1: there are stacks" "$(wc -l <"$scratch/stacks")" 1 1000000
    stacks_read "$2" "$3" | diff "$scratch/stacks" - >"$scratch/diff"
    is "$1: stacks and their weights are the same" "$(head -n 4 "$scratch/diff")" ""
    frames_of "$4" | without_ambiguous "$2" >"$scratch/frames"
    between "$1: there are frames" "$(wc -l <"$scratch/frames")" 3 1000000
    frames_read "$2" "$3" | without_ambiguous "$2" | diff "$scratch/frames" - >"$scratch/diff"
    is "$1: frames, self and total, are the same" "$(head -n 4 "$scratch/diff")" ""
    is "$1: the sum is the same" "$(awk -F '\t' -v index_of="$2" -v factor="$3" \
        '$1 == "profile" && $2 == index_of { printf "%.0f\n", $5 / factor }' "$scratch/read")" \
        "$(folded_sum "$4")"
}

# ---- Samples: how many, and how long

run_stackbox profile -F 500 -U -o "$scratch/p.speedscope.json" -o "$scratch/p.folded" -- \
    "$WORKLOADS/burn" -s 300
is "profile: exit status" "$status" 0
if import "$scratch/p.speedscope.json"; then
    is "profile: there are two profiles, and the second is shown" \
        "$(awk -F '\t' '$1 == "group" { print $4, $3 }' "$scratch/read")" "2 1"
    is "profile: samples" "$(said 0)" "profile: samples, none"
    is "profile: time" "$(said 1)" "profile: cpu (nanoseconds), nanoseconds"
    compare "samples" 0 1 "$scratch/p.folded"
    compare "time" 1 2000000 "$scratch/p.folded"
    contains "it has the command line" "$scratch/read" "$WORKLOADS/burn -s 300 on "
    is "frames have their file" "$(awk -F '\t' '$1 == "frame" && $2 == 0 && $3 == "greater" { print $4 }' \
        "$scratch/read")" burn
fi

# ---- All waits, only kernel stacks: functions with the same name in two programs are two here and one
# in folded text, and less than a microsecond is cut off each stack

run_stackbox offcputime -K -D 1 -o "$scratch/o.speedscope.json" -o "$scratch/o.folded"
is "offcputime: exit status" "$status" 0
if import "$scratch/o.speedscope.json"; then
    is "offcputime: waits" "$(said 0)" "offcputime: waits, none"
    is "offcputime: time" "$(said 1)" "offcputime: blocked (microseconds), microseconds"
    compare "waits" 1 1 "$scratch/o.folded"
    if [ "$(cat /proc/sys/kernel/kptr_restrict)" -lt 2 ]; then
        is "kernel frames have a file" "$(awk -F '\t' '$1 == "frame" && $3 == "__schedule" { print $4 }' \
            "$scratch/read" | sort -u)" "[kernel]"
    else
        skip "kernel frames have a file" "kernel.kptr_restrict is 2, so they have no names"
    fi
fi

run_stackbox offwaketime -o "$scratch/w.speedscope.json" -o "$scratch/w.folded" -- \
    "$WORKLOADS/wakes" -n 3 -u 2000 pipe
is "offwaketime: exit status" "$status" 0
! import "$scratch/w.speedscope.json" || compare "stacks with wakers on top" 1 1 "$scratch/w.folded"

# ---- Names with characters that JSON escapes, and no events

# The comm is the file's name.
mkdir "$scratch/odd"
cp "$WORKLOADS/burn" "$scratch/odd/a\"b\\<!e;d"
run_stackbox profile -F 500 -U -o "$scratch/n.speedscope.json" -o "$scratch/n.folded" -- \
    "$scratch/odd/a\"b\\<!e;d" -s 100
is "odd names: exit status" "$status" 0
if import "$scratch/n.speedscope.json"; then
    is "quotes, a backslash and more in names are right" \
        "$(awk -F '\t' '$1 == "frame" && $2 == 0 && $3 ~ /^a"/ { print $3 "|" $4 }' "$scratch/read")" \
        'a"b\<!e;d|'
fi

run_stackbox profile -D 0.2 -p 1 -e page-faults -c 1000000 -U -o "$scratch/e.speedscope.json"
is "no events: exit status" "$status" 0
if import "$scratch/e.speedscope.json"; then
    is "no events: profiles have no stacks" \
        "$(awk -F '\t' '$1 == "stack" || $1 == "frame" { stacks++ } $1 == "profile" { profiles++; sum += $5 }
                        END { print profiles, stacks + 0, sum + 0 }' "$scratch/read")" "2 0 0"
fi
