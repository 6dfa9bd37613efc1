/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The lines below the title. */
#ifndef STACKBOX_PICTURE_SVG_HEAD_H
#define STACKBOX_PICTURE_SVG_HEAD_H

#include "picture/svg_frames.h"

#define SVG_HEAD_ROWS 48 /* px, where they begin */
#define SVG_HEAD_ROW 16
#define SVG_MOST_HEAD_LINES 32

struct svg_head {
    struct text text; /* escaped */
    struct {
        size_t start, length;
        bool goes_on; /* in the next line, as it would be too long */
    } lines[SVG_MOST_HEAD_LINES];
    size_t count;
};

/* The subtitle's lines, and a note about frames that were left out. 0 or -ENOMEM. */
int svg_head_make(struct svg_head *head, const struct svg_picture *picture);
void svg_head_free(struct svg_head *head);

#endif
