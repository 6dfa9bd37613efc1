/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What report.c makes of a tally, and the formats print: blocks in order, of labels made once. */
#ifndef STACKBOX_OUTPUT_BLOCKS_H
#define STACKBOX_OUTPUT_BLOCKS_H

#include "output/report.h"

struct block {
    uint64_t value;
    const char *comm; /* as it is printed; "[unknown]" for an empty one */
    uint32_t pid;
    bool foreign;
    /* In the order in which the format prints them: indices of labels. */
    const uint32_t *frames;
    size_t frame_count;
};

struct blocks {
    struct block *items; /* the greatest last */
    size_t count;
    char **labels; /* sorted, each once: a frame as it is printed */
};

void text_write(FILE *out, const struct blocks *blocks, const struct report_options *options,
                const struct tm *when);
void folded_write(FILE *out, const struct blocks *blocks, const struct report_options *options,
                  const struct tm *when);

#endif
