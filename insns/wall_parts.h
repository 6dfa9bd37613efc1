/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Shared by the programs of walltime: a thread's entry in the map of waits, and its counts.
 *
 * Each thread has an entry from its first event on. Until then nothing is known about it: it has
 * been in the same state since waits[0].since, when tracing began or a report was made, and its
 * first event tells which. An event ends one state of the thread and begins another:
 *
 *     pass(thread, implied, next):
 *         part = thread.part, or implied if that is unknown
 *         thread.spent[part] += now - thread.since
 *         thread.since = now, thread.part = next
 *     count(key, thread): counts[key] += { thread.spent, thread.lived, 1 }, thread.spent = thread.lived = 0
 *     forget(thread): thread.spent = 0, thread.first = now
 *
 * A thread's events come one after another: a wakeup holds the lock of the runqueue that the thread
 * is put into, and the thread has left its CPU then. Nor can samples interrupt the others, which
 * run with interrupts off.
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

#define NOW LEFT /* its place on the stack */

/* Offsets in an entry: the others are in wait.h. */
enum {
    PART = offsetof(struct wall, part),
    SPENT = offsetof(struct wall, spent),
    LIVED = offsetof(struct wall, lived),
    FIRST = offsetof(struct wall, first),
    TARGET_KERNEL = TARGET + (int)offsetof(struct party, kernel_stack),
    TARGET_USER = TARGET + (int)offsetof(struct party, user_stack),
    SLOT_PARTY = offsetof(struct slot, party),
    SLOT_FLAGS = SLOT_PARTY + (int)offsetof(struct party, flags),
    MAP_KEY = INDEX, /* of the entry of tid 0 */
};
_Static_assert(NEW_COUNT - NEW_WAIT >= (int)sizeof(struct wall), "room for an entry");
_Static_assert(sizeof(struct wall) >= sizeof(struct walled), "or for a count");

/* A program may use these fragments more than once: labels that it has only once. */
struct thread_labels {
    const char *start, *has_entry, *known;
};
struct count_labels {
    struct bank_labels first, insert, second;
    const char *found, *uncounted, *counted;
};

void emit_now(struct program *program);

/*
 * r0 = the entry of TID, made if it is not there; without room, counts that in `full` and goes to
 * `none`.
 */
void emit_find_thread(struct program *program, const struct offwake_wishes *wishes,
                      const struct thread_labels *labels, int16_t full, const char *none);
/* Ends the state of the thread r7, or `implied` if that was unknown. */
void emit_pass(struct program *program, enum wall_part implied, const char *known);
/* The thread r7 was not asked for: drops its time so far. r1 = now */
void emit_forget(struct program *program);

/*
 * Adds an event to the count of the slot's party, if `base` is r8, or of the target of the thread
 * r7; and r7's times, if `spent`.
 */
void emit_count_spent(struct program *program, const struct offwake_wishes *wishes,
                      const struct count_labels *labels, unsigned base, bool spent);

/* A party with its stacks. */
struct party_wishes wall_party_wishes(const struct offwake_wishes *wishes);

#endif
