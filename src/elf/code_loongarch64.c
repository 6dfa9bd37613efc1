/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* 64-bit LoongArch: as in its Reference Manual, volume 1, appendix B. */
#include "elf/code_values.h"

#include "machine/machine.h"

enum { LINK = 1, SP = 3, FRAME = 22 };
#define OTHERS 0x1ff002 /* ra, t0 to t8 */

#define NOP 0x03400000

static unsigned general(unsigned reg)
{
    return reg ? reg : CODE_NONE;
}

/* The offset of a jump: 16 bits, below `more` high bits that are lowest in the instruction. */
static uint64_t distance(uint32_t word, unsigned more)
{
    const uint32_t high = word & ((1u << more) - 1);

    return (uint64_t)code_signed(high << 16 | (word >> 10 & 0xffff), 16 + more) * 4;
}

/* register = from + number, of 64 bits; a sum of 32 bits (not `wide`) is no part of an address. */
static void add(struct code_values *values, unsigned to, unsigned from, int64_t number, bool wide)
{
    int32_t constant;

    if (!from)
        code_set(values, to, number);
    else if (wide)
        code_set_sum(values, to, from, number);
    else if (code_constant(values, from, &constant))
        code_set(values, to, constant + number);
    else
        code_set_unknown(values, to);
}

/* ori: completes a constant whose lowest bits are 0, or sets a small one. */
static void complete(struct code_values *values, unsigned to, unsigned from, uint32_t low)
{
    int32_t constant = 0;

    if (!from || (code_constant(values, from, &constant) && !(constant & 0xfff)))
        code_set(values, to, constant + (int32_t)low);
    else
        code_set_unknown(values, to);
}

static void calculate(struct code_values *values, uint32_t word, unsigned to, unsigned from)
{
    const unsigned other = word >> 10 & 31;

    switch (word >> 15) {
    case 0x21: /* add.d */
        code_set_sums(values, to, from, other, 1);
        break;
    case 0x23: /* sub.d */
        code_set_sums(values, to, from, other, -1);
        break;
    case 0x2a: /* or, which is move, too */
        if (!other || !from)
            code_set_sum(values, to, from + other, 0);
        else
            code_set_unknown(values, to);
        break;
    case 0x02: /* asrtle.d, asrtgt.d, syscall */
    case 0x03:
    case 0x56:
        break;
    default:
        if (word >> 10 >= 0x18 && word >> 10 <= 0x1a) /* rdtime */
            code_set_unknown(values, general(from));
        code_set_unknown(values, to);
    }
}

/* The address that a pcalau12i begins, and one of the next instructions completes. */
static uint64_t taken(const unsigned char *bytes, size_t size, uint64_t page, unsigned reg)
{
    for (size_t next = 4; next <= 16 && next + 4 <= size; next += 4) {
        const uint32_t word = machine_little32(bytes + next);
        if (word >> 22 == 0x0b && (word >> 5 & 31) == reg) /* addi.d */
            return page + (uint64_t)code_signed(word >> 10, 12);
    }
    return 0;
}

static void jump_to(struct code_values *values, struct code_flow *flow, unsigned link,
                    unsigned from, uint64_t by)
{
    int32_t constant;

    if (code_constant(values, from, &constant))
        flow->target = (uint64_t)(int64_t)constant + by;
    code_jumped(values, flow, link, from == LINK);
}

/* Does a load by two registers, or an atomic access, set a general-purpose register? */
static bool sets_general(uint32_t word)
{
    const unsigned kind = word >> 18 & 63;

    return kind < 4 || (kind >= 8 && kind < 11) || (kind >= 0x15 && word < 0x38720000) ||
           kind == 0x1e;
}

/* Does a floating-point or vector instruction set a general-purpose register? */
static bool moves_to_general(uint32_t word)
{
    const unsigned kind = word >> 10, vector = word >> 16 & ~0x400u;

    return (kind >= 0x452d && kind <= 0x452f) || kind == 0x4532 || kind == 0x4537 ||
           vector == 0x72ef || vector == 0x72f3;
}

/* False: the instruction is unknown. */
static bool apply(struct code_values *values, uint32_t word, uint64_t at, struct code_flow *flow)
{
    const unsigned to = general(word & 31), from = word >> 5 & 31;
    const int64_t number = code_signed(word >> 10, 12), pointer = code_signed(word >> 10, 14) * 4;
    const int64_t upper = code_signed(word >> 5, 20);

    switch (word >> 26) {
    case 0x00:
        switch (word >> 22) {
        case 0x00:
            if (word >> 15 == 0x54) /* break */
                flow->kind = CODE_STOP;
            else
                calculate(values, word, to, from);
            return word >= 0x1000;
        case 0x04: /* of floating-point numbers */
            if (moves_to_general(word))
                code_set_unknown(values, to);
            return true;
        case 0x0a: /* addi.w */
        case 0x0b: /* addi.d */
            add(values, to, from, number, word >> 22 == 0x0b);
            return true;
        case 0x0e: /* ori */
            complete(values, to, from, word >> 10 & 0xfff);
            return true;
        }
        code_set_unknown(values, to);
        return true;
    case 0x04: /* addu16i.d */
        add(values, to, from, code_signed(word >> 10, 16) * 65536, true);
        return true;
    case 0x05: /* lu12i.w, lu32i.d */
        if (word >> 25 & 1)
            code_set_unknown(values, to);
        else
            code_set(values, to, upper * 4096);
        return true;
    case 0x06: /* pcaddi, pcalau12i */
        if (!(word >> 25 & 1))
            flow->taken = at + (uint64_t)upper * 4;
        code_set_unknown(values, to);
        return true;
    case 0x07: /* pcaddu12i, pcaddu18i */
        code_set(values, to, (int64_t)at + upper * (word >> 25 & 1 ? 1 << 18 : 4096));
        return true;
    case 0x08: /* ll, sc */
        code_set_unknown(values, to);
        return true;
    case 0x09: /* ldptr, stptr */
        switch (word >> 24) {
        case 0x24: code_set_unknown(values, to); break;
        case 0x26: code_load(values, to, from, pointer); break;
        case 0x27: code_store(values, to, from, pointer); break;
        }
        return true;
    case 0x0a: /* loads and stores */
        switch (word >> 22 & 15) {
        case 0x3: code_load(values, to, from, number); break;
        case 0x7: code_store(values, to, from, number); break;
        case 0x0:
        case 0x1:
        case 0x2:
        case 0x8:
        case 0x9:
        case 0xa: code_set_unknown(values, to); break;
        }
        return true;
    case 0x0e:
        if (sets_general(word))
            code_set_unknown(values, to);
        return true;
    case 0x10: /* beqz, bnez, and by a condition flag */
    case 0x11:
    case 0x12:
        flow->kind = CODE_BRANCH;
        flow->target = at + distance(word, 5);
        return true;
    case 0x13: /* jirl */
        jump_to(values, flow, word & 31, from, distance(word, 0));
        return true;
    case 0x14: /* b */
        flow->kind = CODE_JUMP;
        flow->target = at + distance(word, 10);
        return true;
    case 0x15: /* bl */
        flow->kind = CODE_CALL;
        flow->target = at + distance(word, 10);
        code_called(values);
        return true;
    case 0x16: /* beq to bgeu */
    case 0x17:
    case 0x18:
    case 0x19:
    case 0x1a:
    case 0x1b:
        flow->kind = CODE_BRANCH;
        flow->target = at + distance(word, 0);
        return true;
    case 0x02: /* of floating-point numbers and vectors */
    case 0x03:
    case 0x0b:
    case 0x0c:
    case 0x1c:
    case 0x1d:
        if (moves_to_general(word))
            code_set_unknown(values, to);
        return true;
    }
    return false;
}

size_t code_loongarch64(const unsigned char *bytes, size_t size, uint64_t at,
                        struct code_state *state, struct code_flow *flow)
{
    struct code_values values = {state, SP, FRAME, LINK, CODE_NONE, OTHERS, 2048, CODE_NONE};

    if (size < 4)
        return 0;
    const uint32_t word = machine_little32(bytes);
    flow->is_padding = word == NOP;
    if (word >> 25 == 0x0d) /* pcalau12i */
        flow->taken = taken(bytes, size, (at & ~UINT64_C(0xfff)) +
                            (uint64_t)code_signed(word >> 5, 20) * 4096, word & 31);
    return apply(&values, word, at, flow) ? 4 : 0;
}
