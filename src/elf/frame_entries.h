/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The functions that a file's tables tell of (FDEs). Part of frame_rows. */
#ifndef STACKBOX_ELF_FRAME_ENTRIES_H
#define STACKBOX_ELF_FRAME_ENTRIES_H

#include "elf/frame_sections.h"

struct frame_entry_row {
    uint64_t address; /* from here on */
    struct unwind_rule rule;
};

struct frame_entry {
    const struct cfi_common *common;
    struct cfi_bytes program; /* of the function alone */
    const struct frame_entry_row *rows; /* NULL: they are as `program` says; else neither is there (.ARM.exidx) */
    size_t row_count;
    uint64_t start, end;      /* addresses; it is not empty */
    bool is_debug;            /* of .debug_frame, or .ARM.exidx: other tables may have told of it */
};

/* Not 0 ends it, but for -EBADMSG: this one is damaged. */
typedef int frame_callback(void *context, const struct frame_entry *entry);

/*
 * Calls `each` with all functions, by address as far as nothing is damaged: those of .debug_frame behind what
 * .eh_frame says of the same address, and those of .ARM.exidx behind both. *skipped grows by those that are damaged. 0, what `each` returned, or
 * -ENOMEM.
 */
int frame_each(const struct frame_sections *sections, frame_callback *each, void *context, uint64_t *skipped);

#endif
