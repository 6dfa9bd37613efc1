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
#include "insns/unwind.h"

#define PAGE_BYTES (1 << UNWIND_PAGE_BITS)
#define BLOCK_BITS 12
#define CHUNK_BITS 6
_Static_assert(UNWIND_BLOCK_WORDS == 1 << BLOCK_BITS && UNWIND_CHUNK_BLOCKS == 1 << CHUNK_BITS, "both");

#define OFFSET_BITS 36
#define CACHE_BITS 12
#define CACHED_BITS 5
_Static_assert(UNWIND_CACHED == 1 << CACHE_BITS && sizeof(struct unwind_cached) == 1 << CACHED_BITS, "both");
#define CACHED_AT(member) ((int16_t)offsetof(struct unwind_cached, member))
#define HASH 0x9e3779b97f4a7c15ull

enum {
    CHUNK = -8, /* on the stack */
    BLOCK = -12,
    KEY = -24,
};

/* r0 = the object's block r1. r1 to r5 are lost. */
static void emit_block(struct program *program, const struct unwind_wishes *wishes)
{
    EMIT(program,
        LDX(W, R2, R8, UNWIND_AT(mapping.object.block)),
        ADD_REG(R1, R2),
        MOV_REG(R2, R1),
        RSH_IMM(R2, CHUNK_BITS),
        STX(W, R10, CHUNK, R2),
        AND_IMM(R1, UNWIND_CHUNK_BLOCKS - 1),
        STX(W, R10, BLOCK, R1),
        MOV_REG(R2, R10),
        ADD_IMM(R2, CHUNK),
        LOAD_MAP(R1, wishes->maps.chunks),
        CALL(BPF_FUNC_map_lookup_elem),
        JEQ_IMM(R0, 0, "unwind_no_table"),
        MOV_REG(R1, R0),
        MOV_REG(R2, R10),
        ADD_IMM(R2, BLOCK),
        CALL(BPF_FUNC_map_lookup_elem),
        JEQ_IMM(R0, 0, "unwind_no_table"));
}

/* r6 = the first of the page's rows, a word of the table, r9 = how many there are. */
static void emit_page(struct program *program, const struct unwind_wishes *wishes)
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
        ADD_REG(R6, R1),
        MOV_REG(R1, R6),
        RSH_IMM(R1, BLOCK_BITS));
    emit_block(program, wishes);
    EMIT(program,
        AND_IMM(R6, UNWIND_BLOCK_WORDS - 2),
        LSH_IMM(R6, 2),
        ADD_REG(R0, R6),
        LDX(W, R6, R0, (int16_t)offsetof(struct unwind_page, first)),
        LDX(W, R9, R0, (int16_t)offsetof(struct unwind_page, count)),
        JEQ_IMM(R9, 0, "unwind_no_table"));
}

/*
 * r6 = the row for the offset: the last one that begins there or before. Without branches, as a
 * verifier follows both ways of each.
 */
static void emit_row(struct program *program, const struct unwind_wishes *wishes)
{
    EMIT(program,
        MOV_REG(R1, R6),
        RSH_IMM(R1, BLOCK_BITS));
    emit_block(program, wishes);
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

static void emit_rule(struct program *program, const struct unwind_wishes *wishes)
{
    EMIT(program,
        AND_IMM(R6, (int32_t)UNWIND_MOST_RULES - 1),
        LSH_IMM(R6, 2),
        MOV_REG(R1, R6),
        RSH_IMM(R1, BLOCK_BITS));
    emit_block(program, wishes);
    EMIT(program,
        AND_IMM(R6, UNWIND_BLOCK_WORDS - 4),
        LSH_IMM(R6, 2),
        ADD_REG(R0, R6));
}

/* r1 = the key, r3 = its place in the cache; r2 is lost. */
static void emit_load_cached(struct program *program, const struct unwind_wishes *wishes)
{
    EMIT(program,
        LDX(DW, R1, R10, KEY),
        LD_IMM64(R2, HASH),
        MUL_REG(R2, R1),
        RSH_IMM(R2, 64 - CACHE_BITS),
        LSH_IMM(R2, CACHED_BITS),
        LOAD_MAP_VALUE(R3, wishes->maps.cache, 0),
        ADD_REG(R3, R2));
}

/* state.rule = the cached one; goes to unwind_rule_known. */
static void emit_cached(struct program *program, const struct unwind_wishes *wishes)
{
    EMIT(program,
        MOV_REG(R1, R7),
        RSH_IMM(R1, OFFSET_BITS),
        JNE_IMM(R1, 0, "unwind_no_table"),
        LDX(W, R1, R8, UNWIND_AT(mapping.object.number)),
        LSH_IMM(R1, OFFSET_BITS),
        OR_REG(R1, R7),
        STX(DW, R10, KEY, R1));
    emit_load_cached(program, wishes);
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
static void emit_remember(struct program *program, const struct unwind_wishes *wishes)
{
    EMIT(program,
        LDX(DW, R4, R0, 0),
        LDX(DW, R5, R0, 8),
        STX(DW, R8, UNWIND_AT(rule), R4),
        STX(DW, R8, UNWIND_AT(rule) + 8, R5));
    emit_load_cached(program, wishes);
    EMIT(program,
        STX(DW, R3, CACHED_AT(key), R1),
        STX(DW, R3, CACHED_AT(rule), R4),
        STX(DW, R3, CACHED_AT(rule) + 8, R5),
        XOR_REG(R1, R4),
        XOR_REG(R1, R5),
        STX(DW, R3, CACHED_AT(sum), R1));
}

void emit_unwind_rule(struct program *program, const struct unwind_wishes *wishes)
{
    emit_cached(program, wishes);
    emit_page(program, wishes);
    emit_row(program, wishes);
    emit_rule(program, wishes);
    emit_remember(program, wishes);
    EMIT(program,
    LABEL("unwind_rule_known"),
        MOV_REG(R9, R8),
        ADD_IMM(R9, UNWIND_AT(rule)));
}

