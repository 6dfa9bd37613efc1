/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The text of every frame of a report, made once: frames are compared by its rank, a number. */
#ifndef STACKBOX_OUTPUT_LABELS_H
#define STACKBOX_OUTPUT_LABELS_H

#include "output/report.h"

/* Frames that stand for what is not there. */
enum special_frame {
    NO_STACK_FRAME,
    FULL_FRAME,
    DELIMITER_FRAME,
    SPECIAL_FRAMES,
};

struct labels {
    char **texts;    /* sorted, each once */
    size_t count;
    uint32_t *ranks; /* of every symbol, and behind them of every special frame */
    size_t symbol_count;
};

/* 0 or -ENOMEM; labels_free after either. */
int labels_make(struct labels *labels, const struct symbols *symbols,
                const struct report_options *options);
void labels_free(struct labels *labels);

static inline uint32_t labels_special(const struct labels *labels, enum special_frame special)
{
    return labels->ranks[labels->symbol_count + special];
}

#endif
