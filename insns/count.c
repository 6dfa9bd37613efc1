/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * count(context):
 *     if (it is not an event that was asked for)          r7 = pid << 32 | tid
 *         return 0
 *     key = {0}, zero = 0
 *     mode = control[zero]                                r9: which bank is written to
 *     if (mode == PAUSED)
 *         return 0
 *     key.pid = pid; get_current_comm(key.comm)
 *     key.kernel_stack = the kernel's stack               see stacks.c
 *     key.user_stack = the user's stack
 *     if (!(slot = counts[key])) {
 *         update(counts, key, zero, NOEXIST)              another CPU may have been first:
 *         if (!(slot = counts[key])) {                    then this finds what that one made
 *             account[TABLE_FULL] += 1
 *             return 0
 *         }
 *     }
 *     lock *slot += 1
 *     return 0
 *
 * r6 = context, r7 = pid << 32 | tid, r9 = mode.
 *
 * The key and the zero take 48 bytes of stack and no more: programs on uprobes were seen to have
 * larger stacks overwritten on some kernels.
 */
#include "insns/count.h"

#include "insns/layout.h"

/* Where things are on the stack, from r10. */
enum {
    KEY = -(int)sizeof(struct count_key),
    KEY_KERNEL_STACK = KEY + (int)offsetof(struct count_key, kernel_stack),
    KEY_USER_STACK = KEY + (int)offsetof(struct count_key, user_stack),
    KEY_PID = KEY + (int)offsetof(struct count_key, pid),
    KEY_FOREIGN = KEY + (int)offsetof(struct count_key, foreign),
    KEY_COMM = KEY + (int)offsetof(struct count_key, comm),
    ZERO = KEY - 8,
};

/* Everything is cleared: not every kernel fills all of a comm, and a hash compares every byte. */
static void emit_clear(struct program *program)
{
    EMIT(program,
        ST(DW, R10, ZERO, 0),
        ST(DW, R10, KEY_USER_STACK, NO_STACK),
        ST(DW, R10, KEY_PID, 0), /* and foreign */
        ST(DW, R10, KEY_COMM, 0),
        ST(DW, R10, KEY_COMM + 8, 0));
}

static void emit_process(struct program *program)
{
    EMIT(program,
        RSH_IMM(R7, 32),
        STX(W, R10, KEY_PID, R7),
        MOV_REG(R1, R10),
        ADD_IMM(R1, KEY_COMM),
        MOV_IMM(R2, (int)sizeof(((struct count_key *)0)->comm)),
        CALL(BPF_FUNC_get_current_comm));
}

static void emit_find_slot(struct program *program, const struct count_wishes *wishes,
                           const struct bank_labels *labels)
{
    emit_load_bank_map(program, &wishes->counts, labels);
    EMIT(program,
        MOV_REG(R2, R10),
        ADD_IMM(R2, KEY),
        CALL(BPF_FUNC_map_lookup_elem));
}

static void emit_add_one(struct program *program, const struct count_wishes *wishes)
{
    static const struct bank_labels first = {"stand_in_counts", "counts"};
    static const struct bank_labels insert = {"stand_in_insert", "insert"};
    static const struct bank_labels second = {"stand_in_again", "again"};

    emit_find_slot(program, wishes, &first);
    EMIT(program, JNE_IMM(R0, 0, "found"));
    emit_load_bank_map(program, &wishes->counts, &insert);
    EMIT(program,
        MOV_REG(R2, R10),
        ADD_IMM(R2, KEY),
        MOV_REG(R3, R10),
        ADD_IMM(R3, ZERO),
        MOV_IMM(R4, BPF_NOEXIST),
        CALL(BPF_FUNC_map_update_elem));
    emit_find_slot(program, wishes, &second);
    EMIT(program,
        JNE_IMM(R0, 0, "found"),
        ST(W, R10, ZERO, ACCOUNT_TABLE_FULL),
        MOV_REG(R2, R10),
        ADD_IMM(R2, ZERO),
        LOAD_MAP(R1, wishes->account),
        CALL(BPF_FUNC_map_lookup_elem),
        JEQ_IMM(R0, 0, "out"),
    LABEL("found"),
        MOV_IMM(R1, 1),
        XADD(DW, R0, 0, R1));
}

static void name_maps(struct program *program, const struct count_wishes *wishes)
{
    program_name_map(program, wishes->control, "control");
    program_name_map(program, wishes->account, "account");
    program_name_map(program, wishes->scratch, "scratch");
    program_name_map(program, wishes->counts.main, "counts");
    program_name_map(program, wishes->stacks.main, "stacks");
    program_name_map(program, wishes->spilled.main, "spilled");
    program_name_map(program, wishes->counts.stand_in, "stand_in_counts");
    program_name_map(program, wishes->stacks.stand_in, "stand_in_stacks");
    program_name_map(program, wishes->spilled.stand_in, "stand_in_spilled");
}

void emit_count(struct program *program, const struct count_wishes *wishes)
{
    bool by_pid = wishes->filter.pid_count || wishes->filter.tid_count;
    struct stack_wishes stack = {
        .depth = wishes->depth,
        .scratch = wishes->scratch,
        .stacks = wishes->stacks,
        .spilled = wishes->spilled,
        .zero = ZERO,
    };

    name_maps(program, wishes);
    EMIT(program, MOV_REG(R6, R1));
    emit_cpu_filter(program, &wishes->filter);
    emit_clear(program);
    if (wishes->per_process || by_pid)
        emit_load_pid(program, &wishes->filter, KEY_FOREIGN, KEY_KERNEL_STACK);
    emit_pid_filter(program, &wishes->filter);
    emit_load_mode(program, wishes->control, ZERO);
    if (wishes->per_process)
        emit_process(program);
    if (wishes->kernel_stack) {
        stack.place = KEY_KERNEL_STACK;
        emit_stack(program, &stack);
    } else {
        EMIT(program, ST(DW, R10, KEY_KERNEL_STACK, NO_STACK));
    }
    if (wishes->user_stack) {
        stack.user = true;
        stack.place = KEY_USER_STACK;
        emit_stack(program, &stack);
    }
    emit_add_one(program, wishes);
    EMIT(program,
    LABEL("out"),
        MOV_IMM(R0, 0),
        EXIT());
}
