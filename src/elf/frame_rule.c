/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/frame_cfi.h"

#include <string.h>

/* DW_OP_ */
#define OP_DEREF 0x06
#define OP_PLUS_UCONST 0x23
#define OP_LIT0 0x30
#define OP_BREG0 0x70
#define REGISTERS 32 /* that have operations of their own */

static bool fits16(int64_t value)
{
    return value == (int16_t)value;
}

/* breg N, offset: true, with the rest in `bytes`. */
static bool take_base(struct cfi_bytes *bytes, uint64_t *reg, int64_t *offset)
{
    const unsigned operation = (unsigned)cfi_take(bytes, 1);

    if (operation < OP_BREG0 || operation >= OP_BREG0 + REGISTERS)
        return false;
    *reg = operation - OP_BREG0;
    *offset = cfi_take_sleb(bytes);
    return !bytes->bad;
}

/* rsp + n + ((rip & 15) >= limit) * 8, as linkers write it for their own code. */
static bool take_plt(struct cfi_bytes *bytes, uint64_t pc, struct unwind_rule *rule)
{
    static const unsigned char before[] = {OP_LIT0 + 15, 0x1a}; /* and */
    static const unsigned char after[] = {0x2a, OP_LIT0 + 3, 0x24, 0x22}; /* ge, shl, plus */
    uint64_t reg;
    int64_t none;

    if (!take_base(bytes, &reg, &none) || reg != pc || none ||
        bytes->end - bytes->at != sizeof(before) + 1 + sizeof(after) ||
        memcmp(bytes->at, before, sizeof(before)) ||
        memcmp(bytes->at + sizeof(before) + 1, after, sizeof(after)))
        return false;
    const unsigned limit = bytes->at[sizeof(before)];
    if (limit < OP_LIT0 || limit > OP_LIT0 + 15)
        return false;
    rule->cfa = UNWIND_BY_PLT;
    rule->inner = (int16_t)(limit - OP_LIT0);
    return true;
}

/* False: no rule can express this form. */
static bool set_cfa_by_expression(const struct elf *elf, const struct cfi_state *state,
                                  struct unwind_rule *rule)
{
    struct cfi_bytes bytes = {.elf = elf, .at = state->expression, .end = state->expression_end};
    const struct machine *machine = elf->row;
    uint64_t reg, more = 0;
    int64_t offset;

    if (!take_base(&bytes, &reg, &offset) || (reg != machine->sp.dwarf && reg != machine->frame.dwarf))
        return false;
    if (bytes.at < bytes.end && *bytes.at != OP_DEREF) {
        rule->offset = (int32_t)offset;
        return offset == rule->offset && reg == machine->sp.dwarf &&
               take_plt(&bytes, machine->pc.dwarf, rule);
    }
    cfi_skip(&bytes, 1);
    if (bytes.at < bytes.end) {
        if (cfi_take(&bytes, 1) != OP_PLUS_UCONST)
            return false;
        more = cfi_take_uleb(&bytes);
    }
    rule->cfa = reg == machine->sp.dwarf ? UNWIND_BY_SP_WORD : UNWIND_BY_FRAME_WORD;
    rule->inner = (int16_t)offset;
    rule->offset = (int32_t)more;
    return !bytes.bad && bytes.at == bytes.end && fits16(offset) && more <= INT32_MAX;
}

static bool set_cfa(const struct elf *elf, const struct cfi_state *state, struct unwind_rule *rule)
{
    const struct machine *machine = elf->row;

    if (state->expression)
        return set_cfa_by_expression(elf, state, rule);
    rule->cfa = state->cfa_register == machine->sp.dwarf      ? UNWIND_BY_SP
                : state->cfa_register == machine->frame.dwarf ? UNWIND_BY_FRAME
                                                              : UNWIND_BY_REGISTER;
    if (rule->cfa == UNWIND_BY_REGISTER)
        rule->reg = (uint8_t)state->cfa_register;
    rule->offset = (int32_t)state->cfa_offset;
    return rule->offset == state->cfa_offset && state->cfa_register < REGISTERS;
}

static void set_frame(const struct elf *elf, const struct cfi_place *place, struct unwind_rule *rule)
{
    struct cfi_bytes bytes = {.elf = elf, .at = place->expression, .end = place->expression_end};
    uint64_t reg;
    int64_t offset;

    rule->frame_kind = UNWIND_FRAME_LOST;
    if (place->kind == CFI_UNSAID || place->kind == CFI_SAME)
        rule->frame_kind = UNWIND_FRAME_SAME;
    else if (place->kind == CFI_AT_CFA && fits16(place->offset)) {
        rule->frame_kind = UNWIND_FRAME_AT_CFA;
        rule->frame = (int16_t)place->offset;
    } else if (place->kind == CFI_EXPRESSION && take_base(&bytes, &reg, &offset) &&
               bytes.at == bytes.end && reg == elf->row->frame.dwarf && fits16(offset)) {
        rule->frame_kind = UNWIND_FRAME_AT_FRAME;
        rule->frame = (int16_t)offset;
    }
}

/*
 * If tables find the interrupted code through the stack pointer, it is the kernel's frame.
 * Otherwise they use registers, or say nothing.
 */
static bool is_kernels_signal(const struct elf *elf, const struct cfi_place *ret)
{
    const struct machine_walk *walk = elf->row->walk;
    struct cfi_bytes bytes = {.elf = elf, .at = ret->expression, .end = ret->expression_end};
    uint64_t reg;
    int64_t offset;

    return !walk || machine_has_link(elf->row) ||
           (ret->kind == CFI_EXPRESSION && take_base(&bytes, &reg, &offset) && bytes.at == bytes.end &&
            reg == elf->row->sp.dwarf && offset == walk->signal.at + walk->signal.pc);
}

static int16_t base_of(const struct cfi_place *place)
{
    if (place->kind == CFI_UNSAID || place->kind == CFI_SAME)
        return UNWIND_BASE_SAME;
    return place->kind == CFI_AT_CFA && fits16(place->offset) && place->offset != UNWIND_BASE_SAME
               ? (int16_t)place->offset
               : 0;
}

/*
 * Is the return address in a register, as vfork() of glibc pops its own? In longjmp() the CFA is that of
 * another frame, and the stack pointer in a register, too.
 */
static bool is_popped(const struct cfi_place *ret, const struct unwind_rule *rule)
{
    return ret->kind == CFI_IN_REGISTER && (uint64_t)ret->offset < REGISTERS && rule->cfa == UNWIND_BY_SP;
}

struct unwind_rule cfi_rule(const struct elf *elf, const struct cfi_common *common, const struct cfi_state *state,
                            bool with_base)
{
    const struct unwind_rule unsupported = {.cfa = UNWIND_UNSUPPORTED};
    struct unwind_rule rule = {0};

    if (common->is_signal)
        return is_kernels_signal(elf, &state->ret) ? (struct unwind_rule){.cfa = UNWIND_SIGNAL} : unsupported;
    if (state->ret.kind == CFI_UNDEFINED)
        return (struct unwind_rule){.cfa = UNWIND_ROOT};
    if (!set_cfa(elf, state, &rule))
        return unsupported;
    if (state->ret.kind == CFI_AT_CFA && fits16(state->ret.offset))
        rule.ret = (int16_t)state->ret.offset;
    else if ((state->ret.kind == CFI_UNSAID || state->ret.kind == CFI_SAME) &&
             machine_has_link(elf->row))
        rule.return_kind = UNWIND_RETURN_IN_LINK;
    else if (is_popped(&state->ret, &rule)) {
        rule.return_kind = UNWIND_RETURN_IN_REGISTER;
        rule.ret = (int16_t)state->ret.offset;
    } else
        return unsupported;
    set_frame(elf, &state->frame, &rule);
    if (with_base)
        rule.base = base_of(&state->base);
    return rule;
}
