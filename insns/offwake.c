/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An entry of the map of waits lives as long as its thread, so that blocking, waking and running
 * again only need lookups. The waker writes only its own part: its program can run after the one
 * for the thread's switch or, on another CPU, before it.
 *
 * switch(context):
 *     account = the current bank's                        r9: see fragments.c
 *     if (there is none)
 *         return 1                                        for perf, too: see FOR_PERF_TOO
 *     if (prev_pid) {                                     0 is idle
 *         if ((wait = waits[prev_pid]) && wait.since)     after an unseen switch to it, running must not
 *             wait.since = 0, account.ends_unseen += 1    be taken for waiting
 *         if (prev_state & ENDING)
 *             delete(waits, prev_pid), goto out
 *         if (prev_state was not asked for)
 *             goto out
 *         account.seen += 1
 *         if (current, which is prev, was not asked for)
 *             if (wait = waits[prev_pid], and it has no target yet)
 *                 wait.target = unwanted
 *             account.filtered += 1, goto out
 *         left = now, slot.task = current
 *         if (wait = waits[prev_pid], created if necessary)
 *             wait.target = slot.task, wait.tid = tid, wait.woken = 0, wait.since = left
 *     }
 * out:
 *     if (next_pid && (wait = waits[next_pid])) {
 *         if (wait.since) {
 *             time = (left or else now) - wait.since, wait.since = 0
 *             if (least <= time <= most)
 *                 counts[wait.target, wait.waker] += { time, 1 }
 *             else
 *                 account.filtered += 1
 *         }
 *         wait.waker = none
 *     }
 *     return 1
 *
 * waking(context):
 *     account as above
 *     if ((wait = waits[pid]) && wait.target is unwanted)
 *         return 1
 *     slot.task = current
 *     if (wait = waits[pid], created if necessary)
 *         wait.waker = slot.task, wait.woken = wait.since != 0
 *
 * For wakeuptime a wakeup also ends the wait, if it has begun, and counts it.
 *
 * Every thread gets an entry at its first wakeup, as it may be about to leave another CPU for the
 * first time. If the filter drops it there, its entry says so, and waking() ignores its wakers from
 * then on. (Not with a filter by CPU, name or user: they may be others next time.)
 *
 * r6 = context, r7 = pid << 32 | tid, later the wait, r8 = slot, later the time, r9 = account.
 */
#include "insns/programs.h"

#include "insns/fragments.h"
#include "insns/layout.h"
#include "insns/wait.h"

size_t offwake_wait_bytes(enum offwake_view view)
{
    return view == VIEW_WALL     ? sizeof(struct wall)
           : view == VIEW_OFFCPU ? offsetof(struct wait, waker)
                                 : sizeof(struct wait);
}

size_t offwake_key_bytes(enum offwake_view view)
{
    return view == VIEW_WALL ? sizeof(struct task_stacks)
                             : offwake_wait_bytes(view) - offsetof(struct wait, target);
}

size_t offwake_value_bytes(bool longest)
{
    return longest ? sizeof(struct blocked) : offsetof(struct blocked, longest);
}

/* ---- Threads ---- */

/* Tells user threads by a user frame: even a thread whose stack cannot be walked has one. */
static void emit_thread_filter(struct program *program, const struct capture *capture)
{
    emit_look_for_user(program);
    if (capture->threads == THREADS_USER)
        EMIT(program, JSLE_IMM(R0, 0, "filtered"));
    else
        EMIT(program, JSGT_IMM(R0, 0, "filtered"));
}

static bool leaves_out_threads(const struct capture *capture)
{
    return capture->threads != THREADS_ALL || filter_asks(&capture->filter);
}

static bool marks_unwanted(const struct capture *capture)
{
    /* Wakers of our own processes are stored, too: a check at each wakeup would cost more. */
    bool leaves_others_out = capture->threads != THREADS_ALL ||
        filter_asks_others(&capture->filter);

    return leaves_others_out && capture->view != VIEW_OFFCPU &&
        !filter_may_change(&capture->filter);
}

/* ---- The thread that leaves ---- */

/* Goes to "out" if the thread's state is none of those asked for. */
static void emit_state_filter(struct program *program, const struct capture *capture)
{
    wait_load_state(program, capture);
    if (capture->runnable)
        EMIT(program,
            MOV_REG(R2, R1),
            AND_IMM(R2, STATE_ANY),
            JEQ_IMM(R2, 0, "state_counts"));
    EMIT(program,
        AND_IMM(R1, (int32_t)capture->states),
        JEQ_IMM(R1, 0, "out"));
    if (capture->runnable)
        EMIT(program, LABEL("state_counts"));
}

/* TID = prev_pid; ends its last wait. Goes to "ends" if the thread will never run again. */
static void emit_forget_prev(struct program *program, const struct capture *capture)
{
    wait_load_prev_pid(program, capture);
    EMIT(program,
        JEQ_IMM(R1, 0, "out"),
        STX(W, R10, TID, R1));
    emit_look_up(program, capture->waits, TID);
    EMIT(program,
        JEQ_IMM(R0, 0, "forgotten"),
        LDX(DW, R1, R0, SINCE),
        JEQ_IMM(R1, 0, "forgotten"),
        ST(DW, R0, SINCE, 0),
        ACCOUNT(ends_unseen),
    LABEL("forgotten"));
    wait_load_state(program, capture);
    EMIT(program, JSET_IMM(R1, STATE_ENDING, "ends"));
}

/* At "filtered". */
static void emit_left_out(struct program *program, const struct capture *capture)
{
    EMIT(program,
    LABEL("filtered"),
        ACCOUNT(filtered));
    if (marks_unwanted(capture)) {
        emit_look_up(program, capture->waits, TID);
        EMIT(program,
            JEQ_IMM(R0, 0, "out"),
            LDX(W, R1, R0, TARGET_FLAGS),
            JNE_IMM(R1, 0, "out"),
            ST(W, R0, TARGET_FLAGS, TASK_UNWANTED));
    }
    EMIT(program, JA("out"));
}

static void emit_leave(struct program *program, const struct capture *capture)
{
    const struct filter_places places = {FOREIGN, PID_SCRATCH, NULL, NEW_COUNT};
    const bool stacks = capture->view != VIEW_WAKEUP;
    const struct task_place shown = {stacks && capture->kernel_stack,
                                     stacks && capture->user_stack, FOREIGN, INDEX};

    emit_forget_prev(program, capture);
    emit_state_filter(program, capture);
    EMIT(program, ACCOUNT(seen));
    emit_event_filter(program, &capture->filter, &places, true);
    /* Before taking the stacks: the thread no longer runs during the time which that takes. */
    EMIT(program,
        CALL(BPF_FUNC_ktime_get_ns),
        STX(DW, R10, LEFT, R0));
    wait_claim_slot(program, capture);
    if (capture->threads != THREADS_ALL)
        emit_thread_filter(program, capture);
    emit_task(program, capture, &shown);
    emit_make_wait(program, capture, waits_full);
    EMIT(program,
        STX(W, R0, WAIT_TID, R7),
        ST(W, R0, WOKEN, 0),
        MOV_REG(R7, R0));
    emit_copy_task(program, TARGET);
    EMIT(program,
        LDX(DW, R0, R10, LEFT),
        STX(DW, R7, SINCE, R0),
        JA("out"));
    if (leaves_out_threads(capture))
        emit_left_out(program, capture);
    EMIT(program, LABEL("ends"));
    emit_delete(program, capture->waits, TID);
}

/* ---- The thread that runs next ---- */

/*
 * For wakeuptime: if a wait has not ended by now, either its wakeup came before it began, or no
 * wakeup was seen: then it counts until now, without a waker.
 */
static void emit_come(struct program *program, const struct capture *capture)
{
    wait_load_other_pid(program, capture, capture->next_pid);
    EMIT(program,
        JEQ_IMM(R1, 0, "end"),
        STX(W, R10, TID, R1));
    emit_look_up(program, capture->waits, TID);
    EMIT(program,
        JEQ_IMM(R0, 0, "end"),
        MOV_REG(R7, R0),
        LDX(DW, R8, R7, SINCE),
        JEQ_IMM(R8, 0, capture->view == VIEW_OFFCPU ? "end" : "counted"));
    /* The time of the switch, without the time for the stacks of the thread that leaves. */
    EMIT(program,
        LDX(DW, R0, R10, LEFT),
        JNE_IMM(R0, 0, "time_known"),
        CALL(BPF_FUNC_ktime_get_ns),
    LABEL("time_known"));
    emit_end_wait(program);
    if (capture->view == VIEW_WAKEUP) {
        EMIT(program,
            LDX(W, R1, R7, WAKER_FLAGS),
            JEQ_IMM(R1, 0, "unwoken"),
            ACCOUNT(filtered),
            JA("counted"),
        LABEL("unwoken"));
    }
    emit_count_wait(program, capture);
    if (capture->view != VIEW_OFFCPU)
        emit_no_task(program, R7, WAKER);
}

void emit_switch(struct program *program, const struct capture *capture)
{
    emit_begin(program, capture, INDEX, "end");
    wait_read_fields(program, capture, true);
    EMIT(program, ST(DW, R10, LEFT, 0));
    emit_leave(program, capture);
    EMIT(program, LABEL("out"));
    emit_come(program, capture);
    emit_return(program, "end", FOR_PERF_TOO);
    if (capture->view != VIEW_WAKEUP && capture->user_stack && capture->unwind)
        emit_unwind_functions(program, capture->unwind);
}

/* ---- The thread that wakes another ---- */

/* Goes to "out" if no wait needs to know who wakes the thread TID. */
static void emit_waking_filter(struct program *program, const struct capture *capture)
{
    emit_look_up(program, capture->waits, TID);
    EMIT(program,
        JEQ_IMM(R0, 0, "first_waking"),
        LDX(W, R1, R0, TARGET_FLAGS),
        JEQ_IMM(R1, TASK_UNWANTED, "out"),
    LABEL("first_waking"));
}

/* The wait r0 has ended. */
static void emit_count_woken(struct program *program, const struct capture *capture)
{
    EMIT(program,
        MOV_REG(R7, R0),
        LDX(DW, R8, R7, SINCE),
        CALL(BPF_FUNC_ktime_get_ns));
    emit_end_wait(program);
    emit_count_wait(program, capture);
    emit_no_task(program, R7, WAKER);
}

void emit_waking(struct program *program, const struct capture *capture)
{
    /*
     * Even with -U: the kernel's stack identifies wakeups by an interrupt, which have no user
     * stack.
     */
    const struct task_place shown = {true, capture->user_stack, FOREIGN, INDEX};

    emit_begin(program, capture, INDEX, "end");
    wait_read_fields(program, capture, false);
    wait_load_other_pid(program, capture, capture->target_pid);
    EMIT(program,
        JEQ_IMM(R1, 0, "out"),
        STX(W, R10, TID, R1));
    if (marks_unwanted(capture))
        emit_waking_filter(program, capture);
    emit_load_anybody(program, &capture->filter, FOREIGN, PID_SCRATCH); /* filters are for waits */
    wait_claim_slot(program, capture);
    emit_task(program, capture, &shown);
    emit_make_wait(program, capture, wakes_full);
    emit_copy_task(program, WAKER);
    EMIT(program,
        LDX(DW, R1, R0, SINCE),
        JEQ_IMM(R1, 0, "out"),
        ST(W, R0, WOKEN, 1));
    if (capture->view == VIEW_WAKEUP)
        emit_count_woken(program, capture);
    EMIT(program, LABEL("out"));
    emit_return(program, "end", FOR_PERF_TOO);
    if (shown.user_stack && capture->unwind)
        emit_unwind_functions(program, capture->unwind);
}
