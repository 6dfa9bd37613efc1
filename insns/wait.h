/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the two programs of blocked time share: entries of the map of waits, and what is counted of
 * those that end. r6 to r9 and the places on the stack are theirs: see offwake.c.
 */
#ifndef STACKBOX_INSNS_WAIT_H
#define STACKBOX_INSNS_WAIT_H

#include "insns/account.h"
#include "insns/layout.h"
#include "insns/offwake.h"

/* Where things are on the stack, from r10. */
enum {
    INDEX = -4, /* the key of a small map */
    FOREIGN = -8,
    TID = -12, /* the key of the map of waits */
    PID_SCRATCH = -24,
    NEW_COUNT = -40, /* a struct blocked without its longest */
    NEW_WAIT = -168, /* a struct wait */
    LEFT = -176, /* when the thread left, or 0 */
    /* Of raw tracepoints, as the fields of the others: */
    RAW_STATE = -184,
    RAW_SCRATCH = -192,
    RAW_PID = -196, /* next_pid, or that of who is woken */
    NEW_WHOLE_COUNT = -224, /* a struct blocked with its longest */
};
_Static_assert(RAW_PID - NEW_WHOLE_COUNT >= (int)sizeof(struct blocked), "room for a count");
_Static_assert(NEW_COUNT - NEW_WAIT >= (int)sizeof(struct wait), "room for a wait");

/* In a wait. */
enum {
    SINCE = offsetof(struct wait, since),
    WAIT_TID = offsetof(struct wait, tid),
    WOKEN = offsetof(struct wait, woken),
    TARGET = offsetof(struct wait, target),
    TARGET_FLAGS = TARGET + (int)offsetof(struct party, flags),
    WAKER = offsetof(struct wait, waker),
    WAKER_FLAGS = WAKER + (int)offsetof(struct party, flags),
};


/* r0 = waits[TID] */
void emit_find_wait(struct program *program, int waits);

/*
 * r0 = waits[TID], made if it is not there. Where there is no room: counted in that word of the
 * account, and "out".
 */
#define emit_make_wait(program, wishes, full) \
    emit_make_wait_or(program, wishes, (int16_t)offsetof(struct account, full))
void emit_make_wait_or(struct program *program, const struct offwake_wishes *wishes, int16_t full);

/* r8 = how long the wait r7 has been at the time r0, whose `since` is r8; it waits no more */
void emit_end_wait(struct program *program);

/* counts[the parties of the wait r7] += { r8, 1 }, if it is a wait that counts; then "counted". */
void emit_count_wait(struct program *program, const struct offwake_wishes *wishes);

#endif
