/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Numbers texts, or keys of any bytes, as they come: 0, 1, 2 ... */
#ifndef STACKBOX_REPORT_NUMBERING_H
#define STACKBOX_REPORT_NUMBERING_H

#include <stdint.h>

#include "base/index.h"
#include "base/text.h"

/* {0} is empty. */
struct numbering {
    struct text bytes; /* of all keys, one after another */
    size_t *ends;      /* of each */
    size_t count, room;
    struct index index;
};

/* The number of a key, which is copied; *added (or NULL): it is new. 0 or -ENOMEM. */
int numbering_find(struct numbering *numbering, const void *key, size_t length, uint32_t *number,
                   bool *added);
/* The key with this number. */
const char *numbering_key(const struct numbering *numbering, uint32_t number, size_t *length);
void numbering_free(struct numbering *numbering);

#endif
