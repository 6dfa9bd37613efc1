/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Code without a table may be the start code of the process or the thread: then the stack is whole.
 *
 *     if (current->mm.start_stack - state.sp <= START_BYTES ||
 *             unwind_exits(index) for state.pc, or a word of START_BYTES from state.sp on, as state.from)
 *         ended = ROOT
 *
 * unwind_exits(index):                                    1: the code at state.from ends a thread
 *     return state.from is in this mapping && *state.from == machine.thread_exit
 */
#include "insns/unwind.h"

void emit_unwind_first_stack(struct program *program, const struct unwind_wishes *wishes)
{
    EMIT(program,
        ST(DW, R8, UNWIND_AT(first_stack), 0),
        MOV_REG(R1, R8),
        ADD_IMM(R1, UNWIND_AT(first_stack)),
        MOV_IMM(R2, 8),
        LDX(DW, R3, R8, UNWIND_AT(mm)),
        ADD_IMM(R3, wishes->fields->mm_first_stack),
        CALL(BPF_FUNC_probe_read_kernel));
}

/* Goes to unwind_started if a thread is ended after one of these addresses. */
static void emit_thread_exit(struct program *program)
{
    EMIT(program,
        MOV_REG(R1, R8),
        ADD_IMM(R1, UNWIND_AT(node)),
        MOV_IMM(R2, UNWIND_START_BYTES),
        LDX(DW, R3, R8, UNWIND_AT(sp)),
        CALL(BPF_FUNC_probe_read_user),
        JNE_IMM(R0, 0, "unwind_ended_so"),
        LDX(DW, R1, R8, UNWIND_AT(pc)),
        STX(DW, R8, UNWIND_AT(node) + UNWIND_START_BYTES, R1),
        MOV_IMM(R7, 0),
    LABEL("unwind_start_word"),
        MOV_REG(R3, R8),
        ADD_REG(R3, R7),
        LDX(DW, R3, R3, UNWIND_AT(node)),
        STX(DW, R8, UNWIND_AT(from), R3),
        MOV_REG(R1, R6),
        CALL_LABEL("unwind_exits"),
        JNE_IMM(R0, 0, "unwind_started"),
        ADD_IMM(R7, 8),
        JLE_IMM(R7, UNWIND_START_BYTES, "unwind_start_word"));
}

void emit_unwind_start_code(struct program *program, const struct unwind_wishes *wishes)
{
    emit_unwind_first_stack(program, wishes);
    EMIT(program,
        LDX(DW, R1, R8, UNWIND_AT(first_stack)),
        LDX(DW, R2, R8, UNWIND_AT(sp)),
        SUB_REG(R1, R2),
        JLE_IMM(R1, UNWIND_START_BYTES, "unwind_started"));
    if (wishes->machine->walk->thread_exit)
        emit_thread_exit(program);
    EMIT(program,
        JA("unwind_ended_so"),
    LABEL("unwind_started"),
        MOV_IMM(R9, UNWIND_END_ROOT));
}

/* A function of its own: so it is verified once, not for each word. */
void emit_unwind_exits(struct program *program, const struct unwind_wishes *wishes)
{
    EMIT(program, FUNCTION("unwind_exits"));
    emit_unwind_state(program, wishes, "unwind_no_exit");
    EMIT(program,
        LDX(DW, R3, R8, UNWIND_AT(from)),
        LDX(DW, R1, R8, UNWIND_AT(mapping.start)),
        LDX(DW, R2, R8, UNWIND_AT(mapping.end)),
        JLT_REG(R3, R1, "unwind_no_exit"),
        JGE_REG(R3, R2, "unwind_no_exit"),
        MOV_REG(R1, R8),
        ADD_IMM(R1, UNWIND_AT(word)),
        MOV_IMM(R2, 8),
        CALL(BPF_FUNC_probe_read_user),
        JNE_IMM(R0, 0, "unwind_no_exit"),
        MOV_IMM(R0, 1),
        LDX(DW, R1, R8, UNWIND_AT(word)),
        LD_IMM64(R2, wishes->machine->walk->thread_exit),
        JEQ_REG(R1, R2, "unwind_exit_found"),
    LABEL("unwind_no_exit"),
        MOV_IMM(R0, 0),
    LABEL("unwind_exit_found"),
        EXIT());
}
