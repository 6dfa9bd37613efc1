/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unpack/unpack.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define LEAST_ROOM 4096
#define WORTH_A_CALL 32

bool source_take(struct source *source, size_t bytes, struct source *piece)
{
    if (bytes > source->left)
        return false;
    *piece = (struct source){source->at, bytes};
    source->at += bytes;
    source->left -= bytes;
    return true;
}

bool source_take_zeros(struct source *source, size_t bytes)
{
    struct source zeros;

    if (!source_take(source, bytes, &zeros))
        return false;
    while (zeros.left && !*zeros.at) {
        zeros.at++;
        zeros.left--;
    }
    return !zeros.left;
}

uint64_t low_first(const unsigned char *bytes, size_t count)
{
    uint64_t number = 0;

    while (count--)
        number = number << 8 | bytes[count];
    return number;
}

int sink_open(struct sink *sink, struct text *text, size_t most)
{
    size_t greatest = SIZE_MAX / 4 - text->length; /* so that no sum of sizes overflows */

    *sink = (struct sink){text, text->length + (most < greatest ? most : greatest)};
    int result = sink_reserve(sink, 0);
    if (!result)
        text->data[text->length] = '\0';
    return result;
}

/* Doubled, but never more than the limit. */
static size_t better_room(const struct sink *sink, size_t need)
{
    size_t room = sink->text->room * 2;

    if (room < LEAST_ROOM)
        room = LEAST_ROOM;
    if (room > sink->limit + 1)
        room = sink->limit + 1;
    return room < need ? need : room;
}

int sink_reserve(struct sink *sink, size_t bytes)
{
    struct text *text = sink->text;
    size_t need = text->length + bytes + 1;

    if (bytes > sink->limit - text->length)
        return -EFBIG;
    if (need <= text->room)
        return 0;
    size_t room = better_room(sink, need);
    char *data = realloc(text->data, room);
    if (!data)
        return -ENOMEM;
    text->data = data;
    text->room = room;
    return 0;
}

int sink_move(struct sink *sink, struct source *source, size_t bytes)
{
    struct text *text = sink->text;
    struct source piece;

    if (!source_take(source, bytes, &piece))
        return -EBADMSG;
    int result = sink_reserve(sink, bytes);
    if (result)
        return result;
    memcpy(text->data + text->length, piece.at, bytes);
    text->length += bytes;
    return 0;
}

void sink_repeat(struct text *text, size_t distance, size_t bytes)
{
    char *to = text->data + text->length;
    const char *from = to - distance;

    text->length += bytes;
    /* Most repeats have few bytes, for which a call takes longer than copying. */
    if (bytes >= WORTH_A_CALL && distance >= bytes) {
        memcpy(to, from, bytes);
        return;
    }
    /* A repeat may overlap what it writes. */
    while (bytes--)
        *to++ = *from++;
}
