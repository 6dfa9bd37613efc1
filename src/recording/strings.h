/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The strings of a recording being written, without duplicates: numbered from 1; 0 is the empty
 * one.
 */
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

/* A string's number; NULL has the empty one's. If memory runs out, `failed` is set. */
uint32_t strings_number(struct strings *strings, const char *string);
/* Appends them in the recording's format. */
void strings_put(const struct strings *strings, struct text *to);
void strings_free(struct strings *strings);

#endif
