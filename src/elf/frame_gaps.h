/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Code without tables whose frames are known by what it is: Go's, V8's, where the kernel enters a
 * file, and what linkers write themselves (.plt, .init). Part of frame_rows.
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
        uint64_t offset; /* the first is the gap's */
        struct unwind_rule rule;
    } rows[FRAME_GAP_ROWS];
};

/*
 * Returns how many there are, sorted by offset; they may have tables nevertheless, and overlap.
 * There is room for one more.
 */
size_t frame_gaps(const struct elf *elf, struct frame_gap gaps[FRAME_GAPS_MOST]);

/*
 * Searches a stretch of code without any tables, longer than what compilers leave between
 * functions, for where threads end (the machine's thread_exit), and adds that in its place; or all
 * of the stretch, if it is V8's. Returns how many there are.
 */
size_t frame_gaps_search(const struct elf *elf, uint64_t from, uint64_t to, struct frame_gap gaps[FRAME_GAPS_MOST],
                         size_t count);

/* ---- Between frame_gaps.c and frame_vdso.c ---- */

/* Is all of it code? If so, sets its offset. */
bool frame_place_gap(const struct elf *elf, uint64_t address, uint64_t size, struct frame_gap *gap);

/* Where, within `size` bytes of the file from `offset` on, these eight are; 0: nowhere. */
uint64_t frame_find_code(const struct elf *elf, uint64_t code, uint64_t offset, uint64_t size);

/* The rule of a function that has saved nothing, with a link register. */
extern const struct unwind_rule frame_linked;

/* Adds a row at this distance from the gap's beginning. */
void frame_add_row(struct frame_gap *gap, uint64_t distance, struct unwind_rule rule);

#endif
