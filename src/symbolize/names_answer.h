/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the process apart found out of symbols, as bytes: written there, read here. The reader takes
 * nothing on trust: who wrote them may have been taken over by a file that it read.
 */
#ifndef STACKBOX_SYMBOLIZE_NAMES_ANSWER_H
#define STACKBOX_SYMBOLIZE_NAMES_ANSWER_H

#include "symbolize/symbolize.h"

/* What both sides have, in the same order. */
struct names_asked {
    struct symbol *const *symbols;
    size_t count;
    struct symbolize_notes *notes;
    struct symbol_mappings *mappings; /* NULL: nobody wants them */
    size_t known;                     /* so many of those were there before */
};

/* Where memory runs out answer->failed says so. */
void names_answer_write(const struct names_asked *asked, struct text *answer);

/*
 * Puts into the symbols what they did not have: names, offsets, mappings; into the notes all that
 * reading files can tell. 0; -EBADMSG, with everything as it was, for what nobody here writes; or -ENOMEM,
 * with half of it.
 */
int names_answer_read(const char *bytes, size_t length, const struct names_asked *asked);

#endif
