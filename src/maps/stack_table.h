/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks by the words that identify them (insns/layout.h), kept longer than the bank they were
 * found in: a thread that blocked in one report may run again in a later one.
 */
#ifndef STACKBOX_MAPS_STACK_TABLE_H
#define STACKBOX_MAPS_STACK_TABLE_H

#include "insns/layout.h"
#include "tally/tally.h"

struct kept_stack;

struct stack_table {
    struct kept_stack **places; /* hashed by word; open addressing */
    size_t size, count;
    uint32_t round; /* number of the report */
};

/* {0} is an empty table. */
void stack_table_free(struct stack_table *table);

/* Begins another report. */
void stack_table_begin(struct stack_table *table);

/* Adds a stack, unless it is there. 0 or -ENOMEM. */
int stack_table_add(struct stack_table *table, int64_t word, const struct spilled_stack *stack,
                    uint32_t depth);

/* This word is still in use. */
void stack_table_keep(struct stack_table *table, int64_t word);

/*
 * Drops what was neither added nor kept in this report or the last one: the count of a wait that
 * has just ended may come with the next.
 */
void stack_table_drop(struct stack_table *table);

/*
 * Adds the word's stack to the tally, once per report. STACK_NONE: there was none, STACK_FULL:
 * there was no room for it. 0 or -ENOMEM.
 */
int stack_table_find(struct stack_table *table, int64_t word, struct tally *tally,
                     struct stack *stack);

#endif
