/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The formats of reports: their names and their files' suffixes. */
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
    REPORT_SBX, /* what was counted, to be symbolized elsewhere: see src/recording */
};

/* The format with this name, or of a file with this suffix. False: there is none. */
bool format_by_name(const char *name, enum report_format *format);
bool format_by_ending(const char *path, enum report_format *format);
/* The length of that suffix; 0: the path has none of ours. */
size_t format_ending_length(const char *path);

/* Is it one document? Reports in other formats may follow one another in a file. */
bool format_is_document(enum report_format format);

/* Appends all names, or all suffixes: "text, folded, svg". */
void formats_add_names(struct text *text);
void formats_add_endings(struct text *text);

#endif
