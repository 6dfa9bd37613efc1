/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "insns/fragments.h"
#include "insns/wait.h"

/* ---- Fields: of the tracepoint's context r6, or on the stack ---- */

void wait_read_fields(struct program *program, const struct capture *capture, bool switches)
{
    const struct task_fields *task = &capture->task;

    if (!task->known)
        return;
    emit_read_task(program, switches ? SWITCH_NEXT : WAKING_TASK, task->pid, 4, RAW_PID);
    if (switches)
        emit_read_state(program, task, RAW_STATE);
}

void wait_load_prev_pid(struct program *program, const struct capture *capture)
{
    if (capture->task.known)
        EMIT(program,
            CALL(BPF_FUNC_get_current_pid_tgid),
            MOV32_REG(R1, R0));
    else
        EMIT(program, LDX(W, R1, R6, capture->prev_pid));
}

void wait_load_other_pid(struct program *program, const struct capture *capture, int16_t field)
{
    if (capture->task.known)
        EMIT(program, LDX(W, R1, R10, RAW_PID));
    else
        EMIT(program, LDX(W, R1, R6, field));
}

/* ---- Threads ---- */

void wait_claim_slot(struct program *program, const struct capture *capture)
{
    emit_claim_slot(program, capture->slots, false, INDEX);
    emit_clear_task(program);
}

void wait_load_state(struct program *program, const struct capture *capture)
{
    if (capture->task.known)
        EMIT(program, LDX(DW, R1, R10, RAW_STATE));
    else
        EMIT(program, LDX_WIDE(capture->wide_state, R1, R6, capture->prev_state));
}

/* ---- Entries ---- */

void emit_make_wait_or(struct program *program, const struct capture *capture, int16_t full)
{
    emit_look_up(program, capture->waits, TID);
    EMIT(program,
        JNE_IMM(R0, 0, "has_entry"),
        ST(DW, R10, NEW_WAIT + SINCE, 0),
        ST(DW, R10, NEW_WAIT + WAIT_TID, 0)); /* and the field next to it */
    emit_no_task(program, R10, NEW_WAIT + TARGET);
    if (capture->view != VIEW_OFFCPU)
        emit_no_task(program, R10, NEW_WAIT + WAKER);
    emit_update(program, capture->waits, TID, NEW_WAIT, BPF_NOEXIST);
    emit_look_up(program, capture->waits, TID);
    EMIT(program, JNE_IMM(R0, 0, "has_entry"));
    EMIT(program, XADD_IMM(R9, full, 1));
    EMIT(program,
        JA("out"),
    LABEL("has_entry"));
}

/* ---- Counts ---- */

static bool has_bounds(const struct capture *capture)
{
    return capture->least || capture->most != UINT64_MAX;
}

/* Goes to "unfit" if r8, the time, is not that of a wait that counts. */
static void emit_time_filter(struct program *program, const struct capture *capture)
{
    if (capture->least)
        EMIT(program,
            LD_IMM64(R1, capture->least),
            JLT_REG(R8, R1, "unfit"));
    if (capture->most != UINT64_MAX)
        EMIT(program,
            LD_IMM64(R1, capture->most),
            JGT_REG(R8, R1, "unfit"));
}

/*
 * A count is of one thread's waits, which end one after another: no other program writes this word
 * of it meanwhile.
 */
static void emit_longest(struct program *program)
{
    const int16_t longest = offsetof(struct blocked, longest);

    EMIT(program,
        LDX(DW, R1, R0, longest),
        JGE_REG(R1, R8, "counted"),
        STX(DW, R0, longest, R8));
}

void emit_count_wait(struct program *program, const struct capture *capture)
{
    emit_time_filter(program, capture);
    emit_find_count(program, &(struct count_place){
        .capture = capture,
        .index = INDEX,
        .labels = &count_labels,
        .base = R7,
        .key = TARGET,
        .new_base = R10,
        .new_value = capture->longest ? NEW_WHOLE_COUNT : NEW_COUNT,
        .cleared = (int16_t)offwake_value_bytes(capture->longest),
    });
    EMIT(program,
        XADD(DW, R9, (int16_t)offsetof(struct account, table_full_ns), R8),
        JA("counted"),
    LABEL("found"),
        XADD(DW, R0, (int16_t)offsetof(struct blocked, nanoseconds), R8),
        XADD_IMM(R0, (int16_t)offsetof(struct blocked, waits), 1));
    if (capture->longest)
        emit_longest(program);
    if (has_bounds(capture)) {
        EMIT(program,
            JA("counted"),
        LABEL("unfit"),
            ACCOUNT(filtered),
            ACCOUNT(unfit));
    }
    EMIT(program, LABEL("counted"));
}

void emit_end_wait(struct program *program)
{
    EMIT(program,
        SUB_REG(R0, R8),
        MOV_REG(R8, R0),
        ST(DW, R7, SINCE, 0));
}

void wall_begin(struct program *program, const struct capture *capture)
{
    emit_begin(program, capture, INDEX, "end");
    EMIT(program,
        LDX(DW, R1, R9, offsetof(struct account, bank)),
        STX(W, R10, INDEX, R1));
    emit_look_up(program, capture->cuts, INDEX);
    EMIT(program,
        JEQ_IMM(R0, 0, "end"),
        LDX(DW, R1, R0, 0),
        STX(DW, R10, CUT, R1),
        CALL(BPF_FUNC_ktime_get_ns),
        STX(DW, R10, NOW, R0));
}

/* ---- Threads ---- */

void emit_thread_key(struct program *program, const struct capture *capture, int word)
{
    if (!capture->task.known)
        EMIT(program, LDX(W, R1, R10, TID));
    else if (word == CURRENT_TASK)
        EMIT(program,
            CALL(BPF_FUNC_get_current_task),
            MOV_REG(R1, R0));
    else
        EMIT(program, LDX(DW, R1, R6, (int16_t)(word * 8)));
    EMIT(program, STX(DW, R10, KEY, R1));
}

/* r0 = a new entry, whose thread's state since the cut is unknown. */
static void emit_new_thread(struct program *program, int waits)
{
    EMIT(program,
        LDX(DW, R1, R10, CUT),
        STX(DW, R10, NEW_WAIT + SINCE, R1),
        STX(DW, R10, NEW_WAIT + FIRST, R1),
        LDX(W, R1, R10, TID),
        STX(W, R10, NEW_WAIT + WAIT_TID, R1),
        ST(W, R10, NEW_WAIT + PART, WALL_UNKNOWN));
    emit_no_task(program, R10, NEW_WAIT + TARGET);
    emit_zeros(program, R10, NEW_WAIT + SPENT, FIRST - SPENT);
    emit_update(program, waits, KEY, NEW_WAIT, BPF_ANY);
    emit_look_up(program, waits, KEY);
}

void emit_find_thread(struct program *program, const struct capture *capture, const char *has_entry,
                      int16_t full, const char *none)
{
    emit_look_up(program, capture->waits, KEY);
    EMIT(program, JNE_IMM(R0, 0, has_entry));
    emit_new_thread(program, capture->waits);
    EMIT(program, JNE_IMM(R0, 0, has_entry));
    EMIT(program, XADD_IMM(R9, full, 1));
    EMIT(program,
        JA(none),
    LABEL(has_entry));
}

const struct filter_places wall_places = {FOREIGN, PID_SCRATCH, "numberless", NEW_COUNT};

void emit_last_numbers(struct program *program, const struct capture *capture)
{
    const char *const outside = filter_outside(&capture->filter);

    if (!capture->filter.in_namespace)
        return;
    EMIT(program, LABEL(wall_places.numberless));
    emit_look_up(program, capture->waits, KEY);
    EMIT(program,
        JEQ_IMM(R0, 0, outside),
        LDX(W, R1, R0, TARGET_FLAGS),
        AND_IMM(R1, TASK_SEEN | KEY_FOREIGN),
        JNE_IMM(R1, TASK_SEEN, outside),
        LDX(W, R7, R0, TARGET_PID),
        LSH_IMM(R7, 32),
        LDX(W, R1, R0, TARGET_TID),
        OR_REG(R7, R1),
        JA("numbers_known"));
}

void emit_tell_ending(struct program *program, const struct capture *capture)
{
    if (capture->lifetimes.living < 0)
        return;
    EMIT(program,
        LDX(DW, R1, R7, TARGET_GENERATION),
        MOV_REG(R2, R1),
        RSH_IMM(R2, LIFE_THEN_BIT),
        JEQ_IMM(R2, 0, "goes_on"),
        STX(DW, R8, SLOT_GENERATION, R1),
    LABEL("goes_on"));
}

static void emit_clear_spent(struct program *program)
{
    emit_zeros(program, R7, SPENT, THREAD_LEFT - SPENT);
}

/* rests[KEY] = the thread r7. `rests` has room for all threads that have an entry. */
static void emit_keep_rest(struct program *program, const struct capture *capture, const char *kept)
{
    emit_words(program, R10, NEW_WAIT, R7, 0, sizeof(struct wall));
    emit_update(program, capture->rests, KEY, NEW_WAIT, BPF_NOEXIST);
    EMIT(program,
        JEQ_IMM(R0, 0, kept),
        ACCOUNT(wakes_full));
}

void emit_close(struct program *program, const struct capture *capture, enum wall_part implied,
                const struct close_labels *labels)
{
    EMIT(program,
        LDX(W, R1, R7, PART),
        JNE_IMM(R1, WALL_UNKNOWN, labels->known),
        ST(W, R7, PART, (int32_t)implied),
    LABEL(labels->known),
        LDX(DW, R1, R7, SINCE),
        LDX(DW, R2, R10, CUT),
        JGE_REG(R1, R2, labels->uncut),
        LDX(W, R1, R7, TARGET_FLAGS),
        AND_IMM(R1, TASK_SEEN),
        JEQ_IMM(R1, 0, labels->uncut),
        LDX(DW, R1, R9, offsetof(struct account, bank)),
        JNE_IMM(R1, CONTROL_STAND_IN, labels->cut));
    emit_keep_rest(program, capture, labels->cut);
    EMIT(program,
    LABEL(labels->cut),
        LDX(DW, R1, R10, CUT),
        STX(DW, R7, SINCE, R1));
    emit_clear_spent(program);
    EMIT(program,
    LABEL(labels->uncut),
        LDX(W, R1, R7, PART),
        AND_IMM(R1, WALL_PARTS - 1),
        LSH_IMM(R1, 3),
        ADD_REG(R1, R7),
        LDX(DW, R2, R10, NOW),
        LDX(DW, R3, R7, SINCE),
        JGE_REG(R2, R3, labels->later),
        MOV_REG(R2, R3),
    LABEL(labels->later),
        STX(DW, R7, SINCE, R2),
        SUB_REG(R2, R3),
        LDX(DW, R3, R1, SPENT),
        ADD_REG(R3, R2),
        STX(DW, R1, SPENT, R3));
}

void emit_forget(struct program *program)
{
    emit_clear_spent(program);
    EMIT(program,
        LDX(DW, R1, R10, NOW),
        STX(DW, R7, FIRST, R1));
}

/* ---- Counts ---- */

/* r1 = all that the thread r7 has spent. */
static void emit_sum(struct program *program)
{
    EMIT(program, LDX(DW, R1, R7, SPENT));
    for (int at = SPENT + 8; at < THREAD_LEFT; at += 8)
        EMIT(program,
            LDX(DW, R2, R7, (int16_t)at),
            ADD_REG(R1, R2));
}

void emit_count_spent(struct program *program, const struct capture *capture,
                      const struct count_labels *labels, const char *counted, unsigned base,
                      bool spent)
{
    emit_find_count(program, &(struct count_place){
        .capture = capture,
        .index = INDEX,
        .labels = labels,
        .base = base,
        .key = base == R8 ? SLOT_TASK : TARGET,
        .new_base = R10,
        .new_value = NEW_WAIT,
        .cleared = sizeof(struct walled),
    });
    if (spent) {
        emit_sum(program);
        EMIT(program, XADD(DW, R9, (int16_t)offsetof(struct account, table_full_ns), R1));
    }
    EMIT(program,
        JA(counted),
    LABEL(labels->found),
        XADD_IMM(R0, (int16_t)offsetof(struct walled, events), 1));
    for (int at = 0; spent && at < (int)offsetof(struct walled, events); at += 8)
        EMIT(program,
            LDX(DW, R1, R7, (int16_t)(SPENT + at)),
            XADD(DW, R0, (int16_t)at, R1));
    EMIT(program, LABEL(counted));
    if (spent)
        emit_clear_spent(program);
}
