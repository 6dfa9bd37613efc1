/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* x86-64's instructions: their lengths, and what they do to rsp and rbp. See code_rows.h. */
#include "elf/code_values.h"

#include <string.h>

#include "machine/machine.h"

#define SP 4
#define FP 5
#define REX_W 8
#define SIGRETURN 15 /* the system call's number */
#define LONGEST 15
#define READ_ON 40 /* bytes read before an instruction's length is known */
#define WORD 8
#define FARTHEST (1 << 28) /* from the CFA */

/* In scratch[0]: the number + 1 of a register with which CFA = register + scratch[1], and */
#define ALIAS 0x1f
#define IS_COMPARED 0x20 /* the last instruction compared it with rsp */

/*
 * A letter for each opcode: what follows it, and which register it writes.
 *
 *     . nothing   m ModRM   r the same, writes its reg   w writes its r/m   x writes both   ! invalid   blank: a prefix
 *     1 imm8   2 imm16   4 imm32   J a jump's imm32   8 an address   3 imm16, imm8
 *     v imm32 or imm64, writes the opcode's register
 *     b ModRM, imm8   i the same, writes r/m   j writes reg   z ModRM, imm32, writes r/m   y writes reg
 *     g, G groups 1   f group 3   h groups 4 and 5   o writes the opcode's register   c the same, with imm8
 *     M, R, W m, r, w of instructions that step_one() and step_two() know
 */
static const char one[] =
    "wwrr14!!wwrr14!." "wwrr14!!wwrr14!!" "wwrr14 !wwrr14 !" "wwrr14 !mMmM14 !"
    "!!!!!!!!!!!!!!!!" "........oooooooo" "!!!r    4y1j...." "1111111111111111"
    "gG!gmmxxwWrRwRmW" "oooooooo..!....." "8888....14......" "ccccccccvvvvvvvv"
    "ii2.!!iz3.2..1!." "wwww!!!.mmmmmmmm" "11111111JJ!1...." " .  ..ff......hh";
static const char two[] = /* after 0f */
    "mmrr!.....!.!m.b" "mmmmmmmmmmmmmmmM" "wwmm!!!!mmmmrrmm" "........!!!!!!!!"
    "rrrrrrrrrrrrrrrr" "rmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "bbbbmmm.mmmmmmwm"
    "JJJJJJJJJJJJJJJJ" "wwwwwwwwwwwwwwww" "...miw!!...wiwmr" "wwrwrrrrrMiwrrrr"
    "xxbmbjbwoooooooo" "mmmmmmmrmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmM";

/* Traits of a letter: what follows (OTHER: a number of another size), and what it writes. */
enum trait {
    IMM8 = 1,
    IMM32 = 2,
    OTHER = 3,
    TO_RM = 4,
    TO_REG = 8,
    TO_OP = 16,
    MODRM = 32,
    MORE = 64, /* step_one() and step_two() may know it */
};
#define IMMEDIATE 3 /* the bits of the first three */

static const uint8_t traits[] = {
    ['m'] = MODRM,
    ['r'] = MODRM | TO_REG,
    ['w'] = MODRM | TO_RM,
    ['M'] = MODRM | MORE,
    ['R'] = MODRM | TO_REG | MORE,
    ['W'] = MODRM | TO_RM | MORE,
    ['.'] = MORE,
    ['x'] = MODRM | TO_RM | TO_REG,
    ['b'] = MODRM | IMM8,
    ['i'] = MODRM | IMM8 | TO_RM,
    ['j'] = MODRM | IMM8 | TO_REG,
    ['z'] = MODRM | IMM32 | TO_RM | MORE,
    ['y'] = MODRM | IMM32 | TO_REG,
    ['g'] = MODRM | IMM8 | TO_RM | MORE,
    ['G'] = MODRM | IMM32 | TO_RM | MORE,
    ['f'] = MODRM | TO_RM | OTHER,
    ['h'] = MODRM | TO_RM | MORE,
    ['1'] = IMM8 | MORE,
    ['4'] = IMM32 | MORE,
    ['J'] = OTHER | MORE,
    ['o'] = TO_OP | MORE,
    ['c'] = IMM8 | TO_OP,
    ['v'] = TO_OP | OTHER | MORE,
    ['2'] = OTHER | MORE,
    ['3'] = OTHER | MORE,
    ['8'] = OTHER,
};

struct instruction {
    const unsigned char *at, *end;
    const unsigned char *displacement, *immediate; /* decoded on demand: see number_at() */
    uint8_t displacement_size, immediate_size;
    char form;
    uint8_t traits, op;
    /* 0 at first: */
    uint8_t map;     /* 0: one, 1: two, 2: after 0f 38, 3: after 0f 3a */
    uint8_t rex, pp; /* pp: VEX's, 1 is 66, 2 is f3, 3 is f2 */
    bool is_short;   /* 66: operands of 16 bits */
    bool is_vex, has_address;
    uint8_t sib, written; /* `written` by VEX's vvvv */
    uint8_t mod, reg, rm;
};

/* A number of 0 to 8 bytes, with its sign. */
static int64_t number_at(const unsigned char *at, unsigned size)
{
    const uint64_t value = machine_little32(at) | (uint64_t)machine_little32(at + 4) << 32;
    const unsigned half = 32 - 4 * size; /* of the unused bits: C cannot shift out all 64 at once */

    return (int64_t)(value << half << half) >> half >> half;
}

/* The take_ functions return the address behind what they took. */
static const unsigned char *take_prefixes(struct instruction *in, const unsigned char *at)
{
    for (; one[*at] == ' ' && at < in->end; at++) {
        in->is_short |= *at == 0x66;
        in->has_address |= *at == 0x67;
        if (*at >= 0xf2)
            in->pp = (uint8_t)(5 - (*at & 3));
    }
    const unsigned has_rex = (*at & 0xf0) == 0x40;
    in->rex = (uint8_t)(*at & 15 & -has_rex);
    return at + has_rex;
}

/* VEX in two or three bytes, or EVEX in four. */
static const unsigned char *take_vex(struct instruction *in, const unsigned char *bytes)
{
    const unsigned count = bytes[-1] == 0xc5 ? 1 : bytes[-1] == 0xc4 ? 2 : 3;
    const unsigned char last = bytes[count == 1 ? 0 : 1];

    in->is_vex = true;
    in->rex = (uint8_t)((~bytes[0] >> 5 & 4) | (count > 1 ? ~bytes[0] >> 5 & 1 : 0));
    in->map = count == 1 ? 1 : bytes[0] & 7;
    in->pp = last & 3;
    in->op = bytes[count];
    in->form = in->map == 3 ? 'b' : 'm';
    if (in->map == 1) {
        const char form = two[in->op];
        if (in->op == 0x77)
            in->form = '.';
        else if (form == 'b' || in->op == 0xc5 || in->op == 0x7e)
            in->form = form;
        else if (in->op >> 1 == 0x2c >> 1 || in->op == 0x50 || in->op == 0xd7 || in->op == 0x93)
            in->form = 'r';
    } else if (in->map == 2 && in->op >> 3 == 0xf0 >> 3) {
        in->form = 'r';
        if (in->op == 0xf3 || in->op == 0xf6)
            in->written = ~last >> 3 & 15;
    }
    return bytes + count + 1;
}

static const unsigned char *take_opcode(struct instruction *in, const unsigned char *at)
{
    const unsigned char byte = *at++;

    in->op = byte;
    in->form = one[byte];
    if (byte == 0x0f) {
        in->map = 1;
        in->op = *at++;
        in->form = two[in->op];
        if (in->op == 0x38 || in->op == 0x3a) {
            in->map = in->op == 0x38 ? 2 : 3;
            in->op = *at++;
            in->form = in->map == 3 ? 'b' : in->op >> 3 == 0xf0 >> 3 ? 'r' : 'm';
        }
    } else if (in->form == '!' && (byte == 0xc5 || byte == 0xc4 || byte == 0x62))
        at = take_vex(in, at);
    return at;
}

/*
 * By mod and r/m, what follows ModRM: the size of the displacement, and SIB, which may change that
 * size (IF_5).
 */
#define SIB 8
#define IF_5 16
static const char after[] = "\0\0\0\0\30\4\0\0" "\1\1\1\1\11\1\1\1"
                            "\4\4\4\4\14\4\4\4" "\0\0\0\0\0\0\0\0";

/* Without branches, which are hard to predict. Without ModRM, what it sets is not used. */
static const unsigned char *take_operands(struct instruction *in, const unsigned char *at)
{
    const unsigned has = in->traits / MODRM & 1, modrm = *at,
                   follows = (unsigned)after[(modrm >> 3 & 0x18) | (modrm & 7)];

    at += has;
    in->mod = (uint8_t)(modrm >> 6);
    in->reg = (uint8_t)((modrm >> 3 & 7) | (in->rex & 4u) << 1);
    in->rm = (uint8_t)((modrm & 7) | (in->rex & 1u) << 3);
    in->sib = *at;
    const unsigned sib = follows / SIB & 1, has_5 = follows / IF_5 & ((in->sib & 7) == 5),
                   size = (follows & 7) + 4 * has_5;
    in->displacement = at + sib;
    in->displacement_size = (uint8_t)size;
    return at + (-has & (sib + size));
}

static bool is_rip(const struct instruction *in)
{
    return !in->mod && (in->rm & 7) == 5;
}

static int32_t displacement_of(const struct instruction *in)
{
    return (int32_t)number_at(in->displacement, in->displacement_size);
}

static int64_t immediate_of(const struct instruction *in)
{
    return number_at(in->immediate, in->immediate_size);
}

/* The size of an immediate other than imm8. */
static unsigned size_of_immediate(const struct instruction *in)
{
    const unsigned full = in->is_short && !(in->rex & REX_W) ? 2 : 4;

    switch (in->form) {
    case '2':
        return 2;
    case 'J':
        return 4;
    case 'f':
        return (in->reg & 7) > 1 ? 0 : in->op == 0xf6 ? 1 : full;
    case '8':
        return in->has_address ? 4 : 8;
    case 'v':
        return in->rex & REX_W ? 8 : full;
    case '3':
        return 3;
    }
    return full;
}

/* False: it is unknown. */
static bool decode(struct instruction *in)
{
    const unsigned char *at = take_opcode(in, take_prefixes(in, in->at));

    in->traits = traits[(unsigned char)in->form];
    at = take_operands(in, at);
    unsigned size = in->traits & IMMEDIATE;
    if (size > IMM8)
        size = size_of_immediate(in);
    in->immediate = at;
    in->immediate_size = (uint8_t)size;
    in->at = at + size;
    return in->form > '!' && in->at <= in->end;
}

/* ---- Registers ---- */

static int32_t moved(int32_t from, int64_t by)
{
    const int64_t to = (int64_t)from + by;

    return from == CODE_LOST || to > FARTHEST || to < -FARTHEST ? CODE_LOST : (int32_t)to;
}

/* CFA - the register; or CODE_LOST. */
static int32_t get(const struct code_state *state, unsigned reg)
{
    if (reg == SP)
        return state->sp;
    if (reg == FP)
        return state->fp;
    return (state->scratch[0] & ALIAS) == (int32_t)reg + 1 ? state->scratch[1] : CODE_LOST;
}

static unsigned dwarf_of(unsigned reg)
{
    static const uint8_t low[] = {0, 2, 1, 3, 7, 6, 4, 5};

    return reg < 8 ? low[reg] : reg;
}

static void set(struct code_state *state, unsigned reg, int32_t value)
{
    if (state->ra_at == CODE_IN_REGISTER((int32_t)dwarf_of(reg)))
        state->ra_at = CODE_LOST;
    if (reg == SP)
        state->sp = value;
    else if (reg == FP) {
        state->fp = value;
        if (state->fp_at == CODE_IN_PLACE)
            state->fp_at = CODE_LOST;
    } else if (value != CODE_LOST) {
        state->scratch[0] = (int32_t)reg + 1;
        state->scratch[1] = value;
    } else if ((state->scratch[0] & ALIAS) == (int32_t)reg + 1)
        state->scratch[0] = state->scratch[1] = 0;
}

/* The only register in its address; false: there is none, or more than one. */
static bool base_of(const struct instruction *in, unsigned *reg)
{
    *reg = in->rm;
    if (in->mod == 3 || is_rip(in))
        return false;
    if ((in->rm & 7) != 4)
        return true;
    *reg = (in->sib & 7) | (in->rex & 1u) << 3;
    return (in->sib & 0x38) == 0x20 && !(in->rex & 2) && (in->mod || (in->sib & 7) != 5);
}

/* Where its memory operand is, relative to the CFA; or CODE_LOST. */
static int32_t place_of(const struct code_state *state, const struct instruction *in)
{
    unsigned reg;
    const int32_t value = base_of(in, &reg) ? get(state, reg) : CODE_LOST;

    return value == CODE_LOST ? CODE_LOST : moved(-value, displacement_of(in));
}

static void push(struct code_state *state, const struct instruction *in, int reg)
{
    state->sp = moved(state->sp, in->is_short ? 2 : WORD);
    if (reg < 0 || in->is_short)
        return;
    if (reg == FP && state->fp_at == CODE_IN_PLACE)
        state->fp_at = state->sp == CODE_LOST ? CODE_LOST : -state->sp;
    if (state->ra_at == CODE_IN_REGISTER((int32_t)dwarf_of((unsigned)reg)))
        state->ra_at = state->sp == CODE_LOST ? CODE_LOST : -state->sp;
}

static void restore_frame(struct code_state *state, int32_t from)
{
    const bool is_saved = from != CODE_LOST && from < 0 && state->fp_at == from;

    state->fp = CODE_LOST;
    state->fp_at = is_saved ? CODE_IN_PLACE
                   : state->fp_at == CODE_IN_PLACE ? CODE_LOST : state->fp_at;
}

static void pop(struct code_state *state, const struct instruction *in, unsigned reg)
{
    const int32_t from = state->sp == CODE_LOST ? CODE_LOST : -state->sp;
    const bool is_return = from != CODE_LOST && state->ra_at == from;

    if (reg == FP)
        restore_frame(state, from);
    else
        set(state, reg, CODE_LOST);
    state->sp = reg == SP ? CODE_LOST : moved(state->sp, in->is_short ? -2 : -WORD);
    if (is_return)
        state->ra_at = CODE_IN_REGISTER((int32_t)dwarf_of(reg));
}

static void leave(struct code_state *state)
{
    const int32_t frame = state->fp;

    restore_frame(state, frame == CODE_LOST ? CODE_LOST : -frame);
    state->sp = moved(frame, -WORD);
}

/* ---- Instructions ---- */

/* A bit for each register that it writes. */
static uint32_t written_by(const struct instruction *in)
{
    const unsigned group = in->reg & 7;

    if (!(in->traits & (TO_RM | TO_REG | TO_OP)))
        return 0;
    /* Without REX, these byte registers are ah, ch, dh, and bh. */
    const bool is_byte = !in->is_vex && !in->rex &&
        (in->map ? in->map == 1 && in->op >> 4 == 9
                 : !(in->op & 1) && (in->op < 0x40 || in->op >= 0x80) && in->op != 0x8c);
    const bool to_rm = in->traits & TO_RM && in->mod == 3 &&
        ((in->form | 0x20) != 'g' || group != 7) && (in->form != 'f' || group >> 1 == 1) &&
        (in->form != 'h' || group < 2) && !(in->op == 0x7e && in->map == 1 && in->pp == 2);

    return is_byte ? 0
                   : (to_rm ? 1u << in->rm : 0) | (in->traits & TO_REG ? 1u << in->reg : 0) |
                         (in->traits & TO_OP ? 1u << ((in->op & 7) | (in->rex & 1) << 3) : 0) |
                         (in->written ? 1u << in->written : 0);
}

/* Registers that were written in ways that are not followed. */
static void lose(struct code_state *state, uint32_t written)
{
    for (unsigned reg = 0; written; reg++, written >>= 1)
        if (written & 1)
            set(state, reg, CODE_LOST);
}

static bool is_followed(unsigned reg)
{
    return reg == SP || reg == FP;
}

/* 64-bit calculations with addresses on the stack. False: this is none. */
static bool calculate(struct code_state *state, const struct instruction *in,
                      struct code_flow *flow)
{
    const unsigned group = in->reg & 7;
    unsigned base;

    switch (in->op) {
    case 0x81: case 0x83:
        if (in->mod != 3 || (group != 0 && group != 5) || get(state, in->rm) == CODE_LOST)
            return false;
        set(state, in->rm, moved(get(state, in->rm), group ? immediate_of(in) : -immediate_of(in)));
        return true;
    case 0x89: case 0x8b:
        if (in->mod == 3) {
            const unsigned to = in->op == 0x89 ? in->rm : in->reg,
                           from = in->op == 0x89 ? in->reg : in->rm;
            flow->is_plain = !is_followed(to) && !is_followed(from);
            set(state, to, get(state, from));
            return true;
        }
        if (in->reg != FP)
            return false;
        const int32_t place = place_of(state, in);
        if (in->op == 0x8b)
            restore_frame(state, place);
        else if (state->fp_at == CODE_IN_PLACE && place != CODE_LOST && place < 0)
            state->fp_at = place;
        return true;
    case 0x8d:
        if (!base_of(in, &base))
            return false;
        flow->is_plain = !is_followed(in->reg) && !is_followed(base);
        set(state, in->reg, moved(get(state, base), -(int64_t)displacement_of(in)));
        return true;
    }
    return false;
}

/* Does it begin the code to which signal handlers return: mov $15,%rax; syscall? */
static bool is_sigreturn(const struct instruction *in)
{
    return immediate_of(in) == SIGRETURN && in->rex == REX_W && in->mod == 3 && !in->rm &&
           in->end - in->at >= 2 && in->at[0] == 0x0f && in->at[1] == 0x05;
}

/* A callee may change registers that are not preserved. */
static void call(struct code_state *state, struct code_flow *flow)
{
    flow->kind = CODE_CALL;
    flow->is_plain = true;
    if (state->scratch[0] && state->scratch[0] != 4 && state->scratch[0] < 13)
        state->scratch[0] = state->scratch[1] = 0;
    if (state->ra_at > 0)
        state->ra_at = CODE_LOST;
}

/* Jumps to, or calls, the immediate's target. */
static void go(struct code_flow *flow, const struct instruction *in, enum code_kind kind,
               uint64_t next)
{
    flow->kind = kind;
    flow->target = next + (uint64_t)immediate_of(in);
}

/* Instructions after 0f. False: it neither jumps nor moves rsp, but may write registers. */
static bool step_two(struct code_state *state, const struct instruction *in, uint64_t next,
                     bool is_compared, struct code_flow *flow)
{
    if (in->op >> 4 == 8) {
        go(flow, in, CODE_BRANCH, next);
        /* Ends a loop that touches each page of a large frame. */
        if (in->op == 0x85 && is_compared)
            state->sp = state->scratch[1];
    } else if (in->op == 0x0b || in->op == 0xb9 || in->op == 0xff)
        flow->kind = CODE_STOP;
    else if (in->op == 0xa0 || in->op == 0xa8)
        push(state, in, -1);
    else if (in->op == 0xa1 || in->op == 0xa9)
        state->sp = moved(state->sp, -WORD);
    else {
        flow->is_padding = in->op == 0x1f;
        return false;
    }
    return true;
}

/* One-byte opcodes: control flow, pushes and pops. False: it is something else. */
static bool step_one(struct code_state *state, const struct instruction *in, uint64_t next,
                     bool is_compared, struct code_flow *flow)
{
    const unsigned reg = (in->op & 7u) | (in->rex & 1u) << 3, group = in->reg & 7;

    switch (in->op) {
    case 0x50 ... 0x57:
        push(state, in, (int)reg);
        return true;
    case 0x58 ... 0x5f:
        pop(state, in, reg);
        return true;
    case 0x68:
        flow->taken = (uint64_t)immediate_of(in);
        push(state, in, -1);
        return true;
    case 0x6a: case 0x9c:
        push(state, in, -1);
        return true;
    case 0x9d:
        state->sp = moved(state->sp, -WORD);
        return true;
    case 0x70 ... 0x7f: case 0xe0 ... 0xe3:
        go(flow, in, CODE_BRANCH, next);
        if (in->op == 0x75 && is_compared)
            state->sp = state->scratch[1];
        return true;
    case 0x8f:
        if (in->mod == 3)
            pop(state, in, in->rm);
        else
            set(state, SP, moved(state->sp, -WORD));
        return true;
    case 0xe8:
        go(flow, in, CODE_NEXT, next);
        if (flow->target == next && in->at < in->end && (*in->at & 0xf8) == 0x58)
            push(state, in, -1); /* gets its own address, which the next instruction pops */
        else
            call(state, flow);
        return true;
    case 0xe9: case 0xeb:
        go(flow, in, CODE_JUMP, next);
        return true;
    case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf:
        flow->kind = CODE_RETURN;
        return true;
    case 0xc8:
        push(state, in, FP);
        set(state, FP, state->sp);
        state->sp = moved(state->sp, immediate_of(in) & 0xffff);
        return true;
    case 0xc9:
        leave(state);
        return true;
    case 0xcc: /* a debugger may go on */
        flow->is_plain = flow->is_padding = true;
        return true;
    case 0xf4:
        flow->kind = CODE_STOP;
        return true;
    case 0xff:
        if (group == 6)
            push(state, in, in->mod == 3 ? in->rm : -1);
        else if (group == 2 || group == 3)
            call(state, flow);
        else if (group == 4 || group == 5)
            flow->kind = CODE_INDIRECT;
        return group > 1;
    case 0x90:
        flow->is_plain = flow->is_padding = !in->rex && in->pp != 2;
        return flow->is_padding;
    case 0x39: case 0x3b: /* cmp with rsp */
        if (state->scratch[0] && in->mod == 3 &&
            (in->reg == SP ? in->rm + 1 : in->rm == SP ? in->reg + 1 : -1) == state->scratch[0])
            state->scratch[0] |= IS_COMPARED;
        return false;
    case 0xb8 ... 0xbf: case 0xc7:
        flow->taken = (uint64_t)immediate_of(in);
        if (in->op == 0xc7 && is_sigreturn(in))
            flow->kind = CODE_SIGNAL;
        return false;
    case 0x81: case 0x83: case 0x89: case 0x8b: case 0x8d:
        if (in->op == 0x8d && is_rip(in))
            flow->taken = next + (uint64_t)(int64_t)displacement_of(in);
        return in->rex & REX_W && calculate(state, in, flow);
    }
    return false;
}

size_t code_x86_64(const unsigned char *bytes, size_t size, uint64_t at, struct code_state *state,
                   struct code_flow *flow)
{
    unsigned char last[READ_ON];
    const bool is_compared = state->scratch[0] & IS_COMPARED;

    if (size < sizeof(last)) {
        memset(last, 0, sizeof(last));
        bytes = memcpy(last, bytes, size);
    }
    struct instruction in;
    in.at = bytes;
    in.end = bytes + (size < LONGEST ? size : LONGEST);
    in.map = in.rex = in.pp = in.sib = in.written = in.mod = in.reg = in.rm = 0;
    in.is_short = in.is_vex = in.has_address = false;
    if (!decode(&in))
        return 0;
    const size_t length = (size_t)(in.at - bytes);
    const uint64_t next = at + length;
    bool is_done = false;
    state->scratch[0] &= ~IS_COMPARED;
    if (in.traits & MORE && !in.is_vex)
        is_done = (in.map ? step_two : step_one)(state, &in, next, is_compared, flow);
    if (!is_done) {
        const uint32_t written = written_by(&in);
        flow->is_plain = !(written & (1 << SP | 1 << FP));
        if (!flow->is_plain || state->scratch[0] || state->ra_at > 0)
            lose(state, written);
    }
    return length;
}
