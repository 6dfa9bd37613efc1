/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 *     if (account.bank != STAND_IN) {
 *         word = get_stackid(context, ids, flags)
 *         if (0 <= word < buckets) {
 *             if (settled[word] == SETTLED)
 *                 goto kept
 *             if (settled[word] == UNKNOWN)
 *                 settled[word] = FILLED
 *         } else if (word != -EEXIST && word != -ENOMEM) {
 *             goto kept                                there is no stack
 *         }
 *     }                                                else another stack has its bucket, or all are taken
 *     bytes = walk(context, scratch.frames)            see walk.c
 *     word = bytes < 0 ? bytes : NO_STACK
 *     if (bytes > 0) {
 *         the 3 frames behind them = 0                 so that 4 can be taken at a time
 *         hash = scratch.bytes = bytes
 *         for (at = 0; at < bytes; at += 4 frames)
 *             for each frame of the 4
 *                 hash = (hash ^ frame) * MIX, hash ^= hash >> 32
 *         word = hash >> 2 | SPILLED                   neither an id nor an errno
 *         if (!lookup(spilled, &word)) {               most are there already, and this takes no lock
 *             wrong = update(spilled, &word, &scratch, NOEXIST)
 *             if (!wrong)
 *                 account.stacks_kept += 1
 *             else if (wrong != -EEXIST)
 *                 word = -ENOMEM
 *         }
 *     }
 *     kept:
 *
 * The kernel looks into a bucket, finds it empty, and puts the stack there: two CPUs that do so at once
 * with different stacks both get its id, and the later one's stack stays. So an id is taken only once
 * its bucket cannot change any more: the tracer has seen that it was filled, and has waited until all
 * programs that ran then had ended. Until then the stack is kept under its own hash, as are those
 * whose bucket another stack has. The stand-in, which is there for moments, does without ids.
 *
 * r6 = context, r7 = the first slot of this CPU where the program may meet others, which have no ids
 * either; r8 = the slot, whose part `spilled` is the scratch, r9 = the account.
 */
#include "insns/stacks.h"

#include <errno.h>

#include "insns/account.h"
#include "insns/layout.h"
#include "insns/walk.h"

#define MIX 0x9e3779b97f4a7c15 /* 2^64 divided by the golden ratio: odd, and of no pattern */
#define STRIDE (FRAMES_AT_A_TIME * 8)
#define BANK ((int16_t)offsetof(struct account, bank))

/* Where things are in the slot, from r8. */
enum {
    SPILLED = (int)offsetof(struct slot, spilled),
    SPILLED_BYTES = SPILLED + (int)offsetof(struct spilled_stack, bytes),
    SPILLED_FRAMES = SPILLED + (int)offsetof(struct spilled_stack, frames),
};

/* Labels are of the whole program: each stack has its own. */
struct labels {
    const char *by_hash, *walked, *next_frames, *hashed, *kept, *inserted;
    struct bank_labels known, spilled;
};

static const struct labels kernel_labels = {
    "kernel_by_hash", "kernel_walked", "kernel_next_frames", "kernel_hashed", "kernel_kept",
    "kernel_inserted",
    {"kernel_stand_in_known", "kernel_known"},
    {"kernel_stand_in_spilled", "kernel_spilled"},
};
static const struct labels user_labels = {
    "user_by_hash", "user_walked", "user_next_frames", "user_hashed", "user_kept",
    "user_inserted",
    {"user_stand_in_known", "user_known"},
    {"user_stand_in_spilled", "user_spilled"},
};

void emit_load_bank_map(struct program *program, const struct map_pair *maps,
                        const struct bank_labels *labels)
{
    EMIT(program,
        LDX(DW, R1, R9, BANK),
        JEQ_IMM(R1, CONTROL_STAND_IN, labels->stand_in),
        LOAD_MAP(R1, maps->main),
        JA(labels->chosen),
    LABEL(labels->stand_in),
        LOAD_MAP(R1, maps->stand_in),
    LABEL(labels->chosen));
}

/* r0 = how many bytes of frames are in the scratch now. */
static void emit_fetch(struct program *program, const struct stack_wishes *wishes,
                       const struct labels *labels)
{
    emit_walk(program, &(struct walk_wishes){
        .user = wishes->user,
        .depth = wishes->depth,
        .frames = SPILLED_FRAMES,
        .disturbed = wishes->meets,
        .own = {R8, (int16_t)offsetof(struct slot, number)},
        .last = {R7, (int16_t)offsetof(struct slot, walker)},
        .walked = labels->walked,
    });
}

/* r3 = the hash of the r0 bytes of frames in the scratch. */
static void emit_hash(struct program *program, const struct stack_wishes *wishes,
                      const struct labels *labels)
{
    EMIT(program,
        STX(DW, R8, SPILLED_BYTES, R0),
        MOV_REG(R2, R8),
        ADD_REG(R2, R0));
    for (int i = 0; i < FRAMES_AT_A_TIME - 1; i++)
        EMIT(program, ST(DW, R2, (int16_t)(SPILLED_FRAMES + i * 8), 0));
    EMIT(program,
        MOV_REG(R3, R0),
        MOV_IMM(R4, 0),
        LD_IMM64(R5, MIX),
    LABEL(labels->next_frames),
        MOV_REG(R2, R8),
        ADD_REG(R2, R4));
    for (int i = 0; i < FRAMES_AT_A_TIME; i++)
        EMIT(program,
            LDX(DW, R1, R2, (int16_t)(SPILLED_FRAMES + i * 8)),
            XOR_REG(R3, R1),
            MUL_REG(R3, R5),
            MOV_REG(R1, R3),
            RSH_IMM(R1, 32),
            XOR_REG(R3, R1));
    EMIT(program,
        ADD_IMM(R4, STRIDE),
        JGE_REG(R4, R0, labels->hashed),
        JLT_IMM(R4, (int32_t)(wishes->depth * 8), labels->next_frames),
    LABEL(labels->hashed));
}

/* The word of the stack in the scratch, whose hash is r3. */
static void emit_word(struct program *program, const struct stack_wishes *wishes)
{
    EMIT(program,
        RSH_IMM(R3, 2),
        LD_IMM64(R1, STACK_SPILLED),
        OR_REG(R3, R1),
        STX(DW, R8, wishes->place, R3));
}

/* Keeps the stack in the scratch under its word. */
static void emit_insert(struct program *program, const struct stack_wishes *wishes,
                        const struct labels *labels)
{
    emit_load_bank_map(program, &wishes->spilled, &labels->spilled);
    EMIT(program,
        MOV_REG(R2, R8),
        ADD_IMM(R2, wishes->place),
        MOV_REG(R3, R8),
        ADD_IMM(R3, SPILLED),
        MOV_IMM(R4, BPF_NOEXIST),
        CALL(BPF_FUNC_map_update_elem),
        JEQ_IMM(R0, 0, labels->inserted),
        JEQ_IMM(R0, -EEXIST, labels->kept),
        ST(DW, R8, wishes->place, -ENOMEM),
        JA(labels->kept),
    LABEL(labels->inserted));
    emit_account(program, stacks_kept);
}

/* Of the r0 bytes of frames in the scratch, if there are any. */
static void emit_keep_by_hash(struct program *program, const struct stack_wishes *wishes,
                              const struct labels *labels)
{
    EMIT(program,
        STX(DW, R8, wishes->place, R0),
        JSLT_IMM(R0, 0, labels->kept),
        ST(DW, R8, wishes->place, NO_STACK), /* 0 would be an id */
        JEQ_IMM(R0, 0, labels->kept));
    emit_hash(program, wishes, labels);
    emit_word(program, wishes);
    emit_load_bank_map(program, &wishes->spilled, &labels->known);
    EMIT(program,
        MOV_REG(R2, R8),
        ADD_IMM(R2, wishes->place),
        CALL(BPF_FUNC_map_lookup_elem),
        JNE_IMM(R0, 0, labels->kept));
    emit_insert(program, wishes, labels);
    EMIT(program, LABEL(labels->kept));
}

/* On to `kept` with the word of a stack that has a settled bucket, or where there is none. */
static void emit_try_id(struct program *program, const struct stack_wishes *wishes,
                        const struct labels *labels)
{
    EMIT(program,
        LDX(DW, R1, R9, BANK),
        JEQ_IMM(R1, CONTROL_STAND_IN, labels->by_hash),
        MOV_REG(R1, R6),
        LOAD_MAP(R2, wishes->ids.map),
        MOV_IMM(R3, wishes->user ? BPF_F_USER_STACK : 0),
        CALL(BPF_FUNC_get_stackid),
        STX(DW, R8, wishes->place, R0),
        JEQ_IMM(R0, -EEXIST, labels->by_hash),
        JEQ_IMM(R0, -ENOMEM, labels->by_hash),
        JSLT_IMM(R0, 0, labels->kept),
        JGE_IMM(R0, (int32_t)wishes->ids.buckets, labels->by_hash),
        LOAD_MAP_VALUE(R2, wishes->ids.settled, 0),
        ADD_REG(R2, R0),
        LDX(B, R1, R2, 0),
        JEQ_IMM(R1, BUCKET_SETTLED, labels->kept),
        JNE_IMM(R1, BUCKET_UNKNOWN, labels->by_hash),
        ST(B, R2, 0, BUCKET_FILLED),
    LABEL(labels->by_hash));
}

void emit_stack(struct program *program, const struct stack_wishes *wishes)
{
    const struct labels *labels = wishes->user ? &user_labels : &kernel_labels;

    if (wishes->ids.buckets && !wishes->meets)
        emit_try_id(program, wishes, labels);
    emit_fetch(program, wishes, labels);
    emit_keep_by_hash(program, wishes, labels);
}
