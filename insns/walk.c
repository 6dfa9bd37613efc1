/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 *     if ((bytes = unwind(frames)) >= 0)                      with tables: see unwind.c
 *         goto unwound
 *     bytes = get_stack(context, frames, depth * 8, flags)
 *
 * If another program may walk on this CPU in between:
 *
 *     up to 4 times:
 *         last = own
 *         bytes = get_stack(context, frames, depth * 8, flags)
 *         if (last == own)
 *             goto walked
 *     bytes = -EFAULT
 *     walked:
 *
 * The kernel walks into a buffer of the CPU and copies from there: a stack that another thread's program
 * walked on this CPU in between would be taken for ours. (An interrupt has a buffer of its own.)
 */
#include "insns/walk.h"

#include <errno.h>

#define MOST_WALKS 4

static void emit_get_stack(struct program *program, const struct walk_wishes *wishes)
{
    const bool first_alone = wishes->user && wishes->unwind && wishes->unwind->first_alone;
    const uint32_t depth = first_alone ? 1 : wishes->depth;

    EMIT(program,
        MOV_REG(R1, R6),
        MOV_REG(R2, R8),
        ADD_IMM(R2, wishes->frames),
        MOV_IMM(R3, (int32_t)(depth * sizeof(uint64_t))),
        MOV_IMM(R4, wishes->user ? BPF_F_USER_STACK : 0),
        CALL(BPF_FUNC_get_stack));
}

static void emit_disturbed(struct program *program, const struct walk_wishes *wishes)
{
    const struct walk_word own = wishes->own, last = wishes->last;

    for (int tried = 0; tried < MOST_WALKS; tried++) {
        EMIT(program,
            LDX(W, R1, own.base & 0xf, own.at),
            STX(W, last.base & 0xf, last.at, R1));
        emit_get_stack(program, wishes);
        EMIT(program,
            LDX(W, R1, own.base & 0xf, own.at),
            LDX(W, R2, last.base & 0xf, last.at),
            JEQ_REG(R1, R2, wishes->walked));
    }
    EMIT(program,
        MOV_IMM(R0, -EFAULT),
    LABEL(wishes->walked));
}

void emit_walk(struct program *program, const struct walk_wishes *wishes)
{
    const bool unwinds = wishes->user && wishes->unwind && !wishes->unwind->first_alone;

    if (unwinds) {
        struct unwind_place place = wishes->unwind_place;
        place.frames = wishes->frames;
        emit_unwind(program, wishes->unwind, &place);
        EMIT(program, JSGE_IMM(R0, 0, wishes->unwound));
    }
    if (wishes->disturbed)
        emit_disturbed(program, wishes);
    else
        emit_get_stack(program, wishes);
    if (unwinds)
        EMIT(program, LABEL(wishes->unwound));
}
