/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which libraries a file asks the dynamic linker for. */
#ifndef STACKBOX_ELF_ELF_NEEDED_H
#define STACKBOX_ELF_ELF_NEEDED_H

#include "elf/elf.h"

#define ELF_LONGEST_NEEDED 255

/* Called with each name; a result other than 0 ends this and is returned. */
typedef int elf_needed_callback(void *context, const char *name);
int elf_each_needed(const struct elf *elf, elf_needed_callback *each, void *context);

#endif
