/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The rule of an offset in the object that was found:
 *
 *     key = object.number << 36 | offset                  numbers are never reused
 *     cached = &cache[hash(key)]                          shared by all CPUs: the sum shows half-written rules
 *     if (cached->key == key && cached->sum == (cached->key ^ cached->rule's two words))
 *         rule = cached->rule
 *     else
 *         page = directory[offset >> 12]
 *         if (there is none, or it has no rows)
 *             return NO_TABLE + 1
 *         row = the page's last one that begins at or before the offset: by binary search
 *         rule = *cached = rules[row.rule]
 *
 * r6 = a word of the table; r7 = offset; r8 = state; r9 = rule.
 */
#include <errno.h>

#include "insns/fragments.h"
#include "insns/unwind.h"

#define PAGE_BYTES (1 << UNWIND_PAGE_BITS)
#define BLOCK_BITS 12
#define CHUNK_BITS 6
_Static_assert(UNWIND_BLOCK_WORDS == 1 << BLOCK_BITS && UNWIND_CHUNK_BLOCKS == 1 << CHUNK_BITS,
               "both");

#define OFFSET_BITS 36
#define CACHE_BITS 12
#define CACHED_BITS 5
_Static_assert(UNWIND_CACHED == 1 << CACHE_BITS && sizeof(struct unwind_cached) == 1 << CACHED_BITS,
               "both");
#define CACHED_AT(member) ((int16_t)offsetof(struct unwind_cached, member))
#define HASH 0x9e3779b97f4a7c15ull

enum {
    CHUNK = -8, /* on the stack */
    BLOCK = -12,
    KEY = -24,
};

/* r0 = the object's block that has its word r6. r1 to r5 are lost. */
static void emit_block(struct program *program, const struct unwind_config *config)
{
    EMIT(program,
        MOV_REG(R1, R6),
        RSH_IMM(R1, BLOCK_BITS),
        LDX(W, R2, R8, UNWIND_AT(mapping.object.block)),
        ADD_REG(R1, R2),
        MOV_REG(R2, R1),
        RSH_IMM(R2, CHUNK_BITS),
        STX(W, R10, CHUNK, R2),
        AND_IMM(R1, UNWIND_CHUNK_BLOCKS - 1),
        STX(W, R10, BLOCK, R1));
    emit_look_up(program, config->maps.chunks, CHUNK);
    EMIT(program,
        JEQ_IMM(R0, 0, "unwind_no_table"),
        MOV_REG(R1, R0),
        ADDRESS(R2, R10, BLOCK),
        CALL(BPF_FUNC_map_lookup_elem),
        JEQ_IMM(R0, 0, "unwind_no_table"));
}

/* r6 = the first of the page's rows, a word of the table, r9 = how many there are. */
static void emit_page(struct program *program, const struct unwind_config *config)
{
    EMIT(program,
        MOV_REG(R6, R7),
        RSH_IMM(R6, UNWIND_PAGE_BITS),
        LDX(W, R1, R8, UNWIND_AT(mapping.object.first_page)),
        SUB_REG(R6, R1),
        LDX(W, R1, R8, UNWIND_AT(mapping.object.pages)),
        JGE_REG(R6, R1, "unwind_no_table"),
        LSH_IMM(R6, 1),
        LDX(W, R1, R8, UNWIND_AT(mapping.object.directory)),
        ADD_REG(R6, R1));
    emit_block(program, config);
    EMIT(program,
        AND_IMM(R6, UNWIND_BLOCK_WORDS - 2),
        LSH_IMM(R6, 2),
        ADD_REG(R0, R6),
        LDX(W, R6, R0, (int16_t)offsetof(struct unwind_page, first)),
        LDX(W, R9, R0, (int16_t)offsetof(struct unwind_page, count)),
        JEQ_IMM(R9, 0, "unwind_no_table"));
}

/*
 * r6 = the row for the offset: the last one that begins there or before. Without branches, as the
 * verifier follows both ways of each.
 */
static void emit_row(struct program *program, const struct unwind_config *config)
{
    emit_block(program, config);
    EMIT(program,
        AND_IMM(R6, UNWIND_BLOCK_WORDS - 1),
        ADD_REG(R9, R6),
        AND_IMM(R7, PAGE_BYTES - 1));
    for (int32_t step = PAGE_BYTES / 2; step; step /= 2)
        EMIT(program,
            MOV_REG(R1, R6),
            ADD_IMM(R1, step),
            MOV_REG(R3, R1),
            AND_IMM(R3, UNWIND_BLOCK_WORDS - 1),
            LSH_IMM(R3, 2),
            ADD_REG(R3, R0),
            LDX(W, R3, R3, 0),
            RSH_IMM(R3, UNWIND_ROW_RULE_BITS),
            SUB_REG(R3, R7),
            ADD_IMM(R3, -1),
            ARSH_IMM(R3, 63), /* all ones: it does */
            SUB_REG(R1, R9),
            ARSH_IMM(R1, 63), /* and is one of the page */
            AND_REG(R3, R1),
            AND_IMM(R3, step),
            ADD_REG(R6, R3));
    EMIT(program,
        AND_IMM(R6, UNWIND_BLOCK_WORDS - 1),
        LSH_IMM(R6, 2),
        ADD_REG(R0, R6),
        LDX(W, R6, R0, 0));
}

static void emit_rule(struct program *program, const struct unwind_config *config)
{
    EMIT(program,
        AND_IMM(R6, (int32_t)UNWIND_MOST_RULES - 1),
        LSH_IMM(R6, 2));
    emit_block(program, config);
    EMIT(program,
        AND_IMM(R6, UNWIND_BLOCK_WORDS - 4),
        LSH_IMM(R6, 2),
        ADD_REG(R0, R6));
}

/* r1 = the key, r3 = its place in the cache; r2 is lost. */
static void emit_load_cached(struct program *program, const struct unwind_config *config)
{
    EMIT(program,
        LDX(DW, R1, R10, KEY),
        LD_IMM64(R2, HASH),
        MUL_REG(R2, R1),
        RSH_IMM(R2, 64 - CACHE_BITS),
        LSH_IMM(R2, CACHED_BITS),
        LOAD_MAP_VALUE(R3, config->maps.cache, 0),
        ADD_REG(R3, R2));
}

/* state.rule = the cached one; goes to unwind_rule_known. */
static void emit_cached(struct program *program, const struct unwind_config *config)
{
    EMIT(program,
        MOV_REG(R1, R7),
        RSH_IMM(R1, OFFSET_BITS),
        JNE_IMM(R1, 0, "unwind_no_table"),
        LDX(W, R1, R8, UNWIND_AT(mapping.object.number)),
        LSH_IMM(R1, OFFSET_BITS),
        OR_REG(R1, R7),
        STX(DW, R10, KEY, R1));
    emit_load_cached(program, config);
    EMIT(program,
        LDX(DW, R2, R3, CACHED_AT(key)),
        JNE_REG(R2, R1, "unwind_uncached"),
        LDX(DW, R4, R3, CACHED_AT(rule)),
        LDX(DW, R5, R3, CACHED_AT(rule) + 8),
        LDX(DW, R2, R3, CACHED_AT(sum)),
        XOR_REG(R1, R4),
        XOR_REG(R1, R5),
        JNE_REG(R1, R2, "unwind_uncached"),
        STX(DW, R8, UNWIND_AT(rule), R4),
        STX(DW, R8, UNWIND_AT(rule) + 8, R5),
        JA("unwind_rule_known"),
    LABEL("unwind_uncached"));
}

/* state.rule and the cache = that at r0. */
static void emit_remember(struct program *program, const struct unwind_config *config)
{
    EMIT(program,
        LDX(DW, R4, R0, 0),
        LDX(DW, R5, R0, 8),
        STX(DW, R8, UNWIND_AT(rule), R4),
        STX(DW, R8, UNWIND_AT(rule) + 8, R5));
    emit_load_cached(program, config);
    EMIT(program,
        STX(DW, R3, CACHED_AT(key), R1),
        STX(DW, R3, CACHED_AT(rule), R4),
        STX(DW, R3, CACHED_AT(rule) + 8, R5),
        XOR_REG(R1, R4),
        XOR_REG(R1, R5),
        STX(DW, R3, CACHED_AT(sum), R1));
}

void emit_unwind_rule(struct program *program, const struct unwind_config *config)
{
    emit_cached(program, config);
    emit_page(program, config);
    emit_row(program, config);
    emit_rule(program, config);
    emit_remember(program, config);
    EMIT(program,
    LABEL("unwind_rule_known"),
        ADDRESS(R9, R8, UNWIND_AT(rule)));
}

/*
 * Part of unwind_step(): where the caller's stack pointer is, by the rule in r9. r7 = it, or an
 * end.
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

void emit_unwind_load_frame(struct program *program, unsigned to)
{
    EMIT(program,
        LDX(W, R1, R8, UNWIND_AT(frame_lost)),
        JNE_IMM(R1, 0, "unwind_unsupported"),
        LDX(DW, to, R8, UNWIND_AT(frame)));
}

void emit_unwind_load_register(struct program *program, const struct machine_walk *walk,
                               unsigned to)
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
        LDX(DW, to, R2, UNWIND_AT(registers)));
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

void emit_unwind_cfa(struct program *program, const struct unwind_config *config)
{
    const struct machine_walk *walk = config->machine->walk;

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

/*
 * Reads user memory. Most words of a frame are close together, so one read gets a whole window.
 *
 * unwind_read(index): state.word = the user's word at state.from
 *     from = state.from - state.sp <= WINDOW ? state.sp : state.from - BELOW
 *     state.window = that many bytes from there on        words are read from it from then on
 *     state.word = *state.from                            only that, if the window cannot be read whole
 */

#define BELOW 64     /* of a frame larger than the window: the other saved registers */

void emit_unwind_copy(struct program *program, int16_t to, int32_t bytes)
{
    EMIT(program,
        ADDRESS(R1, R8, to),
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

void emit_unwind_reader(struct program *program, const struct unwind_config *config)
{
    EMIT(program, FUNCTION("unwind_read"));
    emit_unwind_state(program, config, "unwind_not_read");
    EMIT(program,
        LDX(DW, R7, R8, UNWIND_AT(from)),
        LDX(DW, R3, R8, UNWIND_AT(sp)),
        MOV_REG(R1, R7),
        SUB_REG(R1, R3),
        JLE_IMM(R1, UNWIND_WINDOW_WORDS, "unwind_window"),
        ADDRESS(R3, R7, -BELOW),
    LABEL("unwind_window"),
        AND_IMM(R3, -8),
        STX(DW, R8, UNWIND_AT(window_start), R3),
        ADDRESS(R1, R8, UNWIND_AT(window)),
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
        RETURN(0),
    LABEL("unwind_outside_window"), /* there is none, or this is not one of its words */
        ADDRESS(R1, R8, UNWIND_AT(word)),
        MOV_IMM(R2, 8),
        MOV_REG(R3, R7),
        CALL(BPF_FUNC_probe_read_user),
        EXIT());
    emit_return(program, "unwind_not_read", -EFAULT);
}
