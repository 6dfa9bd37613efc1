/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* bpf(2) itself. For bpf.c and bpf_links.c only. */
#ifndef STACKBOX_KERNEL_BPF_CALL_H
#define STACKBOX_KERNEL_BPF_CALL_H

#include "kernel/bpf_abi.h"

/* What the kernel returns, or a negative errno. */
int bpf_call(enum bpf_abi_command command, void *attributes, unsigned size);

static inline uint64_t pointer(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

#endif
