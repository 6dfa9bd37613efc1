/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the process apart found out about symbols, as bytes: written there, read here. The reader
 * trusts nothing: a file may have taken the writer over.
 */
#ifndef STACKBOX_SYMBOLIZE_NAMES_ANSWER_H
#define STACKBOX_SYMBOLIZE_NAMES_ANSWER_H

#include "symbolize/symbolize.h"

/* Both sides have these, in the same order. */
struct names_asked {
    struct symbol *const *symbols;
    size_t count;
    struct symbolize_notes *notes;
    struct symbol_mappings *mappings; /* NULL: not wanted */
    size_t known;                     /* of those, how many were there before */
};

/* If memory runs out, answer->failed is set. */
void names_answer_write(const struct names_asked *asked, struct text *answer);

/*
 * Adds what the symbols lack: names, offsets, mappings; and to the notes whatever reading files can
 * tell. 0; -EBADMSG, with everything unchanged, for invalid bytes; or -ENOMEM, with half of it.
 */
int names_answer_read(const char *bytes, size_t length, const struct names_asked *asked);

#endif
