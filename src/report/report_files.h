/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where reports go: to stdout, and to files, each in its format. It speaks to the user. */
#ifndef STACKBOX_REPORT_REPORT_FILES_H
#define STACKBOX_REPORT_REPORT_FILES_H

#include <stdint.h>
#include <stdio.h>

#include "options/options.h"
#include "report/file_name.h"
#include "report/formats.h"
#include "report/keep.h"

struct report_file {
    const char *path; /* with %n and %t; NULL: stdout */
    enum report_format format;
    struct keep_times times;
};

struct report_files {
    struct report_file items[MOST_STRINGS + 1];
    size_t count;
    bool plain;  /* nothing was said: text for people, with what is said around it */
    bool failed; /* a file could not be written, which was said */
    uint64_t began; /* when the last report did, as its names have it */
    uint64_t unwritten; /* reports in a row of which some file could not be written */
    struct keep keep;
};

struct report_files_wishes {
    const struct string_list *paths;
    const char *format; /* a format's name, or NULL */
    bool folded, flat, tree; /* the same by options of their own */
    bool live;          /* --live: the tree, or what is flat, to stdout besides */
    uint64_t interval;  /* ns: how often there is a report; 0: once */
    struct keep keep;   /* of each of the paths */
};

/*
 * Which go where:
 *
 *     nothing said               text to stdout
 *     --format F                 F to stdout
 *     -o FILE                    to FILE alone, by its ending
 *     -o FILE, no known ending   to FILE as --format says
 *     both, and a known ending   to FILE by its ending, and F, if no FILE has it, to stdout
 *
 * With --live stdout has the tree, where nothing else is said, whatever FILEs there are.
 *
 * FILE may be "-", or whatever else is our stdout: then as --format says, or text.
 *
 * 0, or -EINVAL with one line in `error`.
 */
int report_files_choose(struct report_files *files, const struct report_files_wishes *wishes,
                        struct text *error);

/* Does a report go to stdout? */
bool report_files_use_stdout(const struct report_files *files);

/* Is any of them in this format? */
bool report_files_have(const struct report_files *files, enum report_format format);

/* Is what goes to stdout one document, which no other may follow? */
bool report_files_print_document(const struct report_files *files);

/* Before anything is traced: could they be written? 0, or the exit status; what is wrong was said. */
int report_files_check(const struct report_files *files);

/* What writes a report of a format. 0 or a negative errno. */
typedef int report_writer(void *context, FILE *out, enum report_format format);

/*
 * Writes a report to all. A file that cannot be written is said, and the others are written all the
 * same. 0, or what writing to stdout failed with.
 */
int report_files_write(struct report_files *files, const struct report_turn *turn,
                       report_writer *write, void *context);

#endif
