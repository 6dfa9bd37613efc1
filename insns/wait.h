/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Shared by the programs that see switches: how they begin, entries of the map of waits, and
 * counting waits that end. r6 to r9 and the places on the stack are theirs: see offwake.c.
 */
#ifndef STACKBOX_INSNS_WAIT_H
#define STACKBOX_INSNS_WAIT_H

#include "insns/fragments.h"
#include "insns/layout.h"
#include "insns/programs.h"

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
    TARGET_FLAGS = TARGET + (int)offsetof(struct task_stacks, flags),
    WAKER = offsetof(struct wait, waker),
    WAKER_FLAGS = WAKER + (int)offsetof(struct task_stacks, flags),
};

/* Reads from its tasks what a raw tracepoint does not pass; the thread that leaves is current. */
void wait_read_fields(struct program *program, const struct capture *capture, bool switches);
/* r1 = prev_pid; r0 and r2 to r5 are lost */
void wait_load_prev_pid(struct program *program, const struct capture *capture);
/* r1 = next_pid, or the pid of the thread being woken */
void wait_load_other_pid(struct program *program, const struct capture *capture, int16_t field);
/* r1 = prev_state */
void wait_load_state(struct program *program, const struct capture *capture);

/* r8 = a slot with a cleared task; or goes to "out" */
void wait_claim_slot(struct program *program, const struct capture *capture);

/*
 * r0 = waits[TID], which it inserts if missing. If the map is full, increments this word of the
 * account, and goes to "out".
 */
#define emit_make_wait(program, capture, full) \
    emit_make_wait_or(program, capture, (int16_t)offsetof(struct account, full))
void emit_make_wait_or(struct program *program, const struct capture *capture, int16_t full);

/* r8 = how long the wait r7, whose `since` is r8, has lasted at time r0; clears its `since` */
void emit_end_wait(struct program *program);

/* counts[the tasks of the wait r7] += { r8, 1 }, if the wait counts; then "counted". */
void emit_count_wait(struct program *program, const struct capture *capture);

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
 *         if (now < thread.since)
 *             now = thread.since
 *         thread.spent[part] += now - thread.since
 *         thread.since = now
 *     count(key, thread): counts[key] += { thread.spent, 1 }, thread.spent = 0
 *     forget(thread): thread.spent = 0, thread.first = now
 *
 * So each moment of a thread is in one count, or in what the report at the cut takes from its entry
 * as it was before its first event after the cut: the entry itself or, once there was an event, its
 * copy in `rests`. While it is unknown whose the thread is (it has not left a CPU, nor was it
 * sampled), no report has it, and its time is kept for the first count after that is known.
 *
 * The cut goes with the bank: a program that counts into the next report's bank sees that report's
 * cut.
 *
 * The programs of a thread's events run one after another: a wakeup holds the lock of the run queue
 * that the thread is put into, and the thread has left its CPU by then. Sampling interrupts cannot
 * come in between, as the others run with interrupts off; only a rename does not, and its thread is
 * running. Still, an event's time may be before the previous event's: by nanoseconds, as the
 * kernel's fast clock may go back when its rate is adjusted; or because a sample, as an NMI or
 * during a rename, came between reading the time and using it.
 *
 * r6 = context, r7 = pid << 32 | tid, or the thread, r8 = slot, r9 = account.
 */

/* More places on the stack. */
enum {
    NOW = LEFT,
    CUT = -208,
    KEY = -216, /* of the thread's entry */
    RENAMED_TASK = -280,
    NEW_COMM = -296,
};
_Static_assert(RAW_PID - CUT >= 8 && KEY - RENAMED_TASK >= (int)sizeof(struct task_stacks),
               "apart");

/* Offsets in an entry: the others are in wait.h. */
enum {
    PART = offsetof(struct wall, part),
    SPENT = offsetof(struct wall, spent),
    THREAD_LEFT = offsetof(struct wall, left),
    FIRST = offsetof(struct wall, first),
    TARGET_KERNEL = TARGET + (int)offsetof(struct task_stacks, kernel_stack),
    TARGET_USER = TARGET + (int)offsetof(struct task_stacks, user_stack),
    TARGET_GENERATION = TARGET + (int)offsetof(struct task_stacks, generation),
    TARGET_PID = TARGET + (int)offsetof(struct task_stacks, pid),
    TARGET_TID = TARGET + (int)offsetof(struct task_stacks, tid),
    TARGET_COMM = TARGET + (int)offsetof(struct task_stacks, comm),
    SLOT_TASK = offsetof(struct slot, task),
    SLOT_FLAGS = SLOT_TASK + (int)offsetof(struct task_stacks, flags),
    SLOT_GENERATION = SLOT_TASK + (int)offsetof(struct task_stacks, generation),
};
_Static_assert(NEW_COUNT - NEW_WAIT >= (int)sizeof(struct wall), "room for an entry");
_Static_assert(sizeof(struct wall) >= sizeof(struct walled), "or for a count");

/* A program may use these fragments more than once: labels that it has only once. */
struct close_labels {
    const char *known, *cut, *uncut, *later;
};

/* emit_begin(), which goes to "end" while counting is paused; and sets CUT and NOW. */
void wall_begin(struct program *program, const struct capture *capture);

/* KEY = that of the thread TID, which is the task in that word of the context, or current. */
#define CURRENT_TASK (-1)
void emit_thread_key(struct program *program, const struct capture *capture, int word);

/*
 * r0 = the entry of KEY, which it inserts if missing. If the map is full, increments the account's
 * word `full` and goes to `none`.
 */
void emit_find_thread(struct program *program, const struct capture *capture, const char *has_entry,
                      int16_t full, const char *none);
/* Ends the interval of the thread r7, in `implied` if its state was unknown. */
void emit_close(struct program *program, const struct capture *capture, enum wall_part implied,
                const struct close_labels *labels);
/* Drops the time so far of the thread r7, which the filter dropped. r1 = now */
void emit_forget(struct program *program);

/*
 * Adds an event to the count of the slot's task, if `base` is r8, or of the target of the thread
 * r7; and r7's times, if `spent`. Then `counted`.
 */
void emit_count_spent(struct program *program, const struct capture *capture,
                      const struct count_labels *labels, const char *counted, unsigned base,
                      bool spent);

/* Where the filter has its places; KEY is that of the current thread. */
extern const struct filter_places wall_places;
/*
 * At wall_places.numberless: a thread that was reaped has no numbers any more, but still runs, and
 * can be preempted. Takes those that emit_wall_exit() stored in its entry.
 */
void emit_last_numbers(struct program *program, const struct capture *capture);

/*
 * The task at r8 is that of the thread r7. After its exit event it stays a thread of the process
 * that it was in then: another process can get the pid, and even end, before it leaves its CPU.
 */
void emit_tell_ending(struct program *program, const struct capture *capture);

#endif
