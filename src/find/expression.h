/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Extended regular expressions, as in grep -E, found anywhere in a name. All paths through an
 * expression are followed at once: matching takes time in proportion to the lengths of both,
 * whatever they are.
 *
 *     a  .  \.  [a-z_]  [^[:digit:]]  \w \W \d \D \s \S     a byte
 *     ^  $  \<  \>  \b  \B                                  a place between two
 *     (a|b)  a*  a+  a?  a{2}  a{2,}  a{2,5}
 */
#ifndef STACKBOX_FIND_EXPRESSION_H
#define STACKBOX_FIND_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct expression_step;

/* {0} is empty, and may be freed. */
struct expression {
    struct expression_step *steps;
    size_t count, room;
    uint16_t *scratch;
};

/*
 * 0, -ENOMEM, or -EINVAL with what is wrong in *why, a part of a sentence. Must be freed after any
 * of them.
 */
int expression_make(struct expression *expression, const char *text, const char **why);
bool expression_matches(const struct expression *expression, const char *name);
void expression_free(struct expression *expression);

#endif
