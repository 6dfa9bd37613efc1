#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10
# host: yes
#
# --list prints what would be traced, for each kind of pattern, and traces nothing.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

# listed NAME EXTENDED-REGEX EXPECTED WORD...: the distinct matches in --list's output are EXPECTED
listed()
{
    name=$1 regex=$2 expected=$3
    shift 3
    run_stackbox stackcount --list "$@"
    is "$name" "$(grep -oE "$regex" "$scratch/out" | sort -u)" "$expected"
    is "$name: exit status" "$status" 0
    # It lists names, and does not trace.
    is "$name: nothing is traced" "$(grep -cE '^(Tracing|Detaching)' "$scratch/out" "$scratch/err" |
        grep -vc ':0$')" 0
}

thousand()
{
    local i=1000
    while [ $i -lt 2000 ]; do
        echo "many_${i#1}"
        i=$((i + 1))
    done
}

many=$WORKLOADS/many
usdt=$WORKLOADS/usdt
listed "functions of a program by *" 'many_[0-9]+' "$(thousand)" "$many:many_*"
is "each is on a line of its own" "$(grep -c . "$scratch/out")" 1000
listed "* is the only wildcard, in any place" 'many_[0-9]+' "$(thousand | grep '1.*9$')" \
    "$many:many_*1*9"
listed "functions by -r" 'many_[0-9]+' "$(thousand | grep -E '_(1|7)[0-4]+$')" -r \
    "$many:_(1|7)[0-4]+\$"
listed "one function" 'many_[0-9]+' many_123 "$many:many_123"
listed "a function's return" 'many_[0-9]+' many_123 "r:$many:many_123"
listed "two patterns, one place twice" 'many_[0-9]+' "many_122
many_123" "$many:many_122" "$many:many_123" "$many:*_123"
is "two patterns, one place twice: it is listed once" "$(grep -c . "$scratch/out")" 2
address=$("$many" -A | sed -n 's/^at many_000 //p')
run_stackbox stackcount --list "$many:$(printf '0x%x' "$address")"
is "an address: exit status" $status 0
contains "an address: it says which file" "$scratch/out" many

listed "USDT probes" '(truth|other):[a-z]+' "other:plain
truth:guarded
truth:plain
truth:sites" "u:$usdt:*"
listed "USDT probes of a provider" '(truth|other):[a-z]+' "truth:plain" "u:$usdt:truth:p*"
listed "USDT probes by name" '(truth|other):[a-z]+' "other:plain
truth:plain" "u:$usdt:plain"

run_stackbox stackcount --list "$many:man_*"
is "no match: exit status" "$status $(grep -c '^stackcount: 0 functions matched by' "$scratch/err")" "1 1"
is "no match: stdout is empty" "$(cat "$scratch/out")" ""
run_stackbox stackcount --list "$many:many_12"
contains "no match: similar names are suggested" "$scratch/err" "many_12"

if have_kprobes; then
    run_stackbox stackcount --list vfs_read
    is "a kernel function is listed" "$(grep -cw vfs_read "$scratch/out") $status" "1 0"
    run_stackbox stackcount --list 'vfs_rea*'
    grep -oE 'vfs_rea[a-z0-9_.]*' "$scratch/out" | sort -u >"$scratch/listed"
    is "each listed kernel function exists" "$(while read -r function; do
        grep -q " [tTwW] $function\$" /proc/kallsyms || echo "$function"
    done <"$scratch/listed")" ""
    contains "and vfs_readv is one of them" "$scratch/listed" vfs_readv
else
    skip "kernel functions" "this kernel has no kprobes"
fi

mkdir "$scratch/tracefs"
if mount -t tracefs tracefs "$scratch/tracefs" 2>/dev/null; then
    listed "tracepoints" 'sched:[a-z_0-9]+' \
        "$(for event in "$scratch/tracefs"/events/sched/sched_*/id; do
            event=${event%/id}
            echo "sched:${event##*/}"
        done | sort)" 't:sched:sched_*'
    is "there are no probes of ours" "$(cat "$scratch/tracefs/uprobe_events" 2>/dev/null)" ""
    umount "$scratch/tracefs"
fi

[ "$GUEST" ] && exit 0
# A library by its short name, compared with nm's list for the file that the dynamic linker uses.
libc=$(ldd /bin/sh | grep -o '/[^ ]*/libc\.so[^ ]*')
if [ "$libc" ]; then
    listed "functions of a library" 'malloc[a-z_]*' \
        "$(nm -D --defined-only "$libc" | sed -n 's/.* [TtWi] \(malloc[a-z_]*\)\(@.*\)*$/\1/p' | sort -u)" \
        'c:malloc*'
    listed "the same by its path" malloc malloc "$libc:malloc"
fi
listed "a program in PATH" '[a-z_]+$' "main" "$(cd "$WORKLOADS" && pwd)/chains:main"
PATH=$WORKLOADS:$PATH listed "a program found in PATH" 'target' target chains:target
