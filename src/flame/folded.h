/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads folded stacks: one per line, root first, `main;read_all;read 12`. Many tools make them, so
 * nothing in a line is trusted, and lines that are not stacks are counted.
 */
#ifndef STACKBOX_FLAME_FOLDED_H
#define STACKBOX_FLAME_FOLDED_H

#include "base/text.h"
#include "flame/flame.h"

/* Longer lines are not stacks. */
#define FOLDED_MOST_BYTES (64 << 20)

/* Lines of one kind. */
struct folded_lines {
    uint64_t count, first; /* the first one's line number, from 1, in its file */
    const char *file;      /* and that file: `name` when it was read */
};

struct folded {
    /* Where it goes: set before the first file. */
    struct flame *flame;
    enum flame_side side;        /* for lines with one count */
    bool reversed;               /* leaf first */
    bool bare;                   /* without compilers' suffixes: see folded_name_length() */
    const char *name;            /* of the file being read: the caller's */

    /* What was found, in all files so far. */
    uint64_t stacks;           /* lines added to the flame */
    uint64_t sums[2];          /* of their counts, by flame_side */
    bool pairs;                /* lines have two counts: before and now */
    struct folded_lines bad;   /* no count, or no stack */
    struct folded_lines large; /* with this count the sum would overflow */
    struct folded_lines odd;   /* one count among pairs, or two among single ones */

    /* Private. */
    char *buffer;
    size_t room, start, end;
    uint64_t line;
    struct folded_stack *stacks_waiting;
    size_t waiting;
    uint64_t carry[2];
    struct text text;
};

/*
 * Reads a whole file, or a pipe, and adds its stacks to the flame: counts only to their last
 * frames, so flame_sum() is needed at the end. A file whose first line has two counts is one of
 * pairs, and so are those after it.
 *
 * A count may have a fraction, of which six digits are used. A fraction is carried over to the next
 * line that has one: the sum is off by less than one.
 *
 * Bytes that must not be shown are escaped; a frame without a name is [unknown]. Lines that begin
 * with `#` and a blank are comments. 0, or the error of reading; what was read is then in the
 * flame.
 */
int folded_read(struct folded *folded, int fd);
void folded_free(struct folded *folded);

/*
 * Two builds of a program may differ in suffixes that compilers add to a function's name: the
 * length of a name without .isra.N, .constprop.N, .part.N, .llvm.N, .cold, .cold.N (also as
 * " [clone .cold]" and " (.cold)"), and ::h with sixteen hexadecimal digits; several may follow one
 * another.
 */
size_t folded_name_length(const char *name, size_t length);

#endif
