#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# sample.sh    makes tests/names/sample.txt of the names that the last run of names.sh compared
#
# Names are chosen for what is in them (sample.awk): the shortest few that have each pair of codes of the
# grammar, and of all other names some by chance, so many of each of the corpora. Names that only the newer
# llvm-cxxfilt knows are left out, but for some: `make test-guests` has none of it.

set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
work=build/names
out=tests/names/sample.txt

[ -s "$work/libstdc++.tsv" ] || { echo "sample.sh: no $work/*.tsv: names.sh first" >&2; exit 1; }
mkdir -p tests/names || exit 1
for file in "$work"/*.tsv; do
    awk -F '\t' -v OFS='\t' -v label="$(basename "$file" .tsv)" '
        length($1) <= 700 { print length($1), $1, $3 == $1 && $4 == $1, label }' "$file"
done | sort -n -k 1,1 -k 2,2 >"$work/all" || exit 1
awk -F '\t' -v each=2 -v chance=45 -f scripts/names/sample.awk "$work/all" | sort >"$out"
wc -lc "$out"
