/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parses the bytes of a recording. Part of read.c. */
#ifndef STACKBOX_RECORDING_READER_H
#define STACKBOX_RECORDING_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Once is_bad or failed is set, nothing more is read, and everything is 0. */
struct reader {
    const unsigned char *at, *end;
    const char *const *strings; /* numbered from 0, which is "" */
    size_t string_count;
    bool is_bad; /* no writer writes such bytes */
    bool failed; /* memory ran out */
};

static inline bool reader_goes_on(const struct reader *reader)
{
    return !reader->is_bad && !reader->failed;
}

uint64_t reader_number(struct reader *reader);
/* A number up to `most`. */
uint64_t reader_number_to(struct reader *reader, uint64_t most);
/* How many items follow, each at least that many bytes long. */
size_t reader_count(struct reader *reader, size_t least_bytes);
const unsigned char *reader_bytes(struct reader *reader, size_t size);
const char *reader_string(struct reader *reader);
/* Zeroed memory for that many, or NULL: nothing more is read then. */
void *reader_room(struct reader *reader, size_t count, size_t size);

#endif
