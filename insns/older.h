/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Translates a program for older kernels. */
#ifndef STACKBOX_INSNS_OLDER_H
#define STACKBOX_INSNS_OLDER_H

#include <linux/bpf.h>
#include <stddef.h>

/*
 * Reads of the kernel's or the user's memory have had helpers of their own since 5.5. Before, there
 * was one for both, which still works where an address can only be one of them.
 */
void insns_make_older(struct bpf_insn *insns, size_t count);

#endif
