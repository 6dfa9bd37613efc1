/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Each thread has an entry in the map of waits from its first event on. Until then nothing is known of it:
 * it is in the same part since waits[0].since, when tracing began or a report was made, and its first event
 * tells which. An event ends one part of its thread's time and begins another:
 *
 *     pass(thread, implied, next):
 *         part = thread.part, or implied where that is not known
 *         thread.spent[part] += now - thread.since
 *         thread.since = now, thread.part = next
 *
 * switch(context):
 *     account = that of the bank that is counted into     r9: see account.c
 *     if (there is none)
 *         return 1                                        for perf, too: see FOR_PERF_TOO
 *     now = the time
 *     if (prev_pid) {                                     0 is idle
 *         thread = waits[prev_pid], made anew if it is not there
 *         pass(thread, RUNNING, prev_state says that it blocks ? BLOCKED : RUNNABLE)
 *         account.seen += 1
 *         if (current, which is prev, is not asked for) {
 *             account.filtered += 1
 *             forget(thread), thread.target = unwanted
 *             if (prev_state & ENDING)
 *                 delete(waits, prev_pid)
 *             goto out
 *         }
 *         slot.party = current, without stacks
 *         if (prev_state & ENDING)
 *             thread.lived = now - thread.first
 *         count(slot.party, thread)                       what it ran; before the first time all that was before
 *         if (prev_state & ENDING)
 *             delete(waits, prev_pid), goto out
 *         slot.party has the stacks with which it leaves
 *         thread.target = slot.party
 *     }
 * out:
 *     if (next_pid) {
 *         thread = waits[next_pid], made anew if it is not there
 *         pass(thread, RUNNABLE, RUNNING)
 *         if (thread.target is not known)                 it will be when the thread leaves, or is sampled
 *             return 1
 *         if (thread.target is unwanted)
 *             forget(thread), return 1
 *         if (what it was off the CPU is less than `least`)
 *             thread.target has no stacks
 *         account.seen += 1
 *         count(thread.target, thread)
 *     }
 *     return 1
 *
 *     count(key, thread): counts[key] += { thread.spent, thread.lived, 1 }, thread.spent = thread.lived = 0
 *     forget(thread): thread.spent = 0, thread.first = now
 *
 * wakeup(context):
 *     account and now as above
 *     thread = waits[pid], made anew if it is not there
 *     if (it is a new thread)
 *         forget(thread), thread.target is not known, thread.since = now, thread.part = RUNNABLE
 *     else if (thread.part is neither RUNNING nor RUNNABLE)
 *         pass(thread, BLOCKED, RUNNABLE)
 *
 * sample(context):
 *     account and now as above
 *     account.seen += 1
 *     if (nobody runs here, or it is not asked for)
 *         account.filtered += 1, return 0
 *     slot.party = current with its stacks, as those of a sample
 *     thread = waits[tid], made anew if it is not there
 *     thread.target = slot.party                          it is known from here on
 *     if (thread.part is RUNNING or not known)
 *         thread.part = SAMPLED                           the whole stretch is
 *     counts[slot.party] += { 0, 0, 1 }
 *
 * Events of a thread come one after another: a wakeup holds the lock of the queue that the thread is put
 * into, and the thread has left its CPU then. Neither can samples interrupt the others, which run with
 * interrupts off.
 *
 * r6 = context, r7 = pid << 32 | tid, or the thread, r8 = slot, r9 = account.
 */
#include "insns/wall.h"

#include "insns/account.h"
#include "insns/layout.h"
#include "insns/slot.h"
#include "insns/wait.h"

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

static void emit_now(struct program *program)
{
    EMIT(program,
        CALL(BPF_FUNC_ktime_get_ns),
        STX(DW, R10, NOW, R0));
}

/* ---- Threads ---- */

/* r0 = a new entry, of whose thread nothing is known since the time r1. */
static void emit_new_thread(struct program *program, int waits)
{
    EMIT(program,
        STX(DW, R10, NEW_WAIT + SINCE, R1),
        STX(DW, R10, NEW_WAIT + FIRST, R1),
        ST(W, R10, NEW_WAIT + WAIT_TID, 0),
        ST(W, R10, NEW_WAIT + PART, WALL_UNKNOWN));
    emit_nobody(program, R10, NEW_WAIT + TARGET);
    for (int at = SPENT; at < FIRST; at += 8)
        EMIT(program, ST(DW, R10, (int16_t)(NEW_WAIT + at), 0));
    EMIT(program,
        LOAD_MAP(R1, waits),
        MOV_REG(R2, R10),
        ADD_IMM(R2, TID),
        MOV_REG(R3, R10),
        ADD_IMM(R3, NEW_WAIT),
        MOV_IMM(R4, BPF_ANY),
        CALL(BPF_FUNC_map_update_elem));
    emit_find_wait(program, waits);
}

/* r0 = the entry of TID, made if it is not there; without room that is counted, and on to `none`. */
static void emit_find_thread(struct program *program, const struct offwake_wishes *wishes,
                             const struct thread_labels *labels, int16_t full, const char *none)
{
    emit_find_wait(program, wishes->waits);
    EMIT(program,
        JNE_IMM(R0, 0, labels->has_entry),
        ST(W, R10, MAP_KEY, 0),
        MOV_REG(R2, R10),
        ADD_IMM(R2, MAP_KEY),
        LOAD_MAP(R1, wishes->waits),
        CALL(BPF_FUNC_map_lookup_elem),
        LDX(DW, R1, R10, NOW),
        JEQ_IMM(R0, 0, labels->start),
        LDX(DW, R2, R0, SINCE),
        JGE_REG(R2, R1, labels->start), /* a report has just been made */
        MOV_REG(R1, R2),
    LABEL(labels->start));
    emit_new_thread(program, wishes->waits);
    EMIT(program, JNE_IMM(R0, 0, labels->has_entry));
    emit_account_word(program, full);
    EMIT(program,
        JA(none),
    LABEL(labels->has_entry));
}

/* Ends what the thread r7 was in, or `implied` where nobody knows what that was. */
static void emit_pass(struct program *program, enum wall_part implied, const char *known)
{
    EMIT(program,
        LDX(W, R1, R7, PART),
        JNE_IMM(R1, WALL_UNKNOWN, known),
        MOV_IMM(R1, (int32_t)implied),
    LABEL(known),
        AND_IMM(R1, WALL_PARTS - 1),
        LSH_IMM(R1, 3),
        ADD_REG(R1, R7),
        LDX(DW, R2, R10, NOW),
        LDX(DW, R3, R7, SINCE),
        STX(DW, R7, SINCE, R2),
        SUB_REG(R2, R3),
        LDX(DW, R3, R1, SPENT),
        ADD_REG(R3, R2),
        STX(DW, R1, SPENT, R3));
}

/* The thread r7 is nobody's: what it did until now is not asked for. */
static void emit_forget(struct program *program)
{
    for (int at = SPENT; at < LIVED; at += 8)
        EMIT(program, ST(DW, R7, (int16_t)at, 0));
    EMIT(program,
        LDX(DW, R1, R10, NOW),
        STX(DW, R7, FIRST, R1));
}

static void emit_delete_thread(struct program *program, int waits)
{
    EMIT(program,
        LOAD_MAP(R1, waits),
        MOV_REG(R2, R10),
        ADD_IMM(R2, TID),
        CALL(BPF_FUNC_map_delete_elem));
}

/* ---- Counts ---- */

/* r1 = the bank's map of counts, r2 = the key at base + place. */
static void emit_load_count(struct program *program, const struct offwake_wishes *wishes,
                            const struct bank_labels *labels, const char *none, unsigned base)
{
    const struct bank_choice choice = {&wishes->banks, BANK_COUNTS, INDEX, none};

    emit_load_bank_map(program, &choice, labels);
    EMIT(program,
        MOV_REG(R2, base & 0xf),
        ADD_IMM(R2, base == R8 ? SLOT_PARTY : TARGET));
}

/* r1 = all that the thread r7 has spent. */
static void emit_sum(struct program *program)
{
    EMIT(program, LDX(DW, R1, R7, SPENT));
    for (int at = SPENT + 8; at < LIVED; at += 8)
        EMIT(program,
            LDX(DW, R2, R7, (int16_t)at),
            ADD_REG(R1, R2));
}

/*
 * Adds an event to the count of the slot's party, where `base` is r8, or of the target of the thread r7;
 * and what r7 has spent, if that is `spent`.
 */
static void emit_count_spent(struct program *program, const struct offwake_wishes *wishes,
                             const struct count_labels *labels, unsigned base, bool spent)
{
    emit_load_count(program, wishes, &labels->first, labels->uncounted, base);
    EMIT(program,
        CALL(BPF_FUNC_map_lookup_elem),
        JNE_IMM(R0, 0, labels->found));
    emit_account(program, inserted);
    for (int at = 0; at < (int)sizeof(struct walled); at += 8)
        EMIT(program, ST(DW, R10, (int16_t)(NEW_WAIT + at), 0));
    emit_load_count(program, wishes, &labels->insert, labels->uncounted, base);
    EMIT(program,
        MOV_REG(R3, R10),
        ADD_IMM(R3, NEW_WAIT),
        MOV_IMM(R4, BPF_NOEXIST),
        CALL(BPF_FUNC_map_update_elem));
    emit_load_count(program, wishes, &labels->second, labels->uncounted, base);
    EMIT(program,
        CALL(BPF_FUNC_map_lookup_elem),
        JNE_IMM(R0, 0, labels->found),
    LABEL(labels->uncounted));
    emit_account(program, table_full);
    if (spent) {
        emit_sum(program);
        EMIT(program, XADD(DW, R9, (int16_t)offsetof(struct account, table_full_ns), R1));
    }
    EMIT(program,
        JA(labels->counted),
    LABEL(labels->found),
        MOV_IMM(R1, 1),
        XADD(DW, R0, (int16_t)offsetof(struct walled, events), R1));
    for (int at = 0; spent && at < (int)offsetof(struct walled, events); at += 8)
        EMIT(program,
            LDX(DW, R1, R7, (int16_t)(SPENT + at)),
            XADD(DW, R0, (int16_t)at, R1));
    EMIT(program, LABEL(labels->counted));
    for (int at = SPENT; spent && at < FIRST; at += 8)
        EMIT(program, ST(DW, R7, (int16_t)at, 0));
}

static struct party_wishes stacks_wished(const struct offwake_wishes *wishes)
{
    struct party_wishes shown = wait_party_wishes(wishes);

    shown.kernel_stack = wishes->kernel_stack;
    shown.user_stack = wishes->user_stack;
    return shown;
}

/* ---- The thread that leaves ---- */

static void emit_pass_leaving(struct program *program, const struct offwake_wishes *wishes)
{
    static const struct thread_labels labels = {"prev_start", "prev_has_entry", "prev_known"};

    wait_load_prev_pid(program, wishes);
    EMIT(program,
        JEQ_IMM(R1, 0, "out"),
        STX(W, R10, TID, R1));
    emit_find_thread(program, wishes, &labels, offsetof(struct account, wakes_full), "out");
    EMIT(program, MOV_REG(R7, R0));
    emit_pass(program, WALL_RUNNING, labels.known);
    wait_load_state(program, wishes);
    EMIT(program,
        AND_IMM(R1, STATE_ANY),
        MOV_IMM(R2, WALL_RUNNABLE),
        JEQ_IMM(R1, 0, "can_run"),
        MOV_IMM(R2, WALL_BLOCKED),
    LABEL("can_run"),
        STX(W, R7, PART, R2));
}

static void emit_leave(struct program *program, const struct offwake_wishes *wishes)
{
    static const struct count_labels labels = {
        {"ran_other", "ran_chosen"}, {"ran_other_insert", "ran_insert"}, {"ran_other_again", "ran_again"},
        "ran_found", "ran_uncounted", "ran_counted"};
    const struct filter_places places = {FOREIGN, PID_SCRATCH};
    const struct party_wishes shown = stacks_wished(wishes);

    emit_pass_leaving(program, wishes);
    emit_account(program, seen);
    emit_event_filter(program, &wishes->filter, &places, true);
    wait_claim_slot(program, wishes);
    emit_who(program, &shown);
    emit_find_wait(program, wishes->waits);
    EMIT(program,
        JEQ_IMM(R0, 0, "out"),
        STX(W, R0, WAIT_TID, R7),
        MOV_REG(R7, R0));
    wait_load_state(program, wishes);
    EMIT(program,
        AND_IMM(R1, STATE_ENDING),
        JEQ_IMM(R1, 0, "lives"),
        LDX(DW, R1, R10, NOW),
        LDX(DW, R2, R7, FIRST),
        SUB_REG(R1, R2),
        STX(DW, R7, LIVED, R1),
    LABEL("lives"));
    emit_count_spent(program, wishes, &labels, R8, true);
    wait_load_state(program, wishes);
    EMIT(program, JSET_IMM(R1, STATE_ENDING, "ends"));
    emit_party_stacks(program, &shown);
    EMIT(program, MOV_REG(R0, R7));
    emit_copy_party(program, TARGET);
    EMIT(program, JA("out"));
}

/* At "filtered" and "ends". */
static void emit_left_out(struct program *program, const struct offwake_wishes *wishes)
{
    if (filter_asks(&wishes->filter)) {
        EMIT(program, LABEL("filtered"));
        emit_account(program, filtered);
        emit_find_wait(program, wishes->waits);
        EMIT(program,
            JEQ_IMM(R0, 0, "out"),
            MOV_REG(R7, R0),
            ST(W, R7, TARGET_FLAGS, PARTY_UNWANTED));
        emit_forget(program);
        wait_load_state(program, wishes);
        EMIT(program,
            AND_IMM(R1, STATE_ENDING),
            JEQ_IMM(R1, 0, "out"));
    }
    EMIT(program, LABEL("ends"));
    emit_delete_thread(program, wishes->waits);
}

/* ---- The thread that comes ---- */

/* What was shorter than that has no stacks of its own. */
static void emit_shorten(struct program *program, uint64_t least)
{
    EMIT(program,
        LDX(DW, R1, R7, SPENT + 8 * WALL_RUNNABLE),
        LDX(DW, R2, R7, SPENT + 8 * WALL_BLOCKED),
        ADD_REG(R1, R2),
        LD_IMM64(R2, least),
        JGE_REG(R1, R2, "is_long"),
        ST(DW, R7, TARGET_KERNEL, NO_STACK),
        ST(DW, R7, TARGET_USER, NO_STACK),
    LABEL("is_long"));
}

static void emit_come(struct program *program, const struct offwake_wishes *wishes)
{
    static const struct thread_labels thread = {"next_start", "next_has_entry", "next_known"};
    static const struct count_labels labels = {
        {"off_other", "off_chosen"}, {"off_other_insert", "off_insert"}, {"off_other_again", "off_again"},
        "off_found", "off_uncounted", "off_counted"};

    wait_load_other_pid(program, wishes, wishes->next_pid);
    EMIT(program,
        JEQ_IMM(R1, 0, "end"),
        STX(W, R10, TID, R1));
    emit_find_thread(program, wishes, &thread, offsetof(struct account, wakes_full), "end");
    EMIT(program, MOV_REG(R7, R0));
    emit_pass(program, WALL_RUNNABLE, thread.known);
    EMIT(program,
        ST(W, R7, PART, WALL_RUNNING),
        LDX(W, R1, R7, TARGET_FLAGS),
        JEQ_IMM(R1, 0, "end"));
    if (filter_asks(&wishes->filter)) {
        EMIT(program, JNE_IMM(R1, PARTY_UNWANTED, "wanted"));
        emit_forget(program);
        EMIT(program,
            JA("end"),
        LABEL("wanted"));
    }
    if (wishes->least)
        emit_shorten(program, wishes->least);
    emit_account(program, seen);
    emit_count_spent(program, wishes, &labels, R7, true);
}

void emit_wall_switch(struct program *program, const struct offwake_wishes *wishes)
{
    wait_begin(program, wishes);
    wait_read_fields(program, wishes, true);
    emit_now(program);
    emit_leave(program, wishes);
    emit_left_out(program, wishes);
    EMIT(program, LABEL("out"));
    emit_come(program, wishes);
    EMIT(program,
    LABEL("end"),
        MOV_IMM(R0, FOR_PERF_TOO),
        EXIT());
    if (wishes->user_stack && wishes->unwind)
        emit_unwind_functions(program, wishes->unwind);
}

/* ---- The thread that is woken ---- */

void emit_wall_wakeup(struct program *program, const struct offwake_wishes *wishes, bool born)
{
    static const struct thread_labels labels = {"start", "has_entry", "known"};

    wait_begin(program, wishes);
    wait_read_fields(program, wishes, false);
    emit_now(program);
    wait_load_other_pid(program, wishes, wishes->target_pid);
    EMIT(program,
        JEQ_IMM(R1, 0, "end"),
        STX(W, R10, TID, R1));
    emit_find_thread(program, wishes, &labels, offsetof(struct account, wakes_full), "end");
    EMIT(program, MOV_REG(R7, R0));
    if (born) {
        emit_forget(program); /* r1 = now */
        EMIT(program,
            STX(DW, R7, SINCE, R1),
            ST(W, R7, TARGET_FLAGS, 0));
    } else {
        EMIT(program,
            LDX(W, R1, R7, PART),
            JLT_IMM(R1, WALL_BLOCKED, "end"));
        emit_pass(program, WALL_BLOCKED, labels.known);
    }
    EMIT(program,
        ST(W, R7, PART, WALL_RUNNABLE),
    LABEL("end"),
        MOV_IMM(R0, FOR_PERF_TOO),
        EXIT());
}

/* ---- The thread that runs ---- */

void emit_wall_sample(struct program *program, const struct offwake_wishes *wishes)
{
    static const struct thread_labels thread = {"start", "has_entry", "known"};
    static const struct count_labels labels = {
        {"other_counts", "counts"}, {"other_insert", "insert"}, {"other_again", "again"},
        "found", "uncounted", "counted"};
    const struct filter_places places = {FOREIGN, PID_SCRATCH};
    const struct party_wishes shown = stacks_wished(wishes);

    wait_begin(program, wishes);
    emit_account(program, seen);
    emit_now(program);
    EMIT(program,
        CALL(BPF_FUNC_get_current_pid_tgid),
        STX(W, R10, TID, R0),
        LDX(W, R0, R10, TID),
        JEQ_IMM(R0, 0, "filtered"));
    emit_event_filter(program, &wishes->filter, &places, true);
    wait_claim_slot(program, wishes);
    emit_party(program, &shown);
    EMIT(program,
        LDX(W, R1, R8, SLOT_FLAGS),
        OR_IMM(R1, PARTY_SAMPLE),
        STX(W, R8, SLOT_FLAGS, R1));
    emit_find_thread(program, wishes, &thread, offsetof(struct account, waits_full), "out");
    EMIT(program,
        STX(W, R0, WAIT_TID, R7),
        MOV_REG(R7, R0));
    emit_copy_party(program, TARGET);
    EMIT(program,
        LDX(W, R1, R7, PART),
        JEQ_IMM(R1, WALL_RUNNING, "first_hit"),
        JNE_IMM(R1, WALL_UNKNOWN, "was_hit"),
    LABEL("first_hit"),
        ST(W, R7, PART, WALL_SAMPLED),
    LABEL("was_hit"));
    emit_count_spent(program, wishes, &labels, R8, false);
    EMIT(program, JA("out"),
    LABEL("filtered"));
    emit_account(program, filtered);
    EMIT(program,
    LABEL("out"),
    LABEL("end"),
        MOV_IMM(R0, 0),
        EXIT());
    if (shown.user_stack && wishes->unwind)
        emit_unwind_functions(program, wishes->unwind);
}
