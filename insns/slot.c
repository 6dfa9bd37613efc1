/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 *     for (index = 0; index < SLOTS_PER_CPU; index++) {    unrolled
 *         slot = slots[index], slot->number = index + 1
 *         lock slot->users += 1
 *         if (slot->users == 1)
 *             goto claimed
 *         lock slot->users -= 1
 *     }
 *     account.slots_taken += 1
 *     goto out
 *
 * If two programs claim at once, both may see 2, and go on to the next slot: that wastes one, but no
 * slot ever has two users. A program that cannot nest takes the first without claiming it.
 */
#include "insns/slot.h"

#include "insns/account.h"
#include "insns/layout.h"
#include "insns/look_up.h"

static void emit_find(struct program *program, const struct slot_wishes *wishes, int index,
                      const char *none)
{
    EMIT(program, ST(W, R10, wishes->index, index));
    emit_look_up(program, wishes->slots, wishes->index);
    EMIT(program, JEQ_IMM(R0, 0, none));
}

static void emit_try(struct program *program, const struct slot_wishes *wishes, int index)
{
    emit_find(program, wishes, index, "out");
    EMIT(program,
        MOV_REG(R8, R0),
        ST(W, R8, (int16_t)offsetof(struct slot, number), index + 1),
        MOV_IMM(R1, 1),
        XADD(DW, R8, (int16_t)offsetof(struct slot, users), R1),
        LDX(DW, R1, R8, (int16_t)offsetof(struct slot, users)),
        JEQ_IMM(R1, 1, "claimed"),
        MOV_IMM(R1, -1),
        XADD(DW, R8, (int16_t)offsetof(struct slot, users), R1));
}

void emit_claim_slot(struct program *program, const struct slot_wishes *wishes)
{
    if (!wishes->meets) {
        emit_find(program, wishes, 0, "out");
        EMIT(program, MOV_REG(R8, R0));
        return;
    }
    for (int index = 0; index < SLOTS_PER_CPU; index++)
        emit_try(program, wishes, index);
    emit_account(program, slots_taken);
    EMIT(program,
        JA("out"),
    LABEL("claimed"));
}

void emit_load_first_slot(struct program *program, const struct slot_wishes *wishes,
                          const char *none)
{
    emit_find(program, wishes, 0, none);
    EMIT(program, MOV_REG(R7, R0));
}

void emit_release_slot(struct program *program, const struct slot_wishes *wishes)
{
    if (wishes->meets)
        EMIT(program,
            MOV_IMM(R1, -1),
            XADD(DW, R8, (int16_t)offsetof(struct slot, users), R1));
}
