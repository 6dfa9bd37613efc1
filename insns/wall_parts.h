/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the programs of walltime share: the entry of a thread in the map of waits, and what is counted of it.
 *
 * Each thread has an entry from its first event on. Until then nothing is known of it: it is in the same part
 * since waits[0].since, when tracing began or a report was made, and its first event tells which. An event ends
 * one part of its thread's time and begins another:
 *
 *     pass(thread, implied, next):
 *         part = thread.part, or implied where that is not known
 *         thread.spent[part] += now - thread.since
 *         thread.since = now, thread.part = next
 *     count(key, thread): counts[key] += { thread.spent, thread.lived, 1 }, thread.spent = thread.lived = 0
 *     forget(thread): thread.spent = 0, thread.first = now
 *
 * Events of a thread come one after another: a wakeup holds the lock of the queue that the thread is put
 * into, and the thread has left its CPU then. Neither can samples interrupt the others, which run with
 * interrupts off.
 *
 * r6 = context, r7 = pid << 32 | tid, or the thread, r8 = slot, r9 = account.
 */
#ifndef STACKBOX_INSNS_WALL_PARTS_H
#define STACKBOX_INSNS_WALL_PARTS_H

#include "insns/account.h"
#include "insns/layout.h"
#include "insns/slot.h"
#include "insns/wait.h"
#include "insns/wall.h"

#define NOW LEFT /* where that is on the stack */

/* In an entry: others are as wait.h has them. */
enum {
    PART = offsetof(struct wall, part),
    SPENT = offsetof(struct wall, spent),
    LIVED = offsetof(struct wall, lived),
    FIRST = offsetof(struct wall, first),
    TARGET_KERNEL = TARGET + (int)offsetof(struct party, kernel_stack),
    TARGET_USER = TARGET + (int)offsetof(struct party, user_stack),
    SLOT_PARTY = offsetof(struct slot, party),
    SLOT_FLAGS = SLOT_PARTY + (int)offsetof(struct party, flags),
    MAP_KEY = INDEX, /* of the entry of nobody */
};
_Static_assert(NEW_COUNT - NEW_WAIT >= (int)sizeof(struct wall), "room for an entry");
_Static_assert(sizeof(struct wall) >= sizeof(struct walled), "or for a count");

/* A program may have several of these fragments: labels that it has only once. */
struct thread_labels {
    const char *start, *has_entry, *known;
};
struct count_labels {
    struct bank_labels first, insert, second;
    const char *found, *uncounted, *counted;
};

void emit_now(struct program *program);

/* r0 = the entry of TID, made if it is not there; without room that is counted in `full`, and on to `none`. */
void emit_find_thread(struct program *program, const struct offwake_wishes *wishes,
                      const struct thread_labels *labels, int16_t full, const char *none);
/* Ends what the thread r7 was in, or `implied` where nobody knows what that was. */
void emit_pass(struct program *program, enum wall_part implied, const char *known);
/* The thread r7 is nobody's: what it did until now is not asked for. r1 = now */
void emit_forget(struct program *program);

/*
 * Adds an event to the count of the slot's party, where `base` is r8, or of the target of the thread r7;
 * and what r7 has spent, if that is `spent`.
 */
void emit_count_spent(struct program *program, const struct offwake_wishes *wishes,
                      const struct count_labels *labels, unsigned base, bool spent);

/* A party with its stacks. */
struct party_wishes wall_party_wishes(const struct offwake_wishes *wishes);

#endif
