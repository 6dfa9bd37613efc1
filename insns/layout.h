/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What bytecode writes and C reads, or the other way round: one place, with its sizes nailed down. */
#ifndef STACKBOX_INSNS_LAYOUT_H
#define STACKBOX_INSNS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* The one word of the control map: which bank programs count into. */
enum control_mode {
    CONTROL_PAUSED = 0,
    CONTROL_MAIN = 1,
    CONTROL_STAND_IN = 2,
};

/*
 * The key of a count. A stack is a word: its id in the stack map (32 bits), or with STACK_SPILLED the
 * key of a spilled one, or a negative errno - get_stackid's, -ENOMEM when there was no room to spill
 * it, NO_STACK where none is asked for.
 */
struct count_key {
    int64_t kernel_stack;
    int64_t user_stack;
    uint32_t pid;
    uint32_t foreign; /* 1: pid is the host's number, the process is in no pid namespace of ours */
    char comm[16];
};
_Static_assert(sizeof(struct count_key) == 40, "a hash key must hold no padding");
_Static_assert(offsetof(struct count_key, comm) % 8 == 0, "cleared by two aligned stores");

#define NO_STACK (-1) /* -EPERM, which get_stackid never returns */
#define STACK_SPILLED (1LL << 62)

/* A stack that get_stackid could not keep, under the hash of its frames. */
struct spilled_stack {
    uint64_t bytes; /* of frames, 8 for each */
    uint64_t frames[];
};
/* So many are hashed at a time, and the last of them may stand behind the deepest stack. */
#define FRAMES_AT_A_TIME 4
#define SPILLED_STACK_BYTES(depth) \
    (sizeof(struct spilled_stack) + ((size_t)(depth) + FRAMES_AT_A_TIME - 1) * sizeof(uint64_t))
_Static_assert(offsetof(struct spilled_stack, frames) == 8, "no padding");

/* Per-CPU counters of what could not be counted in the table. */
enum account_index {
    ACCOUNT_TABLE_FULL,
    ACCOUNT_ENTRIES,
};

#endif
