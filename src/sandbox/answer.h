/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The bytes of an answer from the sandbox, and a reader of them that trusts nothing: numbers,
 * and texts without NULs.
 */
#ifndef STACKBOX_SANDBOX_ANSWER_H
#define STACKBOX_SANDBOX_ANSWER_H

#include <stdint.h>

#include "base/text.h"

void answer_put_byte(struct text *answer, unsigned byte);
void answer_put_number(struct text *answer, uint64_t number);
void answer_put_bytes(struct text *answer, const char *bytes, size_t length);
void answer_put_text(struct text *answer, const struct text *text);

/* {.at = bytes, .end = behind them}; once is_bad or failed is set, nothing more is taken. */
struct answer {
    const char *at, *end;
    bool is_bad;   /* these bytes are not ours */
    bool failed;   /* memory ran out */
    bool for_good; /* texts are stored; otherwise only checked */
};

/* All return 0 if there is nothing. */
unsigned answer_take_byte(struct answer *answer);
/* No bits but these may be set. */
unsigned answer_take_flags(struct answer *answer, unsigned known);
uint64_t answer_take_number(struct answer *answer);
/* What answer_put_bytes() wrote, up to `most` bytes. Returns how many. */
size_t answer_take_bytes(struct answer *answer, size_t most, void *bytes);
/* Replaces the text; a text longer than `most` is bad. */
void answer_take_text(struct answer *answer, size_t most, struct text *text);
/* The same for bytes that may include NULs. */
void answer_take_raw(struct answer *answer, size_t most, struct text *text);

#endif
