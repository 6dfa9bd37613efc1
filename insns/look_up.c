/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "insns/look_up.h"

void emit_look_up(struct program *program, int map, int16_t key)
{
    EMIT(program,
        MOV_REG(R2, R10),
        ADD_IMM(R2, key),
        LOAD_MAP(R1, map),
        CALL(BPF_FUNC_map_lookup_elem));
}

void emit_look_up_only(struct program *program, int map, int16_t index, const char *none)
{
    EMIT(program, ST(W, R10, index, 0));
    emit_look_up(program, map, index);
    EMIT(program, JEQ_IMM(R0, 0, none));
}
