/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The mappings of the kernel and its modules, and what they share with those of files. */
#ifndef STACKBOX_SYMBOLIZE_MAPPINGS_KERNEL_H
#define STACKBOX_SYMBOLIZE_MAPPINGS_KERNEL_H

#include "symbolize/mappings.h"

/* What other tools call the kernel where they mean one whose symbols are in kallsyms. */
#define KERNEL_PATH "[kernel.kallsyms]"

struct kernel_bounds {
    uint64_t start, end; /* both 0: not known */
};

/* From _text to _etext of /proc/kallsyms, open as `kallsyms`. */
struct kernel_bounds kernel_bounds_find(int kallsyms);

/* Of a module, or with NULL of the kernel: as text, "" where there is none. */
void kernel_build_id(const char *module, char text[2 * ELF_LONGEST_BUILD_ID + 1]);

/*
 * Adds the kernel itself; where its bounds are not known it has all that is the kernel's. 0 or -ENOMEM.
 * *kernel is good until the next is added.
 */
int mappings_add_kernel(struct symbol_mappings *mappings, struct kernel_bounds bounds, const char *build_id,
                        struct symbol_mapping **kernel);

/* ---- Of mappings.c ---- */

/* What is larger is no part of any program. */
#define MAPPINGS_LARGEST ((uint64_t)1 << 40)

/* Adds one, without addresses; good until the next is added. 0 or -ENOMEM. */
int mappings_add(struct symbol_mappings *mappings, const char *path, const char *build_id,
                 struct symbol_mapping **added);
/* As text; "" where there is none. */
void mappings_read_build_id(const struct elf *elf, char text[2 * ELF_LONGEST_BUILD_ID + 1]);

#endif
