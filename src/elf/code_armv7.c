/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * armv7: ARM, and Thumb with its instructions of 16 and 32 bits, as in the Arm Architecture
 * Reference Manual, ARMv7-A, A5 and A6. Both share many operations in different encodings.
 */
#include "elf/code_follow.h"
#include "elf/code_values.h"

#include "machine/machine.h"

enum { R7 = 7, R11 = 11, R12, SP = 13, LINK = 14, PC = 15 };
#define OTHERS 0x5118 /* r3, r4, r8, r12, and lr once it is saved */

#define ALWAYS 14 /* the condition */

/* The instruction that is applied. */
struct applied {
    struct code_values values;
    struct code_flow *flow;
    uint64_t at; /* without the lowest bit, which is is_thumb */
    bool is_thumb;
    const unsigned char *bytes; /* from `at` on */
    size_t size;
};

/* ---- Effects of both ---- */

static void set_unknown(struct applied *applied, unsigned reg)
{
    if (reg == PC)
        applied->flow->kind = CODE_INDIRECT;
    else
        code_set_unknown(&applied->values, reg);
}

/* A jump by the link register returns only if it is unsaved: compilers use it for switches, too. */
static void jump_by(struct applied *applied, unsigned reg)
{
    const bool returns = reg == LINK && applied->values.state->ra_at == CODE_IN_PLACE;

    applied->flow->kind = returns ? CODE_RETURN : CODE_INDIRECT;
}

static void call(struct applied *applied, uint64_t target)
{
    applied->flow->kind = CODE_CALL;
    applied->flow->target = target;
    code_called(&applied->values);
}

enum operation { OTHER, ADD, SUBTRACT, MOVE, COMPARE };

static void compute(struct applied *applied, enum operation operation, unsigned to, unsigned from,
                    int64_t number)
{
    if (operation == COMPARE)
        return;
    if (to == PC || from == PC || operation == OTHER)
        set_unknown(applied, to);
    else if (operation == MOVE)
        code_set(&applied->values, to, number);
    else
        code_set_sum(&applied->values, to, from, operation == ADD ? number : -number);
}

static void compute_registers(struct applied *applied, enum operation operation, unsigned to,
                              unsigned from, unsigned other)
{
    if (operation == COMPARE)
        return;
    if (operation == MOVE && to == PC)
        jump_by(applied, other);
    else if (to == PC || other == PC || operation == OTHER)
        set_unknown(applied, to);
    else if (operation == MOVE)
        code_set_sum(&applied->values, to, other, 0);
    else
        code_set_sums(&applied->values, to, from, other, operation == ADD ? 1 : -1);
}

static void move_top(struct applied *applied, unsigned to, uint32_t number)
{
    int32_t before;

    if (code_constant(&applied->values, to, &before))
        code_set(&applied->values, to, (int32_t)(number << 16 | (before & 0xffff)));
    else
        set_unknown(applied, to);
}

/* ldr and str of a word, and loads of less. */
static void access(struct applied *applied, bool is_load, bool is_whole, unsigned reg,
                   unsigned from, int64_t offset)
{
    if (!is_load && is_whole)
        code_store(&applied->values, reg, from, offset);
    else if (is_load && reg == PC)
        applied->flow->kind = from == SP ? CODE_RETURN : CODE_INDIRECT;
    else if (is_load && is_whole)
        code_load(&applied->values, reg, from, offset);
    else if (is_load)
        set_unknown(applied, reg);
}

/* Notes a constant behind the code. Returns its distance from here; 0: it is out of reach. */
static uint64_t see_constant(struct applied *applied, int64_t offset, uint8_t size)
{
    const uint64_t distance = ((applied->at + (applied->is_thumb ? 4 : 8)) & ~UINT64_C(3)) +
                              (uint64_t)offset - applied->at;

    if (offset % 4 || distance > applied->size || applied->size - distance < size)
        return 0;
    applied->flow->data = applied->at + distance;
    applied->flow->data_size = size;
    return distance;
}

static void load_constant(struct applied *applied, unsigned reg, int64_t offset)
{
    const uint64_t distance = see_constant(applied, offset, 4);

    if (!distance) {
        set_unknown(applied, reg);
        return;
    }
    const uint32_t number = machine_little32(applied->bytes + distance);
    if (reg == PC)
        applied->flow->kind = CODE_INDIRECT;
    else
        code_set(&applied->values, reg, (int32_t)number);
}

/* ldm and stm, push and pop: the lowest register at the lowest address. */
static void access_many(struct applied *applied, bool is_load, unsigned from, unsigned mask,
                        int64_t first, int64_t moved)
{
    int64_t offset = first;
    bool has_own = false;
    int64_t own = 0;

    for (unsigned reg = 0; reg < 16; reg++) {
        if (!(mask >> reg & 1))
            continue;
        if (is_load && reg == from) {
            has_own = true;
            own = offset;
        } else
            access(applied, is_load, true, reg, from, offset);
        offset += 4;
    }
    if (has_own)
        access(applied, true, true, from, from, own);
    else if (moved)
        code_set_sum(&applied->values, from, from, moved);
}

static void access_list(struct applied *applied, uint32_t word, bool is_up, bool is_before)
{
    const unsigned mask = word & 0xffff;
    const int bytes = 4 * __builtin_popcount(mask);

    access_many(applied, word >> 20 & 1, word >> 16 & 15, mask,
                (is_up ? 0 : -bytes) + (is_before == is_up ? 4 * is_before : 0),
                !(word >> 21 & 1) ? 0 : is_up ? bytes : -bytes);
}

/* `number` is added to the base register before or after the access. */
static void access_indexed(struct applied *applied, bool is_load, bool is_whole, unsigned count,
                           const unsigned *regs, unsigned from, int64_t number, bool is_before,
                           bool writes_back)
{
    for (unsigned i = 0; i < count; i++)
        access(applied, is_load, is_whole, regs[i], from, (is_before ? number : 0) + 4 * i);
    if (writes_back || !is_before)
        code_set_sum(&applied->values, from, from, number);
}

/* Instructions for coprocessors, floating-point numbers and vectors. */
static void apply_coprocessor(struct applied *applied, uint32_t word)
{
    const unsigned from = word >> 16 & 15, reg = word >> 12 & 15;
    const bool is_load = word >> 20 & 1;
    const int64_t bytes = 4 * (int64_t)(word & 0xff);

    if ((word & 0x0fe00000) == 0x0c400000) { /* two registers */
        if (is_load) {
            set_unknown(applied, reg);
            set_unknown(applied, from);
        }
    } else if ((word & 0x0e000000) == 0x0c000000) { /* memory */
        if (word >> 21 & 1)
            code_set_sum(&applied->values, from, from, word >> 23 & 1 ? bytes : -bytes);
        else if ((word & 0x01000e00) == 0x01000a00 && is_load && from == PC)
            see_constant(applied, word >> 23 & 1 ? bytes : -bytes, word & 0x100 ? 8 : 4);
    } else if ((word & 0x0f000010) == 0x0e000010 && is_load && reg != PC)
        set_unknown(applied, reg);
}

/* Vector loads and stores: they may change the base register. */
static void apply_vectors(struct applied *applied, uint32_t word)
{
    if ((word & 15) != PC)
        set_unknown(applied, word >> 16 & 15);
}

/* ---- ARM ---- */

static void arm_branch(struct applied *applied, uint32_t word)
{
    const uint64_t target = applied->at + 8 + (uint64_t)code_signed(word, 24) * 4;

    if (word >> 28 == 15) /* blx */
        call(applied, (target + (word >> 23 & 2)) | 1);
    else if (word >> 24 & 1)
        call(applied, target);
    else {
        applied->flow->kind = CODE_JUMP;
        applied->flow->target = target;
    }
}

static void arm_compute(struct applied *applied, uint32_t word)
{
    static const uint8_t operations[16] = {
        [2] = SUBTRACT, [4] = ADD, [8] = COMPARE, COMPARE, COMPARE, COMPARE, [13] = MOVE};
    const unsigned to = word >> 12 & 15, from = word >> 16 & 15, code = word >> 21 & 15;
    const unsigned rotated = (word >> 8 & 15) * 2;
    const uint32_t byte = word & 0xff, top = (word >> 4 & 0xf000) | (word & 0xfff);

    if ((word & 0x0ff00000) == 0x03000000)
        code_set(&applied->values, to, top);
    else if ((word & 0x0ff00000) == 0x03400000)
        move_top(applied, to, top);
    else if ((word & 0x0d900000) == 0x01000000) { /* of the system, clz */
        if (to != PC)
            set_unknown(applied, to);
    } else if (word >> 25 & 1)
        compute(applied, code == 15 ? MOVE : operations[code], to, from,
                (int32_t)((byte >> rotated | byte << (-rotated & 31)) ^ (code == 15 ? ~0u : 0)));
    else
        compute_registers(applied, word & 0xff0 && operations[code] != COMPARE ? OTHER
                                                                              : operations[code],
                          to, from, word & 15);
}

static void arm_access(struct applied *applied, uint32_t word)
{
    const unsigned from = word >> 16 & 15, reg = word >> 12 & 15;
    const bool is_load = word >> 20 & 1, is_before = word >> 24 & 1, writes_back = word >> 21 & 1;
    const int64_t number = word & 0xfff, offset = word >> 23 & 1 ? number : -number;

    if (word >> 25 & 1) { /* with a register */
        if (is_load)
            set_unknown(applied, reg);
        if (writes_back || !is_before)
            set_unknown(applied, from);
    } else if (from == PC && is_load && is_before)
        load_constant(applied, reg, offset);
    else
        access_indexed(applied, is_load, !(word >> 22 & 1), 1, &reg, from, offset, is_before,
                       writes_back);
}

/* Halfwords, and two words. */
static void arm_access_more(struct applied *applied, uint32_t word)
{
    const unsigned from = word >> 16 & 15, reg = word >> 12 & 15, kind = word >> 5 & 3;
    const bool is_load = word >> 20 & 1, is_before = word >> 24 & 1, writes_back = word >> 21 & 1;
    const bool is_two = !is_load && kind >= 2;
    const int64_t number = (word >> 4 & 0xf0) | (word & 15),
                  offset = word >> 23 & 1 ? number : -number;
    const unsigned regs[] = {reg, (reg + 1) & 15};

    if (!kind) { /* multiplies; exclusive */
        set_unknown(applied, reg);
        if (!is_before)
            set_unknown(applied, from);
    } else if (word >> 22 & 1)
        access_indexed(applied, is_load || kind == 2, is_two, 1 + is_two, regs, from, offset,
                       is_before, writes_back);
    else {
        if (is_load || kind == 2)
            set_unknown(applied, reg);
        if (writes_back || !is_before)
            set_unknown(applied, from);
    }
}

static void arm_apply(struct applied *applied, uint32_t word)
{
    const bool is_named = word >> 28 != 15; /* has a condition */

    if (is_named && (word & 0x0fffffd0) == 0x012fff10) { /* bx, blx */
        if (word >> 5 & 1)
            call(applied, 0);
        else
            jump_by(applied, word & 15);
        return;
    }
    if ((word & 0x0ff000f0) == 0x07f000f0 || (word & 0x0ff000f0) == 0x01200070) { /* udf, bkpt */
        applied->flow->kind = CODE_STOP;
        return;
    }
    switch (word >> 25 & 7) {
    case 0:
    case 1:
        if (!is_named)
            break;
        if ((word & 0x02000090) == 0x90)
            arm_access_more(applied, word);
        else if ((word & 0x0fb00000) != 0x03200000) /* nop */
            arm_compute(applied, word);
        break;
    case 2:
    case 3:
        if (!is_named) {
            if (word >> 24 == 0xf4 && !(word >> 20 & 1))
                apply_vectors(applied, word);
        } else if ((word & 0x02000010) == 0x02000010) {
            set_unknown(applied, word >> 12 & 15); /* either may be its result */
            set_unknown(applied, word >> 16 & 15);
            applied->flow->kind = CODE_NEXT;
        } else
            arm_access(applied, word);
        break;
    case 4:
        if (is_named)
            access_list(applied, word, word >> 23 & 1, word >> 24 & 1);
        break;
    case 5:
        arm_branch(applied, word);
        break;
    default:
        if (is_named)
            apply_coprocessor(applied, word);
    }
}

/* ---- Thumb, 16 bits ---- */

static uint64_t thumb_target(const struct applied *applied, uint64_t bits, unsigned count)
{
    return (applied->at + 4 + (uint64_t)code_signed(bits, count)) | 1;
}

static void thumb_high(struct applied *applied, unsigned half)
{
    static const uint8_t operations[] = {ADD, COMPARE, MOVE};
    const unsigned to = (half >> 4 & 8) | (half & 7), other = half >> 3 & 15;

    if (half >> 8 != 0x47)
        compute_registers(applied, operations[half >> 8 & 3], to, to, other);
    else if (half >> 7 & 1)
        call(applied, 0);
    else if (other == PC) {
        applied->flow->kind = CODE_JUMP; /* to ARM code */
        applied->flow->target = (applied->at + 4) & ~UINT64_C(3);
    } else
        jump_by(applied, other);
}

/* push, pop, add and sub of the stack pointer, cbz and others. False: not known. */
static bool thumb_others(struct applied *applied, unsigned half)
{
    const unsigned mask = half & 0xff;
    const int64_t bytes = 4 * (int64_t)(half & 0x7f);

    switch (half >> 8 & 15) {
    case 0:
        code_set_sum(&applied->values, SP, SP, half & 0x80 ? -bytes : bytes);
        return true;
    case 2:
    case 10:
        set_unknown(applied, half & 7);
        return true;
    case 4:
    case 5:
        access_list(applied, 0x002d0000 | mask | (half & 0x100) << 6, false, true);
        return true;
    case 12:
    case 13:
        access_list(applied, 0x003d0000 | mask | (half & 0x100) << 7, true, false);
        return true;
    case 14: /* bkpt */
        applied->flow->kind = CODE_STOP;
        return true;
    case 6:
    case 15:
        applied->flow->is_padding = half == 0xbf00;
        return true;
    }
    if (!(half & 0x100) || (half & 0x400))
        return false;
    applied->flow->kind = CODE_BRANCH; /* cbz, cbnz */
    applied->flow->target = thumb_target(applied, (half >> 3 & 0x40) | (half >> 2 & 0x3e), 8);
    return true;
}

static bool thumb_apply(struct applied *applied, unsigned half)
{
    const unsigned low = half & 7, reg = half >> 8 & 7, code = half >> 6 & 15;
    const int64_t byte = half & 0xff;
    const unsigned condition = half >> 8 & 15;

    switch (half >> 11) {
    case 4: /* mov */
        code_set(&applied->values, reg, byte);
        return true;
    case 6: /* add, sub */
    case 7:
        code_set_sum(&applied->values, reg, reg, half >> 11 == 6 ? byte : -byte);
        return true;
    case 8:
        if (half & 0x400)
            thumb_high(applied, half);
        else if (code != 8 && code != 10 && code != 11)
            set_unknown(applied, low);
        return true;
    case 9:
        load_constant(applied, reg, byte * 4);
        return true;
    case 5:             /* cmp */
    case 12: case 14: case 16: /* str and the like */
        return true;
    case 10: case 11: /* with a register */
        if ((half >> 9 & 7) >= 3)
            set_unknown(applied, low);
        return true;
    case 18: case 19:
        access(applied, half >> 11 & 1, true, reg, SP, byte * 4);
        return true;
    case 20: /* adr */
        set_unknown(applied, reg);
        return true;
    case 21:
        code_set_sum(&applied->values, reg, SP, byte * 4);
        return true;
    case 22: case 23:
        return thumb_others(applied, half);
    case 24: case 25: /* stm, ldm */
        access_list(applied, (half & 0x800) << 9 | 0x00200000 | reg << 16 | (uint32_t)byte, true,
                    false);
        return true;
    case 26: case 27:
        applied->flow->kind = condition == 14 ? CODE_STOP : condition == 15 ? CODE_NEXT
            : CODE_BRANCH;
        if (condition < ALWAYS)
            applied->flow->target = thumb_target(applied, (half & 0xff) << 1, 9);
        return true;
    case 28:
        applied->flow->kind = CODE_JUMP;
        applied->flow->target = thumb_target(applied, (half & 0x7ff) << 1, 12);
        return true;
    }
    set_unknown(applied, low);
    return true;
}

/* ---- Thumb, 32 bits ---- */

static void wide_branch(struct applied *applied, uint32_t word)
{
    const uint32_t sign = word >> 26 & 1, first = word >> 13 & 1, second = word >> 11 & 1;
    const uint32_t low = (word & 0x7ff) << 1, middle = (word >> 16 & 0x3ff) << 12;
    const uint64_t target = thumb_target(
        applied, sign << 24 | !(first ^ sign) << 23 | !(second ^ sign) << 22 | middle | low, 25);

    switch (word >> 12 & 5) {
    case 1:
        applied->flow->kind = CODE_JUMP;
        applied->flow->target = target;
        return;
    case 4: /* blx, to ARM code */
        call(applied, (target - 1) & ~UINT64_C(3));
        return;
    case 5:
        call(applied, target);
        return;
    }
    if ((word >> 22 & 15) < ALWAYS) {
        applied->flow->kind = CODE_BRANCH;
        applied->flow->target = thumb_target(
            applied, sign << 20 | second << 19 | first << 18 | (word >> 16 & 0x3f) << 12 | low,
            21);
    } else if (word >> 20 == 0xf7f && word >> 12 & 2) /* udf */
        applied->flow->kind = CODE_STOP;
    else if (word >> 20 == 0xf3e) /* mrs */
        set_unknown(applied, word >> 8 & 15);
    applied->flow->is_padding = word == 0xf3af8000;
}

/* A constant of 12 bits: a byte in one or more places, or a rotated one. */
static uint32_t expand(uint32_t bits)
{
    const uint32_t byte = bits & 0xff, rotated = bits >> 7;

    switch (bits >> 8) {
    case 0:
        return byte;
    case 1:
        return byte * 0x00010001;
    case 2:
        return byte * 0x01000100;
    case 3:
        return byte * 0x01010101;
    }
    return (byte | 0x80) << (32 - rotated);
}

static void wide_compute(struct applied *applied, uint32_t word)
{
    static const uint8_t operations[16] = {[8] = ADD, [13] = SUBTRACT};
    const unsigned to = word >> 8 & 15, from = word >> 16 & 15, code = word >> 21 & 15;
    const uint32_t bits = (word >> 15 & 0x800) | (word >> 4 & 0x700) | (word & 0xff);
    enum operation operation = operations[code];

    if (from == PC && code == 2)
        operation = MOVE;
    if (to == PC) /* compares */
        return;
    if (word >> 28 == 14) /* with registers */
        compute_registers(applied, word & 0x70f0 ? OTHER : operation, to, from, word & 15);
    else if (!(word >> 25 & 1))
        compute(applied, from == PC && operation == MOVE ? MOVE : operation, to,
                operation == MOVE ? SP : from, (int32_t)expand(bits));
    else if (code == 2) /* movw */
        code_set(&applied->values, to, (from << 12) | bits);
    else if (code == 6)
        move_top(applied, to, from << 12 | bits);
    else
        compute(applied, code == 0 ? ADD : code == 5 ? SUBTRACT : OTHER, to, from, bits);
}

static void wide_access(struct applied *applied, uint32_t word)
{
    const unsigned from = word >> 16 & 15, reg = word >> 12 & 15;
    const bool is_load = word >> 20 & 1, is_whole = (word >> 21 & 3) == 2, is_up = word >> 23 & 1;
    const int64_t byte = word & 0xff, number = word & 0xfff;

    if (reg == PC && !is_whole) /* pld */
        return;
    if (from == PC && is_load && is_whole)
        load_constant(applied, reg, is_up ? number : -number);
    else if (is_up || from == PC)
        access(applied, is_load, is_whole, reg, from, number);
    else if (word >> 11 & 1)
        access_indexed(applied, is_load, is_whole, 1, &reg, from, word >> 9 & 1 ? byte : -byte,
                       word >> 10 & 1, word >> 8 & 1);
    else if (is_load)
        set_unknown(applied, reg);
}

/* The size of the table behind tbb or tbh: it ends where the nearest of its targets begins. */
static size_t table_size(const struct applied *applied, unsigned width)
{
    size_t end = applied->size - 4;

    for (size_t at = 0; at + width <= end; at += width) {
        const unsigned char *entry = applied->bytes + 4 + at;
        const size_t target = 2 * (entry[0] + (width == 2 ? entry[1] * 256u : 0));
        if (target && target < end) /* 0: padding */
            end = target;
    }
    return end & ~(size_t)1;
}

/* Two registers, exclusive access, jump tables. Returns how many bytes of table follow. */
static size_t wide_access_more(struct applied *applied, uint32_t word)
{
    const unsigned regs[] = {word >> 12 & 15, word >> 8 & 15};
    const unsigned from = word >> 16 & 15;
    const bool is_before = word >> 24 & 1, writes_back = word >> 21 & 1, is_load = word >> 20 & 1;
    const int64_t number = (word & 0xff) * 4;

    if ((word & 0xfff0ffe0) == 0xe8d0f000) {
        applied->flow->kind = CODE_INDIRECT;
        return from == PC ? table_size(applied, word & 0x10 ? 2 : 1) : 0;
    }
    if (is_before || writes_back) {
        access_indexed(applied, is_load, true, 2, regs, from, word >> 23 & 1 ? number : -number,
                       is_before, writes_back);
        return 0;
    }
    for (int i = 0; i < 2; i++)
        if (regs[i] != PC)
            set_unknown(applied, regs[i]);
    return 0;
}

/* Returns its size; 0: not known. */
static size_t wide_apply(struct applied *applied, uint32_t word)
{
    switch (word >> 25 & 15) {
    case 4:
        if (word >> 22 & 1)
            return 4 + wide_access_more(applied, word);
        access_list(applied, word, word >> 23 & 1, !(word >> 23 & 1));
        return 4;
    case 5:
        wide_compute(applied, word);
        return 4;
    case 6: case 7: case 14: case 15:
        apply_coprocessor(applied, word);
        return 4;
    case 8: case 9: case 10: case 11:
        if (word >> 15 & 1)
            wide_branch(applied, word);
        else
            wide_compute(applied, word);
        return 4;
    case 12:
        if ((word & 0xff100000) == 0xf9000000)
            apply_vectors(applied, word);
        else
            wide_access(applied, word);
        return 4;
    case 13:
        set_unknown(applied, word >> 8 & 15);
        if ((word & 0xff800000) == 0xfb800000) /* of 64 bits */
            set_unknown(applied, word >> 12 & 15);
        return 4;
    }
    return 0;
}

static size_t thumb_one(struct applied *applied)
{
    if (applied->size < 2)
        return 0;
    const uint32_t half = applied->bytes[0] | (uint32_t)applied->bytes[1] << 8;
    if (half < 0xe800)
        return thumb_apply(applied, half) ? 2 : 0;
    if (applied->size < 4)
        return 0;
    return wide_apply(applied, half << 16 | applied->bytes[2] | (uint32_t)applied->bytes[3] << 8);
}

/* ---- Conditions ---- */

static void meet(int32_t *value, int32_t other, int32_t unknown)
{
    if (*value != other)
        *value = unknown;
}

/* The instruction was applied under a condition, which may not hold. */
static void may_apply(struct applied *applied, const struct code_state *before)
{
    struct code_state *state = applied->values.state;

    switch (applied->flow->kind) {
    case CODE_JUMP:
        applied->flow->kind = CODE_BRANCH;
        break;
    case CODE_RETURN:
    case CODE_STOP:
        applied->flow->kind = CODE_NEXT;
        break;
    case CODE_NEXT:
    case CODE_CALL:
        meet(&state->sp, before->sp, CODE_LOST);
        meet(&state->fp, before->fp, CODE_LOST);
        meet(&state->fp_at, before->fp_at, CODE_LOST);
        meet(&state->ra_at, before->ra_at, CODE_LOST);
        meet(&state->base, before->base, CODE_LOST);
        meet(&state->base_at, before->base_at, CODE_LOST);
        meet(&state->scratch[0], before->scratch[0], 0);
        meet(&state->scratch[1], before->scratch[1], 0);
        return;
    default:
        break;
    }
    *state = *before;
}

/* An it, and its one to four instructions, which have its condition or the opposite one. */
static size_t thumb_conditional(struct applied *applied, unsigned half)
{
    const struct code_state before = *applied->values.state;
    size_t length = 2;

    for (unsigned left = 4 - (unsigned)__builtin_ctz(half & 15); left; left--) {
        struct applied one = *applied;
        one.bytes += length;
        one.size -= length;
        one.at += length;
        /* Only the last one may jump. */
        const size_t more = applied->flow->kind == CODE_NEXT ? thumb_one(&one) : 0;
        if (!more)
            return 0;
        length += more;
    }
    may_apply(applied, &before);
    return length;
}

#define MOST_LEAVING 28

/*
 * If this instruction moves the stack pointer: how many bytes there are up to a jump or a return,
 * if all instructions have the same condition. Then code behind them runs only if none of them has
 * run. 0: they do not end so. The result does not depend on the state before.
 */
static size_t arm_leaving(const struct applied *applied)
{
    const uint32_t condition = machine_little32(applied->bytes) >> 28;
    struct code_state state = {0};
    struct code_flow flow = {0};
    struct applied one = *applied;

    one.values.state = &state;
    one.flow = &flow;
    for (size_t at = 0; at < MOST_LEAVING && at + 4 <= applied->size; at += 4) {
        const uint32_t word = machine_little32(applied->bytes + at);
        if (word >> 28 != condition || flow.kind == CODE_CALL)
            return 0;
        one.at = applied->at + at;
        one.bytes = applied->bytes + at;
        one.size = applied->size - at;
        arm_apply(&one, word);
        if (!at && (!state.sp || flow.kind != CODE_NEXT))
            return 0;
        if (flow.kind != CODE_NEXT && flow.kind != CODE_CALL)
            return at + 4;
    }
    return 0;
}

size_t code_armv7(const unsigned char *bytes, size_t size, uint64_t at, struct code_state *state,
                  struct code_flow *flow)
{
    struct applied applied = {
        .values = {state, SP, R7, LINK, R11, OTHERS, 1024, R12},
        .flow = flow, .at = at & ~UINT64_C(1), .is_thumb = at & 1, .bytes = bytes, .size = size,
    };
    const struct code_state before = *state;

    if (applied.is_thumb) {
        const unsigned half = size < 2 ? 0 : bytes[0] | (unsigned)bytes[1] << 8;
        return half >> 8 == 0xbf && half & 15 ? thumb_conditional(&applied, half)
                                              : thumb_one(&applied);
    }
    if (size < 4)
        return 0;
    const uint32_t word = machine_little32(bytes);
    const size_t leaving = word >> 28 < ALWAYS ? arm_leaving(&applied) : 0;
    if (leaving)
        return leaving;
    flow->is_padding = word == 0xe320f000 || word == 0xe1a00000;
    arm_apply(&applied, word);
    if (word >> 28 < ALWAYS)
        may_apply(&applied, &before);
    return 4;
}

/* ---- Which of both ---- */

#define MODE_WORDS 32
#define LEAST_WORDS 16 /* words that are not data */

/*
 * Stripped files do not tell ARM from Thumb code: most words of ARM code have the condition
 * "always", few words of Thumb code look like that. In doubt the kind stays what it was.
 */
uint64_t code_armv7_choose(struct code_finding *finding, const struct code_area *area,
                           uint64_t place, uint64_t *decided)
{
    const uint64_t end = area->place + area->gap.size, at = place & ~UINT64_C(1),
                   aligned = at + ((area->gap.address + (at - area->place)) & 2);
    unsigned words = 0, always = 0;

    if (at >= *decided) {
        *decided = aligned + 4 * MODE_WORDS;
        for (uint64_t word = aligned; word < *decided && word + 4 <= end; word += 4)
            if (!(finding->places[word].flags & DATA)) {
                always += finding->bytes[word + 3] >> 4 == 14;
                words++;
            }
        if (words >= LEAST_WORDS && (3 * always <= words || 2 * always > words))
            finding->thumb = 3 * always <= words;
    }
    return finding->thumb || aligned >= end ? at | 1 : aligned;
}
