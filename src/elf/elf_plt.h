/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* PLT entries: the stubs through which a file calls functions of others. */
#ifndef STACKBOX_ELF_ELF_PLT_H
#define STACKBOX_ELF_ELF_PLT_H

#include "elf/elf_symbols.h"

/*
 * Names those of the sorted addresses that are in such an entry and not found yet: "malloc@plt". As
 * elf_find(), which calls it.
 */
int elf_plt_find(const struct elf *elf, const uint64_t *addresses, size_t count,
                 struct elf_found *found);

#endif
