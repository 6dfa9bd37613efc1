/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where reports go: to stdout and to files, each in its format. Reports its own errors. */
#ifndef STACKBOX_REPORT_REPORT_FILES_H
#define STACKBOX_REPORT_REPORT_FILES_H

#include <stdint.h>
#include <stdio.h>

#include "options/options.h"
#include "report/file_name.h"
#include "report/formats.h"
#include "report/keep.h"

struct report_file {
    const char *path; /* may contain %n and %t; NULL: stdout */
    enum report_format format;
    struct keep_times times;
};

struct report_files {
    struct report_file items[MOST_STRINGS + 1];
    size_t count;
    bool plain;  /* no options: text for people, with messages around it */
    bool failed; /* a file could not be written, which was reported */
    uint64_t began; /* when the last report began, for its names */
    uint64_t unwritten; /* reports in a row with a file that could not be written */
    struct keep keep;
};

struct report_files_wishes {
    const struct string_list *paths;
    const char *format; /* a format's name, or NULL */
    bool folded, flat, tree; /* the same, by their own options */
    bool live;          /* --live: the tree, or --flat, on stdout as well */
    uint64_t interval;  /* ns between reports; 0: just one */
    struct keep keep;   /* for each of the paths */
};

/*
 * What goes where:
 *
 *     no options                 text to stdout
 *     --format F                 F to stdout
 *     -o FILE                    to FILE only, by its suffix
 *     -o FILE, unknown suffix    to FILE as --format says
 *     both, and a known suffix   to FILE by its suffix, and F, if no FILE has it, to stdout
 *
 * With --live stdout has the tree, unless something else is asked for, whatever FILEs there are.
 *
 * FILE may be "-", or anything else that is our stdout: then as --format says, or text.
 *
 * 0, or -EINVAL with one line in `error`.
 */
int report_files_choose(struct report_files *files, const struct report_files_wishes *wishes,
                        struct text *error);

/* Does a report go to stdout? */
bool report_files_use_stdout(const struct report_files *files);

/* Is any of them in this format? */
bool report_files_have(const struct report_files *files, enum report_format format);

/* Is stdout's report one document, which no other may follow? */
bool report_files_print_document(const struct report_files *files);

/* Before tracing: can they be written? 0, or the exit status; errors were reported. */
int report_files_check(const struct report_files *files);

/* Writes a report in a format. 0 or a negative errno. */
typedef int report_writer(void *context, FILE *out, enum report_format format);

/*
 * Writes a report to all. A file that cannot be written is reported, and the others are written all
 * the same. 0, or the error of writing to stdout.
 */
int report_files_write(struct report_files *files, const struct report_turn *turn,
                       report_writer *write, void *context);

#endif
