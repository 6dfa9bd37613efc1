/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Numbers that an event has with it - words of registers, fields of a tracepoint - and what must hold of
 * them. r6 is the context, before and after.
 */
#ifndef STACKBOX_INSNS_CONDITION_H
#define STACKBOX_INSNS_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insns/program.h"

/* Where in the context it is. */
struct event_value {
    uint16_t offset, size; /* bytes; the size is 1, 2, 4 or 8, or that of a text */
    uint8_t bits;          /* so many of the lowest are the number */
    bool is_signed;
    bool is_comm;          /* none of it: the name of the thread, a text */
    uint8_t unused;        /* 0: equal ones are equal to the byte */
};

enum comparison {
    IS_EQUAL,
    IS_NOT_EQUAL,
    IS_LESS,
    IS_LESS_OR_EQUAL,
    IS_GREATER,
    IS_GREATER_OR_EQUAL,
};

#define COMM_BYTES 16
#define MOST_TESTS 32
/* Where a test leads to: to another that stands behind it, or to an end. */
#define TEST_HOLDS MOST_TESTS
#define TEST_FAILS (MOST_TESTS + 1)

struct event_test {
    struct event_value value;
    enum comparison comparison;
    uint64_t number;       /* compared as the value is signed, or not */
    bool is_text;          /* `text` is compared instead: whether it is equal, or not */
    char text[COMM_BYTES];
    uint8_t yes, no;
    char label[8];
};

/* The first is where it begins. */
struct event_condition {
    struct event_test tests[MOST_TESTS];
    size_t count; /* 0: it always holds */
};

/* The target register = the number, in 64 bits. */
void emit_event_value(struct program *program, const struct event_value *value, unsigned target);

/*
 * On to the label "filtered" where it does not hold. `condition`, which has the labels, must outlive the
 * program. r0 to r5 are lost; COMM_BYTES at r10 + scratch are used.
 */
void emit_event_condition(struct program *program, const struct event_condition *condition, int16_t scratch);

#endif
