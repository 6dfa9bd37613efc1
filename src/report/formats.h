/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The formats of reports: what they are called, and what files of them end in. */
#ifndef STACKBOX_REPORT_FORMATS_H
#define STACKBOX_REPORT_FORMATS_H

#include <stdbool.h>

#include "base/text.h"

enum report_format {
    REPORT_TEXT,
    REPORT_FOLDED,
    REPORT_FLAT,
    REPORT_TREE,
    REPORT_SVG,
    REPORT_PPROF,
    REPORT_SPEEDSCOPE,
    REPORT_SBX, /* what was counted, to be named elsewhere: src/recording has it */
};

/* The format of this name, or of a file with this ending. False: there is none. */
bool format_by_name(const char *name, enum report_format *format);
bool format_by_ending(const char *path, enum report_format *format);
/* How many bytes of a path that ending is; 0: it has none of ours. */
size_t format_ending_length(const char *path);

/* The part that a build is without, and which it would need (base/parts.h); NULL: none. */
const char *format_lacks(enum report_format format);

/* Is it one document from its beginning to its end? Of the others two may follow one another. */
bool format_is_document(enum report_format format);

/* Appends the names, or the endings, of all: "text, folded, svg". */
void formats_add_names(struct text *text);
void formats_add_endings(struct text *text);

#endif
