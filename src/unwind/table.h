/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A table in the format of insns/unwind_layout.h: made from rows in the reader, checked by us, and
 * searched.
 */
#ifndef STACKBOX_UNWIND_TABLE_H
#define STACKBOX_UNWIND_TABLE_H

#include "elf/frame_rows.h"
#include "insns/unwind_layout.h"

struct table {
    uint32_t *words; /* NULL: it is in programs' maps: block n is in chunks[n >> 6] */
    uint32_t *const *chunks;
    size_t blocks; /* of UNWIND_BLOCK_WORDS each */
    struct unwind_object object; /* with `words`, its `block` is 0 */
};

/* 0, -ENOENT: there are no rows, -E2BIG, or -ENOMEM. table_free after either. */
int table_make(struct table *table, const struct frame_rows *frames);
void table_free(struct table *table);

/*
 * Is everything as unwind_layout.h promises: every index within bounds, rows in order, rules known?
 * Tables from the reader are trusted only after that. 0, or -EBADMSG.
 */
int table_check(const struct table *table);

/* The rule for an offset in the file, in a table that was checked; NULL: none covers it. */
const struct unwind_rule *table_find(const struct table *table, uint64_t offset);

#endif
