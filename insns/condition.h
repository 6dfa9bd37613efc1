/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Numbers that come with an event - words of registers, fields of a tracepoint - and conditions on
 * them. r6 is the context, before and after.
 */
#ifndef STACKBOX_INSNS_CONDITION_H
#define STACKBOX_INSNS_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insns/layout.h"
#include "insns/program.h"

/* A number's place in the context. */
struct event_value {
    uint16_t offset, size; /* bytes; the size is 1, 2, 4 or 8, or a text's */
    uint8_t bits;          /* this many of the lowest bits are the number */
    bool is_signed;
    bool is_comm;          /* not in the context: the thread's name, a text */
    uint8_t unused;        /* 0: equal values are equal byte by byte */
};

enum comparison {
    IS_EQUAL,
    IS_NOT_EQUAL,
    IS_LESS,
    IS_LESS_OR_EQUAL,
    IS_GREATER,
    IS_GREATER_OR_EQUAL,
};

#define MOST_TESTS 32
/* Where a test's yes or no leads: to a later test, by its index, or to one of these ends. */
#define TEST_HOLDS MOST_TESTS
#define TEST_FAILS (MOST_TESTS + 1)

struct event_test {
    struct event_value value;
    enum comparison comparison;
    uint64_t number;       /* compared as signed or not, like the value */
    bool is_text;          /* `text` is compared instead: equal or not */
    char text[COMM_BYTES];
    uint8_t yes, no;
    char label[8];
};

/* Evaluation begins with tests[0]. */
struct event_condition {
    struct event_test tests[MOST_TESTS];
    size_t count; /* 0: always true */
};

/* The target register = the number, in 64 bits. */
void emit_event_value(struct program *program, const struct event_value *value, unsigned target);

/*
 * Goes to the label "filtered" if the condition is false. `condition`, which has the labels, must
 * outlive the program. r0 to r5 are lost; uses COMM_BYTES at r10 + scratch.
 */
void emit_event_condition(struct program *program, const struct event_condition *condition,
                          int16_t scratch);

#endif
