/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * wakeup(context):
 *     account and now as above
 *     thread = waits[pid], created if necessary
 *     if (it is a new thread)
 *         forget(thread), thread.target is unknown, thread.since = now, thread.part = RUNNABLE
 *     else if (thread.part is neither RUNNING nor RUNNABLE)
 *         pass(thread, BLOCKED, RUNNABLE)
 *
 * sample(context):
 *     account and now as above
 *     account.seen += 1
 *     if (the CPU is idle, or the thread was not asked for)
 *         account.filtered += 1, return 0
 *     slot.party = current with its stacks, as a sample
 *     thread = waits[tid], created if necessary
 *     thread.target = slot.party                          it is known from here on
 *     if (thread.part is RUNNING or unknown)
 *         thread.part = SAMPLED                           for the whole stretch
 *     counts[slot.party] += { 0, 0, 1 }
 *
 * What pass() and forget() are, and what is in the registers, is in wall_parts.h.
 */
#include "insns/wall_parts.h"

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
    const struct party_wishes shown = wall_party_wishes(wishes);

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
