/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/frame_cfi.h"

#include <errno.h>
#include <string.h>

/* ---- Bytes ---- */

/* DW_EH_PE_ */
#define PE_FORM 0x0f
#define PE_SIGNED 0x08 /* of the form */
#define PE_BASE 0x70
#define PE_PC_RELATIVE 0x10
#define PE_DATA_RELATIVE 0x30
#define PE_INDIRECT 0x80
/* The others have 2, 4 or 8 bytes. */
enum { PE_WORD, PE_LEB, PE_DATA2, PE_DATA8 = 4 };

uint64_t cfi_take(struct cfi_bytes *bytes, size_t size)
{
    if ((size_t)(bytes->end - bytes->at) < size) {
        bytes->bad = true;
        bytes->at = bytes->end;
        return 0;
    }
    uint64_t value = size == 1 ? *bytes->at : elf_get(bytes->elf, bytes->at, size);
    bytes->at += size;
    return value;
}

void cfi_skip(struct cfi_bytes *bytes, uint64_t size)
{
    bool fits = size <= (size_t)(bytes->end - bytes->at);

    bytes->bad = bytes->bad || !fits;
    bytes->at = fits ? bytes->at + size : bytes->end;
}

/* Drops what is above 64 bits: no compiler produces that. */
static uint64_t take_leb(struct cfi_bytes *bytes, unsigned *shift, unsigned *last)
{
    uint64_t value = 0;

    *shift = 0;
    do {
        *last = (unsigned)cfi_take(bytes, 1);
        if (*shift < 64)
            value |= (uint64_t)(*last & 0x7f) << *shift;
        *shift += 7;
    } while (*last & 0x80 && !bytes->bad);
    return value;
}

uint64_t cfi_take_uleb(struct cfi_bytes *bytes)
{
    unsigned shift, last;

    return take_leb(bytes, &shift, &last);
}

int64_t cfi_take_sleb(struct cfi_bytes *bytes)
{
    unsigned shift, last;
    uint64_t value = take_leb(bytes, &shift, &last);

    if (last & 0x40 && shift < 64)
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

static uint64_t take_form(struct cfi_bytes *bytes, unsigned form)
{
    const bool is_signed = form & PE_SIGNED;
    const unsigned kind = form & ~(unsigned)PE_SIGNED;

    if (form == PE_WORD)
        return cfi_take(bytes, elf_word_size(bytes->elf));
    if (kind == PE_LEB)
        return is_signed ? (uint64_t)cfi_take_sleb(bytes) : cfi_take_uleb(bytes);
    if (kind < PE_DATA2 || kind > PE_DATA8) {
        bytes->bad = true;
        return 0;
    }
    const unsigned size = 1u << (kind - 1), unused = 64 - 8 * size;
    const uint64_t value = cfi_take(bytes, size) << unused;
    return is_signed ? (uint64_t)((int64_t)value >> unused) : value >> unused;
}

uint64_t cfi_take_pointer(struct cfi_bytes *bytes, unsigned encoding, uint64_t data)
{
    const uint64_t here = bytes->address - (uint64_t)(bytes->end - bytes->at);
    uint64_t value = take_form(bytes, encoding & PE_FORM);

    switch (encoding & (PE_BASE | PE_INDIRECT)) {
    case 0: break;
    case PE_PC_RELATIVE: value += here; break;
    case PE_DATA_RELATIVE: value += data; break;
    default: bytes->bad = true;
    }
    return bytes->elf->is_64 ? value : (uint32_t)value;
}

/* ---- Programs ---- */

#define MOST_REMEMBERED 16

/* DW_CFA_, three of which have an operand in their lower six bits. */
enum {
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,

    CFA_NOP = 0, CFA_SET_LOC, CFA_ADVANCE_LOC1, CFA_ADVANCE_LOC2, CFA_ADVANCE_LOC4,
    CFA_OFFSET_EXTENDED, CFA_RESTORE_EXTENDED, CFA_UNDEFINED, CFA_SAME_VALUE, CFA_REGISTER,
    CFA_REMEMBER_STATE, CFA_RESTORE_STATE,
    CFA_DEF_CFA, CFA_DEF_CFA_REGISTER, CFA_DEF_CFA_OFFSET, CFA_DEF_CFA_EXPRESSION,
    CFA_EXPRESSION, CFA_OFFSET_EXTENDED_SF, CFA_DEF_CFA_SF, CFA_DEF_CFA_OFFSET_SF,
    CFA_VAL_OFFSET, CFA_VAL_OFFSET_SF, CFA_VAL_EXPRESSION,
    CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

struct running {
    const struct cfi_common *common;
    struct cfi_bytes *bytes;
    struct cfi_state *state;
    struct cfi_state *remembered; /* [MOST_REMEMBERED], of which this many are in use: */
    size_t remembered_count;
    uint64_t address;
    cfi_row *row;
    void *context;
    uint64_t frame, base; /* the numbers of the frame pointer, and of the machine's `base` */
};

/* Where the state keeps that register; NULL: it is not needed. */
static struct cfi_place *place_of(const struct running *running, struct cfi_state *state,
                                  uint64_t reg)
{
    return reg == running->frame ? &state->frame
           : reg == running->common->return_register ? &state->ret
           : reg == running->base ? &state->base : NULL;
}

static void set(struct running *running, uint64_t reg, struct cfi_place place)
{
    struct cfi_place *at = place_of(running, running->state, reg);

    if (at)
        *at = place;
}

static void set_offset(struct running *running, uint64_t reg, uint64_t factored)
{
    set(running, reg, (struct cfi_place){
        .kind = CFI_AT_CFA,
        .offset = (int64_t)(factored * (uint64_t)running->common->data_factor),
    });
}

static void restore(struct running *running, uint64_t reg)
{
    struct cfi_state initial = running->common->state;
    const struct cfi_place *place = place_of(running, &initial, reg);

    if (place)
        set(running, reg, *place);
}

static int advance(struct running *running, uint64_t distance)
{
    int result =
        running->row ? running->row(running->context, running->address, running->state) : 0;

    running->address += distance * running->common->code_factor;
    return result;
}

/* An expression's block. */
static struct cfi_place take_expression(struct running *running, enum cfi_kind kind)
{
    struct cfi_bytes *bytes = running->bytes;
    uint64_t size = cfi_take_uleb(bytes);
    const unsigned char *begin = bytes->at;

    cfi_skip(bytes, size);
    return (struct cfi_place){.kind = kind, .expression = begin, .expression_end = bytes->at};
}

static void define_cfa(struct running *running, uint64_t reg, int64_t offset)
{
    running->state->expression = NULL;
    running->state->cfa_register = reg;
    running->state->cfa_offset = offset;
}

static int64_t take_factored(struct running *running)
{
    const uint64_t value = (uint64_t)cfi_take_sleb(running->bytes);

    return (int64_t)(value * (uint64_t)running->common->data_factor);
}

/* Each operand is read in a statement: C evaluates a call's arguments in no fixed order. */
static int run_extended(struct running *running, unsigned operation)
{
    struct cfi_bytes *bytes = running->bytes;
    struct cfi_state *state = running->state;
    struct cfi_place place = {0};
    uint64_t reg;

    switch (operation) {
    case CFA_NOP:
    case CFA_AARCH64_NEGATE_RA_STATE: return 0;
    case CFA_SET_LOC: {
        uint64_t to = cfi_take_pointer(bytes, running->common->encoding, 0);
        int result = advance(running, 0);
        running->address = to;
        return result;
    }
    case CFA_ADVANCE_LOC1: return advance(running, cfi_take(bytes, 1));
    case CFA_ADVANCE_LOC2: return advance(running, cfi_take(bytes, 2));
    case CFA_ADVANCE_LOC4: return advance(running, cfi_take(bytes, 4));
    case CFA_REMEMBER_STATE:
        if (running->remembered_count == MOST_REMEMBERED)
            return -EBADMSG;
        running->remembered[running->remembered_count++] = *state;
        return 0;
    case CFA_RESTORE_STATE:
        if (!running->remembered_count)
            return -EBADMSG;
        *state = running->remembered[--running->remembered_count];
        return 0;
    case CFA_DEF_CFA_OFFSET:
        state->cfa_offset = (int64_t)cfi_take_uleb(bytes);
        return 0;
    case CFA_DEF_CFA_OFFSET_SF:
        state->cfa_offset = take_factored(running);
        return 0;
    case CFA_GNU_ARGS_SIZE:
        cfi_take_uleb(bytes);
        return 0;
    case CFA_DEF_CFA_EXPRESSION:
        place = take_expression(running, CFI_EXPRESSION);
        state->expression = place.expression;
        state->expression_end = place.expression_end;
        return 0;
    }
    reg = cfi_take_uleb(bytes); /* all others begin with a register */
    switch (operation) {
    case CFA_OFFSET_EXTENDED:
        set_offset(running, reg, cfi_take_uleb(bytes));
        return 0;
    case CFA_OFFSET_EXTENDED_SF:
        set_offset(running, reg, (uint64_t)cfi_take_sleb(bytes));
        return 0;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        set_offset(running, reg, -cfi_take_uleb(bytes));
        return 0;
    case CFA_RESTORE_EXTENDED:
        restore(running, reg);
        return 0;
    case CFA_DEF_CFA:
        define_cfa(running, reg, (int64_t)cfi_take_uleb(bytes));
        return 0;
    case CFA_DEF_CFA_SF:
        define_cfa(running, reg, take_factored(running));
        return 0;
    case CFA_DEF_CFA_REGISTER:
        define_cfa(running, reg, state->cfa_offset);
        return 0;
    case CFA_UNDEFINED:
        place.kind = CFI_UNDEFINED;
        break;
    case CFA_SAME_VALUE:
        place.kind = CFI_SAME;
        break;
    case CFA_REGISTER:
        place.kind = CFI_IN_REGISTER;
        place.offset = (int64_t)cfi_take_uleb(bytes);
        break;
    case CFA_VAL_OFFSET:
    case CFA_VAL_OFFSET_SF:
        cfi_take_uleb(bytes);
        place.kind = CFI_ELSEWHERE;
        break;
    case CFA_EXPRESSION:
    case CFA_VAL_EXPRESSION:
        place = take_expression(running, operation == CFA_EXPRESSION ? CFI_EXPRESSION
                                                                     : CFI_ELSEWHERE);
        break;
    default: return -EBADMSG;
    }
    set(running, reg, place);
    return 0;
}

static int run_one(struct running *running)
{
    const unsigned operation = (unsigned)cfi_take(running->bytes, 1), low = operation & 0x3f;

    switch (operation & 0xc0) {
    case CFA_ADVANCE_LOC: return advance(running, low);
    case CFA_OFFSET:
        set_offset(running, low, cfi_take_uleb(running->bytes));
        return 0;
    case CFA_RESTORE:
        restore(running, low);
        return 0;
    }
    return run_extended(running, operation);
}

int cfi_run(const struct cfi_common *common, struct cfi_bytes *bytes, struct cfi_state *state,
            uint64_t address, cfi_row *row, void *context)
{
    const struct machine_walk *walk = bytes->elf->row->walk;
    struct cfi_state remembered[MOST_REMEMBERED]; /* uninitialized: clearing it takes longest */
    struct running running = {
        .common = common,
        .remembered = remembered,
        .bytes = bytes,
        .state = state,
        .address = address,
        .row = row,
        .context = context,
        .frame = bytes->elf->row->frame.dwarf,
        .base = walk && walk->base ? walk->base : UNWIND_BASE,
    };
    int result = 0;

    while (bytes->at < bytes->end && !result) {
        result = run_one(&running);
        if (bytes->bad)
            result = -EBADMSG;
    }
    return result ? result : advance(&running, 0);
}

/* ---- Rules ---- */

/* DW_OP_ */
#define OP_DEREF 0x06
#define OP_PLUS_UCONST 0x23
#define OP_LIT0 0x30
#define OP_BREG0 0x70
#define REGISTERS 32 /* with operations of their own */

/* Reads DW_OP_breg N, offset. True, with the rest in `bytes`. */
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

    if (!take_base(&bytes, &reg, &offset) ||
        (reg != machine->sp.dwarf && reg != machine->frame.dwarf))
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
    return !bytes.bad && bytes.at == bytes.end && unwind_fits(offset) && more <= INT32_MAX;
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

static void set_frame(const struct elf *elf, const struct cfi_place *place,
                      struct unwind_rule *rule)
{
    struct cfi_bytes bytes = {.elf = elf, .at = place->expression, .end = place->expression_end};
    uint64_t reg;
    int64_t offset;

    rule->frame_kind = UNWIND_FRAME_LOST;
    if (place->kind == CFI_UNSAID || place->kind == CFI_SAME)
        rule->frame_kind = UNWIND_FRAME_SAME;
    else if (place->kind == CFI_AT_CFA && unwind_fits(place->offset)) {
        rule->frame_kind = UNWIND_FRAME_AT_CFA;
        rule->frame = (int16_t)place->offset;
    } else if (place->kind == CFI_EXPRESSION && take_base(&bytes, &reg, &offset) &&
               bytes.at == bytes.end && reg == elf->row->frame.dwarf && unwind_fits(offset)) {
        rule->frame_kind = UNWIND_FRAME_AT_FRAME;
        rule->frame = (int16_t)offset;
    }
}

/*
 * Is this the kernel's signal frame? Only if the table finds the interrupted code through the stack
 * pointer, as the kernel's frame allows. Other tables use registers, or say nothing.
 */
static bool is_kernels_signal(const struct elf *elf, const struct cfi_place *ret)
{
    const struct machine_walk *walk = elf->row->walk;
    struct cfi_bytes bytes = {.elf = elf, .at = ret->expression, .end = ret->expression_end};
    uint64_t reg;
    int64_t offset;

    return !walk || machine_has_link(elf->row) ||
           (ret->kind == CFI_EXPRESSION && take_base(&bytes, &reg, &offset) &&
            bytes.at == bytes.end && reg == elf->row->sp.dwarf &&
            offset == walk->signal.at + walk->signal.pc);
}

static int16_t base_of(const struct cfi_place *place)
{
    if (place->kind == CFI_UNSAID || place->kind == CFI_SAME)
        return UNWIND_BASE_SAME;
    const bool is_saved = place->kind == CFI_AT_CFA && unwind_fits(place->offset);
    return is_saved && place->offset != UNWIND_BASE_SAME ? (int16_t)place->offset : 0;
}

/*
 * Is the return address in a register, as in glibc's vfork(), which pops its own? Not in longjmp(),
 * where the CFA is another frame's and comes from a register, too.
 */
static bool is_popped(const struct cfi_place *ret, const struct unwind_rule *rule)
{
    return ret->kind == CFI_IN_REGISTER && (uint64_t)ret->offset < REGISTERS &&
           rule->cfa == UNWIND_BY_SP;
}

struct unwind_rule cfi_rule(const struct elf *elf, const struct cfi_common *common,
                            const struct cfi_state *state, bool with_base)
{
    const struct unwind_rule unsupported = {.cfa = UNWIND_UNSUPPORTED};
    struct unwind_rule rule = {0};

    if (common->is_signal)
        return is_kernels_signal(elf, &state->ret) ? (struct unwind_rule){.cfa = UNWIND_SIGNAL}
                                                   : unsupported;
    if (state->ret.kind == CFI_UNDEFINED)
        return (struct unwind_rule){.cfa = UNWIND_ROOT};
    if (!set_cfa(elf, state, &rule))
        return unsupported;
    if (state->ret.kind == CFI_AT_CFA && unwind_fits(state->ret.offset))
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
