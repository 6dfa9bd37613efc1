#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# README.md and the pages in src/docs: each begins with a title and says what it is about, is listed, leads
# only to what is there, and fits a window. (Their commands are run by tests/live/examples.sh.)

# shellcheck source=tests/live/lib.sh
. "${0%/*}/../live/lib.sh"

cd "${0%/*}/../.." || exit 1
pages=$(echo README.md src/docs/*.md)

# anchors PAGE: the anchors of its headings
anchors()
{
    awk '/^```/ { inside = !inside } /^#+ / && !inside { sub(/^#+ /, ""); print tolower($0) }' "$1" |
        sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# targets PAGE: its links and pictures that lead to files here
targets()
{
    grep -oE '\]\([^) ]+\)' "$1" | sed 's/^](//; s/)$//' | grep -v '^[a-z]*://'
}

unlisted='' untitled='' lost='' wide=''
for page in $pages; do
    case $page in
    README.md | src/docs/README.md) ;;
    *)
        for list in README.md:src/docs/ src/docs/README.md:; do
            grep -qF "](${list#*:}${page##*/})" "${list%%:*}" || unlisted="$unlisted ${list%%:*}:$page"
        done
        ;;
    esac
    # A title, an empty line, and a sentence
    awk 'NR == 1 && !/^# [^ ]/ || NR == 2 && $0 || NR == 3 && !/^[A-Za-z`]/ { wrong = 1 }
        END { exit NR < 3 || wrong }' "$page" || untitled="$untitled $page"
    for target in $(targets "$page"); do
        file=${target%%#*}
        if [ "$file" ]; then file=$(dirname "$page")/$file; else file=$page; fi
        case $target in
        *"#"*) anchors "$file" | grep -qxF -e "${target#*#}" || lost="$lost $page:$target" ;;
        *) [ -e "$file" ] || lost="$lost $page:$target" ;;
        esac
    done
    # Tables and commands may be wider.
    wide=$wide$(awk -v page="$page" '/^```/ { inside = !inside }
        length($0) > 112 && !inside && !/^(\||    |Linux [0-9])/ { printf " %s:%d", page, NR }' "$page")
done
between "there are pages" "$(echo "$pages" | wc -w)" 10 20
is "each page has a title and says what it is about" "$untitled" ""
is "each page is in README.md and in src/docs/README.md" "$unlisted" ""
is "each link leads somewhere" "$lost" ""
is "lines of text fit a window" "$wide" ""
between "README.md has the length of a front page" "$(wc -l <README.md)" 100 180

# The page has what messages refer to, and check prints the names that the page says it prints.
is "kconfig.md: check's kernel options" \
    "$(sed -n '/^## What check names/,/^## What nothing/s/^| \(CONFIG_[^|]*\) |.*/\1/p' src/docs/kconfig.md |
        grep -oE 'CONFIG_[A-Z_]+' | LC_ALL=C sort | tr '\n' ' ')" \
    "$(grep -rhowE 'CONFIG_[A-Z_]+' src --include='*.c' | LC_ALL=C sort -u | tr '\n' ' ')"

# "Minimum" is what it says.
is "README.md: no figure is below its minimum" "$(awk -F ' *[|] *' '
    /^[|] figure / { figures = 1 } /^$/ { figures = 0 }
    figures { gsub(",", ""); for (i = 4; i <= 7; i++) if ($3 != "" && $i != "" && $i + 0 < $3 + 0) print $2 }' README.md)" ""

# Pictures are stackbox's own output, and small.
for picture in src/docs/*.svg; do
    name=${picture##*/}
    between "$name is small" "$(wc -c <"$picture")" 1000 40960
    # shellcheck disable=SC2086 # words
    grep -hqE -e "^    .* -o $name " $pages || fail "$name: a page shows how it is made" "no page has -o $name"
    # shellcheck disable=SC2086
    grep -hqE "^!\[[^]]+\]\((src/docs/)?$name\)" $pages || fail "$name: a page shows it" "no page has it"
done
