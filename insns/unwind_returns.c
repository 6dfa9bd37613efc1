/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * If a function's return is probed, the kernel has replaced its return address by one of its own, and keeps the
 * real one:
 *
 * unwind_returns(index):                                  1: state.pc is now the real one
 *     if (state.exact)
 *         return 0
 *     at = state.returns ? state.returns : current->utask->return_instances
 *     for (i = 0; i < MOST_RETURNS && at; i++)            the innermost first, as in our walk
 *         state.node = *at
 *         if (node.stack == state.sp - 8)                 where it was; or sp, for the link register
 *             state.returns = at                          a tail-called function has the same address
 *             state.pc = node.address
 *             return 1
 *         at = node.next
 *     return 0
 *
 * r6 = index, r7 = i, r8 = state, r9 = at.
 */
#include "insns/unwind.h"

#define MOST_RETURNS 8 /* including those that longjmp() left behind: otherwise it is the first */

#define NODE(field) ((int16_t)(UNWIND_AT(node) + (field)))

void emit_unwind_returns(struct program *program, const struct unwind_wishes *wishes)
{
    const struct unwind_fields *fields = wishes->fields;

    EMIT(program, FUNCTION("unwind_returns"));
    emit_unwind_state(program, wishes, "unwind_no_return");
    EMIT(program,
        LDX(W, R1, R8, UNWIND_AT(exact)),
        JNE_IMM(R1, 0, "unwind_no_return"),
        MOV_IMM(R7, 0),
        LDX(DW, R9, R8, UNWIND_AT(returns)),
        JNE_IMM(R9, 0, "unwind_return"),
        CALL(BPF_FUNC_get_current_task),
        MOV_REG(R9, R0));
    emit_unwind_follow(program, fields->task_utask, 8, "unwind_no_return");
    EMIT(program, JEQ_IMM(R9, 0, "unwind_no_return"));
    emit_unwind_follow(program, fields->utask_returns, 8, "unwind_no_return");
    EMIT(program,
    LABEL("unwind_return"),
        JEQ_IMM(R9, 0, "unwind_no_return"),
        MOV_REG(R1, R8),
        ADD_IMM(R1, UNWIND_AT(node)),
        MOV_IMM(R2, UNWIND_RETURN_BYTES),
        MOV_REG(R3, R9),
        CALL(BPF_FUNC_probe_read_kernel),
        JNE_IMM(R0, 0, "unwind_no_return"),
        LDX(DW, R1, R8, NODE(fields->return_stack)),
        ADD_IMM(R1, machine_has_link(wishes->machine) ? 0 : 8),
        LDX(DW, R2, R8, UNWIND_AT(sp)),
        JEQ_REG(R1, R2, "unwind_returned"),
        LDX(DW, R9, R8, NODE(fields->return_next)),
        ADD_IMM(R7, 1),
        JLT_IMM(R7, MOST_RETURNS, "unwind_return"),
    LABEL("unwind_no_return"),
        MOV_IMM(R0, 0),
        EXIT(),
    LABEL("unwind_returned"),
        STX(DW, R8, UNWIND_AT(returns), R9),
        LDX(DW, R1, R8, NODE(fields->return_address)),
        STX(DW, R8, UNWIND_AT(pc), R1),
        MOV_IMM(R0, 1),
        EXIT());
}
