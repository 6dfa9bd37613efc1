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
 *     slot.task = current with its stacks, as a sample
 *     thread = waits[current], created if necessary
 *     if (thread.target is not known)
 *         close(thread, RUNNING)                          no report has that time yet
 *     thread.target = slot.task                          it is known from here on
 *     if (thread.part is RUNNING)
 *         thread.part = SAMPLED                           for the whole stretch
 *     counts[slot.task, as a sample] += { 0, 1 }
 *
 * rename(context): by prctl(2) or an exec, which is not done yet
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
 *     task = current, without stacks, with its old name
 *     thread = waits[current], created if necessary
 *     close(thread, RUNNING), thread.part = RUNNING
 *     if (thread.target is not known)
 *         thread.target = task
 *     thread.target has no stacks
 *     count(thread.target, thread)
 *     thread.target = task with the new name, or unknown if names are asked for
 *     return 1
 *
 * exit(context): of each thread, before it loses its pid
 *     account and now as above
 *     if (the thread was not asked for)
 *         return 1
 *     thread = waits[current], created if necessary
 *     if (thread.target is not known)
 *         close(thread, RUNNING), thread.part = RUNNING
 *         thread.target = current, without stacks
 *     thread.target.generation = now, as LIFE_THEN_BIT has it   from here on it is of that process
 *     return 1
 *
 * What close(), count() and forget() are, and what is in the registers, is in wait.h.
 */
#include "insns/fragments.h"
#include "insns/wait.h"

static const struct close_labels closing = {"known", "cut", "uncut", "later"};

/* r7 = the entry of the thread r1, which is the task in that word; 0 is none: goes to `none`. */
static void emit_enter(struct program *program, const struct capture *capture, int word,
                       const char *has_entry, const char *none)
{
    EMIT(program,
        JEQ_IMM(R1, 0, none),
        STX(W, R10, TID, R1));
    emit_thread_key(program, capture, word);
    emit_find_thread(program, capture, has_entry, offsetof(struct account, wakes_full), none);
    EMIT(program, MOV_REG(R7, R0));
}

/* ---- The thread that is woken ---- */

void emit_wall_wakeup(struct program *program, const struct capture *capture, bool is_new)
{
    wall_begin(program, capture);
    wait_read_fields(program, capture, false);
    wait_load_other_pid(program, capture, capture->target_pid);
    emit_enter(program, capture, WAKING_TASK, "has_entry", "end");
    if (is_new) {
        emit_forget(program); /* r1 = now */
        EMIT(program,
            STX(DW, R7, SINCE, R1),
            LDX(W, R1, R10, TID),
            STX(W, R7, WAIT_TID, R1),
            ST(W, R7, TARGET_FLAGS, 0),
            ST(DW, R7, TARGET_GENERATION, 0));
    } else {
        EMIT(program,
            LDX(W, R1, R7, PART),
            JLT_IMM(R1, WALL_BLOCKED, "end"));
        emit_close(program, capture, WALL_BLOCKED, &closing);
    }
    EMIT(program, ST(W, R7, PART, WALL_RUNNABLE));
    emit_return(program, "end", FOR_PERF_TOO);
}

/* ---- The thread that runs ---- */

void emit_wall_sample(struct program *program, const struct capture *capture)
{
    const struct task_place shown = {capture->kernel_stack, capture->user_stack, FOREIGN, INDEX};

    wall_begin(program, capture);
    EMIT(program,
        ACCOUNT(seen),
        CALL(BPF_FUNC_get_current_pid_tgid),
        STX(W, R10, TID, R0),
        LDX(W, R0, R10, TID),
        JEQ_IMM(R0, 0, "filtered"));
    emit_thread_key(program, capture, CURRENT_TASK);
    emit_event_filter(program, &capture->filter, &wall_places, true);
    wait_claim_slot(program, capture);
    emit_task(program, capture, &shown);
    emit_find_thread(program, capture, "has_entry", offsetof(struct account, waits_full), "out");
    EMIT(program,
        STX(W, R0, WAIT_TID, R7),
        MOV_REG(R7, R0));
    emit_tell_ending(program, capture);
    EMIT(program,
        LDX(W, R1, R7, TARGET_FLAGS),
        JSET_IMM(R1, TASK_SEEN, "is_known"));
    emit_close(program, capture, WALL_RUNNING, &closing);
    EMIT(program,
    LABEL("is_known"),
        MOV_REG(R0, R7));
    emit_copy_task(program, TARGET);
    EMIT(program,
        LDX(W, R1, R7, PART),
        JNE_IMM(R1, WALL_RUNNING, "was_hit"),
        ST(W, R7, PART, WALL_SAMPLED),
    LABEL("was_hit"),
        LDX(W, R1, R8, SLOT_FLAGS),
        OR_IMM(R1, TASK_SAMPLE),
        STX(W, R8, SLOT_FLAGS, R1));
    emit_count_spent(program, capture, &count_labels, "counted", R8, false);
    EMIT(program, JA("out"));
    emit_last_numbers(program, capture);
    EMIT(program,
    LABEL("filtered"),
        ACCOUNT(filtered),
    LABEL("out"));
    emit_return(program, "end", 0);
    if (shown.user_stack && capture->unwind)
        emit_unwind_functions(program, capture->unwind);
}

/* ---- The thread that gets another name ---- */

static const struct filter_places places = {FOREIGN, PID_SCRATCH, NULL, NEW_COUNT};

/* Goes to "end" if the thread is not the one that runs. TID and KEY */
static void emit_load_renamed(struct program *program, const struct capture *capture)
{
    EMIT(program,
        CALL(BPF_FUNC_get_current_pid_tgid),
        STX(W, R10, TID, R0),
        LDX(W, R1, R10, TID),
        JEQ_IMM(R1, 0, "end"));
    if (!capture->task.known && capture->renamed_pid)
        EMIT(program,
            LDX(W, R2, R6, capture->renamed_pid),
            JNE_REG(R1, R2, "end"));
    emit_thread_key(program, capture, CURRENT_TASK);
    if (capture->task.known)
        EMIT(program,
            LDX(DW, R2, R6, RENAME_TASK * 8),
            JNE_REG(R1, R2, "end"));
}

/* The new name, of which only the text is defined. */
static void emit_take_name(struct program *program, const struct capture *capture)
{
    if (capture->task.known)
        EMIT(program, LDX(DW, R3, R6, RENAME_COMM * 8));
    else
        EMIT(program, ADDRESS(R3, R6, capture->new_comm));
    emit_zeros(program, R10, NEW_COMM, COMM_BYTES);
    EMIT(program,
        ADDRESS(R1, R10, NEW_COMM),
        MOV_IMM(R2, COMM_BYTES),
        CALL(BPF_FUNC_probe_read_kernel_str));
    emit_words(program, R7, TARGET_COMM, R10, NEW_COMM, COMM_BYTES);
}

/*
 * At "filtered": the filter may pass the thread's new name, and then its time begins now. Its task
 * is unknown until it leaves its CPU, or is sampled.
 */
static void emit_forget_unnamed(struct program *program, const struct capture *capture)
{
    static const struct close_labels labels = {"other_known", "other_cut", "other_uncut",
                                               "other_later"};

    EMIT(program,
        JA("end"),
    LABEL("filtered"));
    emit_find_thread(program, capture, "other_has_entry", offsetof(struct account, waits_full),
                     "end");
    EMIT(program, MOV_REG(R7, R0));
    emit_close(program, capture, WALL_RUNNING, &labels);
    EMIT(program,
        ST(W, R7, PART, WALL_RUNNING),
        ST(W, R7, TARGET_FLAGS, 0));
    emit_forget(program);
}

/*
 * r7 = the current thread's entry, and r8 makes RENAMED_TASK its task, without stacks.
 *
 * Interrupts are on: a sample may come in between, and on kernels whose tracepoints can be
 * preempted, a switch. Those use the slot, so the task is on the stack here.
 */
static void emit_find_current(struct program *program, const struct capture *capture)
{
    const struct task_place shown = {capture->kernel_stack, capture->user_stack, FOREIGN, INDEX};

    EMIT(program, ADDRESS(R8, R10, RENAMED_TASK - SLOT_TASK));
    emit_clear_task(program);
    emit_who(program, capture, &shown);
    emit_find_thread(program, capture, "has_entry", offsetof(struct account, waits_full), "end");
    EMIT(program,
        STX(W, R0, WAIT_TID, R7),
        MOV_REG(R7, R0));
}

void emit_wall_rename(struct program *program, const struct capture *capture)
{
    wall_begin(program, capture);
    emit_load_renamed(program, capture);
    emit_event_filter(program, &capture->filter, &places, true);
    EMIT(program, ACCOUNT(seen));
    emit_find_current(program, capture);
    emit_close(program, capture, WALL_RUNNING, &closing);
    EMIT(program,
        ST(W, R7, PART, WALL_RUNNING),
        MOV_REG(R0, R7),
        LDX(W, R1, R7, TARGET_FLAGS),
        JSET_IMM(R1, TASK_SEEN, "is_known"));
    emit_copy_task(program, TARGET);
    EMIT(program,
    LABEL("is_known"),
        ST(DW, R7, TARGET_KERNEL, NO_STACK),
        ST(DW, R7, TARGET_USER, NO_STACK));
    emit_count_spent(program, capture, &count_labels, "counted", R7, true);
    if (capture->filter.comm_count) {
        EMIT(program,
            ST(W, R7, TARGET_FLAGS, 0),
            ST(DW, R7, TARGET_GENERATION, 0));
        emit_forget_unnamed(program, capture);
    } else {
        EMIT(program, MOV_REG(R0, R7));
        emit_copy_task(program, TARGET);
        emit_take_name(program, capture);
        EMIT(program, LABEL("filtered"));
    }
    emit_return(program, "end", FOR_PERF_TOO);
}

/* ---- The thread that ends ---- */

void emit_wall_exit(struct program *program, const struct capture *capture)
{
    wall_begin(program, capture);
    EMIT(program,
        CALL(BPF_FUNC_get_current_pid_tgid),
        STX(W, R10, TID, R0));
    emit_thread_key(program, capture, CURRENT_TASK);
    emit_event_filter(program, &capture->filter, &places, true);
    emit_find_current(program, capture);
    EMIT(program,
        LDX(W, R1, R7, TARGET_FLAGS),
        JSET_IMM(R1, TASK_SEEN, "is_known"));
    emit_close(program, capture, WALL_RUNNING, &closing);
    EMIT(program,
        ST(W, R7, PART, WALL_RUNNING),
        MOV_REG(R0, R7));
    emit_copy_task(program, TARGET);
    EMIT(program,
    LABEL("is_known"),
        MOV_IMM(R1, 1),
        LSH_IMM(R1, LIFE_THEN_BIT),
        LDX(DW, R2, R10, NOW),
        OR_REG(R1, R2),
        STX(DW, R7, TARGET_GENERATION, R1),
    LABEL("filtered"));
    emit_return(program, "end", FOR_PERF_TOO);
}

/*
 * switch(context):
 *     account = the current bank's                        r9: see fragments.c
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
 *         slot.task = current, without stacks
 *         count(slot.task, thread)                       its running time; the first time, all earlier time
 *         if (prev_state & ENDING)
 *             delete(waits, prev), goto out
 *         slot.task has the stacks with which it leaves
 *         thread.target = slot.task
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
 * What close(), count() and forget() are, and what is in the registers, is in wait.h.
 */

/* ---- The thread that leaves ---- */

static void emit_pass_leaving(struct program *program, const struct capture *capture)
{
    static const struct close_labels labels = {"prev_known", "prev_cut", "prev_uncut",
                                               "prev_later"};

    wait_load_prev_pid(program, capture);
    emit_enter(program, capture, SWITCH_PREV, "prev_has_entry", "out");
    emit_close(program, capture, WALL_RUNNING, &labels);
    wait_load_state(program, capture);
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

static void emit_leave(struct program *program, const struct capture *capture)
{
    static const struct count_labels labels = {
        {"ran_other", "ran_chosen"}, {"ran_other_insert", "ran_insert"},
        {"ran_other_again", "ran_again"},
        "ran_found", "ran_uncounted"};
    const struct task_place shown = {capture->kernel_stack, capture->user_stack, FOREIGN, INDEX};

    emit_pass_leaving(program, capture);
    EMIT(program, ACCOUNT(seen));
    emit_event_filter(program, &capture->filter, &wall_places, true);
    wait_claim_slot(program, capture);
    emit_who(program, capture, &shown);
    emit_look_up(program, capture->waits, KEY);
    EMIT(program,
        JEQ_IMM(R0, 0, "out"),
        STX(W, R0, WAIT_TID, R7),
        MOV_REG(R7, R0));
    emit_tell_ending(program, capture);
    emit_count_spent(program, capture, &labels, "ran_counted", R8, true);
    wait_load_state(program, capture);
    EMIT(program, JSET_IMM(R1, STATE_ENDING, "ends"));
    emit_task_stacks(program, capture, &shown);
    EMIT(program, MOV_REG(R0, R7));
    emit_copy_task(program, TARGET);
    EMIT(program, JA("out"));
    emit_last_numbers(program, capture);
}

/* At "filtered" and "ends". */
static void emit_left_out(struct program *program, const struct capture *capture)
{
    if (filter_asks(&capture->filter)) {
        EMIT(program,
        LABEL("filtered"),
            ACCOUNT(filtered));
        emit_look_up(program, capture->waits, KEY);
        EMIT(program,
            JEQ_IMM(R0, 0, "out"),
            MOV_REG(R7, R0),
            ST(W, R7, TARGET_FLAGS, TASK_UNWANTED));
        emit_forget(program);
        wait_load_state(program, capture);
        EMIT(program,
            AND_IMM(R1, STATE_ENDING),
            JEQ_IMM(R1, 0, "out"));
    }
    EMIT(program, LABEL("ends"));
    emit_delete(program, capture->waits, KEY);
}

/* ---- The thread that runs next ---- */

/* A time off the CPU below `least`, measured across reports, is counted without stacks. */
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

static void emit_come(struct program *program, const struct capture *capture)
{
    static const struct close_labels thread = {"next_known", "next_cut", "next_uncut",
                                               "next_later"};
    static const struct count_labels labels = {
        {"off_other", "off_chosen"}, {"off_other_insert", "off_insert"},
        {"off_other_again", "off_again"},
        "off_found", "off_uncounted"};

    wait_load_other_pid(program, capture, capture->next_pid);
    emit_enter(program, capture, SWITCH_NEXT, "next_has_entry", "end");
    emit_close(program, capture, WALL_RUNNABLE, &thread);
    EMIT(program,
        ST(W, R7, PART, WALL_RUNNING),
        LDX(W, R1, R7, TARGET_FLAGS),
        JEQ_IMM(R1, 0, "end"));
    if (filter_asks(&capture->filter)) {
        EMIT(program, JNE_IMM(R1, TASK_UNWANTED, "wanted"));
        emit_forget(program);
        EMIT(program,
            JA("end"),
        LABEL("wanted"));
    }
    if (capture->least)
        emit_shorten(program, capture->least);
    EMIT(program, ACCOUNT(seen));
    emit_count_spent(program, capture, &labels, "off_counted", R7, true);
}

void emit_wall_switch(struct program *program, const struct capture *capture)
{
    wall_begin(program, capture);
    wait_read_fields(program, capture, true);
    emit_leave(program, capture);
    emit_left_out(program, capture);
    EMIT(program, LABEL("out"));
    emit_come(program, capture);
    emit_return(program, "end", FOR_PERF_TOO);
    if (capture->user_stack && capture->unwind)
        emit_unwind_functions(program, capture->unwind);
}
