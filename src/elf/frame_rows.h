/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where the caller of each instruction of a file is: .eh_frame, or .debug_frame where there is none, and of 32-bit
 * ARM's functions that neither tells of .ARM.exidx, read into rows. Code of which it is known that it keeps frame pointers (Go's) has rows that say so.
 * Nothing in a file is trusted: one that contradicts itself costs its own rows.
 */
#ifndef STACKBOX_ELF_FRAME_ROWS_H
#define STACKBOX_ELF_FRAME_ROWS_H

#include <sys/types.h>

#include "elf/elf.h"
#include "insns/unwind_layout.h"

/* Holds from its offset in the file on, up to the next. */
struct frame_row {
    uint64_t offset;
    uint32_t rule;
};

/* A function has these bytes of the file, as its table says. */
struct frame_function {
    uint64_t offset, size;
};

struct frame_rows {
    struct frame_row *rows; /* by offset, no two of one; between functions there are UNWIND_UNKNOWN */
    size_t row_count, row_room;
    struct unwind_rule *rules; /* no two are equal; rule 0 is {UNWIND_UNKNOWN} */
    size_t rule_count, rule_room;
    uint64_t skipped; /* functions whose table is damaged, that lie in others, or that no segment of code holds */
};

/* No file is given more, and what is beyond is `skipped`. */
#define FRAME_ROWS_MOST (8u << 20)

/*
 * Reads all of them, and what .debug_frame says of code of which .eh_frame says nothing. `debug` may be the file
 * of debug information, whose .debug_frame is read where the file itself has none; or NULL. 0, -ENOENT: there is none, -ENOMEM, or another negative errno.
 * frame_rows_free after either.
 */
int frame_rows_read(struct frame_rows *frames, const struct elf *elf, const struct elf *debug);
void frame_rows_free(struct frame_rows *frames);

/*
 * The bounds of the functions that a file's tables tell of, by offset: for names of stripped files. Their
 * number, or a negative errno; *functions is the caller's to free.
 */
ssize_t frame_functions(const struct elf *elf, struct frame_function **functions);

#endif
