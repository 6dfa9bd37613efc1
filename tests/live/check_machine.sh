#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# host: yes
#
# check says what this machine's kernel lacks: links, types, a JIT, probes in certain kinds of code.
# The expected answers come from other sources.
. "${0%/*}/lib.sh"
. "${0%/*}/lib_check.sh"

have_root || skip_all "tracing needs root"

# has SYMBOL: does the kernel have this function?
has()
{
    grep -q " $1\$" /proc/kallsyms
}

look_at_all

# 32-bit kernels have the functions, but no links.
case $(uname -m) in
*64* | s390x) wide=yes ;;
*)            wide= ;;
esac
for way in "kprobe multi:register_fprobe_ips" "uprobe multi:bpf_uprobe_multi_link_attach"; do
    if by_rings profile; then
        begins "links" "${way%:*}" "no: perf's rings have none"
    elif [ -z "$wide" ]; then
        begins "links" "${way%:*}" "no: 32-bit kernels have none"
    elif ! has "${way#*:}"; then
        begins "links" "${way%:*}" no
    elif [ "${way%:*} $(uname -m)" = "kprobe multi riscv64" ]; then
        begins "links" "${way%:*}" "yes: but without kernel stacks"
    else
        begins "links" "${way%:*}" yes
    fi
done

if have_uprobes; then
    case $(uname -m) in
    aarch64) unprobed="but not in 32-bit ones" ;;
    arm*)    unprobed="but not in Thumb code" ;;
    *)       unprobed= ;;
    esac
    is "code that cannot be probed is reported" \
        "$(line_of "user functions" | grep -o 'but not in .*')" "$unprobed"
    begins "user functions" "user functions" yes
else
    skip "user functions" "this kernel has no user probes"
fi

types=$([ -r /sys/kernel/btf/vmlinux ] && echo yes || echo no)
begins "types" BTF "$types"
case $(uname -m) in
x86_64 | aarch64 | riscv64 | loongarch64 | mips*)
    # With rings, stackbox walks stacks in user space, not in the kernel by its types.
    if by_rings profile; then
        begins "types" "unwind tables" yes
    else
        begins "types" "unwind tables" "$types"
    fi ;;
*) begins "tables" "unwind tables" "no: user stacks are unwound by frame pointers: stackbox only does that on x86-64, arm64, riscv64 and LoongArch, and on armv7 and MIPS with --collect rings" ;;
esac

# With the JIT, and interpreted if the kernel can; Debian's s390x kernel has no JIT.
if ! [ -e /proc/sys/net/core/bpf_jit_enable ]; then
    begins "without a JIT" JIT "no: programs are interpreted"
    tells "without a JIT" JIT "CONFIG_BPF_JIT"
    exit 0
fi
begins "compiled" JIT yes
# Before 4.13 programs cannot be queried: 15 is BPF_OBJ_GET_INFO_BY_FD.
under="$WORKLOADS/deny --syscall bpf/15:EINVAL --"
look_at_all
begins "compiled, but programs cannot be queried" JIT yes
under=
set_sysctl net/core/bpf_jit_enable 0
if [ "$(cat /proc/sys/net/core/bpf_jit_enable)" = 0 ]; then
    look_at_all
    begins "interpreted" JIT "no: net.core.bpf_jit_enable is 0"
    tells "interpreted" JIT "sysctl net.core.bpf_jit_enable=1"
    under="$WORKLOADS/deny --syscall bpf/15:EINVAL --"
    look_at_all
    begins "interpreted, and programs cannot be queried" JIT "no: net.core.bpf_jit_enable is 0"
    under=
    look_at_all
    # Not every interpreter accepts programs that ask for their CPU, as stacksnoop's does.
    run_stackbox stacksnoop -D 0.1 t:sched:sched_switch
    refused=$([ $status = 0 ] || echo yes)
    is "interpreted: stacksnoop is refused if check says so" \
        "$(line_of JIT | grep -q 'this kernel refuses .*stacksnoop' && echo yes)" "$refused"
    is "interpreted: check says so of stacksnoop" "$(line_of stacksnoop | grep -q '^no: ' && echo yes)" "$refused"
    # None without types, nor on machines that have none at all.
    [ "$types" = yes ] || refused=
    ! line_of "unwind tables" | grep -q 'stackbox only does that on' || refused=
    is "interpreted: check says so of unwind tables" \
        "$(line_of "unwind tables" | grep -q 'bpf_jit_enable is 0.*: sysctl net.core.bpf_jit_enable=1$' && echo yes)" "$refused"
else
    skip "interpreted" "this kernel has no interpreter"
fi
reset_sysctls
