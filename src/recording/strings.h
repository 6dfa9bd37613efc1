/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Strings of a recording that is written, each once: they are numbered from 1, and 0 is the empty one. */
#ifndef STACKBOX_RECORDING_STRINGS_H
#define STACKBOX_RECORDING_STRINGS_H

#include "base/index.h"
#include "base/text.h"

/* {0} is empty. */
struct strings {
    struct index index;
    size_t *starts; /* in `bytes`, where each has its NUL */
    size_t count, room;
    struct text bytes;
    bool failed;
};

/* The number of a string; of NULL that of the empty one. Where memory runs out `failed` says so. */
uint32_t strings_number(struct strings *strings, const char *string);
/* Appends them as the recording has them. */
void strings_put(const struct strings *strings, struct text *to);
void strings_free(struct strings *strings);

/* For whoever looks strings up. */
uint64_t strings_hash(const char *string);

#endif
