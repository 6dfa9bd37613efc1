/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "insns/wait.h"

#include "insns/look_up.h"
#include "insns/slot.h"

static void name_maps(struct program *program, const struct offwake_wishes *wishes)
{
    program_name_map(program, wishes->control, "control");
    program_name_map(program, wishes->account, "account");
    program_name_map(program, wishes->slots, "slots");
    life_name_maps(program, &wishes->lives);
    program_name_map(program, wishes->waits, "waits");
    name_bank_maps(program, &wishes->banks);
}

/* r6 and r9; goes to "end" if there is nothing to do. */
void wait_begin(struct program *program, const struct offwake_wishes *wishes)
{
    name_maps(program, wishes);
    EMIT(program, MOV_REG(R6, R1));
    emit_load_account(program, wishes->control, wishes->account, INDEX, "end");
}

/* ---- Fields: of the tracepoint's context r6, or on the stack ---- */

/* Reads what a raw tracepoint does not pass as numbers; the thread that leaves is current. */
void wait_read_fields(struct program *program, const struct offwake_wishes *wishes,
                      bool switches)
{
    const struct task_fields *task = &wishes->task;

    if (!task->known)
        return;
    emit_read_task(program, switches ? SWITCH_NEXT : WAKING_TASK, task->pid, 4, RAW_PID);
    if (switches)
        emit_read_state(program, task, RAW_STATE);
}

/* r1 = prev_pid; r0 and r2 to r5 are lost */
void wait_load_prev_pid(struct program *program, const struct offwake_wishes *wishes)
{
    if (wishes->task.known)
        EMIT(program,
            CALL(BPF_FUNC_get_current_pid_tgid),
            MOV32_REG(R1, R0));
    else
        EMIT(program, LDX(W, R1, R6, wishes->prev_pid));
}

/* r1 = next_pid, or the pid of the thread being woken */
void wait_load_other_pid(struct program *program, const struct offwake_wishes *wishes,
                         int16_t field)
{
    if (wishes->task.known)
        EMIT(program, LDX(W, R1, R10, RAW_PID));
    else
        EMIT(program, LDX(W, R1, R6, field));
}

/* ---- Threads ---- */

struct party_wishes wait_party_wishes(const struct offwake_wishes *wishes)
{
    return (struct party_wishes){
        .in_namespace = wishes->filter.in_namespace,
        .depth = wishes->depth,
        .lives = wishes->lives,
        .banks = wishes->banks,
        .unwind = wishes->unwind,
        .foreign = FOREIGN,
        .index = INDEX,
    };
}

void wait_claim_slot(struct program *program, const struct offwake_wishes *wishes)
{
    const struct slot_wishes slot = {
        .slots = wishes->slots,
        .index = INDEX,
    };

    emit_claim_slot(program, &slot);
    emit_clear_party(program);
}

void wait_load_state(struct program *program, const struct offwake_wishes *wishes)
{
    if (wishes->task.known)
        EMIT(program, LDX(DW, R1, R10, RAW_STATE));
    else if (wishes->wide_state)
        EMIT(program, LDX(DW, R1, R6, wishes->prev_state));
    else
        EMIT(program, LDX(W, R1, R6, wishes->prev_state));
}

/* ---- Entries ---- */

void emit_find_wait(struct program *program, int waits)
{
    emit_look_up(program, waits, TID);
}

void emit_make_wait_or(struct program *program, const struct offwake_wishes *wishes, int16_t full)
{
    emit_find_wait(program, wishes->waits);
    EMIT(program,
        JNE_IMM(R0, 0, "has_entry"),
        ST(DW, R10, NEW_WAIT + SINCE, 0),
        ST(DW, R10, NEW_WAIT + WAIT_TID, 0)); /* and the field next to it */
    emit_nobody(program, R10, NEW_WAIT + TARGET);
    if (wishes->view != VIEW_OFFCPU)
        emit_nobody(program, R10, NEW_WAIT + WAKER);
    EMIT(program,
        LOAD_MAP(R1, wishes->waits),
        MOV_REG(R2, R10),
        ADD_IMM(R2, TID),
        MOV_REG(R3, R10),
        ADD_IMM(R3, NEW_WAIT),
        MOV_IMM(R4, BPF_NOEXIST),
        CALL(BPF_FUNC_map_update_elem));
    emit_find_wait(program, wishes->waits);
    EMIT(program, JNE_IMM(R0, 0, "has_entry"));
    emit_account_word(program, full);
    EMIT(program,
        JA("out"),
    LABEL("has_entry"));
}

/* ---- Counts ---- */

/* r1 = the bank's map of counts. */
static void emit_load_counts(struct program *program, const struct offwake_wishes *wishes,
                             const struct bank_labels *labels)
{
    const struct bank_choice choice = {&wishes->banks, BANK_COUNTS, INDEX, "uncounted"};

    emit_load_bank_map(program, &choice, labels);
}

static void emit_find_count(struct program *program, const struct offwake_wishes *wishes,
                            const struct bank_labels *labels)
{
    emit_load_counts(program, wishes, labels);
    EMIT(program,
        MOV_REG(R2, R7),
        ADD_IMM(R2, TARGET),
        CALL(BPF_FUNC_map_lookup_elem));
}

static bool has_bounds(const struct offwake_wishes *wishes)
{
    return wishes->least || wishes->most != UINT64_MAX;
}

/* Goes to "unfit" if r8, the time, is not that of a wait that counts. */
static void emit_time_filter(struct program *program, const struct offwake_wishes *wishes)
{
    if (wishes->least)
        EMIT(program,
            LD_IMM64(R1, wishes->least),
            JLT_REG(R8, R1, "unfit"));
    if (wishes->most != UINT64_MAX)
        EMIT(program,
            LD_IMM64(R1, wishes->most),
            JGT_REG(R8, R1, "unfit"));
}

/*
 * A count is of one thread's waits, which end one after another: nobody else writes this word of it
 * meanwhile.
 */
static void emit_longest(struct program *program)
{
    const int16_t longest = offsetof(struct blocked, longest);

    EMIT(program,
        LDX(DW, R1, R0, longest),
        JGE_REG(R1, R8, "counted"),
        STX(DW, R0, longest, R8));
}

void emit_count_wait(struct program *program, const struct offwake_wishes *wishes)
{
    static const struct bank_labels first = {"other_counts", "counts"};
    static const struct bank_labels insert = {"other_insert", "insert"};
    static const struct bank_labels second = {"other_again", "again"};

    const int16_t new_count = wishes->longest ? NEW_WHOLE_COUNT : NEW_COUNT;

    emit_time_filter(program, wishes);
    emit_find_count(program, wishes, &first);
    EMIT(program, JNE_IMM(R0, 0, "found"));
    emit_account(program, inserted);
    for (int at = 0; at < (int)offwake_value_bytes(wishes->longest); at += 8)
        EMIT(program, ST(DW, R10, (int16_t)(new_count + at), 0));
    emit_load_counts(program, wishes, &insert);
    EMIT(program,
        MOV_REG(R2, R7),
        ADD_IMM(R2, TARGET),
        MOV_REG(R3, R10),
        ADD_IMM(R3, new_count),
        MOV_IMM(R4, BPF_NOEXIST),
        CALL(BPF_FUNC_map_update_elem));
    emit_find_count(program, wishes, &second);
    EMIT(program,
        JNE_IMM(R0, 0, "found"),
    LABEL("uncounted"));
    emit_account(program, table_full);
    EMIT(program,
        XADD(DW, R9, (int16_t)offsetof(struct account, table_full_ns), R8),
        JA("counted"),
    LABEL("found"),
        XADD(DW, R0, (int16_t)offsetof(struct blocked, nanoseconds), R8),
        MOV_IMM(R1, 1),
        XADD(DW, R0, (int16_t)offsetof(struct blocked, waits), R1));
    if (wishes->longest)
        emit_longest(program);
    if (has_bounds(wishes)) {
        EMIT(program,
            JA("counted"),
        LABEL("unfit"));
        emit_account(program, filtered);
        emit_account(program, unfit);
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
