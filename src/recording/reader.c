/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "recording/reader.h"

#include <stdlib.h>

uint64_t reader_number(struct reader *reader)
{
    uint64_t number = 0;
    unsigned byte = 0x80;

    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        if (!reader_goes_on(reader) || reader->at == reader->end || shift > 63) {
            reader->is_bad = reader->is_bad || !reader->failed;
            return 0;
        }
        byte = *reader->at++;
        number |= (uint64_t)(byte & 0x7f) << shift;
    }
    return number;
}

uint64_t reader_number_to(struct reader *reader, uint64_t most)
{
    const uint64_t number = reader_number(reader);

    reader->is_bad = reader->is_bad || number > most;
    return number > most ? 0 : number;
}

size_t reader_count(struct reader *reader, size_t least_bytes)
{
    const uint64_t count = reader_number(reader);

    /* Of what follows the number itself. */
    reader->is_bad = reader->is_bad || count > (uint64_t)(reader->end - reader->at) / least_bytes;
    return reader->is_bad ? 0 : (size_t)count;
}

const unsigned char *reader_bytes(struct reader *reader, size_t size)
{
    const unsigned char *at = reader->at;

    if (!reader_goes_on(reader) || size > (size_t)(reader->end - at)) {
        reader->is_bad = reader->is_bad || !reader->failed;
        return NULL;
    }
    reader->at += size;
    return at;
}

const char *reader_string(struct reader *reader)
{
    return reader->strings[reader_number_to(reader, reader->string_count)];
}

void *reader_room(struct reader *reader, size_t count, size_t size)
{
    void *room = reader_goes_on(reader) ? calloc(count + 1, size) : NULL;

    reader->failed = reader->failed || (!room && !reader->is_bad);
    return room;
}
