#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# readme.sh --write [RESULTS]   keeps RESULTS (build/bench/results.tsv: the last `make bench`) as
#                               tests/bench/results.tsv, and makes the tables of them: all figures in
#                               src/docs/costs.md, those beside peers in README.md
# readme.sh --check             whether both tables are what tests/bench/results.tsv makes
# readme.sh --print [RESULTS]   the table of all figures, on stdout
# readme.sh --front [RESULTS]   README.md's, on stdout

set -u
cd "$(dirname "$0")/../.." || exit 1
kept=tests/bench/results.tsv
begin='<!-- bench: made by make bench-readme -->'
end='<!-- bench: end -->'
. scripts/bench/with_table.sh
# What the front page shows
front='event event.kernel waits start.wall start.cpu names.user mangled.cpu memory size'

# make_page PAGE AWK-OPTION...: the page as it should be, in $scratch/page
make_page()
{
    page=$1
    shift
    awk "$@" -f scripts/bench/readme.awk "$kept" >"$scratch/table" &&
        with_table "$scratch/table" "$page" >"$scratch/page"
}

write_page()
{
    make_page "$@" && cat "$scratch/page" >"$1"
}

check_page()
{
    make_page "$@" || return
    cmp -s "$scratch/page" "$1" || {
        echo "readme.sh: $1's figures are not those of $kept: make bench-readme" >&2
        return 1
    }
}

case ${1:-} in
--print)
    exec awk -f scripts/bench/readme.awk "${2:-$kept}"
    ;;
--front)
    exec awk -v front="$front" -f scripts/bench/readme.awk "${2:-$kept}"
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
    # Results of a partial bench are not kept.
    awk -v front="$front" -f scripts/bench/readme.awk "$results" >"$scratch/table" || exit 1
    [ "$results" = "$kept" ] || cp "$results" "$kept" || exit 1
fi
"${1#--}_page" src/docs/costs.md && "${1#--}_page" README.md -v front="$front"
