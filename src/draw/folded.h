/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Folded stacks, read: a line for each, root first, `main;read_all;read 12`. They are made by many
 * tools, so nothing that a line can hold is trusted, and what is no stack is counted.
 */
#ifndef STACKBOX_DRAW_FOLDED_H
#define STACKBOX_DRAW_FOLDED_H

#include "base/text.h"
#include "picture/flame.h"
#include "picture/spellings.h"

/* A longer line is no stack. */
#define FOLDED_MOST_BYTES (64 << 20)

/* Lines of one kind. */
struct folded_lines {
    uint64_t count, first; /* the first one's number, from 1, in its file */
    const char *file;      /* and which that was, as `name` is when it is read */
};

struct folded {
    /* What it is read into: set before the first. */
    struct flame *flame;
    enum flame_side side;        /* of lines with one count */
    bool reversed;               /* leaf first */
    struct spellings *spellings; /* names are matched without their endings; or NULL */
    const char *name;            /* of the file that is read: the caller's */

    /* What was found, of all files so far. */
    uint64_t stacks;           /* lines that are in the flame */
    uint64_t sums[2];          /* of their counts, by flame_side */
    bool pairs;                /* lines have two counts: before, and now */
    struct folded_lines bad;   /* no count, or no stack */
    struct folded_lines large; /* with this count the sum would not fit */
    struct folded_lines odd;   /* of one count among pairs, of two among others */

    /* Its own. */
    char *buffer;
    size_t room, start, end;
    uint64_t line;
    struct folded_stack *stacks_waiting;
    size_t waiting;
    uint64_t carry[2];
    struct text text;
};

/*
 * Reads a whole file, a pipe as well, and adds its stacks to the flame: their counts to their last
 * frames alone, so flame_sum() is needed at the end. A file that begins with a line of two counts
 * is one of pairs, and so are those after it.
 *
 * A count may have a fraction, of which six digits are taken. What a line's is more than a whole
 * number is carried to the next one that has a fraction: the sum is right to less than one.
 *
 * Bytes that must not be shown are escaped; a frame without a name is [unknown]. Lines that begin
 * with `#` and a blank are comments. 0, or what reading failed with; the rest is in the flame then.
 */
int folded_read(struct folded *folded, int fd);
void folded_free(struct folded *folded);

#endif
