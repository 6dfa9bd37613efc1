/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "insns/party.h"

#include "insns/layout.h"
#include "insns/life.h"
#include "insns/walk.h"

/* In the slot, from r8. */
enum {
    PARTY = offsetof(struct slot, party),
    PARTY_KERNEL_STACK = PARTY + (int)offsetof(struct party, kernel_stack),
    PARTY_USER_STACK = PARTY + (int)offsetof(struct party, user_stack),
    PARTY_BORN = PARTY + (int)offsetof(struct party, born),
    PARTY_PID = PARTY + (int)offsetof(struct party, pid),
    PARTY_TID = PARTY + (int)offsetof(struct party, tid),
    PARTY_FLAGS = PARTY + (int)offsetof(struct party, flags),
    PARTY_COMM = PARTY + (int)offsetof(struct party, comm),
    SCRATCH = (int)offsetof(struct slot, spilled),
};

void emit_nobody(struct program *program, unsigned base, int place)
{
    for (int at = 0; at < (int)sizeof(struct party); at += 8) {
        bool is_stack = at == offsetof(struct party, kernel_stack) ||
                        at == offsetof(struct party, user_stack);
        EMIT(program, ST(DW, base & 0xf, (int16_t)(place + at), is_stack ? NO_STACK : 0));
    }
}

void emit_clear_party(struct program *program)
{
    emit_nobody(program, R8, PARTY);
    EMIT(program, ST(W, R8, PARTY_FLAGS, PARTY_SEEN));
}

void emit_look_for_user(struct program *program)
{
    emit_walk(program, &(struct walk_wishes){.user = true, .depth = 1, .frames = SCRATCH});
}

static void emit_numbers(struct program *program, const struct party_wishes *wishes)
{
    EMIT(program,
        MOV_REG(R1, R7),
        RSH_IMM(R1, 32),
        STX(W, R8, PARTY_PID, R1),
        STX(W, R8, PARTY_TID, R7));
    if (wishes->in_namespace)
        EMIT(program,
            LDX(W, R1, R10, wishes->foreign),
            OR_IMM(R1, PARTY_SEEN),
            STX(W, R8, PARTY_FLAGS, R1));
}

void emit_who(struct program *program, const struct party_wishes *wishes)
{
    emit_numbers(program, wishes);
    EMIT(program,
        MOV_REG(R1, R8),
        ADD_IMM(R1, PARTY_COMM),
        MOV_IMM(R2, (int)sizeof(((struct party *)0)->comm)),
        CALL(BPF_FUNC_get_current_comm));
    if (wishes->lives.living >= 0)
        emit_load_life(program, &wishes->lives, true, wishes->in_namespace ? wishes->foreign : 0, wishes->index,
                       PARTY_BORN);
}

void emit_party_stacks(struct program *program, const struct party_wishes *wishes)
{
    struct stack_wishes stack = {.depth = wishes->depth, .banks = wishes->banks, .index = wishes->index,
                                 .unwind = wishes->unwind};

    if (wishes->kernel_stack) {
        stack.place = PARTY_KERNEL_STACK;
        emit_stack(program, &stack);
    }
    if (wishes->user_stack) {
        stack.user = true;
        stack.place = PARTY_USER_STACK;
        emit_stack(program, &stack);
    }
}

void emit_party(struct program *program, const struct party_wishes *wishes)
{
    emit_who(program, wishes);
    emit_party_stacks(program, wishes);
}

void emit_copy_party(struct program *program, int place)
{
    for (int at = 0; at < (int)sizeof(struct party); at += 8)
        EMIT(program,
            LDX(DW, R1, R8, (int16_t)(PARTY + at)),
            STX(DW, R0, (int16_t)(place + at), R1));
}
