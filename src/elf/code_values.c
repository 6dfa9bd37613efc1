/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/code_values.h"

#include <stdlib.h>

/*
 * What a register holds: a constant, or CFA - number. Each word of state->scratch is for one more
 * register: its number + 1 in the lowest bits, then is_distance, then the number.
 */
struct value {
    bool is_known, is_distance;
    int32_t number;
};

#define REGISTER_BITS 6
#define NUMBER_BITS 25
#define MOST_NUMBER ((1 << (NUMBER_BITS - 1)) - 1)

static int32_t *distance_of(const struct code_values *values, unsigned reg)
{
    return reg == values->sp      ? &values->state->sp
           : reg == values->frame ? &values->state->fp
           : reg == values->base  ? &values->state->base
                                  : NULL;
}

/* Where the caller's value of a register is. */
static int32_t *place_of(const struct code_values *values, unsigned reg)
{
    return reg == values->link    ? &values->state->ra_at
           : reg == values->frame ? &values->state->fp_at
           : reg == values->base  ? &values->state->base_at
                                  : NULL;
}

static bool is_of(int32_t word, unsigned reg)
{
    return (word & ((1 << REGISTER_BITS) - 1)) == (int32_t)reg + 1;
}

static struct value value_of(const struct code_values *values, unsigned reg)
{
    const int32_t *distance = distance_of(values, reg);

    if (distance && *distance != CODE_LOST)
        return (struct value){true, true, *distance};
    for (int i = 0; i < 2; i++) {
        const int32_t word = values->state->scratch[i];
        if (is_of(word, reg))
            return (struct value){true, word >> REGISTER_BITS & 1, word >> (REGISTER_BITS + 1)};
    }
    return (struct value){0};
}

static bool is_followed(const struct code_values *values, unsigned reg, const struct value *value)
{
    return value->is_distance ? reg == values->copy
                              : values->others >> reg & 1 && abs(value->number) >= values->least;
}

static void put(struct code_values *values, unsigned reg, struct value value)
{
    int32_t *const distance = distance_of(values, reg), *const place = place_of(values, reg);
    int32_t *const scratch = values->state->scratch;

    if (reg >= CODE_NONE)
        return;
    if (place && *place == CODE_IN_PLACE)
        *place = CODE_LOST;
    if (distance)
        *distance = value.is_known && value.is_distance ? value.number : CODE_LOST;
    /* The older one makes room. */
    if (is_of(scratch[1], reg))
        scratch[1] = 0;
    if (is_of(scratch[0], reg))
        scratch[0] = 0;
    if (!value.is_known || !is_followed(values, reg, &value))
        return;
    if (scratch[0])
        scratch[1] = scratch[0];
    scratch[0] = (int32_t)((uint32_t)value.number << (REGISTER_BITS + 1)) |
                 value.is_distance << REGISTER_BITS | (int32_t)(reg + 1);
}

static void put_number(struct code_values *values, unsigned reg, bool is_distance, int64_t number)
{
    const bool is_known = number >= -MOST_NUMBER && number <= MOST_NUMBER;

    put(values, reg, (struct value){is_known, is_distance, (int32_t)number});
}

void code_set_unknown(struct code_values *values, unsigned reg)
{
    put(values, reg, (struct value){0});
}

void code_set(struct code_values *values, unsigned reg, int64_t constant)
{
    put_number(values, reg, false, constant);
}

void code_set_sum(struct code_values *values, unsigned reg, unsigned from, int64_t addend)
{
    const struct value value = value_of(values, from);

    if (value.is_known)
        put_number(values, reg, value.is_distance,
                   value.is_distance ? value.number - addend : value.number + addend);
    else
        code_set_unknown(values, reg);
}

bool code_constant(const struct code_values *values, unsigned reg, int32_t *constant)
{
    const struct value value = value_of(values, reg);

    *constant = value.number;
    return value.is_known && !value.is_distance;
}

void code_set_sums(struct code_values *values, unsigned reg, unsigned from, unsigned other,
                   int sign)
{
    int32_t constant;

    if (code_constant(values, other, &constant))
        code_set_sum(values, reg, from, (int64_t)sign * constant);
    else if (sign > 0 && code_constant(values, from, &constant))
        code_set_sum(values, reg, other, constant);
    else
        code_set_unknown(values, reg);
}

/* The distance of that word from the CFA; CODE_LOST: unknown. */
static int32_t word_at(const struct code_values *values, unsigned from, int64_t offset)
{
    const struct value value = value_of(values, from);

    return value.is_known && value.is_distance ? (int32_t)(offset - value.number) : CODE_LOST;
}

void code_store(struct code_values *values, unsigned reg, unsigned from, int64_t offset)
{
    const int32_t at = word_at(values, from, offset);
    int32_t *const place = place_of(values, reg);

    if (place && *place == CODE_IN_PLACE && at != CODE_LOST && at < 0)
        *place = at;
}

void code_load(struct code_values *values, unsigned reg, unsigned from, int64_t offset)
{
    const int32_t at = word_at(values, from, offset);
    int32_t *const place = place_of(values, reg);
    const bool is_restored = place && at != CODE_LOST && *place == at;

    code_set_unknown(values, reg);
    if (is_restored)
        *place = CODE_IN_PLACE;
}

void code_called(struct code_values *values)
{
    code_set_unknown(values, values->link);
    values->state->scratch[0] = values->state->scratch[1] = 0;
}

void code_jumped(struct code_values *values, struct code_flow *flow, unsigned link, bool returns)
{
    if (link)
        flow->kind = CODE_CALL;
    else if (returns)
        flow->kind = CODE_RETURN;
    else
        flow->kind = flow->target ? CODE_JUMP : CODE_INDIRECT;
    if (link)
        code_called(values);
    if (link && link != values->link)
        values->state->sp = values->state->fp = CODE_LOST;
}
