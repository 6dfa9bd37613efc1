/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* An applet: what its command line, its help and its man page are made from. */
#ifndef STACKBOX_OPTIONS_APPLET_H
#define STACKBOX_OPTIONS_APPLET_H

#include "options/options.h"

/* A list of things with what they mean, or, where no row has a term, paragraphs. */
struct manual_row {
    const char *term, *text;
};

struct manual_section {
    const char *title;
    const struct manual_row *rows; /* up to one without a text */
};

struct applet {
    const char *name;
    const char *summary;  /* one line, without a full stop */
    const char *usage;    /* what follows the name */
    const char *about;    /* one paragraph */
    const struct manual_section *sections; /* up to one without a title */
    const struct manual_row *examples;     /* command lines and what they do, up to {0} */
    const struct manual_row *output;       /* what its output means, beside what all have; man page alone; or NULL */
    const struct manual_row *notes;        /* paragraphs of the man page alone, up to {0} */
    const struct option *const *options;   /* tables, up to a NULL */
    bool filter; /* it traces nothing: no signals and no command are its own */
    bool no_stacks; /* it prints none */
    void *settings;       /* what the options are put into, all zeros at first, */
    void (*begin)(void *settings); /* and what puts the defaults there that are others; or NULL */
    /* The exit status. The words stay main()'s. */
    int (*run)(const struct arguments *arguments);
};

/*
 * Says what is wrong with a command line, `result` being what a check of it came to, and returns the
 * exit status: memory that ran out is not the user's doing.
 */
int applet_refuse(int result, const struct text *error, bool has_command);

/* The rows that every applet's tables end with: -h, --help and --man. */
extern const struct option common_options[];

#endif
