#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Programs whose symbols objcopy moved to another file: names are found again wherever such files are kept. nm
# tells beforehand what they are.

. "${0%/*}/../live/lib.sh"

tool=$(tool addresses)
need gcc objcopy strip nm
cat >"$scratch/program.c" <<'END'
#include <stdlib.h>
static __attribute__((noinline)) int hidden(int n) { return n * atoi("3"); }
__attribute__((noinline)) int seen(int n) { return hidden(n) + 1; }
int main(int argc, char **argv) { (void)argv; return seen(argc); }
END

# build OPTION...: builds a program, and writes the question and the right answer
root=$scratch/root
build()
{
    rm -rf "$root" "$scratch/symfs"
    mkdir -p "$root/opt"
    gcc -O1 -o "$root/opt/program" "$@" "$scratch/program.c" || return
    nm "$root/opt/program" >"$scratch/symbols"
    asked=$(sed -n 's/^0*\([0-9a-f]*\) t hidden$/\1/p' "$scratch/symbols")
    right="$asked $asked hidden"
    objcopy --only-keep-debug "$root/opt/program" "$scratch/debug"
    cp "$root/opt/program" "$scratch/whole"
    strip "$root/opt/program"
}

find_with() { echo "$asked" | "$tool" "$@"; }

keep_by_id()
{
    id=$(readelf -n "$scratch/debug" 2>/dev/null | sed -n 's/.*Build ID: //p')
    directory=$1/usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)
    mkdir -p "$directory"
    cp "$2" "$directory/$(echo "$id" | cut -c 3-).debug"
}

build -Wl,--build-id
is "stripped" "$(find_with --root "$root" /opt/program)" "$asked -"
keep_by_id "$root" "$scratch/debug"
is "found by build id" "$(find_with --root "$root" /opt/program)" "$right"
is "not found in a place that was not given" "$(find_with "$root/opt/program")" "$asked -"
keep_by_id "$scratch/symfs" "$scratch/debug"
rm -r "${root:?}/usr"
is "found by build id below --symfs" "$(find_with --symfs "$scratch/symfs" "$root/opt/program")" "$right"
rm -r "$scratch/symfs"
mkdir -p "$scratch/symfs$root/opt"
cp "$scratch/whole" "$scratch/symfs$root/opt/program"
is "an unstripped program below --symfs is found" \
    "$(find_with --symfs "$scratch/symfs" "$root/opt/program")" "$right"
is "exported functions have names anyway" \
    "$(sed -n 's/^0*\([0-9a-f]*\) T main$/\1/p' "$scratch/symbols" |
        "$tool" "$scratch/whole" | cut -d ' ' -f 3)" main

build -Wl,--build-id=none -no-pie
for place in opt opt/.debug usr/lib/debug/opt; do
    mkdir -p "$root/$place"
    cp "$scratch/debug" "$root/$place/program.debug"
    objcopy --remove-section .gnu_debuglink "$root/opt/program"
    objcopy --add-gnu-debuglink="$scratch/debug" "$root/opt/program"
    is "$place: another name in .gnu_debuglink: not used" \
        "$(find_with --root "$root" /opt/program)" "$asked -"
    mv "$root/$place/program.debug" "$root/$place/debug"
    is "$place: found by .gnu_debuglink" "$(find_with --root "$root" /opt/program)" "$right"
    echo >>"$root/$place/debug"
    is "$place: one byte too long: not used" "$(find_with --root "$root" /opt/program)" "$asked -"
    rm "$root/$place/debug"
done

# Candidates of a gigabyte each, none of which has the checksum: the bytes read of all together are
# limited, by the kernel's count of what a shell's children have read.
build -Wl,--build-id=none -no-pie
objcopy --add-gnu-debuglink="$scratch/debug" "$root/opt/program"
for place in "$scratch/symfs$root/opt" "$scratch/symfs$root/opt/.debug" "$scratch/symfs/usr/lib/debug$root/opt" \
    "$root/opt" "$root/opt/.debug"; do
    mkdir -p "$place"
done
# candidates NAME COMMAND MOST: COMMAND makes a gigabyte of $scratch/large
candidates()
{
    cp "$scratch/debug" "$scratch/large"
    if ! $2 "$scratch/large" 2>"$scratch/err"; then
        skip "$1" "$(cat "$scratch/err")"
        return
    fi
    for place in "$scratch/symfs$root/opt" "$scratch/symfs$root/opt/.debug" "$scratch/symfs/usr/lib/debug$root/opt" \
        "$root/opt" "$root/opt/.debug"; do
        ln -f "$scratch/large" "$place/debug"
    done
    # shellcheck disable=SC2016 # for that shell
    echo "$asked" | sh -c '"$@"; sed -n "s/^rchar: //p" /proc/$$/io' - "$tool" --symfs "$scratch/symfs" \
        "$root/opt/program" >"$scratch/out"
    is "$1: not used" "$(sed 1q "$scratch/out")" "$asked -"
    between "$1: how much is read" "$(sed -n 2p "$scratch/out")" 1000000 $3
}
candidates "five sparse candidates" "truncate -s 1G" $((5 * 70000000))
candidates "five candidates of a gigabyte" "fallocate -l 1G" $((2200 * 1000000))
rm -f "$scratch/large" "$root"/opt/debug "$root"/opt/.debug/debug
rm -rf "$scratch/symfs"

# ---- a debug package, if one is installed

libc=$(readlink -f /lib/x86_64-linux-gnu/libc.so.6)
id=$(readelf -n "$libc" 2>/dev/null | sed -n 's/.*Build ID: //p')
debug=/usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug
if [ "$id" ] && [ -f "$debug" ]; then
    asked=$(nm "$debug" | sed -n 's/^0*\([0-9a-f]*\) t _int_malloc$/\1/p')
    is "the C library's debug file" "$(find_with --root / "$libc")" "$asked $asked _int_malloc"
else
    skip "the C library's debug file" "libc6-dbg is not installed"
fi
