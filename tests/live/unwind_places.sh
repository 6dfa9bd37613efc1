#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
#
# Walks find the table of a program on overlayfs, where stat(2) gives other inode numbers than the
# kernel's mappings, in another mount namespace, and deleted. And with only the two capabilities
# that tracing needs; where that is impossible, stackbox says so, and unwinds by frame pointers.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_tables || skip_all "$NO_TABLES"

WHOLE='_start;[^;]*__libc_start_main[^;]*;__libc_start_call_main;main;outer;middle;inner;spin'

# samples NAME COMMAND...: samples of a workload that prints `ready` have whole stacks
samples()
{
    shape=$1
    shift
    : >"$scratch/bare.out"
    "$@" </dev/null >"$scratch/bare.out" 2>&1 &
    bare=$!
    kill_at_end "$bare"
    wait_until 20 grep -q '^ready' "$scratch/bare.out"
    [ -z "${then:-}" ] || $then
    start_tracing profile -U -f -F 499 --unwind tables -p "$bare"
    kill -s USR2 $bare
    wait_stackbox
    wait $bare
    whole "$shape"
}

# whole NAME: most samples have the same stack, and none is cut
whole()
{
    all=$(folded_sum "$scratch/out" '^bare;')
    if [ "$all" -lt 20 ] || [ "$all" -gt 1000 ]; then
        fail "$1: there are enough samples" "$all: $(tail -n 3 "$scratch/err")"
        return
    fi
    pass "$1: there are enough samples"
    between "$1: percent of whole stacks" \
        $(($(folded_sum "$scratch/out" "^bare;$WHOLE") * 100 / (all + 1))) 85 100
    is "$1: no stack is cut" "$(grep '^bare;\[truncated\]' "$scratch/out" |
        grep -vE '\];(deregister_tm_clones|register_tm_clones|__do_global_dtors_aux|frame_dummy)[; ]')" ""
}

samples "here" "$WORKLOADS/bare" -w spins 900

mkdir "$scratch/lower" "$scratch/layers" "$scratch/merged" "$scratch/there"
cp "$WORKLOADS/bare" "$scratch/lower/bare"
# overlayfs with its layers on one file system that is not overlayfs itself
if mount -t tmpfs none "$scratch/layers" && mkdir "$scratch/layers/upper" "$scratch/layers/work" "$scratch/layers/lower" &&
    cp "$WORKLOADS/bare" "$scratch/layers/lower/bare" &&
    mount -t overlay overlay -o "lowerdir=$scratch/layers/lower,upperdir=$scratch/layers/upper,workdir=$scratch/layers/work" \
        "$scratch/merged" 2>/dev/null; then
    samples "on overlayfs" "$scratch/merged/bare" -w spins 900
    run_stackbox profile -U -f -F 499 --unwind tables -- "$scratch/merged/bare" spins 900
    whole "on overlayfs, a command"
    umount "$scratch/merged"
else
    skip "on overlayfs" "overlayfs cannot be mounted here"
fi
umount "$scratch/layers" 2>/dev/null

# shellcheck disable=SC2016 # for that shell
samples "in another mount namespace" unshare -m sh -c 'mount --bind "$0" "$1" && exec "$1/bare" -w spins 900' \
    "$scratch/lower" "$scratch/there"

then="rm $scratch/lower/bare"
samples "deleted" "$scratch/lower/bare" -w spins 900
then=

# With only CAP_BPF and CAP_PERFMON. (5.10 counts maps against the limit on locked memory.)
ulimit -l unlimited 2>/dev/null
cp "$WORKLOADS/bare" "$scratch/bare"
chmod 755 "$scratch" "$scratch/bare"
under="$WORKLOADS/deny --only bpf --only perfmon --uid 65534 --"
run_stackbox profile -U -f -F 499 --unwind tables -- "$scratch/bare" spins 900
whole "with two capabilities"

# If programs cannot be run to learn kernel offsets (BPF_PROG_TEST_RUN, 10)
under="$WORKLOADS/deny --syscall bpf/10:EINVAL --"
run_stackbox profile -U -f -F 499 --unwind tables -- "$scratch/bare" spins 900
is "without BPF_PROG_TEST_RUN: exit status" "$status" 0
contains "without BPF_PROG_TEST_RUN: it is reported" "$scratch/err" \
    'user stacks are unwound by frame pointers, not tables: '
is "without BPF_PROG_TEST_RUN: stacks are not whole" "$(folded_sum "$scratch/out" "^bare;$WHOLE")" 0
under=
