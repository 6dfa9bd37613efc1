/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Machines for which only files and system calls are recognized. One that can do more gets a file
 * of its own.
 */
#include <elf.h>

#include "machine/machine.h"

/*
 * At a kernel function's first instruction this kernel's walk includes the caller, so `link` has no
 * DWARF number (machine_has_link()). Links' programs get registers in which a word is not set; by
 * chance it says that they are a user's, and then there is no stack.
 */
const struct machine machine_s390x = {
    .elf = EM_S390, .bits = 64, .is_big = true,
#if defined(__s390x__)
    .is_ours = true,
#endif
    .multiarch = "s390x-linux-gnu",
    .least_page = 12, .greatest_page = 12,
    .call_prefix = "__s390x_",
    .link = {0, 17},
    .args = {5, {5, 6, 7, 8, 9}, 5}, /* after a word and the PSW */
    .links_lack_stacks = true,
    .instruction = 2, .wide_hash = true,
};

const struct machine machine_ppc64 = {
    .elf = EM_PPC64, .bits = 64,
#if defined(__powerpc64__)
    .is_ours = true,
#endif
#if defined(__BIG_ENDIAN__)
    .is_big = true,
    .multiarch = "powerpc64-linux-gnu",
#else
    .multiarch = "powerpc64le-linux-gnu",
#endif
    .least_page = 12, .greatest_page = 16,
    .args = {6, {3, 4, 5, 6, 7, 8}, 3},
    .instruction = 4, .local_entries = true,
};

/* Files only: this program has never been built for it. */
const struct machine machine_alpha = {
    .elf = EM_ALPHA, .bits = 64,
    .multiarch = "alpha-linux-gnu",
    .least_page = 13, .greatest_page = 13,
    .instruction = 4, .wide_hash = true,
};
