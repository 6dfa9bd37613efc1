/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The only giver of names: from a tally's addresses to symbols, each source read once. */
#ifndef STACKBOX_SYMBOLS_SYMBOLIZE_H
#define STACKBOX_SYMBOLS_SYMBOLIZE_H

#include <stdbool.h>

#include "tally.h"
#include "util.h"

struct symbol {
    bool kernel;
    uint32_t pid;     /* of the process whose address it is; 0 for the kernel */
    bool foreign;     /* pid is no number of ours: nothing can be looked up */
    bool is_return;   /* the address is where a call comes back to: one byte behind the call */
    uint64_t address;
    struct text function; /* empty: not known */
    struct text file;     /* the kernel's module, the program's file; empty: none */
    uint64_t offset;  /* behind the start of the function; without one, the address in the file */
};

struct symbols {
    struct symbol *items; /* each address of each process once */
    size_t count;
    uint32_t *frames;     /* for every frame of the tally: an index into items */
    size_t *first;        /* for every entry: where its kernel frames begin; the user's follow */
};

struct symbolize_wishes {
    int kallsyms; /* an open /proc/kallsyms, or below 0 */
    /* Of several names of a kernel function these are shown; sorted by strcmp. */
    const char *const *preferred;
    size_t preferred_count;
};

/*
 * Names every frame of the tally. 0 or a negative errno; *hidden becomes true when the kernel shows
 * no addresses in kallsyms. symbols_free after either.
 */
int symbols_make(struct symbols *symbols, const struct tally *tally,
                 const struct symbolize_wishes *wishes, bool *hidden);
void symbols_free(struct symbols *symbols);

#endif
