/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's symbols, streamed from an open /proc/kallsyms: one pass for any number of addresses,
 * without holding them all. The descriptor stays the caller's; a pass starts at its beginning.
 */
#ifndef STACKBOX_KERNEL_KALLSYMS_H
#define STACKBOX_KERNEL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct kallsyms_symbol {
    uint64_t address; /* 0 if the kernel hides addresses */
    char type;        /* as in nm(1) */
    const char *name;
    const char *module; /* without its brackets, or NULL: the kernel itself */
};

bool kallsyms_is_function(char type); /* t T w W */

/*
 * Calls `each` with every symbol, in the file's order; what it points to is valid during the call.
 * A result other than 0 ends the pass: a negative one is returned, any other counts as success.
 * Lines that are not symbols are skipped.
 */
typedef int kallsyms_callback(void *context, const struct kallsyms_symbol *symbol);
int kallsyms_each(int fd, kallsyms_callback *each, void *context);
/* Is there a symbol of this name? Addresses may be hidden. False also if the file is unreadable. */
bool kallsyms_has(const char *name);

struct kallsyms_found {
    bool found;         /* otherwise there is no function */
    char type;
    int rank;           /* of its name among those with the same start */
    uint64_t start;     /* of the function */
    uint64_t end;       /* of it: where the next symbol is; 0 if that is not certain */
    struct text name;
    struct text module; /* empty: the kernel itself */
};

/* A function that was asked for. */
struct kallsyms_name {
    const char *name;
    uint64_t address; /* 0: hidden, or in no kernel */
};

struct kernel_names;

struct kallsyms_search {
    const uint64_t *addresses; /* sorted, without duplicates */
    size_t count;
    /* Among several names at one address these win; sorted by strcmp. */
    const struct kallsyms_name *preferred;
    size_t preferred_count;
    struct kernel_names *kernel; /* for kallsyms_find_known: asked, if it is open; or NULL */
};

/*
 * Finds the function that each address is in: the greatest symbol at or below it, if that is a
 * function and not too far away; or a machine's landing (MACHINE_LANDINGS) that begins one above
 * it, for an address that is a return address less one. found[i], which must be {0}, belongs to
 * addresses[i]; kallsyms_free frees their contents, after an error, too. 0, -EACCES if the kernel
 * hides all addresses, or a negative errno.
 */
int kallsyms_find(int fd, const struct kallsyms_search *search, struct kallsyms_found *found);
/* Makes the symbol what was found. 0 or -ENOMEM. */
int kallsyms_keep(struct kallsyms_found *found, const struct kallsyms_symbol *symbol, int rank);
void kallsyms_free(struct kallsyms_found *found, size_t count);

/*
 * A cache of lookups: later reports, and events printed as they come, are mostly in the same
 * functions, and a pass takes 60 ms, or a second on a small board. {0} is empty.
 */
struct kallsyms_known {
    struct kallsyms_known_place *places; /* sorted */
    size_t count, room;
    uint64_t modules; /* a hash of the loaded modules; if it changes, the cache is emptied */
};

/*
 * As kallsyms_find, but makes a pass only for addresses that are neither known nor named by the
 * kernel (search->kernel). `preferred` must not change between calls.
 */
int kallsyms_find_known(struct kallsyms_known *known, int fd, const struct kallsyms_search *search,
                        struct kallsyms_found *found);
void kallsyms_known_free(struct kallsyms_known *known);

#endif
