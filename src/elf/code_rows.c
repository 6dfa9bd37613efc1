/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions begin where symbols, calls and the file's header point. All code that they reach is
 * followed, with a state for each instruction. Code that nothing reaches is a function that only
 * data points to, or follows a call, or is a switch's case: the first of these that runs into no
 * contradiction is taken; otherwise the state of the code before, if known code elsewhere proves
 * it (cases that are apart from their switch have that state, too). A contradiction is a return
 * with another stack pointer than the function began with, or a jump to code that has another one.
 */
#include "elf/code_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/util.h"
#include "elf/code_follow.h"
#include "elf/elf_symbols.h"
#include "elf/frame_entries.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14 */
#endif

/* ---- Machines ---- */

#define START_LINKED                                                                               \
    {.fp = CODE_LOST, .base = CODE_LOST} /* the return address is in the link register */

const struct code_machine code_machine_x86_64 = {
    EM_X86_64, 64, 1, NULL, code_x86_64,
    {.sp = 8, .fp = CODE_LOST, .ra_at = -8, .base = CODE_LOST, .base_at = CODE_LOST}, true};
const struct code_machine code_machine_arm64 = {EM_AARCH64, 64, 4, NULL, code_arm64,
                                                START_LINKED, false};
const struct code_machine code_machine_riscv64 = {EM_RISCV, 64, 2, NULL, code_riscv64,
                                                  START_LINKED, false};
const struct code_machine code_machine_loongarch64 = {258, 64, 4, NULL, code_loongarch64,
                                                      START_LINKED, false}; /* EM_LOONGARCH */
const struct code_machine code_machine_armv7 = {EM_ARM, 32, 2, code_armv7_choose, code_armv7,
                                                START_LINKED, false};

/* The program contains its own machine only: no process here runs the code of others. */
#if defined(__x86_64__)
const struct code_machine *code_machine = &code_machine_x86_64;
#elif defined(__aarch64__)
const struct code_machine *code_machine = &code_machine_arm64;
#elif defined(__riscv) && __riscv_xlen == 64
const struct code_machine *code_machine = &code_machine_riscv64;
#elif defined(__loongarch__) && __loongarch_grlen == 64
const struct code_machine *code_machine = &code_machine_loongarch64;
#elif defined(__arm__)
const struct code_machine *code_machine = &code_machine_armv7;
#else
const struct code_machine *code_machine;
#endif

/* The most bytes of all gaps together; each takes five of memory. */
#define MOST_CODE (32u << 20)
/* Instructions that may be followed per byte of code: compilers' code needs less than one. */
#define STEPS_A_BYTE 4

#define LARGEST_PAGE 65536 /* of processes */
#define FUNCTION_ALIGNMENT 16
/* A gap with more unknown bytes than one in this many is data, not code. */
#define BYTES_AN_UNKNOWN 64
#define MOST_UNKNOWN 1024 /* in data, after which the gap is not read on */
#define MOST_JUMPS 16
#define FEWER 8 /* this many times fewer suspects if it may be no function */
#define FIRST_STEPS 3 /* of a function that makes a frame */

/* ---- Places ---- */

/* Code to which signal handlers or thread functions return: no function. */
static bool is_end(const struct code_finding *finding, uint64_t place)
{
    return finding->places[place].state == SIGNAL || finding->places[place].state == THREAD_END;
}

static void note(struct code_finding *finding, uint64_t place, unsigned flag)
{
    finding->places[place].flags |= (uint16_t)flag;
    if (flag != DATA)
        finding->noted[place / 64] |= UINT64_C(1) << place % 64;
}

/* Finds the next noted place, from *place on. */
static bool next_noted(const struct code_finding *finding, uint64_t *place)
{
    uint64_t at = *place / 64, bits = finding->noted[at] >> *place % 64 << *place % 64;

    while (!bits && at < finding->size / 64)
        bits = finding->noted[++at];
    if (bits)
        *place = at * 64 + (unsigned)__builtin_ctzll(bits);
    return bits;
}

/* ---- Where functions begin ---- */

static void mark(struct code_finding *finding, uint64_t address, unsigned flag)
{
    uint64_t place;

    if (code_place_of(finding, finding->areas, address, &place))
        note(finding, place, flag);
}

/* Parts that gcc moves elsewhere (.cold) are entered by jumps in the middle of a function. */
static bool is_part(const struct elf_symbol_table *table, const struct elf_entry *entry,
                    struct text *name)
{
    return !elf_read_name(table, entry->name, name) && name->data && strstr(name->data, ".cold");
}

static void mark_symbols(struct code_finding *finding)
{
    struct elf_symbol_table table;
    struct elf_pieces pieces;
    struct elf_entry entry;
    struct text name = {0};
    const bool is_full = elf_full_symbols(finding->elf, &table);

    if ((!is_full && !elf_dynamic_symbols(finding->elf, &table)) ||
        elf_pieces_open(&pieces, table.elf, &table.symbols))
        return;
    while (elf_pieces_next(&pieces))
        for (size_t i = 0; i < pieces.count; i++)
            if (elf_get_entry(table.elf, pieces.bytes + i * pieces.left.entry_size, &entry) &&
                entry.type != STT_NOTYPE && code_area_at(finding, entry.address) &&
                !(is_full && entry.binding == STB_LOCAL && is_part(&table, &entry, &name)))
                mark(finding, entry.address + entry.is_thumb, START);
    elf_pieces_close(&pieces);
    text_free(&name);
}

/* Makes the place a start with a fixed state: no jump leads there. */
static void end_at(struct code_finding *finding, uint64_t place, uint16_t state)
{
    note(finding, place, START);
    finding->places[place].state = state;
}

static void add_call(struct code_finding *finding, struct code_call *call, uint64_t after,
                     bool is_padded)
{
    call->after = (uint32_t)after;
    finding->places[call->place].flags |= is_padded ? PADDING : 0;
    if (ARRAY_RESERVE(finding->calls, finding->call_room, finding->call_count + 1))
        finding->error = -ENOMEM;
    else
        finding->calls[finding->call_count++] = *call;
}

/* Decodes each gap linearly and notes what calls and other instructions point to. */
static void sweep(struct code_finding *finding, struct code_area *area)
{
    const uint64_t end = area->place + area->gap.size;
    struct code_state state;
    struct code_flow flow;
    struct code_call call = {0};
    bool is_after = false, is_padded = false;
    const uint64_t exit = finding->elf->row->walk->thread_exit;
    uint64_t unknown = 0;
    size_t length;

    for (uint64_t place = area->place, decided = 0;
         place < end && !(area->is_data && unknown > MOST_UNKNOWN) && !finding->error;
         place += length) {
        if (finding->has_two) {
            if (finding->places[place ^ 1].flags & START) {
                finding->thumb = !(place & 1);
                decided = 0;
            }
            place = finding->machine->choose(finding, area, place, &decided);
            length = 2;
            if (finding->places[place & ~UINT64_C(1)].flags & DATA)
                continue;
        }
        state = finding->states[FIRST];
        length = code_step_at(finding, area, place, &state, &flow);
        if (!length) {
            length = finding->machine->alignment;
            unknown += length;
            area->is_data = !(HAS_EXIDX && area->gap.at_calls.cfa) &&
                            unknown > area->gap.size / BYTES_AN_UNKNOWN;
            continue;
        }
        if (is_after && !flow.is_padding) {
            add_call(finding, &call, place, is_padded);
            is_after = false;
        }
        is_padded |= flow.is_padding;
        if (flow.kind == CODE_CALL) {
            call = (struct code_call){.target = flow.target, .place = (uint32_t)place};
            is_after = true;
            is_padded = false;
            /* musl's clone(2) has called a thread's function, and exits the thread. */
            if (exit && end - place >= length + sizeof(exit) &&
                elf_get64(finding->elf, finding->bytes + place + length) == exit)
                end_at(finding, place + length, THREAD_END);
            if (flow.target)
                mark(finding, flow.target, START);
        }
        if (flow.kind == CODE_SIGNAL) {
            end_at(finding, place, SIGNAL);
            end_at(finding, place + length, SIGNAL);
        }
        if (flow.taken)
            mark(finding, flow.taken, 0);
        for (unsigned i = 0; flow.data && i < flow.data_size; i += 2)
            mark(finding, flow.data + i, DATA);
    }
    const struct code_area *next = area + 1;
    if (HAS_EXIDX && is_after && next < finding->areas + finding->area_count &&
        next->gap.address == area->gap.address + area->gap.size)
        add_call(finding, &call, end | finding->thumb, is_padded);
}

static bool is_endless(struct code_finding *finding, uint64_t target)
{
    uint32_t item;
    size_t at = 0;

    while (index_next(&finding->endless, hash_word(0, target), &at, &item))
        if (finding->calls[item].target == target)
            return true;
    return false;
}

/* A call right before a function does not return, and nor do other calls of the same target. */
static void mark_endless(struct code_finding *finding)
{
    uint64_t target;

    for (size_t i = 0; i < finding->call_count; i++) {
        const struct code_call *call = &finding->calls[i];
        if (!(finding->noted[call->after / 64] >> call->after % 64 & 1) &&
            !(code_place_of(finding, finding->areas, call->target, &target) &&
              finding->places[target].flags & ENDLESS))
            continue;
        finding->places[call->place].flags |= ENDS;
        if (call->target && !is_endless(finding, call->target) &&
            index_add(&finding->endless, hash_word(0, call->target), (uint32_t)i))
            finding->error = -ENOMEM;
    }
    for (size_t i = 0; i < finding->call_count; i++)
        if (finding->calls[i].target && is_endless(finding, finding->calls[i].target))
            finding->places[finding->calls[i].place].flags |= ENDS;
}

/* Does a single way without branches lead to a return or out of the function? False: unknown. */
static bool ends_well(struct code_finding *finding, uint64_t place)
{
    const struct code_area *area = code_area_of(finding, place);
    struct code_state state = finding->states[UNKNOWN];
    struct code_flow flow;

    for (int jumps = 0; jumps < MOST_JUMPS;) {
        const enum code_kind kind = code_kind_at(finding, place);
        const size_t length = code_length_at(finding, place);
        if (finding->places[place].flags & ENDS || !length)
            return false;
        if (kind == CODE_JUMP) {
            code_step_at(finding, area, place, &state, &flow);
            const uint64_t distance = flow.target - area->gap.address;
            if (distance >= area->gap.size)
                return !code_area_at(finding, flow.target);
            place = area->place + distance;
            jumps++;
        } else if (code_ends(kind))
            return true;
        else
            place += length;
        if (place >= area->place + area->gap.size || finding->places[place].flags & START)
            return true;
    }
    return false;
}

/* Finds calls that do not return, then functions that end with such calls, and calls of those. */
static void find_endless(struct code_finding *finding)
{
    mark_endless(finding);
    finding->steps = finding->size;
    for (uint64_t place = 0; next_noted(finding, &place); place++)
        if (finding->places[place].flags & START && !is_end(finding, place) &&
            !ends_well(finding, place) &&
            !code_may_return(finding, place))
            finding->places[place].flags |= ENDLESS;
    mark_endless(finding);
}

/* ---- What nothing reaches ---- */

/* What was passed in order of places, since the last start. */
struct passing {
    uint16_t after_call; /* the state after the suspected call just before; 0: none */
    bool is_close;       /* without padding */
    bool all;            /* guess also at unlikely beginnings of functions */
    bool is_aligned;     /* at an address to which functions are aligned */
    uint16_t indirect;   /* the state of the last switch */
    uint16_t before;     /* the state of the last instruction that was reached */
};

/* Do the first instructions make a frame? *after is the state behind them. */
static bool makes_frame(struct code_finding *finding, const struct code_area *area, uint64_t place,
                        struct code_state *after)
{
    struct code_state state = finding->machine->start;
    struct code_flow flow = {0};
    size_t length = 1;

    for (int i = 0; i < FIRST_STEPS && length && flow.kind == CODE_NEXT &&
                    place < area->place + area->gap.size;
         i++, place += length)
        length = code_step_at(finding, area, place, &state, &flow);
    *after = state;
    return length && flow.kind == CODE_NEXT && !code_is_entry(finding, &state);
}

/* Does a function begin here, by saving its return address? A function does so only once. */
static bool saves_return(struct code_finding *finding, const struct code_area *area, uint64_t place)
{
    struct code_state after;

    return finding->machine->start.ra_at == CODE_IN_PLACE &&
           makes_frame(finding, area, place, &after) && after.ra_at < 0 &&
           after.ra_at != CODE_LOST;
}

static bool try_start(struct code_finding *finding, uint64_t place, bool needs_proof, unsigned most)
{
    if (!code_try(finding, place, FIRST, needs_proof, most))
        return false;
    const struct code_call *call = code_call_before(finding, place);
    if (call)
        finding->places[call->place].flags |= ENDS;
    note(finding, place, START);
    finding->functions++;
    return true;
}

static bool guess(struct code_finding *finding, const struct code_area *area, uint64_t place,
                  const struct passing *passing)
{
    const bool is_close = passing->after_call && passing->is_close;
    struct code_state after;
    const bool has_frame = makes_frame(finding, area, place, &after);
    const bool differs = finding->machine->alignment == 1; /* where functions begin, from others */
    /* A switch's case hardly ever makes a frame at an aligned address. */
    const bool begins = has_frame && differs && passing->is_aligned;

    if (saves_return(finding, area, place) && try_start(finding, place, false, CODE_MOST_SUSPECTS))
        return true;
    for (unsigned most = 0; most <= CODE_MOST_SUSPECTS; most += CODE_MOST_SUSPECTS) {
        const uint16_t state = is_close ? passing->after_call : begins ? NONE : passing->indirect;
        if ((state && code_try(finding, place, state, false, most)) ||
            (!is_close && try_start(finding, place, true, most / FEWER)))
            return true;
    }
    return (passing->all &&
            (begins || (has_frame && !differs && !passing->indirect)) &&
            try_start(finding, place, false, 0)) ||
           (!is_close && passing->after_call &&
            code_try(finding, place, passing->after_call, true, 0)) ||
           (passing->all && passing->before && code_try(finding, place, passing->before, true, 0));
}

/* The state after the suspected call at this place, which nothing may follow; 0: there is none. */
static uint16_t after_suspect(struct code_finding *finding, const struct code_area *area,
                              uint64_t place)
{
    struct code_state state = finding->states[finding->places[place].state];
    struct code_flow flow;

    if (!(finding->places[place].flags & SUSPECTED))
        return 0;
    code_step_at(finding, area, place, &state, &flow);
    return code_number_of(finding, &state);
}

/* Guesses the state of code that was not reached. `all`: see struct passing. */
static void pass_area(struct code_finding *finding, const struct code_area *area, bool all)
{
    const uint64_t thumb = finding->has_two;
    const uint64_t end = area->place + area->gap.size;
    struct passing passing = {.all = all};
    bool is_skipping = false; /* up to the next return, jump or trap */
    bool was_padding = true;
    uint64_t last = end; /* the previous instruction, if it was reached; else `end` */
    uint64_t place = area->place, decided = 0;
    struct code_state state;
    struct code_flow flow;

    while (place < end && !finding->error) {
        if (thumb && finding->places[place & ~UINT64_C(1)].flags & DATA) {
            place += 2;
            was_padding = true;
            continue;
        }
        if (thumb && !finding->places[place].state)
            place = finding->machine->choose(finding, area, place, &decided);
        const struct code_place *const at = &finding->places[place];
        size_t length = at->flags >> LENGTH_SHIFT;
        if (at->state) {
            last = place;
            passing.before = at->state;
            place += length ? length : finding->machine->alignment;
            const unsigned known = at->flags & (START | 7 << KIND_SHIFT);
            if (!known)
                continue;
            if (known & START)
                passing.indirect = 0;
            /* A tail call is not a switch. */
            if (known >> KIND_SHIFT == CODE_INDIRECT &&
                !code_is_entry(finding, &finding->states[at->state]))
                passing.indirect = at->state;
            continue;
        }
        if (thumb && finding->places[place ^ 1].state) {
            place ^= 1; /* from Thumb code to ARM code, or back */
            continue;
        }
        if (last != end) {
            passing.after_call = after_suspect(finding, area, last);
            passing.is_close = true;
            was_padding = is_skipping = false;
            last = end;
        }
        if (!length) {
            state = finding->machine->start;
            length = code_step_at(finding, area, place, &state, &flow);
        }
        const enum code_kind kind = code_kind_at(finding, place);
        const bool is_padding = at->flags & PADDING && kind != CODE_CALL;
        const bool is_aligned =
            !((area->gap.address + ((place & ~thumb) - area->place)) % FUNCTION_ALIGNMENT);
        passing.is_aligned = is_aligned;
        if (length && !is_padding && (!is_skipping || was_padding)) {
            is_skipping = !(all || was_padding || is_aligned) ||
                          !guess(finding, area, place, &passing);
            finding->unknown += all && is_skipping;
            if (!is_skipping)
                continue; /* again, with the state that guess() has set */
        }
        was_padding = is_padding;
        passing.is_close = false;
        is_skipping &= !code_ends(kind);
        if (!is_padding)
            passing.after_call = 0;
        place += length ? length : finding->machine->alignment;
    }
}

/* ---- Rows ---- */

static struct unwind_rule rule_of(const struct code_finding *finding,
                                  const struct code_state *state)
{
    const struct unwind_rule unknown = {.cfa = UNWIND_UNKNOWN};
    struct unwind_rule rule = {0};
    const bool by_frame =
        finding->machine->by_frame && (!state->fp || state->fp == -(int64_t)state->fp_at);

    if (state == &finding->states[NONE])
        return unknown;
    if (state == &finding->states[SIGNAL])
        return (struct unwind_rule){.cfa = UNWIND_SIGNAL};
    if (state == &finding->states[THREAD_END])
        return (struct unwind_rule){.cfa = UNWIND_ROOT};
    if (state->fp != CODE_LOST && (by_frame || state->sp == CODE_LOST)) {
        rule.cfa = UNWIND_BY_FRAME;
        rule.offset = state->fp;
    } else if (state->sp != CODE_LOST) {
        rule.cfa = UNWIND_BY_SP;
        rule.offset = state->sp;
    } else if (state->base != CODE_LOST) {
        rule.cfa = UNWIND_BY_REGISTER;
        rule.reg = finding->elf->row->walk->base;
        rule.offset = state->base;
    } else
        return unknown;
    if (!unwind_fits(state->ra_at) || (state->ra_at > 0 && rule.cfa != UNWIND_BY_SP))
        return unknown;
    rule.return_kind = state->ra_at > 0   ? UNWIND_RETURN_IN_REGISTER
                       : state->ra_at < 0 ? UNWIND_RETURN_AT_CFA
                                          : UNWIND_RETURN_IN_LINK;
    rule.ret = (int16_t)(state->ra_at > 0 ? state->ra_at - 1 : state->ra_at);
    rule.frame_kind = state->fp_at == CODE_IN_PLACE ? UNWIND_FRAME_SAME
                      : unwind_fits(state->fp_at)   ? UNWIND_FRAME_AT_CFA
                                                    : UNWIND_FRAME_LOST;
    rule.frame = rule.frame_kind == UNWIND_FRAME_AT_CFA ? (int16_t)state->fp_at : 0;
    rule.base = state->base_at == CODE_IN_PLACE ? UNWIND_BASE_SAME
                : unwind_fits(state->base_at)   ? (int16_t)state->base_at
                                                : 0;
    return rule;
}

static void add_row(struct code_finding *finding, struct code_rows *code, uint64_t offset,
                    uint16_t state)
{
    if (code->count && code->rows[code->count - 1].offset == offset)
        code->count--;
    if (code->count == code->room && ARRAY_RESERVE(code->rows, code->room, code->count + 1))
        finding->error = -ENOMEM;
    else
        code->rows[code->count++] = (struct frame_row){offset, state};
}

/*
 * Returns the place behind the instruction at *place, or of the next one that code jumps to. For
 * code that was followed as both kinds, *place becomes the likelier.
 */
static uint64_t pass_instruction(struct code_finding *finding, const struct code_area *area,
                                 uint64_t *place)
{
    const uint64_t step = 1 + finding->has_two;
    uint64_t decided = 0;

    if (step > 1 && finding->places[*place].state && finding->places[*place ^ 1].state)
        *place = finding->machine->choose(finding, area, *place, &decided);
    const struct code_place *const at = &finding->places[*place];
    if (!at->state)
        return *place + 1;
    const uint64_t left = finding->size - *place, length = at->flags >> LENGTH_SHIFT;
    uint64_t next = length;
    if (!length || step > 1 || at->flags & OVERLAPS)
        for (next = step; next < length && next < left && !at[next].state;)
            next += step;
    return (*place + next) & -step;
}

/* Does a call there have another frame than area->gap.at_calls says? */
static bool is_contradicted(struct code_finding *finding, const struct code_area *area)
{
    const struct unwind_rule *known = &area->gap.at_calls;
    uint64_t next;

    for (uint64_t place = area->place; known->cfa && place < area->place + area->gap.size;
         place = next) {
        next = pass_instruction(finding, area, &place);
        const uint16_t state = finding->places[place].state;
        if (!state || code_kind_at(finding, place) != CODE_CALL)
            continue;
        const struct unwind_rule rule = rule_of(finding, &finding->states[state]);
        if (rule.cfa == known->cfa && rule.reg == known->reg &&
            (rule.offset != known->offset || rule.ret != known->ret))
            return true;
    }
    return false;
}

static void add_rows(struct code_finding *finding, struct code_rows *code,
                     const struct code_area *area)
{
    const bool is_wrong = HAS_EXIDX && is_contradicted(finding, area);
    const uint64_t end = is_wrong ? 0 : area->place + area->gap.size;
    uint64_t next;
    uint16_t last = NONE;

    add_row(finding, code, area->gap.offset, NONE);
    for (uint64_t place = area->place; place < end && !finding->error; place = next) {
        next = pass_instruction(finding, area, &place);
        const uint16_t now = finding->places[place].state;
        if (now == last)
            continue;
        /* The walk looks up a return address less one, so a row for such an end begins there. */
        const uint64_t before = is_end(finding, place) && place > area->place;
        const uint64_t thumb = place & finding->has_two;
        add_row(finding, code, area->gap.offset + (place - thumb - area->place) - before, now);
        last = now;
    }
    add_row(finding, code, area->gap.offset + area->gap.size, NONE);
}

static void make_rules(struct code_finding *finding, struct code_rows *code)
{
    code->rules = calloc(finding->state_count, sizeof(*code->rules));
    if (!code->rules)
        finding->error = -ENOMEM;
    for (size_t i = 0; i < finding->state_count && code->rules; i++)
        code->rules[i].rule = rule_of(finding, &finding->states[i]);
}

/* ---- All ---- */

static void find_states(struct code_finding *finding)
{
    for (uint64_t place = 0; next_noted(finding, &place) && !finding->error; place++)
        if (finding->places[place].flags & START && !is_end(finding, place)) {
            finding->functions++;
            if (!code_try(finding, place, FIRST, false, CODE_MOST_SUSPECTS))
                code_begin(finding, place, FIRST);
        }
    for (uint64_t place = 0; next_noted(finding, &place) && !finding->error; place++)
        if (!finding->places[place].state)
            try_start(finding, place, false, 0);
    for (int all = 0; all < 2; all++)
        for (size_t i = 0; i < finding->area_count; i++)
            if (!finding->areas[i].is_data)
                pass_area(finding, &finding->areas[i], all);
}

/* Gives the reserved states their numbers. Unique values keep them apart from real states. */
static void number_reserved(struct code_finding *finding)
{
    struct code_state state = {0};

    for (int number = NONE; number <= THREAD_END; number++) {
        for (size_t i = 0; i < COUNT_OF(state.fields); i++)
            state.fields[i] = number == UNKNOWN ? CODE_LOST : 0;
        state.scratch[0] = number == UNKNOWN ? 0 : -1 - number;
        code_number_of(finding, number == FIRST ? &finding->machine->start : &state);
    }
}

static void find(struct code_finding *finding, struct code_rows *code)
{
    number_reserved(finding);
    if (finding->error)
        return;
    mark(finding, finding->elf->entry, START);
    finding->thumb = finding->elf->entry & finding->has_two;
    mark_symbols(finding);
    for (size_t i = 0; i < finding->area_count; i++)
        sweep(finding, &finding->areas[i]);
    find_endless(finding);
    finding->steps = finding->size * STEPS_A_BYTE;
    find_states(finding);
    /* If the steps ran out, some ways have not met, and no state is certain. */
    for (size_t i = 0; i < finding->area_count && finding->steps; i++)
        add_rows(finding, code, &finding->areas[i]);
    make_rules(finding, code);
}

/* Cuts partial instructions off both ends. */
static struct code_gap aligned(const struct code_gap *gap, uint64_t alignment)
{
    const uint64_t skip = -gap->address & (alignment - 1);
    struct code_gap inner = *gap;

    inner.offset += skip;
    inner.address += skip;
    inner.size = gap->size < skip ? 0 : (gap->size - skip) & ~(alignment - 1);
    return inner;
}

/*
 * All of this memory will be written: the kernel populates it at once (since 5.14), in large pages
 * if it has any. Page by page, that takes as long as a tenth of all that is done with it.
 */
static void *zeros(size_t size)
{
    char *const zeros = calloc(size, 1);
    const uintptr_t skipped = -(uintptr_t)zeros & (LARGEST_PAGE - 1);

    if (zeros && size > skipped) {
        madvise(zeros + skipped, size - skipped, MADV_HUGEPAGE);
        madvise(zeros + skipped, size - skipped, MADV_POPULATE_WRITE);
    }
    return zeros;
}

static int read_gaps(struct code_finding *finding, const struct code_gap *gaps, size_t count)
{
    uint64_t end = 0;

    for (size_t i = 0; i < count; i++) {
        if (gaps[i].offset + gaps[i].size > end)
            end = gaps[i].offset + gaps[i].size;
        if (__builtin_add_overflow(finding->size, gaps[i].size, &finding->size) ||
            finding->size > MOST_CODE)
            return -E2BIG;
    }
    /* Before allocating: does the file have all of it, or does only its header claim so? */
    int result = elf_has(finding->elf, 0, end);
    if (result)
        return result;
    finding->areas = calloc(count, sizeof(*finding->areas));
    finding->bytes = malloc((size_t)finding->size);
    finding->places = zeros((size_t)finding->size * sizeof(*finding->places));
    /* One more word, so that next_noted() can end there. */
    finding->noted = calloc((size_t)finding->size / 64 + 2, sizeof(*finding->noted));
    if (!finding->areas || !finding->bytes || !finding->places || !finding->noted)
        return -ENOMEM;
    for (uint64_t place = 0; finding->area_count < count && !result; finding->area_count++) {
        const struct code_gap gap =
            aligned(&gaps[finding->area_count], finding->machine->alignment);
        finding->areas[finding->area_count] = (struct code_area){.gap = gap, .place = place};
        result = elf_read(finding->elf, gap.offset, finding->bytes + place, (size_t)gap.size);
        place += gap.size;
    }
    return result;
}

int code_rows_find(struct code_rows *code, const struct elf *elf, const struct code_gap *gaps,
                   size_t count)
{
    struct code_finding finding = {.elf = elf};

    *code = (struct code_rows){0};
    if (code_machine && code_machine->elf == elf->machine &&
        code_machine->bits == (elf->is_64 ? 64 : 32))
        finding.machine = code_machine;
    if (!finding.machine || !elf->row->walk || !count)
        return -ENOENT;
    finding.has_two = finding.machine->choose != NULL;
    finding.error = read_gaps(&finding, gaps, count);
    if (!finding.error)
        find(&finding, code);
    free(finding.areas);
    free(finding.bytes);
    free(finding.places);
    free(finding.noted);
    free(finding.states);
    free(finding.calls);
    free(finding.work);
    free(finding.changes);
    index_free(&finding.state_index);
    index_free(&finding.endless);
    code->functions = finding.functions;
    code->unknown = finding.unknown;
    return finding.error;
}

void code_rows_free(struct code_rows *code)
{
    free(code->rows);
    free(code->rules);
    *code = (struct code_rows){0};
}
