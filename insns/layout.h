/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What bytecode writes and C reads, or the other way round: one place, with its sizes nailed down. */
#ifndef STACKBOX_INSNS_LAYOUT_H
#define STACKBOX_INSNS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* The one word of the control map: which bank programs count into. */
enum control_mode {
    CONTROL_PAUSED = 0,
    CONTROL_BANK_A = 1,
    CONTROL_BANK_B = 2,
};

/*
 * The key of a count. A stack is its id in stack storage, or a negative errno of get_stackid (which
 * fills the word: it is signed), or NO_STACK where none is asked for.
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

/* Per-CPU counters of what could not be counted in the table. */
enum account_index {
    ACCOUNT_TABLE_FULL,
    ACCOUNT_ENTRIES,
};

#endif
