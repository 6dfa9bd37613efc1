/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Parses conditions and values of events: arg1 > 4096 && (ret:i32 < 0 || comm == "cc1"). The caller
 * resolves the names.
 */
#ifndef STACKBOX_OPTIONS_CONDITION_WORDS_H
#define STACKBOX_OPTIONS_CONDITION_WORDS_H

#include "base/text.h"
#include "insns/condition.h"

struct value_words {
    char name[48];
    uint8_t bits;   /* of the type after it, as in arg1:i32; 0: none */
    bool is_signed;
};

struct test_words {
    struct value_words value;
    struct event_test test; /* all but its value */
    bool is_negative;       /* the number is */
};

struct condition_words {
    struct test_words tests[MOST_TESTS];
    size_t count;
};

/* 0, or -EINVAL with the rest of a sentence in `error`. */
int condition_words_parse(struct condition_words *condition, const char *text, struct text *error);

/* NAME[:TYPE][,NAME[:TYPE]]: at most `most` values; *count is set to how many. Returns as above. */
int value_words_parse(struct value_words *values, size_t most, size_t *count, const char *text,
                      struct text *error);

#endif
