#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# The pages for contributors: the files that src/ADDING.md shows compile against these sources, its diffs' context
# lines exist, and so do the files that it and src/README.md name.

# shellcheck source=tests/live/lib.sh
. "${0%/*}/../live/lib.sh"

cd "${0%/*}/../.." || exit 1
page=src/README.md
recipes=src/ADDING.md
compiler=
for compiler in gcc clang cc; do
    command -v $compiler >/dev/null && break
done

# shown FILE: prints the block of C below the line `FILE:`
shown()
{
    awk -v file="$1:" '$0 == file { next_one = 1 } /^```$/ { inside = 0 } inside { print }
        /^```c$/ && next_one { inside = 1; next_one = 0 }' $recipes
}

for file in src/applets/execs.c src/report/csv.c; do
    shown $file >"$scratch/shown.c"
    between "$file is on the page" "$(wc -l <"$scratch/shown.c")" 20 200
    said=$($compiler -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -D_GNU_SOURCE -Isrc -I. -idirafter \
        /usr/include "$scratch/shown.c" 2>&1)
    is "$file compiles" "$? $said" "0 "
done

# Lines of diffs without + exist in a file: the one named before them, or else applets/applets.[ch].
stale=
file='src/applets/applets.c src/applets/applets.h'
awk '/^```$/ { inside = 0 } inside { print } /^```diff$/ { inside = 1 }' $recipes >"$scratch/diffs"
while IFS= read -r line; do
    case $line in
    src/*) file=$line ;;
    ' '*) # shellcheck disable=SC2086 # words
        grep -qxF -e "${line# }" $file || stale="$stale|$line" ;;
    esac
done <"$scratch/diffs"
between "the page has diffs" "$(grep -c '^+' "$scratch/diffs")" 5 20
is "the diffs' context lines exist" "$stale" ""

# Files in the tree, and files named with their directory
missing=
for path in $(grep -ohE '`?(src|insns|tests|scripts)/[a-z_/.]*[a-z]\.(c|h|sh|js|css|md)\b' $page $recipes | tr -d '`' | sort -u); do
    case $path in
    src/applets/execs.c | src/report/csv.c) ;;
    *) [ -e "$path" ] || missing="$missing $path" ;;
    esac
done
is "each file that it names exists" "$missing" ""
unnamed=
for directory in src/*/ tests/*/; do
    directory=${directory%/}
    case $directory in
    src/docs) continue ;; # pages
    esac
    grep -q "^    $directory/\|^  *\(tests/ \)\{0,1\}.*\b${directory##*/}/" $page || unnamed="$unnamed $directory"
done
is "each directory is in its tree" "$unnamed" ""

# README's figures that the bench does not make
readme_size=$(sed -n 's/.*one static binary of \([0-9]*\) KB.*/\1/p' README.md)
measured=$(awk -F '\t' '$1 == "size" && $2 == "stackbox" { print $4 }' tests/bench/results.tsv)
is "README's size of the binary is the bench's" "$readme_size" "$measured"
case $(cat "$BUILD/flags" 2>/dev/null) in
*fsanitize* | '') skip "README's size is this binary's" "this is not a release build" ;;
musl-gcc*)
    size=$(($(wc -c <"$STACKBOX") / 1024))
    between "README's size is this binary's, to 3 percent" "$size" $((readme_size * 97 / 100)) \
        $((readme_size * 103 / 100 + 1))
    ;;
*) skip "README's size is this binary's" "README's is from a build with musl-gcc" ;;
esac
