/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Part of unwind_step(): where the caller's stack pointer is, by the rule in r9. r7 = it, or an end.
 *
 * switch (rule.cfa)
 *     UNKNOWN:       return NO_TABLE + 1
 *     ROOT:          return ROOT + 1
 *     SP, FRAME:     cfa = that + rule.offset; no end of these by a stack pointer that is lost
 *     REGISTER:      cfa = the event's register, in the first frame, + rule.offset; later rbx is *base
 *     SP_WORD, FRAME_WORD: cfa = *(that + rule.inner) + rule.offset
 *     PLT:           cfa = sp + rule.offset + ((pc & 15) >= rule.inner ? 8 : 0)
 *     SIGNAL:        all are in the frame at sp; the next pc is exact, and 0 is not an end
 *     RECORD:
 * records:           frame = 0: there is no caller; otherwise both are at it
 *     FAR_RECORD:    the same, wherever it is
 *     else:          return UNSUPPORTED + 1
 */
#include "insns/unwind.h"

void emit_unwind_load_frame(struct program *program, unsigned to)
{
    EMIT(program,
        LDX(W, R1, R8, UNWIND_AT(frame_lost)),
        JNE_IMM(R1, 0, "unwind_unsupported"),
        LDX(DW, to & 0xf, R8, UNWIND_AT(frame)));
}

void emit_unwind_load_register(struct program *program, const struct machine_walk *walk, unsigned to)
{
    if (walk->words)
        EMIT(program,
            LSH_IMM(R1, 2),
            LD_IMM64(R2, walk->words),
            RSH_REG(R2, R1),
            AND_IMM(R2, 15),
            LSH_IMM(R2, 3));
    else
        EMIT(program,
            MOV_REG(R2, R1),
            LSH_IMM(R2, 3));
    EMIT(program,
        ADD_REG(R2, R8),
        LDX(DW, to & 0xf, R2, UNWIND_AT(registers)));
}

/* Goes to unwind_unsupported if the stack pointer is unknown. */
static void emit_sp(struct program *program, const struct machine_walk *walk)
{
    if (walk->sp_unknown)
        EMIT(program,
            LDX(W, R2, R8, UNWIND_AT(sp_lost)),
            JNE_IMM(R2, 0, "unwind_unsupported"));
}

/* r7 = register r1 of the first frame, or the one that is followed. */
static void emit_register(struct program *program, const struct machine_walk *walk)
{
    EMIT(program,
        JGE_IMM(R1, walk->numbered, "unwind_unsupported"),
        LDX(W, R2, R8, UNWIND_AT(first)));
    if (walk->base)
        EMIT(program,
            JNE_IMM(R2, 0, "unwind_in_registers"),
            JNE_IMM(R1, UNWIND_BASE, "unwind_unsupported"),
            LDX(DW, R3, R8, UNWIND_AT(base)),
            JEQ_IMM(R3, UNWIND_BASE_LOST, "unwind_unsupported"),
            JNE_IMM(R3, UNWIND_BASE_IN_REGISTERS, "unwind_read_word"),
        LABEL("unwind_in_registers"));
    else
        EMIT(program, JEQ_IMM(R2, 0, "unwind_unsupported"));
    emit_unwind_load_register(program, walk, R7);
}

void emit_unwind_cfa(struct program *program, const struct unwind_wishes *wishes)
{
    const struct machine_walk *walk = wishes->machine->walk;

    EMIT(program,
        LDX(B, R1, R9, UNWIND_RULE_AT(cfa)),
        LDX(DW, R7, R8, UNWIND_AT(sp)),
        JEQ_IMM(R1, UNWIND_BY_SP, walk->sp_unknown ? "unwind_by_sp" : "unwind_add"),
        JEQ_IMM(R1, UNWIND_BY_FRAME, "unwind_by_frame"),
        JEQ_IMM(R1, UNWIND_ROOT, "unwind_root"),
        JEQ_IMM(R1, UNWIND_UNKNOWN, "unwind_no_table"),
        JEQ_IMM(R1, UNWIND_FRAME_RECORD, "unwind_records"),
        JEQ_IMM(R1, UNWIND_FAR_RECORD, "unwind_far_record"),
        JEQ_IMM(R1, UNWIND_BY_REGISTER, "unwind_by_register"),
        JEQ_IMM(R1, UNWIND_BY_FRAME_WORD, "unwind_by_frame_word"));
    emit_sp(program, walk);
    EMIT(program,
        JEQ_IMM(R1, UNWIND_BY_PLT, "unwind_by_plt"),
        JEQ_IMM(R1, UNWIND_SIGNAL, "unwind_signal"),
        JEQ_IMM(R1, UNWIND_BY_SP_WORD, "unwind_by_word"),
        JA("unwind_unsupported"),
    LABEL("unwind_by_frame_word"));
    emit_unwind_load_frame(program, R7);
    EMIT(program,
    LABEL("unwind_by_word"),
        LDX(H, R3, R9, UNWIND_RULE_AT(inner)),
        UNWIND_SIGNED(R3, 16),
        ADD_REG(R3, R7),
    LABEL("unwind_read_word"));
    emit_unwind_read(program, UNWIND_AT(word), "unwind_word_seen", "unwind_word_read");
    EMIT(program,
        LDX(DW, R7, R8, UNWIND_AT(word)),
        JA("unwind_add"),
    LABEL("unwind_by_register"),
        LDX(B, R1, R9, UNWIND_RULE_AT(reg)));
    emit_register(program, walk);
    EMIT(program,
        JA("unwind_add"),
    LABEL("unwind_by_plt"),
        LDX(DW, R1, R8, UNWIND_AT(pc)),
        AND_IMM(R1, 15),
        LDX(H, R2, R9, UNWIND_RULE_AT(inner)),
        JLT_REG(R1, R2, "unwind_add"),
        ADD_IMM(R7, 8),
        JA("unwind_add"));
    if (walk->sp_unknown) {
        EMIT(program, LABEL("unwind_by_sp"));
        emit_sp(program, walk);
        EMIT(program, JA("unwind_add"));
    }
    EMIT(program, LABEL("unwind_by_frame"));
    emit_unwind_load_frame(program, R7);
    EMIT(program,
    LABEL("unwind_add"),
        LDX(W, R1, R9, UNWIND_RULE_AT(offset)),
        UNWIND_SIGNED(R1, 32),
        ADD_REG(R7, R1));
}
