/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads user memory. Most words of a frame are close together: a whole window of them is read at once.
 *
 * unwind_read(index):                                     state.word = the user's word at state.from
 *     from = state.from - state.sp <= WINDOW ? state.sp : state.from - BELOW
 *     state.window = that many bytes from there on        words are read from it from then on
 *     state.word = *state.from                            only that, if the window cannot be read whole
 */
#include "insns/unwind.h"

#include <errno.h>

#define BELOW 64     /* of a frame larger than the window: the other saved registers */

void emit_unwind_copy(struct program *program, int16_t to, int32_t bytes)
{
    EMIT(program,
        MOV_REG(R1, R8),
        ADD_IMM(R1, to),
        MOV_IMM(R2, bytes),
        CALL(BPF_FUNC_probe_read_user),
        JNE_IMM(R0, 0, "unwind_unreadable"));
}

void emit_unwind_read(struct program *program, int16_t to, const char *seen, const char *read)
{
    EMIT(program,
        LDX(DW, R1, R8, UNWIND_AT(window_start)),
        MOV_REG(R2, R3),
        SUB_REG(R2, R1),
        MOV_REG(R1, R2),
        AND_IMM(R1, ~UNWIND_WINDOW_WORDS),
        JEQ_IMM(R1, 0, seen),
        STX(DW, R8, UNWIND_AT(from), R3),
        LDX(W, R1, R10, UNWIND_INDEX),
        CALL_LABEL("unwind_read"),
        JNE_IMM(R0, 0, "unwind_unreadable"),
        LDX(DW, R1, R8, UNWIND_AT(word)),
        JA(read),
    LABEL(seen),
        AND_IMM(R2, UNWIND_WINDOW_WORDS),
        ADD_REG(R2, R8),
        LDX(DW, R1, R2, UNWIND_AT(window)),
    LABEL(read),
        STX(DW, R8, to, R1));
}

void emit_unwind_reader(struct program *program, const struct unwind_wishes *wishes)
{
    EMIT(program, FUNCTION("unwind_read"));
    emit_unwind_state(program, wishes, "unwind_not_read");
    EMIT(program,
        LDX(DW, R7, R8, UNWIND_AT(from)),
        LDX(DW, R3, R8, UNWIND_AT(sp)),
        MOV_REG(R1, R7),
        SUB_REG(R1, R3),
        JLE_IMM(R1, UNWIND_WINDOW_WORDS, "unwind_window"),
        MOV_REG(R3, R7),
        ADD_IMM(R3, -BELOW),
    LABEL("unwind_window"),
        AND_IMM(R3, -8),
        STX(DW, R8, UNWIND_AT(window_start), R3),
        MOV_REG(R1, R8),
        ADD_IMM(R1, UNWIND_AT(window)),
        MOV_IMM(R2, UNWIND_WINDOW_BYTES),
        CALL(BPF_FUNC_probe_read_user),
        JEQ_IMM(R0, 0, "unwind_opened"),
        LD_IMM64(R1, UNWIND_NO_WINDOW),
        STX(DW, R8, UNWIND_AT(window_start), R1),
    LABEL("unwind_opened"),
        LDX(DW, R1, R8, UNWIND_AT(window_start)),
        MOV_REG(R2, R7),
        SUB_REG(R2, R1),
        MOV_REG(R1, R2),
        AND_IMM(R1, ~UNWIND_WINDOW_WORDS),
        JNE_IMM(R1, 0, "unwind_outside_window"),
        AND_IMM(R2, UNWIND_WINDOW_WORDS),
        ADD_REG(R2, R8),
        LDX(DW, R1, R2, UNWIND_AT(window)),
        STX(DW, R8, UNWIND_AT(word), R1),
        MOV_IMM(R0, 0),
        EXIT(),
    LABEL("unwind_outside_window"), /* there is none, or this is not one of its words */
        MOV_REG(R1, R8),
        ADD_IMM(R1, UNWIND_AT(word)),
        MOV_IMM(R2, 8),
        MOV_REG(R3, R7),
        CALL(BPF_FUNC_probe_read_user),
        EXIT(),
    LABEL("unwind_not_read"),
        MOV_IMM(R0, -EFAULT),
        EXIT());
}
