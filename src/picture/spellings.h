/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names as two builds of a program have them. A compiler that splits a function, or makes a version
 * for certain arguments, adds a suffix to its name (read.isra.0), and Rust adds a hash: such names
 * are the same, and how each side spelled it is remembered.
 */
#ifndef STACKBOX_PICTURE_SPELLINGS_H
#define STACKBOX_PICTURE_SPELLINGS_H

#include "base/text.h"
#include "picture/flame.h"

struct spelling {
    uint32_t name;  /* in the flame */
    uint32_t next;  /* of the same name: an index + 1, or 0 */
    uint32_t sides; /* bits 1 << flame_side: which sides spell it so */
};

/* {0} is empty. */
struct spellings {
    struct flame texts;     /* only its names are used */
    struct spelling *items; /* of each of those names */
    size_t count, room;
    uint32_t *first; /* of each name in the flame, up to `named`: an index + 1, or 0 */
    size_t named, first_room;
};

/*
 * The length of a name without .isra.N, .constprop.N, .part.N, .llvm.N, .cold, .cold.N (also as "
 * [clone .cold]" and " (.cold)"), and ::h with sixteen hexadecimal digits; several may follow one
 * another.
 */
size_t spelling_length(const char *name, size_t length);

/* Adds a name without its suffix to `flame`: *name is its index there. 0 or -ENOMEM. */
int spellings_name(struct spellings *spellings, struct flame *flame, enum flame_side side,
                   const struct flame_slice *frame, uint32_t *name);
/*
 * Appends " (b.isra.0 = b.constprop.0)": how a name is spelled before and now; nothing if both
 * sides, or the only one, spell it the same.
 */
void spellings_add(const struct spellings *spellings, uint32_t name, struct text *text);
void spellings_free(struct spellings *spellings);

#endif
