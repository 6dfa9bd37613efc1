/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The bytes of which answers of a process apart are made, and a reader of them that takes nothing on
 * trust: numbers, and texts that hold no NUL.
 */
#ifndef STACKBOX_APART_ANSWER_H
#define STACKBOX_APART_ANSWER_H

#include <stdint.h>

#include "base/text.h"

void answer_put_byte(struct text *answer, unsigned byte);
void answer_put_number(struct text *answer, uint64_t number);
void answer_put_bytes(struct text *answer, const char *bytes, size_t length);
void answer_put_text(struct text *answer, const struct text *text);

/* {.at = bytes, .end = behind them}; once one of the two is set nothing more is taken. */
struct answer {
    const char *at, *end;
    bool is_bad;   /* nobody here writes such bytes */
    bool failed;   /* memory ran out */
    bool for_good; /* texts are taken; else they are looked at alone */
};

/* All give 0 where there is nothing. */
unsigned answer_take_byte(struct answer *answer);
/* None but these bits may be set. */
unsigned answer_take_flags(struct answer *answer, unsigned known);
uint64_t answer_take_number(struct answer *answer);
/* What answer_put_bytes() put, up to `most` bytes: how many. */
size_t answer_take_bytes(struct answer *answer, size_t most, void *bytes);
/* The text becomes it; one that is longer than `most` is none of ours. */
void answer_take_text(struct answer *answer, size_t most, struct text *text);
/* The same of bytes of which any may be a NUL. */
void answer_take_raw(struct answer *answer, size_t most, struct text *text);

#endif
