/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which frames of a flame are drawn, and where. */
#ifndef STACKBOX_PICTURE_SVG_LAYOUT_H
#define STACKBOX_PICTURE_SVG_LAYOUT_H

#include <stdbool.h>

#include "picture/flame.h"
#include "picture/svg_colors.h"

/*
 * Limits: more makes the file large and browsers slow, and the smallest frames cannot be seen
 * anyway. A frame with its name on it costs as much as four without.
 */
#define SVG_MOST_PARTS 24000
#define SVG_NAMED_PARTS 4

struct svg_frame {
    const struct flame_node *node;
    const struct flame_name *name;
    uint64_t start; /* how much of the root's value is to its left */
    uint32_t depth; /* the root has 0 */
    enum svg_side side;
};

struct svg_layout {
    /* Parents before their children, which are sorted by name; the root first. */
    struct svg_frame *frames;
    size_t count;
    uint32_t levels;
    double least_width; /* px: narrower frames are left out */
    uint64_t narrow;    /* how many were */
    uint64_t high;      /* and how many because they are above the highest level drawn */
};

/*
 * `width` is the whole picture's, in px. least_width < 0: 1, or whatever keeps it to
 * SVG_MOST_PARTS. 0 or -ENOMEM; svg_layout_free after either.
 */
int svg_layout_make(struct svg_layout *layout, const struct flame *flame, double width,
                    double least_width);
void svg_layout_free(struct svg_layout *layout);

#endif
