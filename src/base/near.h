/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The few names nearest to one that was not found: for "did you mean". */
#ifndef STACKBOX_BASE_NEAR_H
#define STACKBOX_BASE_NEAR_H

#include "base/text.h"

#define NEAR_NAMES 3

struct near {
    const char *wanted;
    struct {
        char *name;
        unsigned distance;
    } best[NEAR_NAMES];
    size_t count;
};

/* {.wanted = name} starts it. Offers one existing name; it is kept if it is near enough. */
void near_offer(struct near *near, const char *name);
/* The same for a name that contains all its words: sched_process_fork for sched_fork. */
void near_offer_words(struct near *near, const char *name);
/* "; near: a, b", or nothing. */
void near_add_to(const struct near *near, struct text *text);
void near_free(struct near *near);

#endif
