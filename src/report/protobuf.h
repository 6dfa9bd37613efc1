/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Fields of protocol buffer messages, appended to a text, whose `failed` tells of memory that ran
 * out. A message that is a field of another one is made first, in a text of its own.
 */
#ifndef STACKBOX_REPORT_PROTOBUF_H
#define STACKBOX_REPORT_PROTOBUF_H

#include <stdint.h>

#include "base/text.h"

/* A number of a packed row of them, in which 0 is one, too. */
void protobuf_add_packed(struct text *row, uint64_t value);

/* A number; 0 is what readers take where there is none, and left out. */
void protobuf_add_number(struct text *message, unsigned field, uint64_t value);

/* What stands before that many bytes: they are to follow. */
void protobuf_add_head(struct text *message, unsigned field, size_t length);

/* Bytes, a text, a packed row or a message. */
void protobuf_add_bytes(struct text *message, unsigned field, const char *bytes, size_t length);

#endif
