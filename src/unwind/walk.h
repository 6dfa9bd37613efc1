/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The walk of insns/unwind.c again, in C: for copied stacks, whose objects had no table when
 * programs met them.
 */
#ifndef STACKBOX_UNWIND_WALK_H
#define STACKBOX_UNWIND_WALK_H

#include "insns/machine.h"
#include "unwind/table.h"

/* What is mapped at an address. */
struct walk_object {
    const struct table *table; /* NULL: none; then */
    enum unwind_end end;       /* the walk ends there for this reason, */
    bool frame_pointers;       /* unless its code keeps frame pointers: a JIT's; */
    bool trampoline;           /* the call returns to one (struct machine_walk) */
    uint64_t bias;             /* address - bias is the offset in the file */
};

struct walk_registers {
    uint64_t pc;
    uint64_t by_dwarf[32]; /* by the machine's DWARF numbers */
};

/* Continues a walk that a program began: see struct unwind_state, whose fields these are. */
struct walk_start {
    uint64_t pc, sp, frame, base;
    bool exact, first, frame_lost, sp_lost, at_entry;
    struct walk_registers registers; /* as of the event; link register as in struct unwind_state */
};

struct walk_options {
    const struct machine *machine; /* one with a walk */
    void *context;
    void (*find)(void *context, uint64_t pc, struct walk_object *object);
    /* The machine's word at any address. */
    bool (*read)(void *context, uint64_t address, uint64_t *word);
    uint64_t first_stack; /* the process's initial stack pointer; 0: unknown */
    size_t depth; /* room in `frames`, not counting the end */
};

/*
 * Walks from these registers. Returns how many frames went to `frames`, leaf first, as in
 * unwind_layout.h, without one for the end, which is in *end.
 */
size_t walk_stack(const struct walk_options *options, const struct walk_registers *registers,
                  uint64_t *frames, enum unwind_end *end);

/* The same from the middle of a walk. */
size_t walk_on(const struct walk_options *options, const struct walk_start *start, uint64_t *frames,
               enum unwind_end *end);

#endif
