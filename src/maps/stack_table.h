/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks by the words that stand for them (insns/layout.h), kept beyond the bank that they were
 * found in: a thread that blocked in one report may run again in a later one.
 */
#ifndef STACKBOX_MAPS_STACK_TABLE_H
#define STACKBOX_MAPS_STACK_TABLE_H

#include "insns/layout.h"
#include "tally/tally.h"

struct kept_stack;

struct stack_table {
    struct kept_stack **places; /* by their words; open addressing */
    size_t size, count;
    uint32_t round; /* which report it is */
};

/* {0} is an empty table. */
void stack_table_free(struct stack_table *table);

/* Another report begins. */
void stack_table_begin(struct stack_table *table);

/* Takes a stack in, or knows it already. 0 or -ENOMEM. */
int stack_table_add(struct stack_table *table, int64_t word, const struct spilled_stack *stack,
                    uint32_t depth);

/* This word is still in use. */
void stack_table_keep(struct stack_table *table, int64_t word);

/*
 * Drops what was neither added nor kept in this report or the last one: of a wait that has just
 * ended, the count may come with the next.
 */
void stack_table_drop(struct stack_table *table);

/*
 * Puts the stack of a word into the tally, once for each report. STACK_NONE: there was none,
 * STACK_FULL: there was no room for it. 0 or -ENOMEM.
 */
int stack_table_find(struct stack_table *table, int64_t word, struct tally *tally,
                     struct stack *stack);

#endif
