#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# reproducible.sh COMPILER PROGRAM
#
# The same sources, built by COMPILER in another directory, language, time zone and order, make the same
# PROGRAM, to the byte. (For the compiler that make chooses, tests/cli/dist.sh does this.)

# shellcheck source=tests/live/lib.sh
. "${0%/*}/live/lib.sh"

compiler=$1 program=$2
cd "${0%/*}/.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD PROGRAM
there=$scratch/elsewhere/a/little/deeper
mkdir -p "$there"
find . \( -path ./build -o -path ./stackbox -o -path ./.git \) -prune -o -type f -print |
    LC_ALL=C sort -r | tar --files-from - -cf - | tar -xf - -C "$there"
umask 077
LC_ALL=C TZ=Pacific/Kiritimati SOURCE_DATE_EPOCH=1 make --no-print-directory -C "$there" -j3 \
    CC="$compiler" BUILD=out PROGRAM=out/stackbox >"$scratch/out" 2>&1
is "$compiler: it builds" "$? $(grep -vE '^out/stackbox: [0-9]+ bytes \(' "$scratch/out")" "0 "
if cmp "$there/out/stackbox" "$program" >"$scratch/out" 2>&1; then
    pass "$compiler: the same bytes"
else
    fail "$compiler: the same bytes" "$(cat "$scratch/out")"
fi
