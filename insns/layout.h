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
 * The key of a count. A stack is a word: its id in the stack map (32 bits), or with STACK_SPILLED
 * the key of one under its own hash, or a negative errno - the kernel's, -ENOMEM when there was no
 * room to keep it, NO_STACK where none is asked for.
 */
struct count_key {
    int64_t kernel_stack;
    int64_t user_stack;
    uint64_t born;   /* which life of the pid it was: 0, or what the map of lives says */
    uint64_t caller; /* at the start of a user's function: where it returns to; else 0 */
    uint32_t pid;
    uint32_t flags;
    char comm[16];
};
_Static_assert(sizeof(struct count_key) == 56, "a hash key must hold no padding");
_Static_assert(offsetof(struct count_key, comm) % 8 == 0, "cleared by two aligned stores");

enum count_flags {
    KEY_FOREIGN = 1,      /* pid is the host's number, the process is in no pid namespace of ours */
    KEY_USER_PROBE = 2,   /* the event came from a user's program: it does have a user stack */
    KEY_NO_CALLER = 4,    /* the kernel's walk from this place never finds the caller */
    KEY_MARK = 8,         /* the place begins with endbr64, where that is a question of its own */
};

#define NO_STACK (-1) /* -EPERM, which get_stackid never returns */
#define STACK_SPILLED (1LL << 62)

/* A stack under the hash of its frames. */
struct spilled_stack {
    uint64_t bytes; /* of frames, 8 for each */
    uint64_t frames[];
};
/* So many are hashed at a time, and the last of them may stand behind the deepest stack. */
#define FRAMES_AT_A_TIME 4
#define SPILLED_STACK_BYTES(depth) \
    (sizeof(struct spilled_stack) + ((size_t)(depth) + FRAMES_AT_A_TIME - 1) * sizeof(uint64_t))
_Static_assert(offsetof(struct spilled_stack, frames) == 8, "no padding");

/* A thread at a moment: as it leaves a CPU, or as it wakes another. Stacks as in a count_key. */
struct party {
    int64_t kernel_stack;
    int64_t user_stack;
    uint64_t born;
    uint32_t pid;
    uint32_t tid;
    uint32_t flags; /* KEY_FOREIGN, PARTY_SEEN */
    uint32_t unused; /* 0: a hash key must hold no padding */
    char comm[16];
};
_Static_assert(sizeof(struct party) == 56, "a hash key must hold no padding");
_Static_assert(sizeof(struct party) == sizeof(struct count_key), "they share a slot's room");
_Static_assert(offsetof(struct party, comm) % 8 == 0, "cleared by two aligned stores");

#define PARTY_SEEN 16 /* the description is one: an entry that was just made has none yet */

/*
 * An entry of the map of waits, by the tid of the whole machine: made when its thread is first seen
 * and gone with it. The two parties, or the target alone, are the key of a count.
 */
struct wait {
    uint64_t since; /* CLOCK_MONOTONIC; 0: it does not wait */
    uint32_t tid;   /* as `target` would have it; 0 before that was filled in */
    uint32_t woken; /* since it waits; a waker without it may be of a wake that found it running */
    struct party target;
    struct party waker; /* where wakers are asked for, else the map's values end before it */
};
_Static_assert(offsetof(struct wait, waker) == 72, "a hash key must hold no padding");
_Static_assert(sizeof(struct wait) == 128, "a hash key must hold no padding");

/* What is counted of them. */
struct blocked {
    uint64_t nanoseconds;
    uint64_t waits;
};

/*
 * What a program works in: the stack of a program is too small for it, and that of programs on user
 * probes was seen to be overwritten beyond 48 bytes on some kernels. Programs on user probes can be
 * preempted, and another may run on their CPU meanwhile: each CPU has several slots, and a program
 * claims one by being its only user.
 */
struct slot {
    uint64_t users;
    uint64_t zero;   /* the value of a new count */
    uint32_t number; /* of the slot, from 1 */
    uint32_t walker; /* in the first: the slot of the program whose stack walk was the last to begin */
    union {
        struct count_key key;
        struct party party; /* of the programs that see waits */
    };
    struct spilled_stack spilled;
};
#define SLOTS_PER_CPU 4
#define SLOT_BYTES(depth) (offsetof(struct slot, spilled) + SPILLED_STACK_BYTES(depth))
_Static_assert(offsetof(struct slot, spilled) == 80, "no padding");

/*
 * The map of lives: by the pid of the whole machine, the time (CLOCK_MONOTONIC) of the last exec of
 * a process, made even, or of the end of its first thread, made odd.
 */
#define LIFE_ENDED 1

/* Per-CPU counters of what could not be counted in the table. */
enum account_index {
    ACCOUNT_TABLE_FULL,
    ACCOUNT_SLOTS_TAKEN,
    ACCOUNT_WAITS_FULL, /* waits that there was no room for in the map of waits */
    ACCOUNT_ENDS_UNSEEN, /* waits whose thread left the CPU again, and was not seen to come to it */
    ACCOUNT_ENTRIES,
};

#endif
