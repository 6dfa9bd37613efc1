/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/frame_vdso.h"

#include <elf.h>

#include "elf/elf_symbols.h"

#define MOST_BYTES (64u << 10)
#define INSTRUCTION 4

/* The address of the code through which handlers return; 0: there is none. */
static uint64_t sigreturn_of(const struct elf *elf)
{
    if (!elf->row->walk || !elf->row->walk->sigreturn)
        return 0;
    for (size_t i = 0; i < elf->segment_count; i++)
        if (elf->segments[i].file_size > MOST_BYTES)
            return 0;
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        if (!(segment->flags & PF_X))
            continue;
        const uint64_t found =
            frame_find_code(elf, elf->row->walk->sigreturn, segment->offset, segment->file_size);
        if (found)
            return found - segment->offset + segment->address;
    }
    return 0;
}

bool frame_is_vdso(const struct elf *elf)
{
    return sigreturn_of(elf) != 0;
}

static bool leaves_sp_alone(const struct elf *elf, const struct frame_gap *gap)
{
    unsigned char bytes[INSTRUCTION];

    for (uint64_t at = 0; at + INSTRUCTION <= gap->size; at += INSTRUCTION)
        if (elf_read(elf, gap->offset + at, bytes, sizeof(bytes)) ||
            elf->row->walk->moves_sp(machine_little32(bytes)))
            return false;
    return true;
}

struct gaps {
    const struct elf *elf;
    struct frame_gap *gaps;
    size_t count;
};

static int add_function(void *context, const struct elf_symbol *symbol)
{
    struct gaps *gaps = context;
    struct frame_gap *gap = &gaps->gaps[gaps->count];

    if (gaps->count == FRAME_GAPS_MOST || !symbol->size ||
        !frame_place_gap(gaps->elf, symbol->address, symbol->size, gap) || !leaves_sp_alone(gaps->elf, gap))
        return 0;
    frame_add_row(gap, 0, frame_linked);
    gaps->count++;
    return 0;
}

size_t frame_vdso_gaps(const struct elf *elf, struct frame_gap gaps[FRAME_GAPS_MOST])
{
    struct gaps found = {.elf = elf, .gaps = gaps};
    const uint64_t sigreturn = sigreturn_of(elf);

    /* A handler's return address is its first instruction, and the lookup is one below. */
    if (frame_place_gap(elf, sigreturn - INSTRUCTION, 3 * INSTRUCTION, &gaps[0])) {
        frame_add_row(&gaps[0], 0, (struct unwind_rule){.cfa = UNWIND_SIGNAL});
        found.count = 1;
    }
    elf_each_function(elf, add_function, &found);
    return found.count;
}
