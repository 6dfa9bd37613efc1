/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * life(context):
 *     at an end, of a thread that is not its process's first:
 *         return 0
 *     lives[pid] = now, even for an exec, odd for an end
 *     return 0
 *
 * Both run in the process itself, so that whatever it does after the exec sees it.
 */
#include "insns/life.h"

#include "insns/layout.h"

enum {
    PID = -8,
    TIME = -16,
};

void emit_life(struct program *program, int lives, bool ended)
{
    program_name_map(program, lives, "lives");
    EMIT(program,
        CALL(BPF_FUNC_get_current_pid_tgid),
        MOV32_REG(R1, R0),
        RSH_IMM(R0, 32),
        STX(W, R10, PID, R0));
    if (ended)
        EMIT(program, JNE_REG(R0, R1, "out"));
    EMIT(program,
        CALL(BPF_FUNC_ktime_get_ns),
        OR_IMM(R0, LIFE_ENDED));
    if (!ended)
        EMIT(program, XOR_IMM(R0, LIFE_ENDED));
    EMIT(program,
        STX(DW, R10, TIME, R0),
        LOAD_MAP(R1, lives),
        MOV_REG(R2, R10),
        ADD_IMM(R2, PID),
        MOV_REG(R3, R10),
        ADD_IMM(R3, TIME),
        MOV_IMM(R4, BPF_ANY),
        CALL(BPF_FUNC_map_update_elem),
    LABEL("out"),
        MOV_IMM(R0, 0),
        EXIT());
}

void emit_load_life(struct program *program, int lives, bool pid_known, int16_t key, int16_t place)
{
    if (pid_known)
        EMIT(program, MOV_REG(R0, R7));
    else
        EMIT(program, CALL(BPF_FUNC_get_current_pid_tgid));
    EMIT(program,
        RSH_IMM(R0, 32),
        STX(W, R10, key, R0),
        MOV_REG(R2, R10),
        ADD_IMM(R2, key),
        LOAD_MAP(R1, lives),
        CALL(BPF_FUNC_map_lookup_elem),
        JEQ_IMM(R0, 0, "first_life"),
        LDX(DW, R1, R0, 0),
        STX(DW, R8, place, R1),
    LABEL("first_life"));
}
