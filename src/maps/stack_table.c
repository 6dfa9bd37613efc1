/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/stack_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "insns/unwind_layout.h"

#define FIRST_SIZE 256 /* a power of two, as all sizes are */
#define MIX 0x9e3779b97f4a7c15

struct kept_stack {
    int64_t word;
    uint32_t used;     /* the last report in which it was added or kept */
    uint32_t reported; /* the last report whose tally `place` is in */
    struct stack place;
    uint32_t count;
    uint64_t frames[];
};

void stack_table_free(struct stack_table *table)
{
    for (size_t i = 0; i < table->size; i++)
        free(table->places[i]);
    free(table->places);
    *table = (struct stack_table){0};
}

void stack_table_begin(struct stack_table *table)
{
    table->round++;
}

/* Where the word is, or would go. */
static struct kept_stack **place_of(const struct stack_table *table, int64_t word)
{
    size_t at = (size_t)((uint64_t)word * MIX >> 32) & (table->size - 1);

    while (table->places[at] && table->places[at]->word != word)
        at = (at + 1) & (table->size - 1);
    return &table->places[at];
}

static struct kept_stack *find(const struct stack_table *table, int64_t word)
{
    return table->size ? *place_of(table, word) : NULL;
}

/* Rehashes those that stay into a table of `size`; frees the others. */
static int rebuild(struct stack_table *table, size_t size, uint32_t least_used)
{
    struct stack_table next = {.size = size, .round = table->round};

    next.places = calloc(size, sizeof(struct kept_stack *));
    if (!next.places)
        return -ENOMEM;
    for (size_t i = 0; i < table->size; i++) {
        struct kept_stack *kept = table->places[i];
        if (kept && kept->used >= least_used) {
            *place_of(&next, kept->word) = kept;
            next.count++;
        } else {
            free(kept);
        }
    }
    free(table->places);
    *table = next;
    return 0;
}

int stack_table_add(struct stack_table *table, int64_t word, const struct spilled_stack *stack,
                    uint32_t depth)
{
    struct kept_stack *kept = find(table, word);
    uint64_t frames = stack->bytes / sizeof(uint64_t);
    bool by_tables;
    size_t count = unwind_count_frames(stack->frames, frames < depth ? (size_t)frames : depth, &by_tables);

    if (kept) {
        kept->used = table->round;
        return 0;
    }
    if (table->count * 2 >= table->size &&
        rebuild(table, table->size ? table->size * 2 : FIRST_SIZE, 0))
        return -ENOMEM;
    kept = malloc(sizeof(*kept) + count * sizeof(uint64_t));
    if (!kept)
        return -ENOMEM;
    *kept = (struct kept_stack){.word = word, .used = table->round, .count = (uint32_t)count};
    memcpy(kept->frames, stack->frames, count * sizeof(uint64_t));
    *place_of(table, word) = kept;
    table->count++;
    return 0;
}

void stack_table_keep(struct stack_table *table, int64_t word)
{
    struct kept_stack *kept = find(table, word);

    if (kept)
        kept->used = table->round;
}

void stack_table_drop(struct stack_table *table)
{
    /* Without memory for that everything stays, which does no harm. */
    if (table->size && table->round > 1)
        (void)rebuild(table, table->size, table->round - 1);
}

int stack_table_find(struct stack_table *table, int64_t word, struct tally *tally,
                     struct stack *stack)
{
    struct kept_stack *kept = NULL;

    *stack = (struct stack){.state = STACK_NONE};
    if (word > 0)
        kept = find(table, word);
    if (word == -ENOMEM || (word > 0 && !kept))
        stack->state = STACK_FULL;
    if (!kept)
        return 0;
    if (kept->reported != table->round) {
        int result = tally_add_stack(tally, &kept->place, kept->frames, kept->count);
        if (result)
            return result;
        kept->reported = table->round;
    }
    *stack = kept->place;
    return 0;
}
