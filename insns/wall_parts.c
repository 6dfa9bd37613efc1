/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "insns/wall_parts.h"

#include "insns/look_up.h"

void wall_begin(struct program *program, const struct offwake_wishes *wishes)
{
    wait_begin(program, wishes);
    program_name_map(program, wishes->cuts, "cuts");
    program_name_map(program, wishes->rests, "rests");
    EMIT(program,
        LDX(DW, R1, R9, offsetof(struct account, bank)),
        STX(W, R10, INDEX, R1));
    emit_look_up(program, wishes->cuts, INDEX);
    EMIT(program,
        JEQ_IMM(R0, 0, "end"),
        LDX(DW, R1, R0, 0),
        STX(DW, R10, CUT, R1),
        CALL(BPF_FUNC_ktime_get_ns),
        STX(DW, R10, NOW, R0));
}

/* ---- Threads ---- */

void emit_thread_key(struct program *program, const struct offwake_wishes *wishes, int word)
{
    if (!wishes->task.known)
        EMIT(program, LDX(W, R1, R10, TID));
    else if (word == CURRENT_TASK)
        EMIT(program,
            CALL(BPF_FUNC_get_current_task),
            MOV_REG(R1, R0));
    else
        EMIT(program, LDX(DW, R1, R6, (int16_t)(word * 8)));
    EMIT(program, STX(DW, R10, KEY, R1));
}

/* r0 = a new entry, whose thread is unknown since the cut. */
static void emit_new_thread(struct program *program, int waits)
{
    EMIT(program,
        LDX(DW, R1, R10, CUT),
        STX(DW, R10, NEW_WAIT + SINCE, R1),
        STX(DW, R10, NEW_WAIT + FIRST, R1),
        LDX(W, R1, R10, TID),
        STX(W, R10, NEW_WAIT + WAIT_TID, R1),
        ST(W, R10, NEW_WAIT + PART, WALL_UNKNOWN));
    emit_nobody(program, R10, NEW_WAIT + TARGET);
    for (int at = SPENT; at < FIRST; at += 8)
        EMIT(program, ST(DW, R10, (int16_t)(NEW_WAIT + at), 0));
    EMIT(program,
        LOAD_MAP(R1, waits),
        MOV_REG(R2, R10),
        ADD_IMM(R2, KEY),
        MOV_REG(R3, R10),
        ADD_IMM(R3, NEW_WAIT),
        MOV_IMM(R4, BPF_ANY),
        CALL(BPF_FUNC_map_update_elem));
    emit_look_up(program, waits, KEY);
}

void emit_find_thread(struct program *program, const struct offwake_wishes *wishes, const char *has_entry,
                      int16_t full, const char *none)
{
    emit_look_up(program, wishes->waits, KEY);
    EMIT(program, JNE_IMM(R0, 0, has_entry));
    emit_new_thread(program, wishes->waits);
    EMIT(program, JNE_IMM(R0, 0, has_entry));
    emit_account_word(program, full);
    EMIT(program,
        JA(none),
    LABEL(has_entry));
}

const struct filter_places wall_places = {FOREIGN, PID_SCRATCH, "numberless", NEW_COUNT};

void emit_last_numbers(struct program *program, const struct offwake_wishes *wishes)
{
    const char *const outside = filter_outside(&wishes->filter);

    if (!wishes->filter.in_namespace)
        return;
    EMIT(program, LABEL(wall_places.numberless));
    emit_look_up(program, wishes->waits, KEY);
    EMIT(program,
        JEQ_IMM(R0, 0, outside),
        LDX(W, R1, R0, TARGET_FLAGS),
        AND_IMM(R1, PARTY_SEEN | KEY_FOREIGN),
        JNE_IMM(R1, PARTY_SEEN, outside),
        LDX(W, R7, R0, TARGET_PID),
        LSH_IMM(R7, 32),
        LDX(W, R1, R0, TARGET_TID),
        OR_REG(R7, R1),
        JA("numbers_known"));
}

void emit_tell_ending(struct program *program, const struct offwake_wishes *wishes)
{
    if (wishes->lives.living < 0)
        return;
    EMIT(program,
        LDX(DW, R1, R8, SLOT_BORN),
        MOV_REG(R2, R1),
        AND_IMM(R2, LIFE_ENDED),
        JEQ_IMM(R2, 0, "goes_on"),
        LDX(DW, R3, R7, FIRST),
        JGE_REG(R3, R1, "goes_on"),
        LSH_IMM(R2, LIFE_ENDING_BIT),
        OR_REG(R1, R2),
        STX(DW, R8, SLOT_BORN, R1),
    LABEL("goes_on"));
}

static void emit_clear_spent(struct program *program)
{
    for (int at = SPENT; at < THREAD_LEFT; at += 8)
        EMIT(program, ST(DW, R7, (int16_t)at, 0));
}

/* rests[KEY] = the thread r7. There is room for as many as have an entry. */
static void emit_keep_rest(struct program *program, const struct offwake_wishes *wishes, const char *kept)
{
    for (int at = 0; at < (int)sizeof(struct wall); at += 8)
        EMIT(program,
            LDX(DW, R1, R7, (int16_t)at),
            STX(DW, R10, (int16_t)(NEW_WAIT + at), R1));
    EMIT(program,
        LOAD_MAP(R1, wishes->rests),
        MOV_REG(R2, R10),
        ADD_IMM(R2, KEY),
        MOV_REG(R3, R10),
        ADD_IMM(R3, NEW_WAIT),
        MOV_IMM(R4, BPF_NOEXIST),
        CALL(BPF_FUNC_map_update_elem),
        JEQ_IMM(R0, 0, kept));
    emit_account(program, wakes_full);
}

void emit_close(struct program *program, const struct offwake_wishes *wishes, enum wall_part implied,
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
        AND_IMM(R1, PARTY_SEEN),
        JEQ_IMM(R1, 0, labels->uncut),
        LDX(DW, R1, R9, offsetof(struct account, bank)),
        JNE_IMM(R1, CONTROL_STAND_IN, labels->cut));
    emit_keep_rest(program, wishes, labels->cut);
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
    for (int at = SPENT + 8; at < THREAD_LEFT; at += 8)
        EMIT(program,
            LDX(DW, R2, R7, (int16_t)at),
            ADD_REG(R1, R2));
}

void emit_count_spent(struct program *program, const struct offwake_wishes *wishes,
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
    if (spent)
        emit_clear_spent(program);
}

struct party_wishes wall_party_wishes(const struct offwake_wishes *wishes)
{
    struct party_wishes shown = wait_party_wishes(wishes);

    shown.kernel_stack = wishes->kernel_stack;
    shown.user_stack = wishes->user_stack;
    return shown;
}
