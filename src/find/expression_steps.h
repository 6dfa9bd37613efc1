/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The steps of a compiled expression, each of which leads to others. For making and matching only.
 */
#ifndef STACKBOX_FIND_EXPRESSION_STEPS_H
#define STACKBOX_FIND_EXPRESSION_STEPS_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>

#include "find/expression.h"

/* Which kinds of characters a place is between. */
enum edge {
    EDGE_START, EDGE_END,           /* ^ $ */
    EDGE_WORD_START, EDGE_WORD_END, /* \< \> */
    EDGE_WORD, EDGE_NO_WORD,        /* \b \B */
};

/* Targets are relative to the step itself: steps may be moved together. */
struct expression_step {
    enum { STEP_BYTE, STEP_EDGE, STEP_EITHER, STEP_GO, STEP_DONE } kind;
    enum edge edge;
    int16_t to, or_to; /* for STEP_EITHER; STEP_GO has only the first */
    uint32_t set[8];   /* for STEP_BYTE: a bit per byte */
};

static inline bool set_has(const struct expression_step *step, unsigned char byte)
{
    return step->set[byte / 32] >> byte % 32 & 1;
}

static inline int is_word(int byte)
{
    return isalnum(byte) || byte == '_';
}

#endif
