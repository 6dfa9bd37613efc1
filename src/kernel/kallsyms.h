/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's symbols, streamed from an open /proc/kallsyms: one pass for any number of addresses,
 * and no table of them all. The descriptor stays the caller's; a pass starts at its beginning.
 */
#ifndef STACKBOX_KERNEL_KALLSYMS_H
#define STACKBOX_KERNEL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct kallsyms_symbol {
    uint64_t address; /* 0 where the kernel hides addresses */
    char type;        /* as nm(1) has it: t T w W are functions */
    const char *name;
    const char *module; /* without its brackets, or NULL: the kernel itself */
};

/*
 * Calls `each` with every symbol, in the order of the file; what it points to holds for that call.
 * A value of `each` other than 0 ends the pass: a negative one is returned, any other counts as
 * done.
 * Lines that are no symbol are passed over.
 */
typedef int kallsyms_callback(void *context, const struct kallsyms_symbol *symbol);
int kallsyms_each(int fd, kallsyms_callback *each, void *context);

struct kallsyms_found {
    bool found;         /* else no function is there */
    char type;
    int rank;           /* of its name among those at its start */
    uint64_t start;     /* of the function */
    struct text name;
    struct text module; /* empty: the kernel itself */
};

struct kallsyms_search {
    const uint64_t *addresses; /* sorted, each once */
    size_t count;
    /* Of several names at one address these win; sorted by strcmp. */
    const char *const *preferred;
    size_t preferred_count;
};

/*
 * Gives each address the function that holds it: the greatest symbol at or below it, if that is a
 * function and not too far away. found[i], which must be {0}, goes with addresses[i]; kallsyms_free
 * frees what is in them, after an error too. 0, -EACCES when the kernel hides all addresses, or a
 * negative errno.
 */
int kallsyms_find(int fd, const struct kallsyms_search *search, struct kallsyms_found *found);
void kallsyms_free(struct kallsyms_found *found, size_t count);

#endif
