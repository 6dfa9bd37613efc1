/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 *     mix the hash once more, so that each of its bits depends on all
 *     for (tries = 0; tries < TRIES; tries++) {            unrolled
 *         bucket = buckets[bank << bits | the last bits of hash >> tries * SHIFT]      r0
 *         if (bucket.hash == hash)
 *             goto found
 *         if (bucket.hash)
 *             continue                                     another stack has it
 *         lock bucket.claims += 1
 *         if (bucket.claims == 1)
 *             goto claimed
 *         lock bucket.claims -= 1                          another CPU is about to fill it
 *     }
 *     account.table_full += 1
 *     goto out
 * claimed:
 *     account.inserted += 1
 *     bucket.time = now                                    tells which program the user stack belongs to
 *     bucket.walked = scratch.walked
 *     bucket.hash = hash
 * found:
 *     lock bucket.count += 1
 *
 * r7 = bucket; r0 has the time.
 *
 * Nothing is allocated: on old kernels a hash map would do that for every new key, within the probe. One stack may
 * have two buckets, if two CPUs saw it first at the same time; the reader adds them up.
 */
#include "insns/unrolled.h"

#include "insns/account.h"
#include "insns/layout.h"
#include "insns/look_up.h"

#define SHIFT 6

/* Each try, and what follows the last. */
static const char *const tries[] = {
    "try_1", "try_2", "try_3", "try_4", "try_5", "try_6", "try_7", "try_8", "no_bucket",
};
#define TRIES (sizeof(tries) / sizeof(*tries) - 1)

enum {
    CLAIMS = offsetof(struct walk_bucket, claims),
    HASH = offsetof(struct walk_bucket, hash),
    COUNT = offsetof(struct walk_bucket, count),
    TIME = offsetof(struct walk_bucket, time),
};

static void emit_finish_hash(struct program *program)
{
    EMIT(program,
        MOV_REG(R1, R8),
        RSH_IMM(R1, 32),
        XOR_REG(R8, R1),
        MUL_IMM(R8, UNROLLED_MIX),
        MOV_REG(R1, R8),
        RSH_IMM(R1, 32),
        XOR_REG(R8, R1),
        JNE_IMM(R8, 0, tries[0]),
        MOV_IMM(R8, 1)); /* 0 means no stack */
}

static void emit_try(struct program *program, const struct unrolled_wishes *wishes, size_t i)
{
    EMIT(program,
    LABEL(tries[i]),
        MOV_REG(R1, R8));
    if (i)
        EMIT(program, RSH_IMM(R1, (int32_t)(i * SHIFT)));
    EMIT(program,
        AND_IMM(R1, (1 << wishes->bits) - 1),
        LDX(DW, R2, R10, UNROLLED_BANK),
        LSH_IMM(R2, (int32_t)wishes->bits),
        OR_REG(R1, R2),
        STX(W, R10, UNROLLED_INDEX, R1));
    emit_look_up(program, wishes->buckets, UNROLLED_INDEX);
    EMIT(program,
        JEQ_IMM(R0, 0, "out"),
        LDX(DW, R1, R0, HASH),
        JEQ_REG(R1, R8, "found"),
        JNE_IMM(R1, 0, tries[i + 1]),
        MOV_IMM(R1, 1),
        XADD(DW, R0, CLAIMS, R1),
        LDX(DW, R1, R0, CLAIMS),
        JEQ_IMM(R1, 1, "claimed"),
        MOV_IMM(R1, -1),
        XADD(DW, R0, CLAIMS, R1));
}

/* Word by word, up to the longest stack: nothing reads past a stack's end. */
static void emit_copy(struct program *program, const struct unrolled_wishes *wishes)
{
    const size_t stacks = (size_t)wishes->kernel_stack + wishes->user_stack;
    const size_t bytes = sizeof(struct walked) + stacks * wishes->depth * sizeof(uint64_t);

    for (size_t at = 0; at < bytes; at += sizeof(uint64_t))
        EMIT(program,
            LDX(DW, R1, R9, (int16_t)(offsetof(struct walk_scratch, walked) + at)),
            STX(DW, R0, (int16_t)(offsetof(struct walk_bucket, walked) + at), R1));
}

void emit_keep_unrolled(struct program *program, const struct unrolled_wishes *wishes)
{
    emit_finish_hash(program);
    for (size_t i = 0; i < TRIES; i++)
        emit_try(program, wishes, i);
    EMIT(program, LABEL(tries[TRIES]));
    emit_account(program, table_full);
    EMIT(program,
        JA("out"),
    LABEL("claimed"));
    emit_account(program, inserted);
    if (wishes->user_stack)
        EMIT(program,
            MOV_REG(R7, R0),
            CALL(BPF_FUNC_ktime_get_ns),
            STX(DW, R7, TIME, R0),
            MOV_REG(R0, R7));
    emit_copy(program, wishes);
    EMIT(program,
        STX(DW, R0, HASH, R8),
    LABEL("found"),
        MOV_IMM(R1, 1),
        XADD(DW, R0, COUNT, R1));
}
