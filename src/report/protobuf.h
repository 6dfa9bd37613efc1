/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Protocol buffer fields, appended to a text, whose `failed` says that memory ran out. A message
 * within another is made first, in a text of its own.
 */
#ifndef STACKBOX_REPORT_PROTOBUF_H
#define STACKBOX_REPORT_PROTOBUF_H

#include <stdint.h>

#include "base/text.h"

/* A number in a packed row, where 0 counts. */
void protobuf_add_packed(struct text *row, uint64_t value);

/* A number; 0 is the default and left out. */
void protobuf_add_number(struct text *message, unsigned field, uint64_t value);

/* The head of that many bytes, which are to follow. */
void protobuf_add_head(struct text *message, unsigned field, size_t length);

/* Bytes, a text, a packed row or a message. */
void protobuf_add_bytes(struct text *message, unsigned field, const char *bytes, size_t length);

#endif
