/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * switch(context):
 *     account = the current bank's                        r9: see account.c
 *     if (there is none)
 *         return 1                                        for perf, too: see FOR_PERF_TOO
 *     now = the time
 *     if (prev_pid) {                                     0 is idle
 *         thread = waits[prev], created if necessary
 *         close(thread, RUNNING)
 *         thread.part = prev_state says that it blocks ? BLOCKED : RUNNABLE, thread.left = now
 *         account.seen += 1
 *         if (current, which is prev, was not asked for) {
 *             account.filtered += 1
 *             forget(thread), thread.target = unwanted
 *             if (prev_state & ENDING)
 *                 delete(waits, prev)
 *             goto out
 *         }
 *         slot.party = current, without stacks
 *         count(slot.party, thread)                       its running time; the first time, all earlier time
 *         if (prev_state & ENDING)
 *             delete(waits, prev), goto out
 *         slot.party has the stacks with which it leaves
 *         thread.target = slot.party
 *     }
 * out:
 *     if (next_pid) {
 *         thread = waits[next], created if necessary
 *         close(thread, RUNNABLE), thread.part = RUNNING
 *         if (thread.target is unknown)                   until the thread leaves, or is sampled
 *             return 1
 *         if (thread.target is unwanted)
 *             forget(thread), return 1
 *         if (it was off the CPU for less than `least`)
 *             thread.target has no stacks
 *         account.seen += 1
 *         count(thread.target, thread)
 *     }
 *     return 1
 *
 * What close(), count() and forget() are, and what is in the registers, is in wall_parts.h.
 */
#include "insns/look_up.h"
#include "insns/wall_parts.h"

static void emit_delete_thread(struct program *program, int waits)
{
    EMIT(program,
        LOAD_MAP(R1, waits),
        MOV_REG(R2, R10),
        ADD_IMM(R2, KEY),
        CALL(BPF_FUNC_map_delete_elem));
}

/* ---- The thread that leaves ---- */

static void emit_pass_leaving(struct program *program, const struct offwake_wishes *wishes)
{
    static const struct close_labels labels = {"prev_known", "prev_cut", "prev_uncut"};

    wait_load_prev_pid(program, wishes);
    EMIT(program,
        JEQ_IMM(R1, 0, "out"),
        STX(W, R10, TID, R1));
    emit_thread_key(program, wishes, SWITCH_PREV);
    emit_find_thread(program, wishes, "prev_has_entry", offsetof(struct account, wakes_full), "out");
    EMIT(program, MOV_REG(R7, R0));
    emit_close(program, wishes, WALL_RUNNING, &labels);
    wait_load_state(program, wishes);
    EMIT(program,
        AND_IMM(R1, STATE_ANY),
        MOV_IMM(R2, WALL_RUNNABLE),
        JEQ_IMM(R1, 0, "can_run"),
        MOV_IMM(R2, WALL_BLOCKED),
    LABEL("can_run"),
        STX(W, R7, PART, R2),
        LDX(DW, R1, R10, NOW),
        STX(DW, R7, THREAD_LEFT, R1));
}

static void emit_leave(struct program *program, const struct offwake_wishes *wishes)
{
    static const struct count_labels labels = {
        {"ran_other", "ran_chosen"}, {"ran_other_insert", "ran_insert"}, {"ran_other_again", "ran_again"},
        "ran_found", "ran_uncounted", "ran_counted"};
    const struct party_wishes shown = wall_party_wishes(wishes);

    emit_pass_leaving(program, wishes);
    emit_account(program, seen);
    emit_event_filter(program, &wishes->filter, &wall_places, true);
    wait_claim_slot(program, wishes);
    emit_who(program, &shown);
    emit_look_up(program, wishes->waits, KEY);
    EMIT(program,
        JEQ_IMM(R0, 0, "out"),
        STX(W, R0, WAIT_TID, R7),
        MOV_REG(R7, R0));
    emit_tell_ending(program, wishes);
    emit_count_spent(program, wishes, &labels, R8, true);
    wait_load_state(program, wishes);
    EMIT(program, JSET_IMM(R1, STATE_ENDING, "ends"));
    emit_party_stacks(program, &shown);
    EMIT(program, MOV_REG(R0, R7));
    emit_copy_party(program, TARGET);
    EMIT(program, JA("out"));
    emit_last_numbers(program, wishes);
}

/* At "filtered" and "ends". */
static void emit_left_out(struct program *program, const struct offwake_wishes *wishes)
{
    if (filter_asks(&wishes->filter)) {
        EMIT(program, LABEL("filtered"));
        emit_account(program, filtered);
        emit_look_up(program, wishes->waits, KEY);
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

/* ---- The thread that runs next ---- */

/* Shorter times have no stacks of their own: all of the time, whichever reports it is in. */
static void emit_shorten(struct program *program, uint64_t least)
{
    EMIT(program,
        LDX(DW, R1, R10, NOW),
        LDX(DW, R2, R7, THREAD_LEFT),
        SUB_REG(R1, R2),
        LD_IMM64(R2, least),
        JGE_REG(R1, R2, "is_long"),
        ST(DW, R7, TARGET_KERNEL, NO_STACK),
        ST(DW, R7, TARGET_USER, NO_STACK),
    LABEL("is_long"));
}

static void emit_come(struct program *program, const struct offwake_wishes *wishes)
{
    static const struct close_labels thread = {"next_known", "next_cut", "next_uncut"};
    static const struct count_labels labels = {
        {"off_other", "off_chosen"}, {"off_other_insert", "off_insert"}, {"off_other_again", "off_again"},
        "off_found", "off_uncounted", "off_counted"};

    wait_load_other_pid(program, wishes, wishes->next_pid);
    EMIT(program,
        JEQ_IMM(R1, 0, "end"),
        STX(W, R10, TID, R1));
    emit_thread_key(program, wishes, SWITCH_NEXT);
    emit_find_thread(program, wishes, "next_has_entry", offsetof(struct account, wakes_full), "end");
    EMIT(program, MOV_REG(R7, R0));
    emit_close(program, wishes, WALL_RUNNABLE, &thread);
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
    wall_begin(program, wishes);
    wait_read_fields(program, wishes, true);
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
