#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# demo.sh       builds stackbox, and has it trace a small program of its own (demo.c): where its CPU time goes, and
#               what it waits for, as text and as two flame graphs

set -u
cd "$(dirname "$0")/.." || exit 1
sh scripts/setup.sh build || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
make --no-print-directory stackbox || exit 1
# As distributions build programs: optimized, without frame pointers. It has libc's unwind tables, and its own.
cc -O2 -pthread -o build/demo scripts/demo.c || exit 1

# show PICTURE ARG...
pictures=
show()
{
    picture=$1
    shift
    rm -f "$picture"
    echo "\$ ./stackbox $* -o $picture -- build/demo"
    ./stackbox "$@" -o "$picture" -- build/demo && [ -s "$picture" ] && pictures="$pictures $picture"
}
show build/demo-cpu.svg profile -F 997 --flat 4
show build/demo-waits.svg offcputime -U --tree 3
case $pictures in
*cpu*waits*) ;;
*) echo "demo: \"./stackbox check\" says what this machine lacks$([ "$(id -u)" = 0 ] || echo ", or run it as root")" >&2
   exit 1 ;;
esac
echo "demo: two flame graphs, for any browser (click to zoom, Ctrl-F to search):$pictures"
