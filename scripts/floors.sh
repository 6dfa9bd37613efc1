#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# floors.sh [BUILD]
#
# Floors: a folder of src/ may only know those below it in the table of src/README.md, or those on its own
# floor without a cycle. Reports what includes, calls or uses something above, by the sources and by the
# symbols of the objects below BUILD (build/release). Run it in the project's directory.
#
# Exit: 0 no violations; 1 violations, a line each; 2 it could not check.
set -u

build=${1:-build/release}
page=src/README.md
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# parts: "floor N FOLDER", "include FILE FOLDER/HEADER", "defines FILE SYMBOL", "uses FILE SYMBOL"
parts()
{
    awk -F '|' '/^\| floor \|/ { inside = 1; next } !/^\|/ { inside = 0 }
        inside && $2 ~ /[0-9]/ {
            count = split($3, folders, " ")
            for (i = 1; i <= count; i++) {
                sub(/^\.\.\//, "", folders[i])
                print "floor", $2 + 0, folders[i]
            }
        }' $page
    find src insns -name '*.[ch]' -exec grep -H '^#include "' {} + |
        sed 's/^\([^:]*\):#include "\(.*\)".*/include \1 \2/'
    find src insns -name '*.c' | while read -r source; do
        nm -P "$build/${source%.c}.o" | sed "s,^,$source ,"
    done | awk '
        $3 == "U" { print "uses", $1, $2 }
        $3 ~ /^[A-TV-Z]$/ { print "defines", $1, $2 }'
}

for source in $(find src insns -name '*.c'); do
    if ! [ -f "$build/${source%.c}.o" ]; then
        echo "floors.sh: there is no object of $source in $build: run make first" >&2
        exit 2
    fi
done
parts >"$scratch/parts"
if ! grep -q '^floor ' "$scratch/parts"; then
    echo "floors.sh: $page has no table of floors" >&2
    exit 2
fi
awk '
    function folder_of(file, words) {
        split(file, words, "/")
        return words[1] == "src" ? words[2] : words[1]
    }
    function judge(file, to, how, from) {
        from = folder_of(file)
        if (from == to)
            return
        if (!(from in floor) || !(to in floor)) {
            print file " " how ": " (from in floor ? to : from) " is on no floor of src/README.md"
        } else if (floor[to] > floor[from]) {
            print file " " how ": " from " (floor " floor[from] ") may not know " to " (floor " floor[to] ")"
        } else if (floor[to] == floor[from] && !((from, to) in beside)) {
            beside[from, to] = file " " how
            next_to[from] = next_to[from] " " to
        }
    }
    # Is there a path within this floor from one folder to another?
    function leads(from, to, seen, words, count, i) {
        if (seen ~ " " from " ")
            return 0
        count = split(next_to[from], words, " ")
        for (i = 1; i <= count; i++)
            if (words[i] == to || leads(words[i], to, seen " " from " "))
                return 1
        return 0
    }
    $1 == "floor" { floor[$3] = $2 }
    $1 == "defines" { definer[$3] = $2 }
    $1 == "include" {
        if ($3 !~ "/")
            $3 = folder_of($2) "/" $3
        split($3, words, "/")
        judge($2, words[1], "includes " $3)
    }
    $1 == "uses" { used[++uses] = $2 " " $3 }
    END {
        for (i = 1; i <= uses; i++) {
            split(used[i], words, " ")
            if (words[2] in definer)
                judge(words[1], folder_of(definer[words[2]]), "uses " words[2] " of " definer[words[2]])
        }
        for (pair in beside) {
            split(pair, words, SUBSEP)
            if (leads(words[2], words[1], ""))
                print beside[pair] ": " words[1] " and " words[2] " know each other"
        }
    }' "$scratch/parts" | sort -u >"$scratch/found"
cat "$scratch/found"
! [ -s "$scratch/found" ]
