/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names as two builds of one program have them. A compiler that takes a function apart, or makes
 * one for certain arguments, puts an ending to its name (read.isra.0), and Rust puts a hash there:
 * such names are one, and how each side spelled it is remembered.
 */
#ifndef STACKBOX_PICTURE_SPELLINGS_H
#define STACKBOX_PICTURE_SPELLINGS_H

#include "base/text.h"
#include "picture/flame.h"

struct spelling {
    uint32_t name;  /* in the flame */
    uint32_t next;  /* of the same name: an index + 1, or 0 */
    uint32_t sides; /* bits 1 << flame_side: where it stands so */
};

/* {0} is empty. */
struct spellings {
    struct flame texts;     /* of which the names alone are used */
    struct spelling *items; /* of each of those names */
    size_t count, room;
    uint32_t *first; /* of each name in the flame, up to `named`: an index + 1, or 0 */
    size_t named, first_room;
};

/*
 * How much of a name is left without .isra.N, .constprop.N, .part.N, .llvm.N, .cold, .cold.N, as
 * " [clone .cold]" and " (.cold)", too, and ::h and sixteen hexadecimal digits, of which several may stand
 * one behind the other.
 */
size_t spelling_length(const char *name, size_t length);

/* Puts a name without its ending into `flame`: *name is its index there. 0 or -ENOMEM. */
int spellings_name(struct spellings *spellings, struct flame *flame, enum flame_side side,
                   const struct flame_slice *frame, uint32_t *name);
/*
 * Appends " (b.isra.0 = b.constprop.0)": what a name is before, and now; nothing where both sides,
 * or the only one, spell it the same.
 */
void spellings_add(const struct spellings *spellings, uint32_t name, struct text *text);
void spellings_free(struct spellings *spellings);

#endif
