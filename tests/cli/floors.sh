#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Floors: no folder knows one above it, and there are no cycles. First the sources here, then a copy with
# each kind of violation, since a check that cannot fail proves nothing.

# shellcheck source=tests/live/lib.sh
. "${0%/*}/../live/lib.sh"

cd "${0%/*}/../.." || exit 1
is "no folder knows one above it" "$(sh scripts/floors.sh "$BUILD" 2>&1)" ""

command -v cc >/dev/null || skip_all "there is no cc: violations cannot be built"
cp -R src insns scripts "$scratch"
cd "$scratch" || exit 1

# compile FILE: puts its object where floors.sh looks for it
compile()
{
    mkdir -p "objects/${1%/*}"
    cc -std=gnu11 -D_GNU_SOURCE -Isrc -I. -idirafter /usr/include -c -o "objects/${1%.c}.o" "$1"
}

# Only a few of the sources: they follow the rules, and are quick to build here.
find src insns -name '*.c' ! -path src/base/suggest.c ! -path src/base/text.c \
    ! -path src/base/util.c ! -path src/unpack/ends.c ! -path src/tally/tally.c -exec rm {} +
for file in $(find src insns -name '*.c'); do
    compile "$file"
done
is "a few sources without violations pass" "$(sh scripts/floors.sh objects 2>&1)" ""

# broken NAME FILE TEXT EXPECTED: with this file added, floors.sh reports EXPECTED
broken()
{
    printf '%s\n' "$3" >"$2"
    case $2 in
    *.c) compile "$2" ;;
    esac
    said=$(sh scripts/floors.sh objects 2>&1)
    is "$1" "$? $said" "1 $4"
    rm "$2"
}

broken "an include from above is reported" src/base/up.h '#include "run/run.h"' \
    "src/base/up.h includes run/run.h: base (floor 1) may not know run (floor 8)"
broken "so is one in insns" insns/up.h '#include "store/store.h"' \
    "insns/up.h includes store/store.h: insns (floor 2) may not know store (floor 4)"
broken "a use from above without an include is reported" \
    src/base/up.c 'extern unsigned long tally_add(void); unsigned long up(void) { return tally_add(); }' \
    "src/base/up.c uses tally_add of src/tally/tally.c: base (floor 1) may not know tally (floor 2)"
printf '#include "tally/tally.h"\n' >src/unpack/beside.h
broken "a cycle on one floor is reported" src/tally/beside.h '#include "unpack/xz.h"' \
    "src/tally/beside.h includes unpack/xz.h: tally and unpack know each other
src/unpack/beside.h includes tally/tally.h: unpack and tally know each other"
is "a neighbour on the same floor may be included" "$(sh scripts/floors.sh objects 2>&1)" ""
rm src/unpack/beside.h
mkdir src/attic
broken "a folder without a floor is reported" src/base/up.h '#include "attic/old.h"' \
    "src/base/up.h includes attic/old.h: attic is on no floor of src/README.md"
rm objects/src/base/text.o
sh scripts/floors.sh objects >out 2>&1
is "sources without objects are reported" \
    "$? $(cut -c 1-44 out)" "2 floors.sh: there is no object of src/base/te"
