/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The mappings of the kernel and its modules, and what they share with those of files. */
#ifndef STACKBOX_SYMBOLIZE_MAPPINGS_KERNEL_H
#define STACKBOX_SYMBOLIZE_MAPPINGS_KERNEL_H

#include "symbolize/mappings.h"

/* Other tools' name for a kernel whose symbols are in kallsyms. */
#define KERNEL_PATH "[kernel.kallsyms]"

struct kernel_bounds {
    uint64_t start, end; /* both 0: unknown */
};

/* From _text to _etext of /proc/kallsyms, open as `kallsyms`. */
struct kernel_bounds kernel_bounds_find(int kallsyms);

/* Of a module, or, if NULL, of the kernel: as text, "" if there is none. */
void kernel_build_id(const char *module, char text[2 * ELF_LONGEST_BUILD_ID + 1]);

/*
 * Adds the kernel itself; if its bounds are unknown it gets all kernel addresses. 0 or -ENOMEM.
 * *kernel is valid until another is added.
 */
int mappings_add_kernel(struct symbol_mappings *mappings, struct kernel_bounds bounds, const char *build_id,
                        struct symbol_mapping **kernel);

/* ---- In mappings.c ---- */

/* Anything larger is not part of a program. */
#define MAPPINGS_LARGEST ((uint64_t)1 << 40)

/* Adds one, without addresses; valid until another is added. 0 or -ENOMEM. */
int mappings_add(struct symbol_mappings *mappings, const char *path, const char *build_id,
                 struct symbol_mapping **added);
/* As text; "" if there is none. */
void mappings_read_build_id(const struct elf *elf, char text[2 * ELF_LONGEST_BUILD_ID + 1]);

#endif
