/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names and numbers as written in an SVG file, whatever bytes they came from. */
#ifndef STACKBOX_PICTURE_SVG_TEXT_H
#define STACKBOX_PICTURE_SVG_TEXT_H

#include <stdint.h>

#include "base/text.h"

/* The average width of a letter at 12 px in browsers' sans fonts. */
#define SVG_LETTER 7.08

/* Characters that XML does not allow become \xNN. All functions below take the result of this. */
void svg_add_clean(struct text *text, const char *bytes, size_t length);

/* As the text of an element or attribute; and as a script's string, with quotes. */
void svg_add_xml(struct text *text, const char *clean, size_t length);
void svg_add_json(struct text *text, const char *clean, size_t length);
/* The same for any bytes, escaped first. */
void svg_add_json_bytes(struct text *text, const char *bytes, size_t length);

/* 1,234 */
void svg_add_number(struct text *text, uint64_t number);
/* Without trailing zeros; up to four digits after the point. */
void svg_add_decimal(struct text *text, double number);

/* How many bytes fit into `letters`: whole characters. */
size_t svg_fitting(const char *clean, size_t length, size_t letters);

#endif
