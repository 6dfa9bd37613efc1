/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/protobuf.h"

#include <stdint.h>

#include "base/text.h"

/* How a field's value is encoded. */
enum wire_type {
    WIRE_VARINT = 0,
    WIRE_BYTES = 2,
};

/* Seven bits per byte, lowest first; the eighth says that another byte follows. */
void protobuf_add_packed(struct text *row, uint64_t value)
{
    char bytes[10];
    size_t length = 0;

    for (; value >> 7; value >>= 7)
        bytes[length++] = (char)(value | 0x80);
    bytes[length++] = (char)value;
    text_append(row, bytes, length);
}

static void add_tag(struct text *message, unsigned field, enum wire_type type)
{
    protobuf_add_packed(message, (uint64_t)field << 3 | type);
}

void protobuf_add_number(struct text *message, unsigned field, uint64_t value)
{
    if (!value)
        return;
    add_tag(message, field, WIRE_VARINT);
    protobuf_add_packed(message, value);
}

void protobuf_add_head(struct text *message, unsigned field, size_t length)
{
    add_tag(message, field, WIRE_BYTES);
    protobuf_add_packed(message, length);
}

void protobuf_add_bytes(struct text *message, unsigned field, const char *bytes, size_t length)
{
    protobuf_add_head(message, field, length);
    if (length)
        text_append(message, bytes, length);
}
