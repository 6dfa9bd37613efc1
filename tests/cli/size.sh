#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# A binary with one applet, `make APPLETS=profile`: it has that one and no other, and works. And the size of the
# full binary: it stays within its limit, and `make size` accounts for all of it.
. "${0%/*}/../live/lib.sh"

cd "${0%/*}/../.." || exit 1
[ -f "$BUILD/flags" ] || skip_all "$BUILD has no build"
case $(cat "$BUILD/flags") in
*fsanitize*) skip_all "this is not a release build" ;;
esac

# With the objects of the full build: none of them is written to but the list of applets, which is removed.
one=build/one
rm -rf $one
mkdir -p $one
cp -al "$BUILD/src" "$BUILD/insns" "$BUILD/flame" "$BUILD/flags" $one/
rm $one/src/applets/applets.[do]
CC=$(cut -d ' ' -f 1 "$BUILD/flags")
MAKEFLAGS='' make CC="$CC" BUILD=$one PROGRAM=$one/stackbox APPLETS=profile >"$scratch/log" 2>&1
is "it builds without a warning" "$? $(grep -v "^$one/stackbox: " "$scratch/log")" "0 "
small=$PWD/$one/stackbox
is "it has one applet" "$("$small" | cut -d ' ' -f 1)" profile
is "another" "$("$small" stackcount vfs_read 2>&1)" \
    "stackbox: there is no applet \"stackcount\" (stackbox alone lists them)"
is "its help is the full binary's" "$("$small" profile --help)" "$("$STACKBOX" profile --help)"
between "its size, in percent of the full binary's" $((100 * $(wc -c <"$small") / $(wc -c <"$STACKBOX"))) 30 95
if have_root; then
    "$small" profile -D 0.4 -f -- sh -c 'while :; do :; done & sleep 0.3; kill $!' >"$scratch/out" 2>"$scratch/err"
    is "it traces" "$? $(grep -c '^sh;.* [0-9]*$' "$scratch/out" | sed 's/[1-9][0-9]*/some/')" "0 some"
else
    skip "it traces" "that needs root"
fi
is "an unknown applet is refused" \
    "$(make APPLETS=nothing 2>&1 | sed -n 's/.*\*\*\* \(APPLETS: there is no nothing\);.*/\1/p')" \
    "APPLETS: there is no nothing"

sh scripts/size.sh "$BUILD/link.map" "$STACKBOX" >"$scratch/size"
is "make size: its sum is the file's size" \
    "$(awk '$2 != "all" && $2 != "all," { sum += $1 } END { print sum }' "$scratch/size")" \
    "$(wc -c <"$STACKBOX")"
# What is ours, and the whole as released: with Debian 12's gcc and musl. Later ones of musl are larger.
case $(cat "$BUILD/flags") in
musl-gcc*)
    between "the size of all but libc" \
        "$(awk '$2 !~ /^(all|all,|libc|headers|gaps)$/ { sum += $1 } END { print sum }' "$scratch/size")" 400000 640000 ;;
esac
case $(cat "$BUILD/flags"),$(gcc -dumpversion) in
musl-gcc*,12)
    between "the full binary's size in bytes" "$(wc -c <"$STACKBOX")" 400000 737280
    between "the full binary's size under xz -9" "$(xz -9 -c "$STACKBOX" | wc -c)" 200000 348160 ;;
*)
    skip "the full binary's size" "its limit is for Debian 12's musl-gcc" ;;
esac
# Three of the four segments begin on a page of the file.
between "make size: the headers' share, with three pages" "$(sed -n 's/ *\([0-9]*\)  headers/\1/p' "$scratch/size")" \
    500 $((4000 + 3 * 4096))
is "make size: all folders are listed" \
    "$(awk 'NF == 2 { print $2 }' "$scratch/size" | grep -vE '^(libc|gaps|headers|main.o|all)$' |
    LC_ALL=C sort | tr '\n' ' ')" \
    "$({ ls -d src/*/; echo insns; } | sed 's,^src/,,; s,/$,,' | grep -v '^docs$' | LC_ALL=C sort | tr '\n' ' ')"
