/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/code_follow.h"

#include <errno.h>

#include "base/util.h"

#define MOST_STATES UINT16_MAX
#define LONGEST 16 /* instruction */

/* ---- Places ---- */

const struct code_area *code_area_at(const struct code_finding *finding, uint64_t address)
{
    const struct code_area *areas = finding->areas;
    const size_t behind = first_key_above(&areas->gap.address, sizeof(*areas),
                                          finding->area_count, address);

    return behind && address - areas[behind - 1].gap.address < areas[behind - 1].gap.size
               ? &areas[behind - 1] : NULL;
}

const struct code_area *code_area_of(const struct code_finding *finding, uint64_t place)
{
    const struct code_area *areas = finding->areas;

    return &areas[first_key_above(&areas->place, sizeof(*areas), finding->area_count, place) - 1];
}

bool code_place_of(const struct code_finding *finding, const struct code_area *near,
                   uint64_t address, uint64_t *place)
{
    const struct code_area *area =
        address - near->gap.address < near->gap.size ? near : code_area_at(finding, address);

    if (area)
        *place = area->place + (address - area->gap.address);
    return area;
}

size_t code_step_at(struct code_finding *finding, const struct code_area *area, uint64_t place,
                    struct code_state *state, struct code_flow *flow)
{
    const uint64_t thumb = place & finding->has_two, at = place - thumb;

    flow->kind = CODE_NEXT;
    flow->target = flow->taken = flow->data = 0;
    flow->is_padding = flow->is_plain = false;
    const size_t length =
        finding->machine->step(finding->bytes + at, (size_t)(area->place + area->gap.size - at),
                               area->gap.address + (place - area->place), state, flow);
    struct code_place *const here = &finding->places[place];
    if (finding->steps && !(here->flags >> LENGTH_SHIFT) && !finding->has_two)
        for (size_t i = 0; i < LONGEST && i <= place; i++)
            finding->places[place - i].flags |= OVERLAPS;
    here->flags |= (uint16_t)(length << LENGTH_SHIFT | flow->kind << KIND_SHIFT) |
                   (flow->is_plain ? PLAIN : 0) | (flow->is_padding ? PADDING : 0);
    return length;
}

/* ---- States ---- */

static struct code_state merge(const struct code_state *a, const struct code_state *b)
{
    struct code_state both = *a;

    for (size_t i = 0; i < COUNT_OF(both.fields); i++)
        if (a->fields[i] != b->fields[i])
            both.fields[i] = CODE_LOST;
    if (a->scratch[0] != b->scratch[0] || a->scratch[1] != b->scratch[1])
        both.scratch[0] = both.scratch[1] = 0;
    return both;
}

static bool same_state(const struct code_state *a, const struct code_state *b)
{
    uint64_t differs = 0;

    for (size_t i = 0; i < COUNT_OF(a->words); i++)
        differs |= a->words[i] ^ b->words[i];
    return !differs;
}

static uint64_t hash_of(const struct code_state *state)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < COUNT_OF(state->words); i++)
        hash = hash_word(hash, state->words[i]);
    return hash;
}

uint16_t code_number_of(struct code_finding *finding, const struct code_state *state)
{
    const uint64_t hash = hash_of(state);
    uint32_t item;
    size_t at = 0;

    while (index_next(&finding->state_index, hash, &at, &item))
        if (same_state(&finding->states[item], state))
            return (uint16_t)item;
    if (finding->state_count > MOST_STATES)
        return UNKNOWN;
    if (ARRAY_RESERVE(finding->states, finding->state_room, finding->state_count + 1) ||
        index_add(&finding->state_index, hash, (uint32_t)finding->state_count)) {
        finding->error = -ENOMEM;
        return UNKNOWN;
    }
    finding->states[finding->state_count] = *state;
    return (uint16_t)finding->state_count++;
}

/* ---- Following ---- */

static void set_state(struct code_finding *finding, uint64_t place, uint16_t state)
{
    if (finding->is_trial) {
        if (finding->change_count == finding->change_room &&
            ARRAY_RESERVE(finding->changes, finding->change_room, finding->change_count + 1)) {
            finding->error = -ENOMEM;
            return;
        }
        finding->changes[finding->change_count++] =
            (struct code_change){(uint32_t)place, finding->places[place].state};
        finding->places[place].flags |= TRIED;
    }
    finding->places[place].state = state;
}

/* Notes a contradiction in the current trial, and the call before it. */
static void refute(struct code_finding *finding, bool is_refuted)
{
    if (is_refuted && !finding->is_refuted) {
        finding->is_refuted = true;
        finding->suspect = finding->via;
    }
}

static bool returns_before(const void *call, const void *place)
{
    return ((const struct code_call *)call)->after < *(const uint64_t *)place;
}

const struct code_call *code_call_before(const struct code_finding *finding, uint64_t place)
{
    const size_t at = search_first(finding->calls, finding->call_count, sizeof(*finding->calls),
                                   &place, returns_before);

    return at < finding->call_count && finding->calls[at].after == place ? &finding->calls[at]
                                                                         : NULL;
}

/*
 * The way from a call into this place has pushed more than another way: what was pushed for the
 * call. So the call may not return.
 */
static void blame(struct code_finding *finding, uint64_t place, const struct code_state *before,
                  const struct code_state *now)
{
    if (before->sp <= now->sp || before->fp_at != now->fp_at || before->fp_at == CODE_IN_PLACE)
        return;
    const struct code_call *call = code_call_before(finding, place);
    if (call)
        finding->suspect = call->place + 1;
}

/* True: the place's state has changed, so it must be followed. */
static bool reach(struct code_finding *finding, uint64_t place, uint16_t state)
{
    const uint16_t before = finding->places[place].state;

    if (finding->places[place].flags & START) {
        refute(finding, !code_is_entry(finding, &finding->states[state]));
        finding->is_proven = true;
        return false;
    }
    if (before && !(finding->places[place].flags & TRIED))
        finding->is_proven = true;
    if (before == state)
        return false;
    if (before) {
        const struct code_state both = merge(&finding->states[before], &finding->states[state]);
        if (both.sp == CODE_LOST && both.fp == CODE_LOST &&
            finding->states[before].sp != CODE_LOST) {
            refute(finding, true);
            blame(finding, place, &finding->states[before], &finding->states[state]);
        }
        state = code_number_of(finding, &both);
        if (state == before)
            return false;
    }
    set_state(finding, place, state);
    return true;
}

static void work_later(struct code_finding *finding, uint64_t place)
{
    if (ARRAY_RESERVE(finding->work, finding->work_room, finding->work_count + 1))
        finding->error = -ENOMEM;
    else
        finding->work[finding->work_count++] =
            (struct code_work){(uint32_t)place, (uint32_t)finding->via};
}

static void reach_later(struct code_finding *finding, const struct code_area *area,
                        uint64_t address, uint16_t state)
{
    uint64_t place;

    if (!code_place_of(finding, area, address, &place)) {
        finding->is_proven = true;
        refute(finding, !code_is_entry(finding, &finding->states[state]));
        return;
    }
    if (reach(finding, place, state))
        work_later(finding, place);
}

/* Holds nothing that plain instructions could change. */
static bool has_nothing(const struct code_state *state)
{
    return !state->scratch[0] && !state->scratch[1] && state->ra_at <= 0;
}

/* Follows the instructions from there on, until one has the same state already. */
static void follow(struct code_finding *finding, uint64_t place)
{
    const struct code_area *area = code_area_of(finding, place);
    const uint64_t end = area->place + area->gap.size;
    uint16_t number = finding->places[place].state;
    struct code_state state = finding->states[number], before;
    struct code_flow flow;
    bool is_simple = has_nothing(&state);

    while (finding->steps && !finding->error && !(finding->is_trial && finding->is_refuted)) {
        finding->steps--;
        const uint16_t flags = finding->places[place].flags;
        if (!is_simple || !(flags & PLAIN)) {
            before = state;
            if (!code_step_at(finding, area, place, &state, &flow)) {
                refute(finding, true);
                return;
            }
            /* Code that calls before it saves its return address is within another function. */
            refute(finding, flow.kind == CODE_CALL && before.ra_at == CODE_IN_PLACE &&
                                !(flags & ENDS));
            uint16_t there = number;
            if (!same_state(&before, &state)) {
                before.scratch[0] = state.scratch[0];
                before.scratch[1] = state.scratch[1];
                there = flow.target ? code_number_of(finding, &before) : number;
                number = code_number_of(finding, &state);
                state = finding->states[number];
            }
            if (flow.kind == CODE_JUMP || flow.kind == CODE_BRANCH)
                reach_later(finding, area, flow.target, there);
            if (flow.kind == CODE_RETURN) {
                refute(finding, !code_is_entry(finding, &state));
                finding->is_proven = true;
            }
            finding->has_switch |= flow.kind == CODE_INDIRECT || flow.kind == CODE_STOP;
            if (code_ends(flow.kind) || flow.kind == CODE_SIGNAL)
                return;
            is_simple = has_nothing(&state);
        }
        /* If a call does not return, code behind it that agrees proves nothing. */
        const bool proves = finding->is_proven || code_kind_at(finding, place) != CODE_CALL;
        if (code_kind_at(finding, place) == CODE_CALL) {
            if (flags & ENDS)
                return;
            if (!finding->via || finding->places[place].flags & PADDING ||
                !(finding->places[finding->via - 1].flags & PADDING))
                finding->via = place + 1;
        }
        place += code_length_at(finding, place);
        if (place >= end) {
            finding->has_switch = true; /* the code behind may return */
            return;
        }
        if (!finding->places[place].state && !(finding->places[place].flags & START))
            set_state(finding, place, number);
        else if (!reach(finding, place, number)) {
            finding->is_proven &= proves;
            return;
        } else if (finding->places[place].state != number) {
            number = finding->places[place].state;
            state = finding->states[number];
            is_simple = has_nothing(&state);
            finding->is_proven &= proves;
        }
    }
}

static void follow_all(struct code_finding *finding)
{
    while (finding->work_count) {
        const struct code_work *work = &finding->work[--finding->work_count];
        finding->via = work->via;
        follow(finding, work->place);
    }
}

void code_begin(struct code_finding *finding, uint64_t place, uint16_t state)
{
    finding->via = 0;
    set_state(finding, place, state);
    follow(finding, place);
    follow_all(finding);
}

static void end_trial(struct code_finding *finding, bool is_right)
{
    while (finding->change_count) {
        const struct code_change *change = &finding->changes[--finding->change_count];
        if (!is_right)
            finding->places[change->place].state = change->before;
        finding->places[change->place].flags &= ~TRIED;
    }
}

static bool try_once(struct code_finding *finding, uint64_t place, uint16_t state, bool needs_proof)
{
    finding->is_refuted = finding->is_proven = false;
    finding->change_count = 0;
    code_begin(finding, place, state);
    const bool is_right = !finding->is_refuted && (finding->is_proven || !needs_proof) &&
                          finding->steps && !finding->error;
    if (!is_right)
        end_trial(finding, false);
    return is_right;
}

bool code_try(struct code_finding *finding, uint64_t place, uint16_t state, bool needs_proof,
              unsigned most)
{
    uint64_t suspects[CODE_MOST_SUSPECTS];
    unsigned count = 0;
    bool is_right;

    finding->is_trial = true;
    while (!(is_right = try_once(finding, place, state, needs_proof)) && finding->is_refuted &&
           finding->suspect && count < most && !finding->error) {
        suspects[count] = finding->suspect - 1;
        finding->places[suspects[count++]].flags |= ENDS | SUSPECTED;
    }
    /* Only the last suspect is certain: tries to do without each of the others. */
    for (unsigned i = 0; is_right && i + 1 < count; i++) {
        end_trial(finding, false);
        finding->places[suspects[i]].flags &= ~(ENDS | SUSPECTED);
        if (try_once(finding, place, state, needs_proof))
            continue;
        finding->places[suspects[i]].flags |= ENDS | SUSPECTED;
        is_right = try_once(finding, place, state, needs_proof);
    }
    end_trial(finding, is_right);
    finding->is_trial = false;
    while (!is_right && count)
        finding->places[suspects[--count]].flags &= ~(ENDS | SUSPECTED);
    return is_right;
}

/* In an unknown state, whatever returns or leaves the function is a contradiction. */
bool code_may_return(struct code_finding *finding, uint64_t start)
{
    finding->is_trial = true;
    finding->is_refuted = finding->has_switch = false;
    code_begin(finding, start, UNKNOWN);
    end_trial(finding, false);
    finding->is_trial = false;
    return finding->is_refuted || finding->has_switch || !finding->steps;
}
