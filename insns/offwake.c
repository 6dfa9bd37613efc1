/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An entry of the map of waits stays as long as its thread lives: then blocking, waking and running
 * again only need lookups. The waker writes its own part, whether its program runs after that for the
 * thread's leaving or, on another CPU, before it.
 *
 * switch(context):
 *     account = the current bank's                        r9: see account.c
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
 *         left = now, slot.party = current
 *         if (wait = waits[prev_pid], created if necessary)
 *             wait.target = slot.party, wait.tid = tid, wait.woken = 0, wait.since = left
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
 *         wait.waker = nobody
 *     }
 *     return 1
 *
 * waking(context):
 *     account as above
 *     if ((wait = waits[pid]) && wait.target is unwanted)
 *         return 1
 *     slot.party = current
 *     if (wait = waits[pid], created if necessary)
 *         wait.waker = slot.party, wait.woken = wait.since != 0
 *
 * For wakeuptime a wakeup also ends the wait, if it has begun, and counts it.
 *
 * Every thread gets an entry at its first wakeup: it may be about to leave a CPU for the first time,
 * elsewhere. If it then leaves and was not asked for, its entry says so, and its wakers are ignored
 * from then on. (Not if its CPU, name or user are asked for: next time it may have others.)
 *
 * r6 = context, r7 = pid << 32 | tid, later the wait, r8 = slot, later the time, r9 = account.
 */
#include "insns/offwake.h"

#include "insns/account.h"
#include "insns/layout.h"
#include "insns/party.h"
#include "insns/wait.h"

size_t offwake_wait_bytes(enum offwake_view view)
{
    return view == VIEW_WALL     ? sizeof(struct wall)
           : view == VIEW_OFFCPU ? offsetof(struct wait, waker)
                                 : sizeof(struct wait);
}

size_t offwake_key_bytes(enum offwake_view view)
{
    return view == VIEW_WALL ? sizeof(struct party)
                             : offwake_wait_bytes(view) - offsetof(struct wait, target);
}

size_t offwake_value_bytes(bool longest)
{
    return longest ? sizeof(struct blocked) : offsetof(struct blocked, longest);
}

/* ---- Threads ---- */

/* A user thread has frames in its own program, if not a stack. */
static void emit_thread_filter(struct program *program, const struct offwake_wishes *wishes)
{
    emit_look_for_user(program);
    if (wishes->threads == THREADS_USER)
        EMIT(program, JSLE_IMM(R0, 0, "filtered"));
    else
        EMIT(program, JSGT_IMM(R0, 0, "filtered"));
}

static bool leaves_out_threads(const struct offwake_wishes *wishes)
{
    return wishes->threads != THREADS_ALL || filter_asks(&wishes->filter);
}

static bool marks_unwanted(const struct offwake_wishes *wishes)
{
    /*
     * Not worth a check at each one to skip our own wakeups: what wakes us is stored, but not used.
     */
    bool leaves_others_out = wishes->threads != THREADS_ALL || filter_asks_others(&wishes->filter);

    return leaves_others_out && wishes->view != VIEW_OFFCPU && !filter_may_change(&wishes->filter);
}

/* ---- The thread that leaves ---- */

/* Goes to "out" if the thread's state is none of those asked for. */
static void emit_state_filter(struct program *program, const struct offwake_wishes *wishes)
{
    wait_load_state(program, wishes);
    if (wishes->runnable)
        EMIT(program,
            MOV_REG(R2, R1),
            AND_IMM(R2, STATE_ANY),
            JEQ_IMM(R2, 0, "state_counts"));
    EMIT(program,
        AND_IMM(R1, (int32_t)wishes->states),
        JEQ_IMM(R1, 0, "out"));
    if (wishes->runnable)
        EMIT(program, LABEL("state_counts"));
}

/* TID = prev_pid; its last wait is over. Goes to "ends" if it will never run again. */
static void emit_forget_prev(struct program *program, const struct offwake_wishes *wishes)
{
    wait_load_prev_pid(program, wishes);
    EMIT(program,
        JEQ_IMM(R1, 0, "out"),
        STX(W, R10, TID, R1));
    emit_find_wait(program, wishes->waits);
    EMIT(program,
        JEQ_IMM(R0, 0, "forgotten"),
        LDX(DW, R1, R0, SINCE),
        JEQ_IMM(R1, 0, "forgotten"),
        ST(DW, R0, SINCE, 0));
    emit_account(program, ends_unseen);
    EMIT(program, LABEL("forgotten"));
    wait_load_state(program, wishes);
    EMIT(program, JSET_IMM(R1, STATE_ENDING, "ends"));
}

/* At "filtered". */
static void emit_left_out(struct program *program, const struct offwake_wishes *wishes)
{
    EMIT(program, LABEL("filtered"));
    emit_account(program, filtered);
    if (marks_unwanted(wishes)) {
        emit_find_wait(program, wishes->waits);
        EMIT(program,
            JEQ_IMM(R0, 0, "out"),
            LDX(W, R1, R0, TARGET_FLAGS),
            JNE_IMM(R1, 0, "out"),
            ST(W, R0, TARGET_FLAGS, PARTY_UNWANTED));
    }
    EMIT(program, JA("out"));
}

static void emit_leave(struct program *program, const struct offwake_wishes *wishes)
{
    const struct filter_places places = {FOREIGN, PID_SCRATCH, NULL, NEW_COUNT};
    bool stacks = wishes->view != VIEW_WAKEUP;
    struct party_wishes shown = wait_party_wishes(wishes);

    shown.kernel_stack = stacks && wishes->kernel_stack;
    shown.user_stack = stacks && wishes->user_stack;

    emit_forget_prev(program, wishes);
    emit_state_filter(program, wishes);
    emit_account(program, seen);
    emit_event_filter(program, &wishes->filter, &places, true);
    /* Before the stacks are taken: that takes time, in which the thread no longer runs. */
    EMIT(program,
        CALL(BPF_FUNC_ktime_get_ns),
        STX(DW, R10, LEFT, R0));
    wait_claim_slot(program, wishes);
    if (wishes->threads != THREADS_ALL)
        emit_thread_filter(program, wishes);
    emit_party(program, &shown);
    emit_make_wait(program, wishes, waits_full);
    EMIT(program,
        STX(W, R0, WAIT_TID, R7),
        ST(W, R0, WOKEN, 0),
        MOV_REG(R7, R0));
    emit_copy_party(program, TARGET);
    EMIT(program,
        LDX(DW, R0, R10, LEFT),
        STX(DW, R7, SINCE, R0),
        JA("out"));
    if (leaves_out_threads(wishes))
        emit_left_out(program, wishes);
    EMIT(program,
    LABEL("ends"),
        LOAD_MAP(R1, wishes->waits),
        MOV_REG(R2, R10),
        ADD_IMM(R2, TID),
        CALL(BPF_FUNC_map_delete_elem));
}

/* ---- The thread that runs next ---- */

/*
 * For wakeuptime: an unfinished wait was either woken before it began, or nobody was seen to wake
 * it: then it counts as that, until now.
 */
static void emit_come(struct program *program, const struct offwake_wishes *wishes)
{
    wait_load_other_pid(program, wishes, wishes->next_pid);
    EMIT(program,
        JEQ_IMM(R1, 0, "end"),
        STX(W, R10, TID, R1));
    emit_find_wait(program, wishes->waits);
    EMIT(program,
        JEQ_IMM(R0, 0, "end"),
        MOV_REG(R7, R0),
        LDX(DW, R8, R7, SINCE),
        JEQ_IMM(R8, 0, wishes->view == VIEW_OFFCPU ? "end" : "counted"));
    /* The time of the switch, not when the stacks of the thread that leaves were taken. */
    EMIT(program,
        LDX(DW, R0, R10, LEFT),
        JNE_IMM(R0, 0, "time_known"),
        CALL(BPF_FUNC_ktime_get_ns),
    LABEL("time_known"));
    emit_end_wait(program);
    if (wishes->view == VIEW_WAKEUP) {
        EMIT(program,
            LDX(W, R1, R7, WAKER_FLAGS),
            JEQ_IMM(R1, 0, "unwoken"));
        emit_account(program, filtered);
        EMIT(program,
            JA("counted"),
        LABEL("unwoken"));
    }
    emit_count_wait(program, wishes);
    if (wishes->view != VIEW_OFFCPU)
        emit_nobody(program, R7, WAKER);
}

void emit_switch(struct program *program, const struct offwake_wishes *wishes)
{
    wait_begin(program, wishes);
    wait_read_fields(program, wishes, true);
    EMIT(program, ST(DW, R10, LEFT, 0));
    emit_leave(program, wishes);
    EMIT(program, LABEL("out"));
    emit_come(program, wishes);
    EMIT(program,
    LABEL("end"),
        MOV_IMM(R0, FOR_PERF_TOO),
        EXIT());
    if (wishes->view != VIEW_WAKEUP && wishes->user_stack && wishes->unwind)
        emit_unwind_functions(program, wishes->unwind);
}

/* ---- The thread that wakes another ---- */

/* Goes to "out" if nobody needs to know who wakes the thread TID. */
static void emit_waking_filter(struct program *program, const struct offwake_wishes *wishes)
{
    emit_find_wait(program, wishes->waits);
    EMIT(program,
        JEQ_IMM(R0, 0, "first_waking"),
        LDX(W, R1, R0, TARGET_FLAGS),
        JEQ_IMM(R1, PARTY_UNWANTED, "out"),
    LABEL("first_waking"));
}

/* The wait r0 has ended. */
static void emit_count_woken(struct program *program, const struct offwake_wishes *wishes)
{
    EMIT(program,
        MOV_REG(R7, R0),
        LDX(DW, R8, R7, SINCE),
        CALL(BPF_FUNC_ktime_get_ns));
    emit_end_wait(program);
    emit_count_wait(program, wishes);
    emit_nobody(program, R7, WAKER);
}

void emit_waking(struct program *program, const struct offwake_wishes *wishes)
{
    const struct filter_places places = {FOREIGN, PID_SCRATCH, NULL, NEW_COUNT};
    /* Anybody: filters are for threads that wait. */
    const struct event_filter anybody = {
        .cpu = -1,
        .in_namespace = wishes->filter.in_namespace,
        .namespace_device = wishes->filter.namespace_device,
        .namespace_inode = wishes->filter.namespace_inode,
        .numbers = wishes->filter.numbers,
    };
    struct party_wishes shown = wait_party_wishes(wishes);

    /*
     * Even with user stacks only: it identifies wakeups by an interrupt, which have no user stack.
     */
    shown.kernel_stack = true;
    shown.user_stack = wishes->user_stack;

    wait_begin(program, wishes);
    wait_read_fields(program, wishes, false);
    wait_load_other_pid(program, wishes, wishes->target_pid);
    EMIT(program,
        JEQ_IMM(R1, 0, "out"),
        STX(W, R10, TID, R1));
    if (marks_unwanted(wishes))
        emit_waking_filter(program, wishes);
    emit_event_filter(program, &anybody, &places, true);
    wait_claim_slot(program, wishes);
    emit_party(program, &shown);
    emit_make_wait(program, wishes, wakes_full);
    emit_copy_party(program, WAKER);
    EMIT(program,
        LDX(DW, R1, R0, SINCE),
        JEQ_IMM(R1, 0, "out"),
        ST(W, R0, WOKEN, 1));
    if (wishes->view == VIEW_WAKEUP)
        emit_count_woken(program, wishes);
    EMIT(program,
    LABEL("out"),
    LABEL("end"),
        MOV_IMM(R0, FOR_PERF_TOO),
        EXIT());
    if (shown.user_stack && wishes->unwind)
        emit_unwind_functions(program, wishes->unwind);
}
