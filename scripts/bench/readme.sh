#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# readme.sh --write [RESULTS]   keeps RESULTS (build/bench/results.tsv: the last `make bench`) as
#                               tests/bench/results.tsv, and makes README.md's table of them
# readme.sh --check             whether README.md's table is what tests/bench/results.tsv makes
# readme.sh --print [RESULTS]   the table, on stdout

set -u
cd "$(dirname "$0")/../.." || exit 1
kept=tests/bench/results.tsv
begin='<!-- bench: made by make bench-readme -->'
end='<!-- bench: end -->'

# README.md with the table of the kept results
with_table()
{
    [ "$(grep -cxF -e "$begin" README.md)$(grep -cxF -e "$end" README.md)" = 11 ] || {
        echo "readme.sh: README.md must have each of these lines once: $begin $end" >&2
        return 1
    }
    # ENVIRON, because -v takes a backslash for more than that
    BEGIN_LINE=$begin END_LINE=$end awk '
        FNR == NR                     { table = table $0 "\n"; next }
        $0 == ENVIRON["BEGIN_LINE"]   { print; print ""; printf "%s", table; print ""; inside = 1 }
        $0 == ENVIRON["END_LINE"]     { inside = 0 }
        !inside && $0 != ENVIRON["BEGIN_LINE"]' "$1" README.md
}

case ${1:-} in
--print)
    exec awk -f scripts/bench/readme.awk "${2:-$kept}"
    ;;
--write | --check) ;;
*)
    sed -n 's/^# \(readme.sh\)/usage: \1/p' "$0" >&2
    exit 2
    ;;
esac
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
if [ "$1" = --write ]; then
    results=${2:-build/bench/results.tsv}
    [ -s "$results" ] || { echo "readme.sh: no $results: make bench first" >&2; exit 1; }
    [ "$results" = "$kept" ] || cp "$results" "$kept" || exit 1
fi
awk -f scripts/bench/readme.awk "$kept" >"$scratch/table" || exit 1
with_table "$scratch/table" >"$scratch/README" || exit 1
if [ "$1" = --check ]; then
    cmp -s "$scratch/README" README.md || {
        echo "readme.sh: README.md's figures are not those of $kept: make bench-readme" >&2
        exit 1
    }
else
    cat "$scratch/README" >README.md
fi
