/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names come from outside: bytes that a terminal or a reader could take as a command are made
 * harmless.
 */
#ifndef STACKBOX_BASE_ESCAPE_H
#define STACKBOX_BASE_ESCAPE_H

#include "base/text.h"

/*
 * Appends `bytes`. Each byte below 0x20, 0x7f, each C1 control (U+0080 to U+009F), each control
 * of a line's direction or end (such as U+202E), and each byte that is not part of valid UTF-8 becomes the four characters \xNN.
 */
void escape_bytes(struct text *text, const char *bytes, size_t length);

#endif
