#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
#
# make demo: what it prints fits a screen, and both of its flame graphs have the whole stacks of its program.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_switches || skip_all "this kernel has no sched:sched_switch"
have_tables || skip_all "the C library has no frame pointers, and $NO_TABLES"
command -v cc >/dev/null || skip_all "there is no cc"

cd "${0%/*}/../.." || exit 1
unset BUILD
sh scripts/demo.sh >"$scratch/out" 2>"$scratch/err"
is "exit status" $? 0
# Without libc's debug file, functions that libc does not export have no names; since 2.41 two of
# them are below each wait.
NAMELESS='libc[^;]*[+]0x[0-9a-f]*'
between "lines that it prints, but for libc's nameless functions" \
    "$(cat "$scratch/out" "$scratch/err" | grep -vc "$NAMELESS")" 15 32

# paths SVG: each frame with its callers, and its share. A frame comes after its caller, and above it.
paths()
{
    sed -n 's/^<g class="frame"><title>\(.*\) (.*, \([0-9.]*\) %)<\/title>.* y="\([0-9]*\)".*/\3 \2 \1/p' "$1" |
        awk '{ while (depth && at[depth] <= $1) depth--
               depth++; at[depth] = $1; path[depth] = path[depth - 1] ";" $3; print $2, path[depth] }'
}

# whole NAME PICTURE LEAST PATH: this stack, from the first function to PATH's last, has at least LEAST percent
whole()
{
    paths "build/demo-$2.svg" >"$scratch/paths"
    between "$1" "$(awk -v path="$4" '$2 ~ path "$" { sum += $1 } END { printf "%.0f\n", sum }' "$scratch/paths")" "$3" 100
}
# How large their shares are is up to the compiler: sort has 63 % by gcc 12, and 15 % by gcc 16.
whole "CPU time: sort, from the start of its thread" cpu 5 \
    "^;all;demo(;clone3|;__clone|;$NAMELESS)?;(start_thread|$NAMELESS);server;compute;sort"
whole "CPU time: search" cpu 5 ";(start_thread|$NAMELESS);server;compute;search"
whole "waits: for the lock" waits 2 ";(start_thread|$NAMELESS);server;write_log;[^;]*mutex_lock(;$NAMELESS)?"
whole "waits: of the first thread" waits 20 \
    "^;all;demo;_start;__libc_start_main[^;]*;(__libc_start_call_main|$NAMELESS);main;send_requests"
for picture in cpu waits; do
    paths build/demo-$picture.svg >"$scratch/paths"
    between "$picture: percent of stacks that are cut" \
        "$(awk '/;\[truncated\]$/ { sum += $1 } END { printf "%.0f\n", sum }' "$scratch/paths")" 0 1
done
