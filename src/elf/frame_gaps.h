/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Code that has no tables, but whose frames are known by what it is: Go's, V8's, where the kernel enters a file, and
 * what linkers write themselves (.plt, .init). Part of frame_rows.
 */
#ifndef STACKBOX_ELF_FRAME_GAPS_H
#define STACKBOX_ELF_FRAME_GAPS_H

#include "elf/elf.h"
#include "insns/unwind_layout.h"

#define FRAME_GAPS_MOST 10
#define FRAME_GAP_ROWS 3

struct frame_gap {
    uint64_t offset, size; /* in the file */
    unsigned count;
    struct {
        uint64_t offset; /* the first is that of the gap */
        struct unwind_rule rule;
    } rows[FRAME_GAP_ROWS];
};

/* How many there are, by offset: which may have tables nevertheless, and may lie in another. There is room for one more. */
size_t frame_gaps(const struct elf *elf, struct frame_gap gaps[FRAME_GAPS_MOST]);

/*
 * In code of the file without any tables, which is more than compilers leave between functions: where threads end
 * (thread_exit of the machine), added in its place. How many there are.
 */
size_t frame_gaps_search(const struct elf *elf, uint64_t from, uint64_t to, struct frame_gap gaps[FRAME_GAPS_MOST],
                         size_t count);

/* ---- Of frame_gaps.c and frame_vdso.c ---- */

/* Is it code, all of it? Then it has an offset. */
bool frame_place_gap(const struct elf *elf, uint64_t address, uint64_t size, struct frame_gap *gap);

/* Where in so many bytes of the file from `offset` on these eight are; 0: nowhere. */
uint64_t frame_find_code(const struct elf *elf, uint64_t code, uint64_t offset, uint64_t size);

/* That of a function which has saved nothing, where there is a link register. */
extern const struct unwind_rule frame_linked;

/* One more row, so far behind where the gap begins. */
void frame_add_row(struct frame_gap *gap, uint64_t distance, struct unwind_rule rule);

#endif
