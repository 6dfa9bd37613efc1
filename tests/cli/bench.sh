#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# The bench's arithmetic, on figures whose medians and ratios can be worked out by head; and the figures in
# README and on the costs page are those of the results kept here.

# shellcheck source=tests/live/lib.sh
. "${0%/*}/../live/lib.sh"

cd "${0%/*}/../.." || exit 1
TAB=$(printf '\t')

# Separates words by tabs.
tabbed()
{
    tr ' ' "$TAB"
}

tabbed >"$scratch/rows" <<'END'
event ns floor an-event
start ms stackbox a-start
crowd ms @start in-a-crowd
never ms - nobody-measured-it
size KB - the-size
END
# Ratios of stackbox's events: 1.5, 1.2, 0.8; of bpftrace's: 2 and 4, in rounds 1 and 3.
tabbed >"$scratch/raw" <<'END'
1 event floor 100
1 event stackbox 150
1 event bpftrace 200
1 start stackbox 10
1 start perf 1000
1 crowd stackbox 30
1 size stackbox 318
2 event floor 10
2 event stackbox 12
2 start stackbox 20
2 crowd stackbox 20
3 event floor 1000
3 event stackbox 800
3 event bpftrace 4000
END
tabbed >"$scratch/expected" <<'END'
key who unit median ratio least greatest rounds beside what
event floor ns 100 - - - 3 floor an-event
event stackbox ns 150 1.200 0.800 1.500 3 floor an-event
event bpftrace ns 2100 3.000 2.000 4.000 2 floor an-event
start stackbox ms 15 - - - 2 stackbox a-start
start perf ms 1000 100.000 100.000 100.000 1 stackbox a-start
crowd stackbox ms 25 2.000 1.000 3.000 2 @start in-a-crowd
size stackbox KB 318 - - - 1 - the-size
END
awk -f scripts/bench/reduce.awk "$scratch/rows" "$scratch/raw" >"$scratch/results"
is "medians, and ratios of the same round" "$(diff "$scratch/expected" "$scratch/results")" ""

printf '1\tunheard-of\tfloor\t1\n' >"$scratch/wrong"
awk -f scripts/bench/reduce.awk "$scratch/rows" "$scratch/wrong" >"$scratch/results" 2>"$scratch/err"
is "a figure without a row is refused" "$? $(cat "$scratch/err")" "1 reduce.awk: no row is called unheard-of"

# Rows of the pages: a figure with a spread, one without, one above a thousand, and a peer without a
# column
{
    printf '# %s\t%s\n' kernel 9.9 cpus '2 CPUs (X)' date 2026-01-02 rounds 3 bpftrace 0.1
    cat "$scratch/expected"
} >"$scratch/results"
scripts=$PWD/scripts/bench
sh "$scripts/readme.sh" --print "$scratch/results" >"$scratch/table"
contains "the table says what it was measured on" \
    "$scratch/table" "Linux 9.9, 2 CPUs (X), bpftrace 0.1; 2026-01-02, medians of 3 rounds."
contains "a row with a minimum has ratios to it" "$scratch/table" \
    "| an-event, ns | 100 | 150 (1.20; 0.80 to 1.50) |  | 2,100 (3.00) |  |  |"
contains "a row without a minimum has ratios to stackbox" \
    "$scratch/table" "| a-start, ms |  | 15.0 |  |  |  | perf: 1,000 (100) |"

# The front page's table: the rows that it names, in that order, without ratios
awk -v front="start event" -f "$scripts/readme.awk" "$scratch/results" | tail -n 2 >"$scratch/table"
is "the front page has the rows it asks for" \
    "$(cat "$scratch/table")" "| a-start, ms |  | 15.0 |  |  |  | perf: 1,000 |
| an-event, ns | 100 | 150 |  | 2,100 |  |  |"
awk -v front=never-heard -f "$scripts/readme.awk" "$scratch/results" >"$scratch/table" 2>"$scratch/err"
is "a row without a figure is refused" "$? $(cat "$scratch/err")" "1 readme.awk: no figure is called never-heard"

why=$(sh "$scripts/readme.sh" --check 2>&1)
is "the figures of README.md and src/docs/costs.md are those of tests/bench/results.tsv" "$? $why" "0 "
doubled=$(grep -v '^#' scripts/bench/rows.tsv | cut -f 1 | sort | uniq -d)
is "each figure has one row" "$doubled" ""
