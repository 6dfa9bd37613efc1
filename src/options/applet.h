/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* An applet: its command line, its help and its man page are made from this. */
#ifndef STACKBOX_OPTIONS_APPLET_H
#define STACKBOX_OPTIONS_APPLET_H

#include <stdio.h>

#include "options/options.h"

/* A list of terms and their meanings, or, where no row has a term, paragraphs. */
struct manual_row {
    const char *term, *text;
};

struct manual_section {
    const char *title;
    const struct manual_row *rows; /* up to one without text */
};

struct applet {
    const char *name;
    const char *summary;  /* one line, without a full stop */
    const char *usage;    /* what follows the name */
    const char *about;    /* one paragraph */
    const struct manual_section *sections; /* up to one without a title */
    const struct manual_row *examples;     /* command lines and what they do, up to {0} */
    /* its output, beyond the shared part; man page, or NULL */
    const struct manual_row *output;
    const struct manual_row *notes;        /* paragraphs for the man page only, up to {0} */
    const struct option *const *options;   /* tables, up to a NULL */
    bool filter; /* it does not trace: it handles no signals and runs no command */
    bool no_stacks; /* it prints no stacks */
    void *settings;       /* where the options are stored, all zeros at first, */
    void (*begin)(void *settings); /* and what sets defaults that are not zero; or NULL */
    /* Returns the exit status. The words stay main()'s. */
    int (*run)(const struct arguments *arguments);
};

/*
 * Reports the error in a command line, for which checking it returned `result`, and returns the
 * exit status, which differs if memory ran out. Frees the text.
 */
int applet_refuse(int result, struct text *error, bool has_command);

/* Unless `result` is 0, ends its error with a hint to the applet's help. */
int applet_see_help(int result, struct text *error);

/* The rows that end every applet's tables: -h, --help and --man. */
extern const struct option common_options[];

/*
 * Makes links in `directory`, relative ones if the binary itself is there. Existing files stay,
 * which is an error unless they lead to this binary. `called` is argv[0], `all` are the applets, up
 * to a NULL. Returns the exit status.
 */
int install_links(const char *directory, const char *called, const struct applet *const *all);

/* For a terminal of 80 columns: the options needed most, on one screen, and everything. */
void manual_brief(FILE *out, const struct applet *applet);
void manual_help(FILE *out, const struct applet *applet);
/* roff, with the man(7) macros. */
void manual_man(FILE *out, const struct applet *applet, const struct applet *const *all);

/* The applets, one per line. */
void manual_list(FILE *out, const struct applet *const *all);
/* Help and man page of stackbox itself; `options` are its own tables, up to a NULL. */
void manual_main_help(FILE *out, const struct option *const *options,
                      const struct applet *const *all);
void manual_main_man(FILE *out, const struct option *const *options,
                     const struct applet *const *all);

#endif
