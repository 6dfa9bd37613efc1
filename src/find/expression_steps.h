/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What an expression is made into: steps, of which each is gone on from to the next. For who makes and matches. */
#ifndef STACKBOX_FIND_EXPRESSION_STEPS_H
#define STACKBOX_FIND_EXPRESSION_STEPS_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>

#include "find/expression.h"

/* Between which kinds of letters a place is. */
enum edge {
    EDGE_START, EDGE_END,           /* ^ $ */
    EDGE_WORD_START, EDGE_WORD_END, /* \< \> */
    EDGE_WORD, EDGE_NO_WORD,        /* \b \B */
};

/* Where a way leads is told from the step itself: what is moved as a whole stays right. */
struct expression_step {
    enum { STEP_BYTE, STEP_EDGE, STEP_EITHER, STEP_GO, STEP_DONE } kind;
    enum edge edge;
    int16_t to, or_to; /* of STEP_EITHER, and STEP_GO the first alone */
    uint32_t set[8];   /* of STEP_BYTE: a bit for each */
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
