#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# parts.sh --build APPLETS PARTS    build/parts/stackbox, as `make APPLETS= PARTS=` makes it, from the objects in
#                                   $BUILD (build/release) as far as they are the same; prints its bytes
# parts.sh --write                  the tables in src/docs/install.md: what each applet and each part takes
#
# Run after `make`.

set -eu
cd "$(dirname "$0")/.."
unset MAKEFLAGS MFLAGS MAKELEVEL
base=${BUILD:-build/release}
unset BUILD
own=build/parts
page=src/docs/install.md

# build APPLETS PARTS: what no part is in is not compiled again.
build()
{
    rm -rf $own
    mkdir -p $own
    cp -al "$base/src" "$base/insns" "$base/picture" $own/
    grep -l 'base/parts\.h' $own/src/*.d $own/src/*/*.d $own/insns/*.d | sed 'p; s/d$/o/' | xargs rm -f
    rm -f $own/src/applets/applets.[do]
    : >$own/flags
    make -o $own/flags BUILD=$own PROGRAM=$own/stackbox APPLETS="$1" PARTS="$2" $own/stackbox >$own/log 2>&1 || {
        cat $own/log >&2
        exit 1
    }
    # Of a warning nobody would hear.
    grep -v "^$own/stackbox: " $own/log >&2 || :
    wc -c <$own/stackbox
}

kilobytes()
{
    awk -v bytes="$1" 'BEGIN { printf "%.1f", bytes / 1024 }'
}

tables()
{
    none=$(build profile none)
    echo "| applet alone, \`PARTS=none\` | KB |"
    echo "| --- | --- |"
    for applet in $(sed -n 's/^ *&\(.*\)_applet,$/\1/p' src/applets/applets.c); do
        echo "| \`$applet\` | $(kilobytes "$(build "$applet" none)") |"
    done
    echo "| all, with all parts | $(kilobytes "$(build all all)") |"
    echo
    echo "| part | what it is for | KB |"
    echo "| --- | --- | --- |"
    sed -n 's/^#define HAS_\([A-Z]*\) 1 *\/\* \(.*\) \*\//\1 \2/p' src/base/parts.h | while read -r part what; do
        part=$(echo "$part" | tr A-Z a-z)
        before=$none
        [ "$part" != live ] || before=$(build profile shares)
        echo "| \`$part\` | $what | $(kilobytes $(($(build profile "$part") - before))) |"
    done
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
