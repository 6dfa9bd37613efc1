/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * wakeup(context):
 *     account and now as above
 *     thread = waits[woken], created if necessary
 *     if (it is a new thread)
 *         forget(thread), thread.target is unknown, thread.since = now, thread.part = RUNNABLE
 *     else if (thread.part is neither RUNNING nor RUNNABLE)
 *         close(thread, BLOCKED), thread.part = RUNNABLE
 *
 * sample(context):
 *     account and now as above
 *     account.seen += 1
 *     if (the CPU is idle, or the thread was not asked for)
 *         account.filtered += 1, return 0
 *     slot.party = current with its stacks, as a sample
 *     thread = waits[current], created if necessary
 *     if (thread.target is not known)
 *         close(thread, RUNNING)                          no report has that time yet
 *     thread.target = slot.party                          it is known from here on
 *     if (thread.part is RUNNING)
 *         thread.part = SAMPLED                           for the whole stretch
 *     counts[slot.party, as a sample] += { 0, 1 }
 *
 * rename(context):                                        by prctl(2) or an exec, which is not done yet
 *     account and now as above
 *     if (the thread is not current)
 *         return 1
 *     if (it was not asked for) {
 *         if (names are asked for)                        it may be by its new one
 *             thread = waits[current], created if necessary
 *             close(thread, RUNNING), thread.part = RUNNING
 *             forget(thread), thread.target is unknown
 *         return 1
 *     }
 *     account.seen += 1
 *     party = current, without stacks, with its old name
 *     thread = waits[current], created if necessary
 *     close(thread, RUNNING), thread.part = RUNNING
 *     if (thread.target is not known)
 *         thread.target = party
 *     thread.target has no stacks
 *     count(thread.target, thread)
 *     thread.target = party with the new name, or unknown if names are asked for
 *     return 1
 *
 * exit(context):                                          only in a pid namespace, before it loses its pid
 *     account and now as above
 *     if (the thread was not asked for)
 *         return 1
 *     thread = waits[current], created if necessary
 *     if (thread.target is not known)
 *         close(thread, RUNNING), thread.part = RUNNING
 *         thread.target = current, without stacks
 *     return 1
 *
 * What close(), count() and forget() are, and what is in the registers, is in wall_parts.h.
 */
#include "insns/wall_parts.h"

/* ---- The thread that is woken ---- */

void emit_wall_wakeup(struct program *program, const struct offwake_wishes *wishes, bool born)
{
    static const struct close_labels labels = {"known", "cut", "uncut"};

    wall_begin(program, wishes);
    wait_read_fields(program, wishes, false);
    wait_load_other_pid(program, wishes, wishes->target_pid);
    EMIT(program,
        JEQ_IMM(R1, 0, "end"),
        STX(W, R10, TID, R1));
    emit_thread_key(program, wishes, WAKING_TASK);
    emit_find_thread(program, wishes, "has_entry", offsetof(struct account, wakes_full), "end");
    EMIT(program, MOV_REG(R7, R0));
    if (born) {
        emit_forget(program); /* r1 = now */
        EMIT(program,
            STX(DW, R7, SINCE, R1),
            LDX(W, R1, R10, TID),
            STX(W, R7, WAIT_TID, R1),
            ST(W, R7, TARGET_FLAGS, 0));
    } else {
        EMIT(program,
            LDX(W, R1, R7, PART),
            JLT_IMM(R1, WALL_BLOCKED, "end"));
        emit_close(program, wishes, WALL_BLOCKED, &labels);
    }
    EMIT(program,
        ST(W, R7, PART, WALL_RUNNABLE),
    LABEL("end"),
        MOV_IMM(R0, FOR_PERF_TOO),
        EXIT());
}

/* ---- The thread that runs ---- */

static const struct close_labels closing = {"known", "cut", "uncut"};
static const struct count_labels counting = {
    {"other_counts", "counts"}, {"other_insert", "insert"}, {"other_again", "again"},
    "found", "uncounted", "counted"};

void emit_wall_sample(struct program *program, const struct offwake_wishes *wishes)
{
    const struct party_wishes shown = wall_party_wishes(wishes);

    wall_begin(program, wishes);
    emit_account(program, seen);
    EMIT(program,
        CALL(BPF_FUNC_get_current_pid_tgid),
        STX(W, R10, TID, R0),
        LDX(W, R0, R10, TID),
        JEQ_IMM(R0, 0, "filtered"));
    emit_thread_key(program, wishes, CURRENT_TASK);
    emit_event_filter(program, &wishes->filter, &wall_places, true);
    wait_claim_slot(program, wishes);
    emit_party(program, &shown);
    emit_find_thread(program, wishes, "has_entry", offsetof(struct account, waits_full), "out");
    EMIT(program,
        STX(W, R0, WAIT_TID, R7),
        MOV_REG(R7, R0));
    emit_tell_ending(program, wishes);
    EMIT(program,
        LDX(W, R1, R7, TARGET_FLAGS),
        JSET_IMM(R1, PARTY_SEEN, "is_known"));
    emit_close(program, wishes, WALL_RUNNING, &closing);
    EMIT(program,
    LABEL("is_known"),
        MOV_REG(R0, R7));
    emit_copy_party(program, TARGET);
    EMIT(program,
        LDX(W, R1, R7, PART),
        JNE_IMM(R1, WALL_RUNNING, "was_hit"),
        ST(W, R7, PART, WALL_SAMPLED),
    LABEL("was_hit"),
        LDX(W, R1, R8, SLOT_FLAGS),
        OR_IMM(R1, PARTY_SAMPLE),
        STX(W, R8, SLOT_FLAGS, R1));
    emit_count_spent(program, wishes, &counting, R8, false);
    EMIT(program, JA("out"));
    emit_last_numbers(program, wishes);
    EMIT(program, LABEL("filtered"));
    emit_account(program, filtered);
    EMIT(program,
    LABEL("out"),
    LABEL("end"),
        MOV_IMM(R0, 0),
        EXIT());
    if (shown.user_stack && wishes->unwind)
        emit_unwind_functions(program, wishes->unwind);
}

/* ---- The thread that gets another name ---- */

static const struct filter_places places = {FOREIGN, PID_SCRATCH, NULL, NEW_COUNT};

/* Goes to "end" if the thread is not the one that runs. TID and KEY */
static void emit_load_renamed(struct program *program, const struct offwake_wishes *wishes)
{
    EMIT(program,
        CALL(BPF_FUNC_get_current_pid_tgid),
        STX(W, R10, TID, R0),
        LDX(W, R1, R10, TID),
        JEQ_IMM(R1, 0, "end"));
    if (!wishes->task.known && wishes->renamed_pid)
        EMIT(program,
            LDX(W, R2, R6, wishes->renamed_pid),
            JNE_REG(R1, R2, "end"));
    emit_thread_key(program, wishes, CURRENT_TASK);
    if (wishes->task.known)
        EMIT(program,
            LDX(DW, R2, R6, RENAME_TASK * 8),
            JNE_REG(R1, R2, "end"));
}

/* The new name, of which only the text is defined. */
static void emit_take_name(struct program *program, const struct offwake_wishes *wishes)
{
    if (wishes->task.known)
        EMIT(program, LDX(DW, R3, R6, RENAME_COMM * 8));
    else
        EMIT(program,
            MOV_REG(R3, R6),
            ADD_IMM(R3, wishes->new_comm));
    EMIT(program,
        ST(DW, R10, NEW_COMM, 0),
        ST(DW, R10, NEW_COMM + 8, 0),
        MOV_REG(R1, R10),
        ADD_IMM(R1, NEW_COMM),
        MOV_IMM(R2, (int)sizeof(((struct party *)0)->comm)),
        CALL(BPF_FUNC_probe_read_kernel_str));
    for (int at = 0; at < (int)sizeof(((struct party *)0)->comm); at += 8)
        EMIT(program,
            LDX(DW, R1, R10, (int16_t)(NEW_COMM + at)),
            STX(DW, R7, (int16_t)(TARGET_COMM + at), R1));
}

/* A sample that came since this program took the time has closed the interval, later than that. */
static void emit_not_before(struct program *program, const char *label)
{
    EMIT(program,
        LDX(DW, R1, R7, SINCE),
        LDX(DW, R2, R10, NOW),
        JGE_REG(R2, R1, label),
        STX(DW, R10, NOW, R1),
    LABEL(label));
}

/*
 * At "filtered": the thread may be asked for by its new name, as one that begins now. Who it is then is
 * unknown until it leaves, or is sampled.
 */
static void emit_forget_unnamed(struct program *program, const struct offwake_wishes *wishes)
{
    static const struct close_labels labels = {"other_known", "other_cut", "other_uncut"};

    EMIT(program,
        JA("end"),
    LABEL("filtered"));
    emit_find_thread(program, wishes, "other_has_entry", offsetof(struct account, waits_full), "end");
    EMIT(program, MOV_REG(R7, R0));
    emit_not_before(program, "other_later");
    emit_close(program, wishes, WALL_RUNNING, &labels);
    EMIT(program,
        ST(W, R7, PART, WALL_RUNNING),
        ST(W, R7, TARGET_FLAGS, 0));
    emit_forget(program);
}

/*
 * r7 = the current thread's entry, and r8 makes RENAMED_PARTY its party, without stacks.
 *
 * Interrupts are on: a sample may come in between, and on kernels whose tracepoints can be preempted, a switch.
 * The slot is theirs: here the party is on the stack.
 */
static void emit_find_current(struct program *program, const struct offwake_wishes *wishes)
{
    const struct party_wishes shown = wall_party_wishes(wishes);

    EMIT(program,
        MOV_REG(R8, R10),
        ADD_IMM(R8, RENAMED_PARTY - SLOT_PARTY));
    emit_clear_party(program);
    emit_who(program, &shown);
    emit_find_thread(program, wishes, "has_entry", offsetof(struct account, waits_full), "end");
    EMIT(program,
        STX(W, R0, WAIT_TID, R7),
        MOV_REG(R7, R0));
    emit_tell_ending(program, wishes);
}

void emit_wall_rename(struct program *program, const struct offwake_wishes *wishes)
{
    wall_begin(program, wishes);
    emit_load_renamed(program, wishes);
    emit_event_filter(program, &wishes->filter, &places, true);
    emit_account(program, seen);
    emit_find_current(program, wishes);
    emit_not_before(program, "later");
    emit_close(program, wishes, WALL_RUNNING, &closing);
    EMIT(program,
        ST(W, R7, PART, WALL_RUNNING),
        MOV_REG(R0, R7),
        LDX(W, R1, R7, TARGET_FLAGS),
        JSET_IMM(R1, PARTY_SEEN, "is_known"));
    emit_copy_party(program, TARGET);
    EMIT(program,
    LABEL("is_known"),
        ST(DW, R7, TARGET_KERNEL, NO_STACK),
        ST(DW, R7, TARGET_USER, NO_STACK));
    emit_count_spent(program, wishes, &counting, R7, true);
    if (wishes->filter.comm_count) {
        EMIT(program, ST(W, R7, TARGET_FLAGS, 0));
        emit_forget_unnamed(program, wishes);
    } else {
        EMIT(program, MOV_REG(R0, R7));
        emit_copy_party(program, TARGET);
        emit_take_name(program, wishes);
        EMIT(program, LABEL("filtered"));
    }
    EMIT(program,
    LABEL("end"),
        MOV_IMM(R0, FOR_PERF_TOO),
        EXIT());
}

/* ---- The thread that ends ---- */

void emit_wall_exit(struct program *program, const struct offwake_wishes *wishes)
{
    wall_begin(program, wishes);
    EMIT(program,
        CALL(BPF_FUNC_get_current_pid_tgid),
        STX(W, R10, TID, R0));
    emit_thread_key(program, wishes, CURRENT_TASK);
    emit_event_filter(program, &wishes->filter, &places, true);
    emit_find_current(program, wishes);
    EMIT(program,
        LDX(W, R1, R7, TARGET_FLAGS),
        JSET_IMM(R1, PARTY_SEEN, "end"));
    emit_close(program, wishes, WALL_RUNNING, &closing);
    EMIT(program,
        ST(W, R7, PART, WALL_RUNNING),
        MOV_REG(R0, R7));
    emit_copy_party(program, TARGET);
    EMIT(program,
    LABEL("filtered"),
    LABEL("end"),
        MOV_IMM(R0, FOR_PERF_TOO),
        EXIT());
}
