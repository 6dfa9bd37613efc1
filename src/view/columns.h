/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How wide text is on a terminal. */
#ifndef STACKBOX_VIEW_COLUMNS_H
#define STACKBOX_VIEW_COLUMNS_H

#include <stddef.h>

/*
 * How many bytes of a text (UTF-8, without control characters) fit into that many columns: whole
 * characters. What may be two columns wide counts as two, so that a line is never too long.
 */
size_t columns_fit(const char *text, size_t length, size_t columns);

#endif
