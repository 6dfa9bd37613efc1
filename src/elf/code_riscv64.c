/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* 64-bit RISC-V, with compressed instructions: as in its Unprivileged Architecture, 35 and 27.8. */
#include "elf/code_values.h"

#include "machine/machine.h"

enum { LINK = 1, SP = 2, MILLICODE_LINK = 5, FRAME = 8 };
#define OTHERS 0xe2 /* ra, t0 to t2 */

#define EBREAK 0x00100073

static unsigned general(unsigned reg)
{
    return reg ? reg : CODE_NONE;
}

/* `count` bits of an instruction, where they belong in a number. */
static uint32_t bits(uint32_t word, unsigned low, unsigned count, unsigned to)
{
    return (word >> low & ((1u << count) - 1)) << to;
}

/* ---- Effects of both sizes ---- */

/* A sum of 32 bits is no part of an address. */
static void add_word(struct code_values *values, unsigned to, unsigned from, int64_t number)
{
    int32_t constant;

    if (code_constant(values, from, &constant))
        code_set(values, to, constant + number);
    else
        code_set_unknown(values, to);
}

/* Code that saves registers for functions is called with a link register of its own. */
static void jump_to(struct code_values *values, struct code_flow *flow, unsigned link,
                    unsigned from, int64_t number)
{
    int32_t constant;

    if (from && code_constant(values, from, &constant))
        flow->target = (uint64_t)(constant + number);
    code_jumped(values, flow, link, from == LINK || from == MILLICODE_LINK);
}

/* ---- 16 bits ---- */

static void short_loads(struct code_values *values, uint32_t half)
{
    const unsigned reg = 8 + bits(half, 2, 3, 0), from = 8 + bits(half, 7, 3, 0);
    const int64_t offset = bits(half, 10, 3, 3) | bits(half, 5, 2, 6);

    switch (half >> 13) {
    case 0: /* c.addi4spn */
        code_set_sum(values, reg, SP,
                     bits(half, 11, 2, 4) | bits(half, 7, 4, 6) | bits(half, 6, 1, 2) |
                         bits(half, 5, 1, 3));
        break;
    case 2: /* c.lw */
        code_set_unknown(values, reg);
        break;
    case 3: /* c.ld */
        code_load(values, reg, from, offset);
        break;
    case 4: /* c.lbu and others */
        if (!(half >> 11 & 1))
            code_set_unknown(values, reg);
        break;
    case 7: /* c.sd */
        code_store(values, reg, from, offset);
        break;
    }
}

static void short_sums(struct code_values *values, uint32_t half, uint64_t at,
                       struct code_flow *flow)
{
    const unsigned reg = general(half >> 7 & 31);
    const int64_t number = code_signed(bits(half, 12, 1, 5) | bits(half, 2, 5, 0), 6);

    switch (half >> 13) {
    case 0: /* c.addi */
        flow->is_padding = half == 1;
        code_set_sum(values, reg, reg, number);
        break;
    case 1: /* c.addiw */
        add_word(values, reg, reg, number);
        break;
    case 2: /* c.li */
        code_set(values, reg, number);
        break;
    case 3: /* c.addi16sp, c.lui */
        if (reg == SP)
            code_set_sum(values, SP, SP,
                         code_signed(bits(half, 12, 1, 9) | bits(half, 6, 1, 4) |
                                         bits(half, 5, 1, 6) | bits(half, 3, 2, 7) |
                                         bits(half, 2, 1, 5), 10));
        else
            code_set(values, reg, number * 4096);
        break;
    case 4: /* c.sub and others */
        code_set_unknown(values, 8 + bits(half, 7, 3, 0));
        break;
    case 5: /* c.j */
        flow->kind = CODE_JUMP;
        flow->target = at + (uint64_t)code_signed(
            bits(half, 12, 1, 11) | bits(half, 11, 1, 4) | bits(half, 9, 2, 8) |
            bits(half, 8, 1, 10) | bits(half, 7, 1, 6) | bits(half, 6, 1, 7) |
            bits(half, 3, 3, 1) | bits(half, 2, 1, 5), 12);
        break;
    default: /* c.beqz, c.bnez */
        flow->kind = CODE_BRANCH;
        flow->target = at + (uint64_t)code_signed(
            bits(half, 12, 1, 8) | bits(half, 10, 2, 3) | bits(half, 5, 2, 6) |
            bits(half, 3, 2, 1) | bits(half, 2, 1, 5), 9);
    }
}

static void short_others(struct code_values *values, uint32_t half, struct code_flow *flow)
{
    const unsigned reg = half >> 7 & 31, other = half >> 2 & 31;

    switch (half >> 13) {
    case 0: /* c.slli */
    case 2: /* c.lwsp */
        code_set_unknown(values, general(reg));
        break;
    case 3: /* c.ldsp */
        code_load(values, general(reg), SP,
                  bits(half, 12, 1, 5) | bits(half, 5, 2, 3) | bits(half, 2, 3, 6));
        break;
    case 4:
        if (!reg) /* c.ebreak */
            flow->kind = CODE_STOP;
        else if (!other) /* c.jr, c.jalr */
            jump_to(values, flow, half >> 12 & 1 ? LINK : 0, reg, 0);
        else if (half >> 12 & 1) /* c.add */
            code_set_sums(values, reg, reg, other, 1);
        else /* c.mv */
            code_set_sum(values, reg, other, 0);
        break;
    case 7: /* c.sdsp */
        code_store(values, other, SP, bits(half, 10, 3, 3) | bits(half, 7, 3, 6));
        break;
    }
}

/* ---- 32 bits ---- */

/* The address that an auipc begins, and one of the next instructions completes. */
static uint64_t taken(const unsigned char *bytes, size_t size, uint64_t page, unsigned reg)
{
    for (size_t next = 4; next <= 16 && next + 4 <= size; next += (bytes[next] & 3) == 3 ? 4 : 2) {
        const uint32_t word = machine_little32(bytes + next);
        const unsigned code = word & 0x707f;
        if ((code == 0x13 || code == 0x67) && (word >> 15 & 31) == reg)
            return page + (uint64_t)code_signed(word >> 20, 12);
    }
    return 0;
}

/* Does a floating-point or vector instruction set a general-purpose register? */
static bool sets_general(uint32_t word)
{
    const unsigned kind = word >> 28, function = word >> 12 & 7;

    if ((word >> 2 & 31) == 0x14)
        return kind == 0xa || kind == 0xc || kind == 0xe;
    return function == 7 || (function == 2 && word >> 26 == 0x10);
}

/* False: the instruction is unknown. */
static bool apply(struct code_values *values, uint32_t word, uint64_t at, struct code_flow *flow)
{
    const unsigned to = general(word >> 7 & 31), from = word >> 15 & 31, other = word >> 20 & 31;
    const unsigned function = word >> 12 & 7;
    const int64_t number = code_signed(word >> 20, 12);
    const int64_t upper = code_signed(word & 0xfffff000, 32);

    switch (word >> 2 & 31) {
    case 0x00: /* loads */
        if (function == 3)
            code_load(values, to, from, number);
        else
            code_set_unknown(values, to);
        return true;
    case 0x08: /* stores */
        if (function == 3)
            code_store(values, other, from,
                       code_signed(bits(word, 25, 7, 5) | bits(word, 7, 5, 0), 12));
        return true;
    case 0x04:
        if (function)
            code_set_unknown(values, to);
        else if (from)
            code_set_sum(values, to, from, number);
        else
            code_set(values, to, number);
        return true;
    case 0x05: /* auipc */
        code_set(values, to, (int64_t)at + upper);
        return true;
    case 0x06: /* addiw and others */
        if (function)
            code_set_unknown(values, to);
        else
            add_word(values, to, from, number);
        return true;
    case 0x0c:
        if (word >> 25 == 0 && !function)
            code_set_sums(values, to, from, other, 1);
        else if (word >> 25 == 0x20 && !function)
            code_set_sums(values, to, from, other, -1);
        else
            code_set_unknown(values, to);
        return true;
    case 0x0d: /* lui */
        code_set(values, to, upper);
        return true;
    case 0x18:
        flow->kind = CODE_BRANCH;
        flow->target = at + (uint64_t)code_signed(
            bits(word, 31, 1, 12) | bits(word, 7, 1, 11) | bits(word, 25, 6, 5) |
            bits(word, 8, 4, 1), 13);
        return true;
    case 0x19: /* jalr */
        jump_to(values, flow, word >> 7 & 31, from, number);
        return true;
    case 0x1b: /* jal */
        jump_to(values, flow, word >> 7 & 31, 0, 0);
        flow->target = at + (uint64_t)code_signed(
            bits(word, 31, 1, 20) | bits(word, 12, 8, 12) | bits(word, 20, 1, 11) |
            bits(word, 21, 10, 1), 21);
        if (flow->kind == CODE_INDIRECT)
            flow->kind = CODE_JUMP;
        return true;
    case 0x1c: /* of the system */
        if (function)
            code_set_unknown(values, to);
        else if (word == EBREAK)
            flow->kind = CODE_STOP;
        return true;
    case 0x0b: /* atomic */
    case 0x0e:
        code_set_unknown(values, to);
        return true;
    case 0x14:
    case 0x15:
        if (sets_general(word))
            code_set_unknown(values, to);
        return true;
    case 0x01: /* of floating-point numbers and vectors; fence */
    case 0x03:
    case 0x09:
    case 0x10:
    case 0x11:
    case 0x12:
    case 0x13:
        return true;
    }
    return false;
}

size_t code_riscv64(const unsigned char *bytes, size_t size, uint64_t at,
                    struct code_state *state, struct code_flow *flow)
{
    struct code_values values = {state, SP, FRAME, LINK, CODE_NONE, OTHERS, 2048, CODE_NONE};
    const uint32_t half = size < 2 ? 0 : bytes[0] | (uint32_t)bytes[1] << 8;

    switch (half & 3) {
    case 0:
        if (!half)
            return 0;
        short_loads(&values, half);
        return 2;
    case 1:
        short_sums(&values, half, at, flow);
        return 2;
    case 2:
        short_others(&values, half, flow);
        return 2;
    }
    if (size < 4)
        return 0;
    const uint32_t word = machine_little32(bytes);
    flow->is_padding = word == 0x13;
    if ((word & 0x7f) == 0x17)
        flow->taken = taken(bytes, size, at + (uint64_t)code_signed(word & 0xfffff000, 32),
                            word >> 7 & 31);
    return apply(&values, word, at, flow) ? 4 : 0;
}
