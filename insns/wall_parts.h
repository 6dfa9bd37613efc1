/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Shared by the programs of walltime: a thread's entry in the map of waits, and its counts.
 *
 * Each thread has an entry from its first event on. Until then nothing is known about it: it has
 * been in the same state since the last cut, when tracing began or a report was made, and its first
 * event tells which. An event ends one interval of the thread and begins another:
 *
 *     close(thread, implied):
 *         part = thread.part, or implied if that is unknown
 *         if (thread.since < cut, and it is known whose the thread is) {
 *             if (the bank is the stand-in)               the report is being made
 *                 rests[thread] = *thread                 unless it is there
 *             thread.spent = 0, thread.since = cut
 *         }
 *         thread.spent[part] += now - thread.since
 *         thread.since = now
 *     count(key, thread): counts[key] += { thread.spent, 1 }, thread.spent = 0
 *     forget(thread): thread.spent = 0, thread.first = now
 *
 * So each moment of a thread is in one count, or in what the report at its cut takes out of its entry: the
 * entry as it was before its first event after the cut, which is the entry itself or, once there was an event,
 * its copy in `rests`. While it is unknown whose the thread is (it has not left a CPU, nor was it sampled), no
 * report has it, and its time is kept for the count in which that will be known.
 *
 * The cut goes with the bank: a program that counts into the next report's bank sees that report's cut.
 *
 * A thread's events come one after another: a wakeup holds the lock of the runqueue that the thread
 * is put into, and the thread has left its CPU then. Nor can samples interrupt the others, which
 * run with interrupts off; but for a change of the name, whose thread is running.
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

/* More places on the stack. */
enum {
    NOW = LEFT,
    CUT = -208,
    KEY = -216, /* of the thread's entry */
    RENAMED_PARTY = -280,
    NEW_COMM = -296,
};
_Static_assert(RAW_PID - CUT >= 8 && KEY - RENAMED_PARTY >= (int)sizeof(struct party), "apart");

/* Offsets in an entry: the others are in wait.h. */
enum {
    PART = offsetof(struct wall, part),
    SPENT = offsetof(struct wall, spent),
    THREAD_LEFT = offsetof(struct wall, left),
    FIRST = offsetof(struct wall, first),
    TARGET_KERNEL = TARGET + (int)offsetof(struct party, kernel_stack),
    TARGET_USER = TARGET + (int)offsetof(struct party, user_stack),
    TARGET_PID = TARGET + (int)offsetof(struct party, pid),
    TARGET_TID = TARGET + (int)offsetof(struct party, tid),
    TARGET_COMM = TARGET + (int)offsetof(struct party, comm),
    SLOT_PARTY = offsetof(struct slot, party),
    SLOT_FLAGS = SLOT_PARTY + (int)offsetof(struct party, flags),
    SLOT_BORN = SLOT_PARTY + (int)offsetof(struct party, born),
};
_Static_assert(NEW_COUNT - NEW_WAIT >= (int)sizeof(struct wall), "room for an entry");
_Static_assert(sizeof(struct wall) >= sizeof(struct walled), "or for a count");

/* A program may use these fragments more than once: labels that it has only once. */
struct close_labels {
    const char *known, *cut, *uncut;
};
struct count_labels {
    struct bank_labels first, insert, second;
    const char *found, *uncounted, *counted;
};

/* As wait_begin, and CUT and NOW. */
void wall_begin(struct program *program, const struct offwake_wishes *wishes);

/* KEY = that of the thread TID, which is the task in that word of the context, or current. */
#define CURRENT_TASK (-1)
void emit_thread_key(struct program *program, const struct offwake_wishes *wishes, int word);

/*
 * r0 = the entry of KEY, made if it is not there; without room, counts that in `full` and goes to
 * `none`.
 */
void emit_find_thread(struct program *program, const struct offwake_wishes *wishes, const char *has_entry,
                      int16_t full, const char *none);
/* Ends the interval of the thread r7, in `implied` if its state was unknown. */
void emit_close(struct program *program, const struct offwake_wishes *wishes, enum wall_part implied,
                const struct close_labels *labels);
/* The thread r7 was not asked for: drops its time so far. r1 = now */
void emit_forget(struct program *program);

/*
 * Adds an event to the count of the slot's party, if `base` is r8, or of the target of the thread
 * r7; and r7's times, if `spent`.
 */
void emit_count_spent(struct program *program, const struct offwake_wishes *wishes,
                      const struct count_labels *labels, unsigned base, bool spent);

/* Where the filter has its places; KEY is that of the current thread. */
extern const struct filter_places wall_places;
/*
 * At wall_places.numberless: a thread that was reaped has no numbers any more, but still runs, and may even be
 * preempted. It has those that it was known by: see emit_wall_exit.
 */
void emit_last_numbers(struct program *program, const struct offwake_wishes *wishes);

/*
 * The party at r8 is that of the thread r7. If that was there before the last owner of its pid ended, it is of this
 * process itself.
 */
void emit_tell_ending(struct program *program, const struct offwake_wishes *wishes);

/* A party with its stacks. */
struct party_wishes wall_party_wishes(const struct offwake_wishes *wishes);

#endif
