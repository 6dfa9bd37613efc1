/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Shared by the programs that see switches: how they begin, entries of the map of waits, and
 * counting waits that end. r6 to r9 and the places on the stack are theirs: see offwake.c.
 */
#ifndef STACKBOX_INSNS_WAIT_H
#define STACKBOX_INSNS_WAIT_H

#include "insns/account.h"
#include "insns/layout.h"
#include "insns/offwake.h"
#include "insns/party.h"

/* Places on the stack, from r10. */
enum {
    INDEX = -4, /* a small map's key */
    FOREIGN = -8,
    TID = -12, /* the key of the map of waits */
    PID_SCRATCH = -24,
    NEW_COUNT = -40, /* a struct blocked without its longest */
    NEW_WAIT = -168, /* a struct wait */
    LEFT = -176, /* when the thread left, or 0 */
    /* For raw tracepoints, in place of the others' fields: */
    RAW_STATE = -184,
    RAW_PID = -196, /* next_pid, or that of the thread being woken */
    NEW_WHOLE_COUNT = -224, /* a struct blocked with its longest */
};
_Static_assert(RAW_PID - NEW_WHOLE_COUNT >= (int)sizeof(struct blocked), "room for a count");
_Static_assert(NEW_COUNT - NEW_WAIT >= (int)sizeof(struct wait), "room for a wait");

/* Offsets in a wait. */
enum {
    SINCE = offsetof(struct wait, since),
    WAIT_TID = offsetof(struct wait, tid),
    WOKEN = offsetof(struct wait, woken),
    TARGET = offsetof(struct wait, target),
    TARGET_FLAGS = TARGET + (int)offsetof(struct party, flags),
    WAKER = offsetof(struct wait, waker),
    WAKER_FLAGS = WAKER + (int)offsetof(struct party, flags),
};

/* r6 and r9; goes to "end" if there is nothing to do. */
void wait_begin(struct program *program, const struct offwake_wishes *wishes);

/* Reads what a raw tracepoint does not pass as numbers; the thread that leaves is current. */
void wait_read_fields(struct program *program, const struct offwake_wishes *wishes, bool switches);
/* r1 = prev_pid; r0 and r2 to r5 are lost */
void wait_load_prev_pid(struct program *program, const struct offwake_wishes *wishes);
/* r1 = next_pid, or the pid of the thread being woken */
void wait_load_other_pid(struct program *program, const struct offwake_wishes *wishes, int16_t field);
/* r1 = prev_state */
void wait_load_state(struct program *program, const struct offwake_wishes *wishes);

/* Without stacks. */
struct party_wishes wait_party_wishes(const struct offwake_wishes *wishes);
/* r8 = a slot with a cleared party; or goes to "out" */
void wait_claim_slot(struct program *program, const struct offwake_wishes *wishes);

/* r0 = waits[TID] */
void emit_find_wait(struct program *program, int waits);

/*
 * r0 = waits[TID], made if it is not there. Without room: counts that in this word of the account,
 * and goes to "out".
 */
#define emit_make_wait(program, wishes, full) \
    emit_make_wait_or(program, wishes, (int16_t)offsetof(struct account, full))
void emit_make_wait_or(struct program *program, const struct offwake_wishes *wishes, int16_t full);

/* r8 = how long the wait r7, whose `since` is r8, has lasted at time r0; it is no longer waiting */
void emit_end_wait(struct program *program);

/* counts[the parties of the wait r7] += { r8, 1 }, if the wait counts; then "counted". */
void emit_count_wait(struct program *program, const struct offwake_wishes *wishes);

#endif
