/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 *     mode = control[0]
 *     if (mode == PAUSED)
 *         goto paused
 *     account = accounts[mode]                            r9, of this CPU
 *     account.bank = mode
 */
#include "insns/account.h"

#include "insns/look_up.h"

void emit_load_account(struct program *program, int control, int account, int16_t index,
                       const char *paused)
{
    emit_look_up_only(program, control, index, paused);
    EMIT(program,
        LDX(W, R1, R0, 0),
        JEQ_IMM(R1, CONTROL_PAUSED, paused),
        STX(W, R10, index, R1));
    emit_look_up(program, account, index);
    EMIT(program,
        JEQ_IMM(R0, 0, paused),
        MOV_REG(R9, R0),
        LDX(W, R1, R10, index),
        STX(DW, R9, (int16_t)offsetof(struct account, bank), R1));
}

void emit_account_word(struct program *program, int16_t offset)
{
    EMIT(program,
        MOV_IMM(R1, 1),
        XADD(DW, R9, offset, R1));
}
