#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# later: it builds twice
#
# The source archive: the same bytes when made twice; unpacked, it builds and its tests run; and the binary
# built there, in another way, has the same bytes.

# shellcheck source=tests/live/lib.sh
. "${0%/*}/../live/lib.sh"

cd "${0%/*}/../.." || exit 1
case ${BUILD:-} in
*/asan) skip_all "the archive is the same for every build" ;;
esac
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD PROGRAM
version=$(sed -n 's/^VERSION *:= *//p' Makefile)
name=stackbox-$version

# dist WHERE NAME: `make dist` there
dist()
{
    (cd "$1" && make --no-print-directory dist) >"$scratch/out" 2>&1
    is "$2" "$? $(grep -v '^dist: uncommitted files are in it, too$' "$scratch/out")" \
        "0 build/$name.tar.gz: $(wc -c <"$1/build/$name.tar.gz") bytes"
}

# other_files DIRECTORY: the files in it that are not built, except some of git's own
other_files()
{
    (cd "$1" && find . \( -path ./build -o -path ./stackbox -o -path ./.git \) -prune -o \
        -type f -print | LC_ALL=C sort)
}

mkdir "$scratch/here"
if command -v git >/dev/null && [ -e .git ] && git ls-files >/dev/null 2>&1; then
    # Files that git ignores are not in the archive.
    git ls-files --cached --others --exclude-standard | while IFS= read -r file; do
        [ -f "$file" ] && echo "$file"
    done | tar --files-from - -cf - | tar -xf - -C "$scratch/here"
else
    other_files . | tar --files-from - -cf - | tar -xf - -C "$scratch/here"
fi
mkdir -p build
dist . "here"
cp "build/$name.tar.gz" "$scratch/first.tar.gz"

# Elsewhere: a long path with a blank in it, without git, with other settings.
there="$scratch/a much longer way/to the same sources"
mkdir -p "$there"
umask 077
tar -xzf "$scratch/first.tar.gz" -C "$there"
is "the archive is one directory" "$(ls "$there")" "$name"
there=$there/$name
is "it has the files that are here" "$(other_files "$there")" "$(other_files "$scratch/here")"
is "each file is the same, byte for byte" "$(diff -r "$scratch/here" "$there" 2>&1)" ""
is "what is executable here is executable there" "$(cd "$there" && find . -type f -perm -100 | LC_ALL=C sort)" \
    "$(cd "$scratch/here" && find . -type f -perm -100 | LC_ALL=C sort)"
# Files have neither the build's times nor this directory's order.
mv "$there" "$there.old" && cp -R "$there.old" "$there" && rm -r "$there.old"
(
    export LC_ALL=C.UTF-8 TZ=Pacific/Kiritimati SOURCE_DATE_EPOCH=1 HOME=/nowhere GZIP=-1
    export TAR_OPTIONS=--sparse USER=somebody LANG=de_DE LANGUAGE=de
    dist "$there" "there"
    is "the same archive" "$(cksum <"$there/build/$name.tar.gz")" "$(cksum <"$scratch/first.tar.gz")"
    make --no-print-directory -C "$there" -j3 all build/release/unit/golden >"$scratch/out" 2>&1
    is "it builds without a warning" \
        "$? $(grep -vE "^stackbox: [0-9]+ bytes \(" "$scratch/out")" "0 "
    if cmp "$there/stackbox" "$STACKBOX" >"$scratch/out" 2>&1; then
        pass "the same binary"
    else
        fail "the same binary" "$(cat "$scratch/out")"
    fi
    (cd "$there" && build/release/unit/golden) >"$scratch/out" 2>&1
    is "its golden tests pass" "$? $(grep -v '^PASS ' "$scratch/out")" "0 "
    (cd "$there" && STACKBOX="$there/stackbox" sh tests/cli/install.sh) >"$scratch/out" 2>&1
    is "its command line tests pass" "$? $(grep -v '^PASS ' "$scratch/out")" "0 "
    dist "$there" "after that"
    is "it makes the same archive again" "$(cksum <"$there/build/$name.tar.gz")" \
        "$(cksum <"$scratch/first.tar.gz")"
    exit "$test_failures"
)
test_failures=$((test_failures + $?))
