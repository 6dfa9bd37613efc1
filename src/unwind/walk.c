/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The same as insns/unwind.c, insns/unwind_step.c and insns/unwind_rule.c, whose listings say what
 * is done: both must agree. Here, a walk that cannot read memory ends as UNREADABLE.
 */
#include "unwind/walk.h"

#include "insns/unwind.h"

/* Not an end: the walk goes on. */
#define ONWARD UNWIND_ENDS

struct at {
    const struct walk_options *options;
    const struct walk_registers *registers;
    const struct machine_walk *walk;
    uint64_t pc, sp, frame, link;
    uint64_t base; /* where rbx is on the stack, or UNWIND_BASE_... */
    bool exact, first, lost, sp_lost, at_entry;
};

static bool read_word(const struct at *at, uint64_t address, uint64_t *word)
{
    return at->options->read(at->options->context, address, word);
}

static bool is_cfa(const struct at *at, uint64_t cfa, bool in_register)
{
    return (cfa > at->sp || (in_register && cfa == at->sp)) &&
           !(cfa & (at->options->machine->bits / 8 - 1)) && !(cfa >> UNWIND_USER_BITS);
}

/* An address without its pointer authentication code, or Thumb bit. */
static uint64_t address_in(const struct at *at, uint64_t word)
{
    return at->walk->address ? word & at->walk->address : word;
}

static enum unwind_end called(struct at *at, uint64_t cfa)
{
    at->sp = cfa;
    at->exact = false;
    if (at->pc)
        return ONWARD;
    return cfa & UNWIND_MISALIGNED && at->options->machine->bits == 64
        ? UNWIND_END_SENSELESS : UNWIND_END_ROOT;
}

static enum unwind_end interrupted(struct at *at, const struct unwind_rule *rule)
{
    const struct machine_walk *walk = at->walk;
    const uint64_t from = at->sp + (uint64_t)walk->signal.at + (uint64_t)rule->offset;

    if (at->sp_lost)
        return UNWIND_END_UNSUPPORTED;
    if (!read_word(at, from + (uint64_t)walk->signal.frame, &at->frame) ||
        !read_word(at, from + (uint64_t)walk->signal.sp, &at->sp) ||
        !read_word(at, from + (uint64_t)walk->signal.pc, &at->pc) ||
        (walk->signal.link && !read_word(at, from + (uint64_t)walk->signal.link, &at->link)))
        return UNWIND_END_UNREADABLE;
    at->base = from + (walk->signal.base ? (uint64_t)walk->signal.base : UNWIND_SIGNAL_BASE);
    at->exact = true;
    at->lost = false;
    return ONWARD;
}

static enum unwind_end by_record(struct at *at, bool is_far)
{
    const uint64_t record = at->frame + (uint64_t)at->walk->record;

    if (at->lost)
        return UNWIND_END_UNSUPPORTED;
    if (!at->frame)
        return UNWIND_END_ROOT;
    if (is_far)
        at->sp = 0;
    if (record < at->sp || !is_cfa(at, record + 16, false))
        return UNWIND_END_SENSELESS;
    if (!read_word(at, record, &at->frame) || !read_word(at, record + 8, &at->pc))
        return UNWIND_END_UNREADABLE;
    if (at->walk->is_sparse && at->exact && at->pc - (record + 16) <= UNWIND_MOST_STACK_BYTES) {
        at->frame = at->pc; /* a leaf has saved only the frame pointer */
        at->pc = at->link;
    }
    at->pc = address_in(at, at->pc);
    at->base = UNWIND_BASE_LOST;
    at->sp_lost = at->walk->sp_unknown;
    return called(at, record + 16);
}

/* A register's value in this frame. */
static enum unwind_end find_register(const struct at *at, uint8_t number, uint64_t *value)
{
    const bool is_base = at->walk->base && number == at->walk->base && at->base != UNWIND_BASE_LOST;

    if (number >= at->walk->numbered || (!at->first && !is_base))
        return UNWIND_END_UNSUPPORTED;
    *value = at->registers->by_dwarf[number];
    if (at->first || at->base == UNWIND_BASE_IN_REGISTERS)
        return ONWARD;
    return read_word(at, at->base, value) ? ONWARD : UNWIND_END_UNREADABLE;
}

/* Finds the CFA, or why it is unknown, before reading anything at it. */
static enum unwind_end find_cfa(const struct at *at, const struct unwind_rule *rule, uint64_t *cfa)
{
    const bool by_frame = rule->cfa == UNWIND_BY_FRAME || rule->cfa == UNWIND_BY_FRAME_WORD;
    enum unwind_end end = ONWARD;

    *cfa = by_frame ? at->frame : at->sp;
    if (by_frame ? at->lost : rule->cfa != UNWIND_BY_REGISTER && at->sp_lost)
        return UNWIND_END_UNSUPPORTED;
    switch (rule->cfa) {
    case UNWIND_BY_SP:
    case UNWIND_BY_FRAME:
        break;
    case UNWIND_BY_REGISTER:
        end = find_register(at, rule->reg, cfa);
        break;
    case UNWIND_BY_SP_WORD:
    case UNWIND_BY_FRAME_WORD:
        if (!read_word(at, *cfa + (int64_t)rule->inner, cfa))
            return UNWIND_END_UNREADABLE;
        break;
    case UNWIND_BY_PLT:
        *cfa += (at->pc & 15) >= (uint16_t)rule->inner ? 8 : 0;
        break;
    default: return UNWIND_END_UNSUPPORTED;
    }
    if (end != ONWARD)
        return end;
    *cfa += (int64_t)rule->offset;
    return is_cfa(at, *cfa, rule->return_kind != UNWIND_RETURN_AT_CFA) ? ONWARD
                                                                       : UNWIND_END_SENSELESS;
}

/*
 * Finds the caller's frame pointer. What depends on a lost one is lost, too. A slot below the stack
 * pointer has been popped again, which tables need not say: copies of stacks lack it.
 */
static bool find_frame(struct at *at, const struct unwind_rule *rule, uint64_t cfa)
{
    switch (rule->frame_kind) {
    case UNWIND_FRAME_SAME: return true;
    case UNWIND_FRAME_AT_CFA:
        if (cfa + (int64_t)rule->frame < at->sp)
            return true;
        at->lost = false;
        return read_word(at, cfa + (int64_t)rule->frame, &at->frame);
    case UNWIND_FRAME_AT_FRAME:
        return at->lost || read_word(at, at->frame + (int64_t)rule->frame, &at->frame);
    default:
        at->lost = true;
        return true;
    }
}

/* Sets at->pc to the frame's return address. */
static enum unwind_end find_return(struct at *at, const struct unwind_rule *rule, uint64_t cfa)
{
    uint64_t word = at->link;

    if (rule->return_kind == UNWIND_RETURN_IN_LINK) {
        if (!at->exact || !machine_has_link(at->options->machine))
            return UNWIND_END_UNSUPPORTED;
    } else if (rule->return_kind == UNWIND_RETURN_IN_REGISTER) {
        const uint16_t number = (uint16_t)rule->ret;
        if (!at->first || number >= at->walk->numbered)
            return UNWIND_END_UNSUPPORTED;
        word = at->registers->by_dwarf[number];
    } else if (!read_word(at, cfa + (uint64_t)(int64_t)rule->ret, &word)) {
        return UNWIND_END_UNREADABLE;
    }
    at->pc = address_in(at, word);
    return ONWARD;
}

static enum unwind_end by_rule(struct at *at, const struct unwind_rule *rule)
{
    uint64_t cfa;
    enum unwind_end end = ONWARD;

    if (at->exact && rule->inner == UNWIND_AT_CALLS && rule->cfa <= UNWIND_BY_REGISTER)
        return UNWIND_END_UNSUPPORTED;
    end = find_cfa(at, rule, &cfa);
    if (end != ONWARD)
        return end;
    end = find_return(at, rule, cfa);
    if (end != ONWARD)
        return end;
    at->sp_lost = false;
    if (!find_frame(at, rule, cfa))
        return UNWIND_END_UNREADABLE;
    if (rule->base != UNWIND_BASE_SAME)
        at->base = rule->base ? cfa + (int64_t)rule->base : UNWIND_BASE_LOST;
    return called(at, cfa);
}

/* Moves on to the caller. */
static enum unwind_end leave(struct at *at, const struct unwind_rule *rule)
{
    switch (rule->cfa) {
    case UNWIND_UNKNOWN: return at->walk->is_sparse ? by_record(at, false) : UNWIND_END_NO_TABLE;
    case UNWIND_ROOT: return UNWIND_END_ROOT;
    case UNWIND_SIGNAL: return interrupted(at, rule);
    case UNWIND_FRAME_RECORD:
    case UNWIND_FAR_RECORD: return by_record(at, rule->cfa == UNWIND_FAR_RECORD);
    default: return by_rule(at, rule);
    }
}

static enum unwind_end step(struct at *at, uint64_t *frames, size_t *count)
{
    static const struct unwind_rule record = {.cfa = UNWIND_FRAME_RECORD},
                                    unknown = {.cfa = UNWIND_UNKNOWN};
    static const struct unwind_rule pushed = {.cfa = UNWIND_BY_SP, .offset = 8, .ret = -8,
                                              .base = UNWIND_BASE_SAME};
    const struct unwind_rule trampoline = unwind_trampoline(at->walk);
    static const struct unwind_rule linked = {.cfa = UNWIND_BY_SP,
                                              .return_kind = UNWIND_RETURN_IN_LINK};
    const uint64_t pc = at->exact ? at->pc : at->pc - 1; /* a call may end its function */
    struct walk_object object = {.end = UNWIND_END_UNMAPPED};

    at->options->find(at->options->context, pc, &object);
    if (!object.table && !object.frame_pointers && object.end == UNWIND_END_UNMAPPED)
        return UNWIND_END_UNMAPPED;
    if (*count == at->options->depth)
        return UNWIND_END_DEPTH;
    if (at->options->machine->no_frames && object.frame_pointers) {
        object.frame_pointers = false;
        object.end = UNWIND_END_NO_TABLE;
    }
    frames[(*count)++] = at->pc + (at->exact && !at->first);
    const bool by_frames =
        object.frame_pointers || (at->walk->is_sparse && object.end == UNWIND_END_NO_TABLE);
    const struct unwind_rule *rule = &record;
    if (at->first && at->at_entry)
        rule = machine_has_link(at->options->machine) ? &linked : &pushed;
    else if (object.trampoline && !at->exact && !at->sp_lost)
        rule = &trampoline;
    else if (object.table)
        rule = table_find(object.table, pc - object.bias);
    else if (!by_frames)
        return object.end;
    else if (object.frame_pointers && at->exact && !at->frame)
        return UNWIND_END_SENSELESS;
    const enum unwind_end end = leave(at, rule ? rule : &unknown);
    at->first = false;
    return end;
}

/* Is this a return address in code that ends a thread or process, and so has no caller? */
static bool is_root(const struct at *at, uint64_t pc)
{
    struct walk_object object = {.end = UNWIND_END_UNMAPPED};

    at->options->find(at->options->context, pc - 1, &object);
    const struct unwind_rule *rule =
        object.table ? table_find(object.table, pc - 1 - object.bias) : NULL;
    return rule && rule->cfa == UNWIND_ROOT;
}

/* Is this code that starts the process, or a thread? */
static bool is_start_code(const struct at *at)
{
    uint64_t word;

    if (at->options->first_stack - at->sp <= UNWIND_START_BYTES || is_root(at, at->pc))
        return true;
    for (uint64_t i = 0; i < UNWIND_START_BYTES; i += sizeof(word))
        if (read_word(at, at->sp + i, &word) && is_root(at, word))
            return true;
    return false;
}

size_t walk_stack(const struct walk_options *options, const struct walk_registers *registers,
                  uint64_t *frames, enum unwind_end *end)
{
    const struct walk_start start = {
        .pc = registers->pc,
        .sp = registers->by_dwarf[options->machine->sp.dwarf],
        .frame = registers->by_dwarf[options->machine->frame.dwarf],
        .base = UNWIND_BASE_IN_REGISTERS,
        .exact = true,
        .first = true,
        .registers = *registers,
    };

    return walk_on(options, &start, frames, end);
}

size_t walk_on(const struct walk_options *options, const struct walk_start *start, uint64_t *frames,
               enum unwind_end *end)
{
    const struct machine *machine = options->machine;
    struct at at = {
        .options = options,
        .walk = machine->walk,
        .registers = &start->registers,
        .pc = start->pc,
        .sp = start->sp,
        .frame = start->frame,
        .link = machine_has_link(machine) ? start->registers.by_dwarf[machine->link.dwarf] : 0,
        .base = start->base,
        .exact = start->exact,
        .first = start->first,
        .lost = start->frame_lost,
        .sp_lost = start->sp_lost,
        .at_entry = start->at_entry,
    };
    size_t count = 0;

    while ((*end = step(&at, frames, &count)) == ONWARD)
        continue;
    if (*end == UNWIND_END_NO_TABLE && is_start_code(&at))
        *end = UNWIND_END_ROOT;
    return count;
}
