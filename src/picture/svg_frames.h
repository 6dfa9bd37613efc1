/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The frames of an SVG file: as elements, which are seen, and as numbers for the script. */
#ifndef STACKBOX_PICTURE_SVG_FRAMES_H
#define STACKBOX_PICTURE_SVG_FRAMES_H

#include <stdio.h>

#include "picture/svg.h"
#include "picture/svg_colors.h"
#include "picture/svg_layout.h"
#include "picture/svg_vanished.h"

#define SVG_ROW 16 /* px from a frame to the one on it */

struct svg_picture {
    FILE *out;
    const struct flame *flame;
    const struct svg_options *options;
    const struct svg_palette *palette;
    double width; /* px, that it is made for */
    struct svg_layout layout; /* without frames: there is nothing to be seen */
    struct svg_vanished vanished;
    struct text title, count_name; /* clean */
    double greatest_change;        /* of those that are drawn */
    double titles_from;            /* px: narrower frames get their tooltip by the script */
    uint32_t *name_numbers;        /* of the flame's names: numbers in the script's table, + 1 */
    struct text line;              /* what is not written yet */
};

/* What is in `line` goes to the file. A line that is not whole, because memory ran out, stays. */
void svg_flush(struct svg_picture *picture);

/* Once the layout is made. 0 or -ENOMEM. */
int svg_prepare_frames(struct svg_picture *picture);
void svg_write_frames(struct svg_picture *picture);
void svg_write_data(struct svg_picture *picture);

/* By how much of all a frame is more than before; and as a text: +1.23%. */
double svg_change_of(const struct svg_picture *picture, const struct flame_node *node);
void svg_add_change(struct text *text, double change);

#endif
