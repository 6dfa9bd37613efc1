/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A program in the words of older kernels, where it is the same program in them. */
#ifndef STACKBOX_INSNS_OLDER_H
#define STACKBOX_INSNS_OLDER_H

#include <linux/bpf.h>
#include <stddef.h>

/*
 * Reads of the kernel's or the user's memory have names of their own since 5.5. Before, one name did for both, and
 * still does where an address is of one of them alone.
 */
void insns_make_older(struct bpf_insn *insns, size_t count);

#endif
