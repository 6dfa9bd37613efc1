/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where the caller of each instruction of a file is, as rows: by .eh_frame, or .debug_frame if
 * there is none, then by the code itself, and for calls of 32-bit ARM by .ARM.exidx. Code known to
 * keep frame pointers (Go's) has rows that say so. Nothing in a file is trusted: a table that
 * contradicts itself only loses its own rows.
 */
#ifndef STACKBOX_ELF_FRAME_ROWS_H
#define STACKBOX_ELF_FRAME_ROWS_H

#include <sys/types.h>

#include "elf/elf.h"
#include "insns/unwind_layout.h"

/* Applies from its offset in the file on, up to the next row. */
struct frame_row {
    uint64_t offset;
    uint32_t rule;
};

/* The bytes of a function in the file, by its table. */
struct frame_function {
    uint64_t offset, size;
};

/* The number of rows, and of functions with rows by tables, by their code, and without rows. */
struct frame_counts {
    uint64_t rows, by_table, by_code, by_none;
};

struct frame_rows {
    struct frame_row *rows; /* by offset, without duplicates; between functions UNWIND_UNKNOWN */
    size_t row_count, row_room;
    struct unwind_rule *rules; /* no two are equal; rule 0 is {UNWIND_UNKNOWN} */
    size_t rule_count, rule_room;
    struct frame_counts counts;
    uint64_t skipped; /* functions that overlap others, without code, or with damaged tables */
};

/* The most rows of one file; the rest is `skipped`. */
#define FRAME_ROWS_MOST (8u << 20)

/*
 * Reads all tables, and .debug_frame for code that .eh_frame does not cover. 0, -ENOENT: there are
 * no rows, -ENOMEM, or another negative errno. frame_rows_free after either.
 */
int frame_rows_read(struct frame_rows *frames, const struct elf *elf);
void frame_rows_free(struct frame_rows *frames);

/*
 * The bounds of the functions in a file's tables, by offset: for names in stripped files. Returns
 * their number or a negative errno; *functions is the caller's to free.
 */
ssize_t frame_functions(const struct elf *elf, struct frame_function **functions);

#endif
