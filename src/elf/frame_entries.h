/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The functions in a file's tables (FDEs). Part of frame_rows. */
#ifndef STACKBOX_ELF_FRAME_ENTRIES_H
#define STACKBOX_ELF_FRAME_ENTRIES_H

#include "elf/frame_sections.h"

struct frame_entry_row {
    uint64_t address; /* from here on */
    struct unwind_rule rule;
};

struct frame_entry {
    const struct cfi_common *common;
    struct cfi_bytes program; /* of this function only */
    const struct frame_entry_row *rows; /* from .ARM.exidx, instead of `common` and `program`; else NULL */
    size_t row_count;
    uint64_t start, end;      /* addresses; not empty */
    bool is_debug;            /* from .debug_frame or .ARM.exidx: other tables may have told of it */
};

/* A result other than 0 ends this, except -EBADMSG: this entry is damaged. */
typedef int frame_callback(void *context, const struct frame_entry *entry);

/*
 * Calls `each` with all functions, by address if nothing is damaged: .debug_frame's after .eh_frame's
 * of the same address, and .ARM.exidx's after both. *skipped grows by the damaged ones. 0, what `each` returned, or
 * -ENOMEM.
 */
int frame_each(const struct frame_sections *sections, frame_callback *each, void *context, uint64_t *skipped);

#endif
