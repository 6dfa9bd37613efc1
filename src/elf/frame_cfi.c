/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/frame_cfi.h"

#include <errno.h>

#define MOST_REMEMBERED 16

/* DW_CFA_, three of which have an operand in their lower six bits. */
enum {
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,

    CFA_NOP = 0,
    CFA_SET_LOC,
    CFA_ADVANCE_LOC1,
    CFA_ADVANCE_LOC2,
    CFA_ADVANCE_LOC4,
    CFA_OFFSET_EXTENDED,
    CFA_RESTORE_EXTENDED,
    CFA_UNDEFINED,
    CFA_SAME_VALUE,
    CFA_REGISTER,
    CFA_REMEMBER_STATE,
    CFA_RESTORE_STATE,
    CFA_DEF_CFA,
    CFA_DEF_CFA_REGISTER,
    CFA_DEF_CFA_OFFSET,
    CFA_DEF_CFA_EXPRESSION,
    CFA_EXPRESSION,
    CFA_OFFSET_EXTENDED_SF,
    CFA_DEF_CFA_SF,
    CFA_DEF_CFA_OFFSET_SF,
    CFA_VAL_OFFSET,
    CFA_VAL_OFFSET_SF,
    CFA_VAL_EXPRESSION,
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
static struct cfi_place *place_of(const struct running *running, struct cfi_state *state, uint64_t reg)
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
    int result = running->row ? running->row(running->context, running->address, running->state) : 0;

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

static int remember(struct running *running)
{
    if (running->remembered_count == MOST_REMEMBERED)
        return -EBADMSG;
    running->remembered[running->remembered_count++] = *running->state;
    return 0;
}

static int recall(struct running *running)
{
    if (!running->remembered_count)
        return -EBADMSG;
    *running->state = running->remembered[--running->remembered_count];
    return 0;
}

static void define_cfa(struct running *running, uint64_t reg, int64_t offset)
{
    running->state->expression = NULL;
    running->state->cfa_register = reg;
    running->state->cfa_offset = offset;
}

/* C evaluates a call's arguments in no fixed order: each is read by itself. */
static int run_extended(struct running *running, unsigned operation)
{
    struct cfi_bytes *bytes = running->bytes;
    struct cfi_state *state = running->state;
    const int64_t factor = running->common->data_factor;
    uint64_t reg;

    switch (operation) {
    case CFA_NOP:
    case CFA_AARCH64_NEGATE_RA_STATE:
        return 0;
    case CFA_SET_LOC: {
        uint64_t to = cfi_take_pointer(bytes, running->common->encoding, 0);
        int result = advance(running, 0);
        running->address = to;
        return result;
    }
    case CFA_ADVANCE_LOC1:
        return advance(running, cfi_take(bytes, 1));
    case CFA_ADVANCE_LOC2:
        return advance(running, cfi_take(bytes, 2));
    case CFA_ADVANCE_LOC4:
        return advance(running, cfi_take(bytes, 4));
    case CFA_REMEMBER_STATE:
        return remember(running);
    case CFA_RESTORE_STATE:
        return recall(running);
    case CFA_DEF_CFA_OFFSET:
        state->cfa_offset = (int64_t)cfi_take_uleb(bytes);
        return 0;
    case CFA_DEF_CFA_OFFSET_SF:
        state->cfa_offset = (int64_t)((uint64_t)cfi_take_sleb(bytes) * (uint64_t)factor);
        return 0;
    case CFA_GNU_ARGS_SIZE:
        cfi_take_uleb(bytes);
        return 0;
    case CFA_DEF_CFA_EXPRESSION: {
        struct cfi_place place = take_expression(running, CFI_EXPRESSION);
        state->expression = place.expression;
        state->expression_end = place.expression_end;
        return 0;
    }
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
    case CFA_UNDEFINED:
        set(running, reg, (struct cfi_place){.kind = CFI_UNDEFINED});
        return 0;
    case CFA_SAME_VALUE:
        set(running, reg, (struct cfi_place){.kind = CFI_SAME});
        return 0;
    case CFA_REGISTER:
        set(running, reg, (struct cfi_place){.kind = CFI_IN_REGISTER, .offset = (int64_t)cfi_take_uleb(bytes)});
        return 0;
    case CFA_VAL_OFFSET:
    case CFA_VAL_OFFSET_SF:
        cfi_take_uleb(bytes);
        set(running, reg, (struct cfi_place){.kind = CFI_ELSEWHERE});
        return 0;
    case CFA_EXPRESSION:
        set(running, reg, take_expression(running, CFI_EXPRESSION));
        return 0;
    case CFA_VAL_EXPRESSION:
        set(running, reg, take_expression(running, CFI_ELSEWHERE));
        return 0;
    case CFA_DEF_CFA:
        define_cfa(running, reg, (int64_t)cfi_take_uleb(bytes));
        return 0;
    case CFA_DEF_CFA_SF:
        define_cfa(running, reg, (int64_t)((uint64_t)cfi_take_sleb(bytes) * (uint64_t)factor));
        return 0;
    case CFA_DEF_CFA_REGISTER:
        define_cfa(running, reg, state->cfa_offset);
        return 0;
    }
    return -EBADMSG;
}

static int run_one(struct running *running)
{
    const unsigned operation = (unsigned)cfi_take(running->bytes, 1), low = operation & 0x3f;

    switch (operation & 0xc0) {
    case CFA_ADVANCE_LOC:
        return advance(running, low);
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
