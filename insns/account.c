/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "insns/account.h"

void emit_account(struct program *program, int account, int16_t index, enum account_index which,
                  const char *counted)
{
    EMIT(program,
        ST(W, R10, index, (int32_t)which),
        MOV_REG(R2, R10),
        ADD_IMM(R2, index),
        LOAD_MAP(R1, account),
        CALL(BPF_FUNC_map_lookup_elem),
        JEQ_IMM(R0, 0, counted),
        MOV_IMM(R1, 1),
        XADD(DW, R0, 0, R1),
    LABEL(counted));
}
