#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# parts.sh --build APPLETS PARTS    build/parts/stackbox, as `make APPLETS= PARTS=` makes it, from the objects in
#                                   $BUILD (build/release) if they are the same; prints its size in bytes
# parts.sh --write                  the tables in src/docs/install.md: what each applet, part and folder takes
#
# Run after `make`.

set -eu
cd "$(dirname "$0")/.."
unset MAKEFLAGS MFLAGS MAKELEVEL
base=${BUILD:-build/release}
unset BUILD
own=build/parts
page=src/docs/install.md

# link APPLETS PARTS: missing objects are compiled, regardless of their sources' age.
link()
{
    rm -f $own/stackbox $own/src/applets/applets.[do]
    set -- BUILD=$own PROGRAM=$own/stackbox APPLETS="$1" PARTS="$2"
    make "$@" $own/flags
    touch -d @0 $own/flags
    make -j2 "$@" $own/stackbox >$own/log 2>&1 || {
        cat $own/log >&2
        exit 1
    }
    # Otherwise nobody would see a warning.
    grep -v "^$own/stackbox: " $own/log >&2 || :
    wc -c <$own/stackbox
}

# drop PATTERN: removes the objects of sources that match it. Other builds share these files: none is
# written to.
drop()
{
    grep -lE "$1" src/*.c src/*/*.c insns/*.c | while read -r source; do
        rm -f "$own/${source%c}o" "$own/${source%c}d"
    done
}

begin()
{
    rm -rf $own
    mkdir -p $own
    cp -al "$1/src" "$1/insns" "$1/picture" $own/
}

build()
{
    begin "$base"
    drop '\<(HAS|OF)_[A-Z]+'
    link "$1" "$2"
}

# with APPLET PART...: its size with these parts, starting from a build with none
with()
{
    applet=$1
    shift
    begin $own.none
    [ $# = 0 ] || drop "\\<(HAS|OF)_($(echo "$*" | tr 'a-z ' 'A-Z|'))"
    link "$applet" "${*:-none}"
}

kilobytes()
{
    awk -v bytes="$1" 'BEGIN { printf "%.1f", bytes / 1024 }'
}

tables()
{
    none=$(build profile none)
    rm -rf $own.none
    cp -al $own $own.none
    echo "| applet alone, \`PARTS=none\` | KB |"
    echo "| --- | --- |"
    for applet in $(sed -n 's/^ *&\(.*\)_applet,$/\1/p' src/applets/applets.c); do
        needed=
        [ "$applet" != flamegraph ] || needed=pictures
        echo "| \`$applet\` | $(kilobytes "$(with "$applet" $needed)") |"
    done
    echo "| all, with all parts | $(kilobytes "$(wc -c <stackbox)") |"
    echo
    echo "| part | what it is for | KB |"
    echo "| --- | --- | --- |"
    sed -n 's/^#define HAS_\([A-Z]*\) 1 *\/\* \(.*\) \*\//\1 \2/p' src/base/parts.h | while read -r part what; do
        part=$(echo "$part" | tr A-Z a-z)
        before=$none
        needed=
        [ "$part" != live ] || needed=shares
        [ -z "$needed" ] || before=$(with profile shares)
        echo "| \`$part\` | $what | $(kilobytes $(($(with profile $needed "$part") - before))) |"
    done
    echo
    echo "| folder | KB | folder | KB |"
    echo "| --- | --- | --- | --- |"
    sh scripts/size.sh "$base/link.map" stackbox | sed '/ all/d' | while read -r bytes folder; do
        printf '| %s | %s ' "$folder" "$(kilobytes "$bytes")"
        read -r bytes folder || { echo "| | |"; break; }
        echo "| $folder | $(kilobytes "$bytes") |"
    done
    rm -rf $own.none
}

case ${1:-} in
--build) build "$2" "$3" ;;
--write)
    tables >build/parts.tables
    BEGIN_LINE='<!-- parts: made by scripts/parts.sh --write -->' END_LINE='<!-- parts: end -->' awk '
        FNR == NR                   { table = table $0 "\n"; next }
        $0 == ENVIRON["BEGIN_LINE"] { print; print ""; printf "%s", table; print ""; inside = 1; next }
        $0 == ENVIRON["END_LINE"]   { inside = 0 }
        !inside' build/parts.tables $page >build/parts.page
    cat build/parts.page >$page
    ;;
*) sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
