/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Everything that goes to stderr, and exit statuses. */
#ifndef STACKBOX_BASE_SAY_H
#define STACKBOX_BASE_SAY_H

#include <stdio.h>

#include "base/text.h"

/* A line on stderr, prefixed with the name of the running applet; control bytes are escaped. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and returns EXIT_FAILURE. */
int fail_saying(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for each line of a text, which may be empty. */
void say_lines(const struct text *lines);
/* Says "cannot WHAT: WHY", WHY from text_or_error(), and frees `why`. Returns EXIT_FAILURE. */
int say_cannot(const char *what, struct text *why, int error);
/* Flushes what was written to `out` since errno was set to 0. 0 or a negative errno. */
int output_flush(FILE *out);
/* Writes a text to `out`, then calls output_flush(). */
int output_text(FILE *out, const struct text *text);
/*
 * The exit status after output: 0 if `result` is 0, or -EPIPE, as a reader that left is no error,
 * and no line would be read. Otherwise says "cannot WHAT: WHY", and it is EXIT_FAILURE.
 */
int output_end(const char *what, int result);
/* The name that say() prints first: set once, by main(). */
extern const char *say_as;
/* If not NULL, say() appends lines here, to be printed later; without memory it prints them. */
extern struct text *say_aside;
/* Called before each such line, to remove an unfinished line from the terminal; or NULL. */
extern void (*before_say)(void);

/* Exit statuses beside 0 and EXIT_FAILURE. */
enum {
    EXIT_USAGE = 2, /* the command line is wrong */
    EXIT_GREW = 3,  /* a comparison found more growth than allowed */
    /* Of a run with a command, as in env(1). */
    EXIT_TRACER = 125, /* tracing failed: 1 in a run without a command */
    EXIT_NOT_RUN = 126,
    EXIT_NOT_FOUND = 127,
};

#endif
