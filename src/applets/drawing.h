/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reads folded stacks from files, and writes pictures and texts. Reports its own errors. */
#ifndef STACKBOX_APPLETS_DRAWING_H
#define STACKBOX_APPLETS_DRAWING_H

#include "flame/flame.h"
#include "flame/svg.h"
#include "options/options.h"
#include "recording/show.h"
#include "report/report_files.h"

struct drawing_options {
    const char *title, *subtitle, *count_name, *notes;
    const char *old; /* to compare with, or NULL */
    struct show_options show; /* of recordings: their names, and --by */
    bool reversed, normalize;
    struct verdict_options verdict; /* without a text: no verdict was asked for */
};

/* The caller sets the options, the files and `svg`, except for its texts. */
struct drawing {
    const struct drawing_options *options;
    struct report_files files;
    struct flame flame;
    struct folded now, old;
    struct svg_options svg;
    struct text subtitle, texts[3]; /* the texts of `svg` */
    uint64_t *scaled;               /* the values before, scaled; or NULL */
    bool differential;
    struct text kind;    /* what the recordings count */
    const char *kind_of; /* as the first of them says */
    bool is_mixed; /* recordings are compared with folded stacks */
};

bool drawing_is_stdin(const char *path);

/*
 * Refuses a command, and two files from stdin, which is read without any; `old` is one more, or
 * NULL. 0, or -EINVAL with one line in `error`.
 */
int drawing_check_words(const struct arguments *arguments, const char *old, struct text *error);

/*
 * Reads the files that the words name, or stdin, and writes what was asked for. Returns the exit
 * status.
 */
int drawing_make(struct drawing *drawing, const struct arguments *arguments);
void drawing_close(struct drawing *drawing);

#endif
