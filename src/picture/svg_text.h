/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names and numbers as they stand in an SVG file, whatever bytes they came from. */
#ifndef STACKBOX_PICTURE_SVG_TEXT_H
#define STACKBOX_PICTURE_SVG_TEXT_H

#include <stdint.h>

#include "base/text.h"

/* A letter of 12 px is about so wide, on the average, in the sans faces that browsers have. */
#define SVG_LETTER 7.08

/* What XML has no place for becomes \xNN. What the others take has gone through this. */
void svg_add_clean(struct text *text, const char *bytes, size_t length);

/* As the text of an element or of an attribute; and as a script's string, with quotes. */
void svg_add_xml(struct text *text, const char *clean, size_t length);
void svg_add_json(struct text *text, const char *clean, size_t length);
/* The same of any bytes, escaped first. */
void svg_add_json_bytes(struct text *text, const char *bytes, size_t length);

/* 1,234 */
void svg_add_number(struct text *text, uint64_t number);
/* Without zeros that say nothing; up to four digits behind the point. */
void svg_add_decimal(struct text *text, double number);

/* How many of the bytes are at most `letters` wide: whole characters. */
size_t svg_fitting(const char *clean, size_t length, size_t letters);

#endif
