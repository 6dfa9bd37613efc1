/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The few names nearest to one that was not found: for "did you mean". */
#ifndef STACKBOX_BASE_SUGGEST_H
#define STACKBOX_BASE_SUGGEST_H

#include "base/text.h"

#define MOST_SUGGESTIONS 3

struct suggestions {
    const char *wanted;
    struct {
        char *name;
        unsigned distance;
    } best[MOST_SUGGESTIONS];
    size_t count;
};

/* {.wanted = name} starts it. Offers one existing name; it is kept if it is near enough. */
void suggest(struct suggestions *suggestions, const char *name);
/* The same for a name that contains all its words: sched_process_fork for sched_fork. */
void suggest_by_words(struct suggestions *suggestions, const char *name);
/* "; near: a, b", or nothing. */
void suggestions_add(const struct suggestions *suggestions, struct text *text);
void suggestions_free(struct suggestions *suggestions);

#endif
