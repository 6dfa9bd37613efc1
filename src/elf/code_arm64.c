/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* arm64: fields as in the Arm Architecture Reference Manual, C4.1. */
#include "elf/code_values.h"

#include "machine/machine.h"

enum { FRAME = 29, LINK = 30, SP = 31 };
#define OTHERS 0x3fe00 /* x9 to x17 */

#define NOP 0xd503201f

/* Register 31 is the zero register, unless it is the stack pointer. */
static unsigned general(unsigned reg)
{
    return reg == SP ? CODE_NONE : reg;
}

static int64_t field(uint32_t word, unsigned low, unsigned count)
{
    return code_signed(word >> low, count);
}

/* add and sub, immediate: compilers address the stack by sp + number. */
static void add(struct code_values *values, uint32_t word)
{
    const unsigned to = word & 31, from = word >> 5 & 31;
    const int64_t number = (word >> 10 & 0xfff) << (word >> 22 & 1) * 12;

    if (word >> 31 && !(word >> 29 & 1))
        code_set_sum(values, to, from, word >> 30 & 1 ? -number : number);
    else
        code_set_unknown(values, word >> 29 & 1 ? general(to) : to);
}

/* movn, movz, movk */
static void move(struct code_values *values, uint32_t word)
{
    const unsigned to = general(word & 31), shift = (word >> 21 & 3) * 16, kind = word >> 29 & 3;
    const int64_t number = (int64_t)((uint64_t)(word >> 5 & 0xffff) << shift);
    int32_t before;

    if (!(word >> 31))
        code_set_unknown(values, to);
    else if (kind != 3)
        code_set(values, to, kind ? number : ~number);
    else if (code_constant(values, to, &before))
        code_set(values, to, (before & ~(int64_t)(UINT64_C(0xffff) << shift)) | number);
    else
        code_set_unknown(values, to);
}

/* and, orr, eor, immediate: they may set sp; a mask in x9 to x17 may be a frame size. */
static void mask(struct code_values *values, uint32_t word)
{
    code_set_unknown(values, (word >> 29 & 3) == 3 ? general(word & 31) : word & 31);
}

static void compute(struct code_values *values, uint32_t word)
{
    switch (word >> 23 & 7) {
    case 0:
    case 1:
        code_set_unknown(values, word & 31);
        break;
    case 2:
        add(values, word);
        break;
    case 4:
        mask(values, word);
        break;
    case 5:
        move(values, word);
        break;
    default:
        code_set_unknown(values, general(word & 31));
    }
}

/* Register forms: add and sub with an extended register may set sp. */
static void compute_registers(struct code_values *values, uint32_t word)
{
    const bool is_extended = (word & 0x1fe00000) == 0x0b200000 && !(word >> 29 & 1);
    const unsigned to = is_extended ? word & 31 : general(word & 31);

    if ((word & 0xbfe0fc00) == 0x8b206000) /* uxtx */
        code_set_sums(values, to, word >> 5 & 31, general(word >> 16 & 31),
                      word >> 30 & 1 ? -1 : 1);
    else if ((word & 0xffe0ffe0) == 0xaa0003e0) /* mov */
        code_set_sum(values, to, general(word >> 16 & 31), 0);
    else if ((word & 0xffff0000) != 0xdac10000) /* signing an address does not change it */
        code_set_unknown(values, to);
}

/* A load or store of one general-purpose register, or of each of two; whole or in part. */
static void access(struct code_values *values, uint32_t word, unsigned reg, bool is_load,
                   bool is_whole, int64_t offset)
{
    const unsigned from = word >> 5 & 31;

    if (is_load && is_whole)
        code_load(values, general(reg), from, offset);
    else if (is_load)
        code_set_unknown(values, general(reg));
    else if (is_whole)
        code_store(values, general(reg), from, offset);
}

/* Adds to the base register, before or after the access. */
static void index_by(struct code_values *values, uint32_t word, int64_t number)
{
    code_set_sum(values, word >> 5 & 31, word >> 5 & 31, number);
}

static void access_pair(struct code_values *values, uint32_t word)
{
    const bool is_vector = word >> 26 & 1, is_load = word >> 22 & 1, is_whole = word >> 31;
    const unsigned scale = is_vector ? 2 + (word >> 30) : is_whole ? 3 : 2;
    const int64_t number = field(word, 15, 7) * (1 << scale);
    const unsigned mode = word >> 23 & 3; /* after 1, offset 2, before 3 */
    const int64_t offset = mode == 2 ? number : 0;

    if (mode == 3)
        index_by(values, word, number);
    if (!is_vector) {
        access(values, word, word & 31, is_load, is_whole, offset);
        access(values, word, word >> 10 & 31, is_load, is_whole, offset + 8);
    }
    if (mode == 1)
        index_by(values, word, number);
}

static void access_one(struct code_values *values, uint32_t word)
{
    const bool is_vector = word >> 26 & 1, has_offset = word >> 24 & 1;
    const unsigned size = word >> 30, kind = word >> 22 & 3;
    const unsigned mode = has_offset || word >> 21 & 1 ? 0 : word >> 10 & 3;
    const bool is_prefetch = size == 3 && kind == 2;
    const bool is_plain = has_offset || !(word >> 21 & 1); /* no register offset, not atomic */
    const int64_t number = field(word, 12, 9);
    const int64_t offset = has_offset ? (word >> 10 & 0xfff) * 8 : mode ? 0 : number;

    if (mode == 3)
        index_by(values, word, number);
    if (!is_vector && !is_prefetch) /* an atomic access loads, too */
        access(values, word, word & 31, kind || (!is_plain && !(word >> 10 & 3)),
               size == 3 && is_plain, offset);
    if (mode == 1)
        index_by(values, word, number);
}

static void access_memory(struct code_values *values, uint32_t word)
{
    const unsigned from = word >> 5 & 31;

    switch (word >> 28 & 3) {
    case 0: /* several vectors; exclusive */
        if (word >> 26 & 1) {
            if (word >> 23 & 1)
                code_set_unknown(values, from);
            break;
        }
        code_set_unknown(values, general(word >> 16 & 31));
        if (word >> 22 & 1)
            code_set_unknown(values, general(word & 31));
        break;
    case 1: /* at a constant address */
        if (!(word >> 26 & 1))
            code_set_unknown(values, general(word & 31));
        break;
    case 2:
        access_pair(values, word);
        break;
    case 3:
        access_one(values, word);
        break;
    }
}

/* The page of an adrp plus what one of the next instructions adds. */
static uint64_t taken(const unsigned char *bytes, size_t size, uint64_t at, uint32_t word)
{
    const int64_t number = field(word, 5, 19) * 4 + (word >> 29 & 3);

    if (!(word >> 31))
        return at + (uint64_t)number;
    for (size_t next = 4; next <= 16 && next + 4 <= size; next += 4) {
        const uint32_t add = machine_little32(bytes + next);
        if ((add & 0xffc003e0) == (0x91000000 | (word & 31) << 5))
            return (at & ~UINT64_C(0xfff)) + (uint64_t)number * 4096 + (add >> 10 & 0xfff);
    }
    return 0;
}

static void branch(struct code_values *values, uint32_t word, uint64_t at, struct code_flow *flow)
{
    static const uint8_t by_register[] = {CODE_INDIRECT, CODE_CALL, CODE_RETURN};
    const unsigned kind = word >> 21 & 7;
    unsigned bits = 26, low = 0;

    if (word >> 24 == 0xd4 && word >> 21 != 0xd4000000 >> 21) /* brk, hlt */
        flow->kind = CODE_STOP;
    else if (word >> 25 == 0xd6 >> 1)
        flow->kind = kind < 3 ? by_register[kind] : CODE_STOP;
    else if ((word & 0x7c000000) == 0x14000000)
        flow->kind = word >> 31 ? CODE_CALL : CODE_JUMP;
    else if ((word & 0x7c000000) == 0x34000000 || word >> 24 == 0x54) {
        flow->kind = CODE_BRANCH;
        bits = word >> 25 == 0x36 >> 1 || word >> 25 == 0xb6 >> 1 ? 14 : 19;
        low = 5;
    }
    if (flow->kind == CODE_BRANCH || (word & 0x7c000000) == 0x14000000)
        flow->target = at + (uint64_t)field(word, low, bits) * 4;
    if (flow->kind == CODE_CALL)
        code_called(values);
    else if (word >> 20 == 0xd53) /* mrs */
        code_set_unknown(values, general(word & 31));
}

/* Vector instructions that set a general-purpose register: umov, smov, fcvt, fmov. */
static bool sets_general(uint32_t word)
{
    const unsigned code = word >> 16 & 7;

    return (word & 0xbfe0ec00) == 0x0e002c00 ||
           ((word & 0x7f20fc00) == 0x1e200000 && (!(code & 2) || code == 6));
}

size_t code_arm64(const unsigned char *bytes, size_t size, uint64_t at, struct code_state *state,
                  struct code_flow *flow)
{
    struct code_values values = {state, SP, FRAME, LINK, CODE_NONE, OTHERS, 4096, CODE_NONE};
    const uint32_t word = size < 4 ? 0 : machine_little32(bytes);

    if (word >> 16 == 0) /* udf */
        return 0;
    flow->is_padding = word == NOP;
    switch (word >> 25 & 15) {
    case 8:
    case 9:
        compute(&values, word);
        if ((word & 0x1f000000) == 0x10000000)
            flow->taken = taken(bytes, size, at, word);
        break;
    case 10:
    case 11:
        branch(&values, word, at, flow);
        break;
    case 5:
    case 13:
        compute_registers(&values, word);
        break;
    case 7:
    case 15:
        if (sets_general(word))
            code_set_unknown(&values, general(word & 31));
        break;
    case 2: /* SVE */
        break;
    case 4:
    case 6:
    case 12:
    case 14:
        access_memory(&values, word);
        break;
    default:
        return 0;
    }
    return 4;
}
