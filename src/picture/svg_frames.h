/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The frames of an SVG file: as elements, for display, and as numbers, for the script. */
#ifndef STACKBOX_PICTURE_SVG_FRAMES_H
#define STACKBOX_PICTURE_SVG_FRAMES_H

#include <stdio.h>

#include "picture/svg.h"
#include "picture/svg_colors.h"
#include "picture/svg_layout.h"
#include "picture/svg_vanished.h"

#define SVG_ROW 16 /* px from a frame to the one above it */

struct svg_picture {
    FILE *out;
    const struct flame *flame;
    const struct svg_options *options;
    const struct svg_palette *palette;
    double width; /* px, which it is made for */
    struct svg_layout layout; /* without frames there is nothing to show */
    struct svg_vanished vanished;
    struct text title, count_name; /* escaped */
    double greatest_change;        /* of the frames drawn */
    double titles_from;            /* px: the script gives narrower frames their tooltip */
    uint32_t *name_numbers;        /* for the flame's names: numbers in the script's table, + 1 */
    struct text line;              /* not written yet */
};

/* Writes `line` to the file. A line that is incomplete, because memory ran out, stays. */
void svg_flush(struct svg_picture *picture);

/* After the layout is made. 0 or -ENOMEM. */
int svg_prepare_frames(struct svg_picture *picture);
void svg_write_frames(struct svg_picture *picture);
void svg_write_data(struct svg_picture *picture);

/* How much a frame has grown, as a share of everything; and as a text: +1.23%. */
double svg_change_of(const struct svg_picture *picture, const struct flame_node *node);
void svg_add_change(struct text *text, double change);

#endif
