/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the programs that see switches share: how they begin, entries of the map of waits, and what is
 * counted of waits that end. r6 to r9 and the places on the stack are theirs: see offwake.c.
 */
#ifndef STACKBOX_INSNS_WAIT_H
#define STACKBOX_INSNS_WAIT_H

#include "insns/account.h"
#include "insns/layout.h"
#include "insns/offwake.h"
#include "insns/party.h"

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

/* r6 and r9; where nothing is to be done, "end". */
void wait_begin(struct program *program, const struct offwake_wishes *wishes);

/* Reads what a raw tracepoint does not hand over as numbers; who leaves is current. */
void wait_read_fields(struct program *program, const struct offwake_wishes *wishes, bool switches);
/* r1 = prev_pid; r0 and r2 to r5 are lost */
void wait_load_prev_pid(struct program *program, const struct offwake_wishes *wishes);
/* r1 = next_pid, or the pid of who is woken */
void wait_load_other_pid(struct program *program, const struct offwake_wishes *wishes, int16_t field);
/* r1 = prev_state */
void wait_load_state(struct program *program, const struct offwake_wishes *wishes);

/* Without stacks. */
struct party_wishes wait_party_wishes(const struct offwake_wishes *wishes);
/* r8 = a slot with a party of whom nothing is known, or on to "out" */
void wait_claim_slot(struct program *program, const struct offwake_wishes *wishes);

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
