/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* All that speaks to stderr. */
#ifndef STACKBOX_BASE_SAY_H
#define STACKBOX_BASE_SAY_H

#include "base/text.h"

/* A line on stderr, with the name of the running applet before it; control bytes are escaped. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same of each line of a text, which may be empty. */
void say_lines(const struct text *lines);
/* Why stdout could not be written to, by the errno of that. */
const char *output_error(int error);
/* The name that say() puts first: set once, by main(). */
extern const char *say_as;
/* Lines are added here instead, for who says them with say_write() later; NULL, or without memory: not. */
extern struct text *say_aside;
void say_write(const char *bytes, size_t length);
/* Called before such a line: what stands there and is no whole line must go first. Or NULL. */
extern void (*before_say)(void);

#endif
