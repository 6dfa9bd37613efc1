#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
#
# sys_NAME works on every machine: if no function has that name, it means this machine's function
# for the system call, and the first line says which.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

# The one of these names that this kernel has
for prefix in '' __x64_ __arm64_ __riscv_ __s390x_ __se_; do
    grep -q " [tT] ${prefix}sys_getppid\$" /proc/kallsyms && break
done
ENTRY=${prefix}sys_getppid
means=$([ -z "$prefix" ] || echo " ($ENTRY)")

# listed PATTERN PATTERN: the first means the second
listed()
{
    run_stackbox stackcount --list "$1"
    is "$1 means $2" "$status $(cat "$scratch/out")" "0 $2"
}
listed sys_getppid "$ENTRY"
listed r::sys_getppid "r::$ENTRY"
listed p::sys_getppid "$ENTRY"
listed sys_getppid+8 "$ENTRY+0x8"
listed "$ENTRY" "$ENTRY"
run_stackbox stackcount --list sys_no_such_call
is "an unknown system call is refused" \
    "$status $(cut -d '"' -f 1 "$scratch/err")" "1 stackcount: 0 functions matched by "
if [ "$prefix" ]; then
    run_stackbox stackcount --list 'sys_getppi*'
    is "a wildcard matches literal names only" "$status $(cut -d '"' -f 1 "$scratch/err")" \
        "1 stackcount: 0 functions matched by "
    run_stackbox stackcount --list -r '^sys_getppid$'
    is "so does a regular expression" "$status $(cut -d '"' -f 1 "$scratch/err")" \
        "1 stackcount: 0 functions matched by "
fi
run_stackbox stackcount --list sys_getppid vfs_read sys_read
is "such a name works together with others" \
    "$(tr '\n' ' ' <"$scratch/out")" "${prefix}sys_getppid ${prefix}sys_read vfs_read "

have_kprobes || skip_all "this kernel has no kprobes"
[ -z "$NO_RETURNS" ] || refuses_returns
for pattern in sys_getppid r::sys_getppid; do
    case $NO_RETURNS$pattern in
    yesr::*) continue ;;
    esac
    run_stackbox stackcount -K "$pattern" vfs_mknod -- "$WORKLOADS/calls" -n 300
    is "$pattern: the first line names the function" "$(grep -h '^Tracing' "$scratch/out" "$scratch/err")" \
        "Tracing 2 functions for \"$pattern\"$means, \"vfs_mknod\"... Hit Ctrl-C to end."
    is "$pattern: each call is counted" "$(awk '/^    [0-9]+$/ { sum += $1 } END { print sum + 0 }' "$scratch/out")" 300
done
run_stackbox stacksnoop -K --max 3 sys_getppid -- "$WORKLOADS/calls" -n 3
is "stacksnoop names the function" "$(grep -c "^[0-9.]*  *calls .* $ENTRY\$" "$scratch/out")" 3
