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
 *     }                                                otherwise another stack has its bucket, or all are taken
 *     bytes = walk(context, scratch.frames)            see fragments.c
 *     word = bytes < 0 ? bytes : NO_STACK
 *     if (bytes > 0) {
 *         the 3 frames after them = 0                  so that 4 can be hashed at a time
 *         hash = scratch.bytes = bytes
 *         for (at = 0; at < bytes; at += 4 frames)
 *             for each frame of the 4
 *                 hash = swap((hash ^ frame) * MIX)    the best bits, at the top, move to the bottom
 *         word = hash >> 3 | SPILLED                   neither an id nor an errno
 *         if (bytes <= 8 * SHALLOW_DEPTH)
 *             word |= SHALLOW
 *         stacks = (word & SHALLOW ? shallow : deep)[account.bank]
 *         if (!lookup(stacks, &word)) {                most are there already, and a lookup takes no lock
 *             wrong = update(stacks, &word, &scratch, NOEXIST)
 *             if (!wrong)
 *                 account.stacks_kept += 1, account.deep_kept += !(word & SHALLOW)
 *             else if (wrong != -EEXIST)
 *                 word = -ENOMEM
 *         }
 *     }
 *     kept:
 *
 * If two CPUs find a bucket empty at once and store different stacks there, the kernel returns its
 * id to both, and the later stack stays. So programs use an id only once its bucket cannot change
 * any more: the tracer has seen that it was filled, and has waited until all programs that ran then
 * have ended. Until then programs keep the stack under its own hash, as they do with stacks whose
 * bucket has another one. The stand-in bank, which is only used for moments, does without ids.
 *
 * r6 = context, r7 = the first slot of this CPU if programs may nest, which use no ids either;
 * r8 = the slot, whose part `spilled` is the scratch, r9 = the account.
 */
#include "insns/fragments.h"

#include <errno.h>

#include "insns/layout.h"

#define MIX 0x9e3779b97f4a7c15 /* 2^64 divided by the golden ratio: odd, without a pattern */
#define STRIDE (FRAMES_AT_A_TIME * 8)
#define BANK ((int16_t)offsetof(struct account, bank))

/* Places in the slot, from r8. */
enum {
    SPILLED = (int)offsetof(struct slot, spilled),
    SPILLED_BYTES = SPILLED + (int)offsetof(struct spilled_stack, bytes),
    SPILLED_FRAMES = SPILLED + (int)offsetof(struct spilled_stack, frames),
};

/* Labels are global in a program: each lookup of each stack has its own. */
struct looking_labels {
    const char *is_deep, *chosen;
    struct bank_labels shallow, deep;
};
#define LOOKING_LABELS(prefix) \
    {prefix "_is_deep", prefix, {prefix "_other_shallow", prefix "_shallow"}, \
     {prefix "_other_deep", prefix "_deep"}}

struct labels {
    const char *by_hash, *walked, *unwind_failed, *unwind_done, *unwound, *next_frames, *hashed,
        *deep_word, *no_room, *inserted, *kept;
    struct looking_labels known, insert;
};
#define STACK_LABELS(prefix) \
    {prefix "_by_hash", prefix "_walked", prefix "_unwind_failed", prefix "_unwind_done", \
     prefix "_unwound", prefix "_next_frames", prefix "_hashed", prefix "_deep_word", \
     prefix "_no_room", prefix "_inserted", prefix "_kept", \
     LOOKING_LABELS(prefix "_known"), LOOKING_LABELS(prefix "_insert")}

static const struct labels kernel_labels = STACK_LABELS("kernel");
static const struct labels user_labels = STACK_LABELS("user");

/*
 * r1 = that map of the bank whose account is at r9; goes to `none` if the bank has none, and so is
 * not counted into. Each use chooses the map anew: with a register that may hold either bank's map,
 * the verifier would follow all later code twice. Uses 4 bytes at r10 + index.
 */
static void emit_load_bank_map(struct program *program, const struct bank_maps *banks,
                               enum bank_map map, int16_t index, const char *none,
                               const struct bank_labels *labels)
{
    EMIT(program,
        LDX(DW, R1, R9, BANK),
        JNE_IMM(R1, CONTROL_MAIN, labels->other),
        LOAD_MAP(R1, banks->first[map]),
        JA(labels->chosen),
    LABEL(labels->other),
        STX(W, R10, index, R1));
    emit_look_up(program, banks->others[map], index);
    EMIT(program,
        JEQ_IMM(R0, 0, none),
        MOV_REG(R1, R0),
    LABEL(labels->chosen));
}

const struct count_labels count_labels = {
    {"other_counts", "counts"}, {"other_insert", "insert"}, {"other_again", "again"},
    "found", "uncounted",
};

/* r1 = the map, r2 = the key. */
static void emit_load_counts(struct program *program, const struct count_place *place,
                             const struct bank_labels *labels)
{
    emit_load_bank_map(program, &place->capture->banks, BANK_COUNTS, place->index,
                       place->labels->uncounted, labels);
    EMIT(program, ADDRESS(R2, place->base, place->key));
}

static void emit_look_for_count(struct program *program, const struct count_place *place,
                                const struct bank_labels *labels)
{
    emit_load_counts(program, place, labels);
    EMIT(program,
        CALL(BPF_FUNC_map_lookup_elem),
        JNE_IMM(R0, 0, place->labels->found));
}

static void emit_clear_new(struct program *program, const struct count_place *place, bool late)
{
    if (late == place->late)
        emit_zeros(program, R10, place->new_value, place->cleared);
}

void emit_find_count(struct program *program, const struct count_place *place)
{
    const struct count_labels *labels = place->labels;

    emit_look_for_count(program, place, &labels->first);
    EMIT(program, ACCOUNT(inserted));
    emit_clear_new(program, place, false);
    emit_load_counts(program, place, &labels->insert);
    emit_clear_new(program, place, true);
    EMIT(program,
        ADDRESS(R3, place->new_base, place->new_value),
        MOV_IMM(R4, BPF_NOEXIST),
        CALL(BPF_FUNC_map_update_elem));
    emit_look_for_count(program, place, &labels->second);
    EMIT(program,
    LABEL(labels->uncounted),
        ACCOUNT(table_full));
}

struct stack_place {
    bool user;     /* the user's stack, otherwise the kernel's */
    int16_t index; /* 4 free bytes on the stack */
    int16_t place; /* where in the slot its word goes */
    bool meets;
};

/* Goes to `deep` if the stack in the scratch is not shallow. */
static void emit_tell_depth(struct program *program, const struct bank_maps *banks,
                            const char *deep)
{
    EMIT(program,
        LDX(DW, R1, R8, SPILLED_BYTES),
        JGT_IMM(R1, (int32_t)(banks->shallow_depth * 8), deep));
}

/* r1 = the bank's map for the stack in the scratch. */
static void emit_load_stacks(struct program *program, const struct capture *capture,
                             const struct stack_place *at, const char *none,
                             const struct looking_labels *labels)
{
    const struct bank_maps *banks = &capture->banks;

    if (banks->shallow_depth) {
        emit_tell_depth(program, banks, labels->is_deep);
        emit_load_bank_map(program, banks, BANK_SHALLOW, at->index, none, &labels->shallow);
        EMIT(program,
            JA(labels->chosen),
        LABEL(labels->is_deep));
    }
    emit_load_bank_map(program, banks, BANK_DEEP, at->index, none, &labels->deep);
    if (banks->shallow_depth)
        EMIT(program, LABEL(labels->chosen));
}

/* r0 = how many bytes of frames are now in the scratch. */
static void emit_fetch(struct program *program, const struct capture *capture,
                       const struct stack_place *at, const struct labels *labels)
{
    emit_walk(program, &(struct stack_walk){
        .user = at->user,
        .depth = capture->depth,
        .frames = SPILLED_FRAMES,
        .disturbed = at->meets,
        .own = {R8, (int16_t)offsetof(struct slot, number)},
        .last = {R7, (int16_t)offsetof(struct slot, walker)},
        .walked = labels->walked,
        .unwind = capture->unwind,
        .unwind_place = {.at_entry = capture->caller, .index = at->index,
                         .failed = labels->unwind_failed, .done = labels->unwind_done},
        .unwound = labels->unwound,
    });
}

/* r3 = the hash with the four frames at base + at added; r5 is MIX. */
static void emit_mix(struct program *program, unsigned base, uint32_t at)
{
    for (uint32_t end = at + STRIDE; at < end; at += 8)
        EMIT(program,
            LDX(DW, R1, base, (int16_t)at),
            XOR_REG(R3, R1),
            MUL_REG(R3, R5),
            SWAP(R3));
}

static void emit_mix_in_loop(struct program *program, const struct capture *capture,
                             const struct labels *labels)
{
    EMIT(program,
        MOV_IMM(R4, 0),
        LD_IMM64(R5, MIX),
    LABEL(labels->next_frames),
        MOV_REG(R2, R8),
        ADD_REG(R2, R4));
    emit_mix(program, R2, SPILLED_FRAMES);
    EMIT(program,
        ADD_IMM(R4, STRIDE),
        JGE_REG(R4, R0, labels->hashed),
        JLT_IMM(R4, (int32_t)(capture->depth * 8), labels->next_frames));
}

/* The same for kernels that allow no loops (before 5.3). */
static void emit_mix_unrolled(struct program *program, const struct capture *capture,
                              const struct labels *labels)
{
    EMIT(program, LD_IMM64(R5, MIX));
    for (uint32_t at = 0; at < capture->depth * 8; at += STRIDE) {
        if (at)
            EMIT(program, JLE_IMM(R0, (int32_t)at, labels->hashed));
        emit_mix(program, R8, SPILLED_FRAMES + at);
    }
}

/* r3 = the hash of the r0 bytes of frames in the scratch. */
static void emit_hash(struct program *program, const struct capture *capture,
                      const struct labels *labels)
{
    EMIT(program,
        AND_IMM(R0, -8), /* whole frames: verifiers that allow no other words need to see that */
        STX(DW, R8, SPILLED_BYTES, R0),
        MOV_REG(R2, R8),
        ADD_REG(R2, R0));
    for (int i = 0; i < FRAMES_AT_A_TIME - 1; i++)
        EMIT(program, ST(DW, R2, (int16_t)(SPILLED_FRAMES + i * 8), 0));
    EMIT(program, MOV_REG(R3, R0));
    if (capture->banks.unrolls)
        emit_mix_unrolled(program, capture, labels);
    else
        emit_mix_in_loop(program, capture, labels);
    EMIT(program, LABEL(labels->hashed));
}

/* The word of the stack in the scratch, whose hash is r3. */
static void emit_word(struct program *program, const struct capture *capture,
                      const struct stack_place *at, const struct labels *labels)
{
    EMIT(program,
        RSH_IMM(R3, 3),
        LD_IMM64(R1, STACK_SPILLED),
        OR_REG(R3, R1));
    if (capture->banks.shallow_depth) {
        emit_tell_depth(program, &capture->banks, labels->deep_word);
        EMIT(program,
            LD_IMM64(R1, STACK_SHALLOW),
            OR_REG(R3, R1),
        LABEL(labels->deep_word));
    }
    EMIT(program, STX(DW, R8, at->place, R3));
}

/* Keeps the stack in the scratch under its word. */
static void emit_insert(struct program *program, const struct capture *capture,
                        const struct stack_place *at, const struct labels *labels)
{
    emit_load_stacks(program, capture, at, labels->no_room, &labels->insert);
    EMIT(program,
        ADDRESS(R2, R8, at->place),
        ADDRESS(R3, R8, SPILLED),
        MOV_IMM(R4, BPF_NOEXIST),
        CALL(BPF_FUNC_map_update_elem),
        JEQ_IMM(R0, 0, labels->inserted),
        JEQ_IMM(R0, -EEXIST, labels->kept),
    LABEL(labels->no_room),
        ST(DW, R8, at->place, -ENOMEM),
        JA(labels->kept),
    LABEL(labels->inserted),
        ACCOUNT(stacks_kept));
    if (capture->banks.shallow_depth)
        EMIT(program,
            LDX(DW, R1, R8, SPILLED_BYTES),
            JLE_IMM(R1, (int32_t)(capture->banks.shallow_depth * 8), labels->kept));
    EMIT(program, ACCOUNT(deep_kept));
}

/* With r0 bytes of frames in the scratch, if there are any. */
static void emit_keep_by_hash(struct program *program, const struct capture *capture,
                              const struct stack_place *at, const struct labels *labels)
{
    EMIT(program,
        STX(DW, R8, at->place, R0),
        JSLT_IMM(R0, 0, labels->kept),
        ST(DW, R8, at->place, NO_STACK), /* 0 would be an id */
        JEQ_IMM(R0, 0, labels->kept));
    emit_hash(program, capture, labels);
    emit_word(program, capture, at, labels);
    emit_load_stacks(program, capture, at, labels->no_room, &labels->known);
    EMIT(program,
        ADDRESS(R2, R8, at->place),
        CALL(BPF_FUNC_map_lookup_elem),
        JNE_IMM(R0, 0, labels->kept));
    emit_insert(program, capture, at, labels);
    EMIT(program, LABEL(labels->kept));
}

/* Goes to `kept` with the word of a stack in a settled bucket, or if there is no stack. */
static void emit_try_id(struct program *program, const struct capture *capture,
                        const struct stack_place *at, const struct labels *labels)
{
    EMIT(program,
        LDX(DW, R1, R9, BANK),
        JEQ_IMM(R1, CONTROL_STAND_IN, labels->by_hash),
        MOV_REG(R1, R6),
        LOAD_MAP(R2, capture->ids.map),
        MOV_IMM(R3, at->user ? BPF_F_USER_STACK : 0),
        CALL(BPF_FUNC_get_stackid),
        STX(DW, R8, at->place, R0),
        JEQ_IMM(R0, -EEXIST, labels->by_hash),
        JEQ_IMM(R0, -ENOMEM, labels->by_hash),
        JSLT_IMM(R0, 0, labels->kept),
        JGE_IMM(R0, (int32_t)capture->ids.buckets, labels->by_hash),
        LOAD_MAP_VALUE(R2, capture->ids.settled, 0),
        ADD_REG(R2, R0),
        LDX(B, R1, R2, 0),
        JEQ_IMM(R1, BUCKET_SETTLED, labels->kept),
        JNE_IMM(R1, BUCKET_UNKNOWN, labels->by_hash),
        ST(B, R2, 0, BUCKET_FILLED),
    LABEL(labels->by_hash));
}

static void emit_stack(struct program *program, const struct capture *capture,
                       const struct stack_place *at)
{
    const struct labels *labels = at->user ? &user_labels : &kernel_labels;

    if (capture->ids.buckets && !at->meets && !(at->user && capture->unwind))
        emit_try_id(program, capture, at, labels);
    emit_fetch(program, capture, at, labels);
    emit_keep_by_hash(program, capture, at, labels);
}

void emit_stacks(struct program *program, const struct capture *capture, int16_t index, bool meets,
                 int kernel_at, int user_at)
{
    struct stack_place at = {.index = index, .place = (int16_t)kernel_at, .meets = meets};

    if (kernel_at)
        emit_stack(program, capture, &at);
    at.user = true;
    at.place = (int16_t)user_at;
    if (user_at)
        emit_stack(program, capture, &at);
}
