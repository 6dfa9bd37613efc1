/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The walk of insns/unwind.c once more, in C: over stacks that were copied, whose objects had no table when
 * they were met.
 */
#ifndef STACKBOX_UNWIND_WALK_H
#define STACKBOX_UNWIND_WALK_H

#include <stdbool.h>

#include "insns/machine.h"
#include "unwind/table.h"

/* What is mapped at an address. */
struct walk_object {
    const struct table *table; /* NULL: none; then */
    enum unwind_end end;       /* the walk ends there for this reason, but */
    bool frame_pointers;       /* where code is that keeps frame pointers: a JIT's */
    uint64_t bias;             /* address - bias is the offset in the file */
};

struct walk_registers {
    uint64_t pc;
    uint64_t by_dwarf[32]; /* the machine's numbers */
};

/* Where a walk begins that others have begun: see struct unwind_state, whose members these are. */
struct walk_start {
    uint64_t pc, sp, frame, base;
    bool exact, first, frame_lost, sp_lost, at_entry;
    struct walk_registers registers; /* as the event had them, and the link register as struct unwind_state has it */
};

struct walk_wishes {
    const struct machine *machine; /* which has a walk */
    void *context;
    void (*find)(void *context, uint64_t pc, struct walk_object *object);
    /* The machine's word at an address, which may be any. */
    bool (*read)(void *context, uint64_t address, uint64_t *word);
    uint64_t first_stack; /* the process's first stack pointer; 0: it is not known */
    size_t depth; /* room in `frames`, which the end takes no part of */
};

/*
 * Walks from these registers: how many frames went to `frames`, leaf first, as unwind_layout.h has them,
 * without the one for the end, which is *end.
 */
size_t walk_stack(const struct walk_wishes *wishes, const struct walk_registers *registers,
                  uint64_t *frames, enum unwind_end *end);

/* The same from the middle of one. */
size_t walk_on(const struct walk_wishes *wishes, const struct walk_start *start, uint64_t *frames,
               enum unwind_end *end);

#endif
