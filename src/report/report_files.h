/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where reports go: to stdout and to files, each in its format. Reports its own errors. */
#ifndef STACKBOX_REPORT_REPORT_FILES_H
#define STACKBOX_REPORT_REPORT_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "base/text.h"
#include "options/options.h"
#include "report/report.h"

/*
 * Names of report files, by a template: %n is the report's number, %t when it began, %% is %.
 * file_name_fits() matches a name against its template.
 */
#define FILE_NAME_TIME (sizeof("20240229-235959.999") - 1)

/* The `number`th report, from 1, which began at `began` (ns since the epoch). */
struct report_turn {
    uint64_t number, began;
    bool last;
};

/* Bits: by what names differ. -EINVAL: an unknown character follows a %. */
#define FILE_NAME_NUMBER 1
#define FILE_NAME_HAS_TIME 2
int file_name_varies(const char *path);

/*
 * Appends this report's file name. A report that is not the last gets its number before the suffix
 * if the template has neither %n nor %t.
 */
void file_name_add(struct text *name, const char *path, const struct report_turn *turn);

/*
 * Did this template make the whole of `name`? If so, `when` is its first %t, which sorts as times
 * do.
 */
bool file_name_fits(const char *path, const char *name, char when[FILE_NAME_TIME + 1]);

/*
 * How many report files to keep: we delete the oldest, by the times in their names. We only delete
 * regular files whose whole names the template makes, in its directory, to which no other user may
 * write.
 */
struct retention {
    uint64_t files, bytes; /* at most; 0: no limit */
};

/*
 * The times in one run's names: the last one; `ahead`, the greatest before the clock was set back
 * or before the run; and `back`, to which the clock was set. Names between `last` and `ahead` look
 * newer but are older; names before `back` are older, too.
 */
struct retention_times {
    char last[FILE_NAME_TIME + 1], ahead[FILE_NAME_TIME + 1], back[FILE_NAME_TIME + 1];
};

bool retention_is_asked(const struct retention *keep);

/* Does this template have times, in one directory? 0, or -EINVAL with one line in `error`. */
int retention_check_name(const char *path, struct text *error);
/* May we delete files in its directory? 0, or a negative errno with one line in `error`. */
int retention_check_place(const char *path, struct text *error);

/*
 * After the report `name` was written, deletes files beyond the limits, but never that report. 0 or
 * a negative errno: -EPERM if other users may write to the directory.
 */
int retention_prune(const struct retention *keep, const char *path, const char *name,
                    struct retention_times *times);

struct report_file {
    const char *path; /* may contain %n and %t; NULL: stdout */
    enum report_format format;
    struct retention_times times;
};

struct report_files {
    struct report_file items[MOST_STRINGS + 1];
    size_t count;
    bool plain;  /* no options: text for reading, with messages around it */
    bool failed; /* writing a file failed, and the error was reported */
    uint64_t began; /* when the last report began, for its names */
    uint64_t unwritten; /* reports in a row with a file that could not be written */
    struct retention keep;
};

struct report_files_options {
    const struct string_list *paths;
    const char *format; /* a format's name, or NULL */
    bool folded, flat, tree; /* the same, by their own options */
    bool live;          /* --live: the tree, or --flat, on stdout as well */
    uint64_t interval;  /* ns between reports; 0: just one */
    struct retention keep;   /* for each of the paths */
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
int report_files_choose(struct report_files *files, const struct report_files_options *options,
                        struct text *error);

/* Does a report go to stdout? */
bool report_files_use_stdout(const struct report_files *files);

/* Is any of them in this format? */
bool report_files_have(const struct report_files *files, enum report_format format);

/* Is stdout's report a single document, after which no other report may follow? */
bool report_files_print_document(const struct report_files *files);

/* Before tracing: can they be written? 0, or the exit status; errors were reported. */
int report_files_check(const struct report_files *files);

/* Writes a report in a format. 0 or a negative errno. */
typedef int report_writer(void *context, FILE *out, enum report_format format);

/*
 * Writes a report to all; if one file fails, reports the error and writes the others. 0, or the
 * error of writing to stdout.
 */
int report_files_write(struct report_files *files, const struct report_turn *turn,
                       report_writer *write, void *context);

/* The metadata of report files: the run, the machine, and losses. */
struct report_metadata {
    struct utsname system;
    struct text command_line;
    struct text losses; /* a line per kind */
    struct report_about about;
    uint64_t start;      /* of the report, by the monotonic clock */
    uint64_t next_began; /* and of the next, by the time of day; 0: not known yet */
};

/* `words`: the command line, up to a NULL. 0 or -ENOMEM; metadata_free after either. */
int metadata_init(struct report_metadata *metadata, const char *applet, char *const *words);
void metadata_free(struct report_metadata *metadata);

/* The report begins where the last one ended, or now. */
void metadata_begin(struct report_metadata *metadata);
/* The report ends now: call this before reading the counts. */
void metadata_end(struct report_metadata *metadata);
/* Its number of events. What `about` points to is valid until metadata_begin(). */
void metadata_count(struct report_metadata *metadata, uint64_t events);

#endif
