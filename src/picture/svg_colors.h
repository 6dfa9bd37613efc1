/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What colour a frame has: by its kind and by its name, so the same in every file. */
#ifndef STACKBOX_PICTURE_SVG_COLORS_H
#define STACKBOX_PICTURE_SVG_COLORS_H

#include <stdbool.h>

#include "base/text.h"
#include "picture/flame.h"

struct svg_color {
    uint8_t red, green, blue;
};

struct svg_palette;

/* NULL is the palette for NULL: by the kinds. NULL as a result: there is none of this name. */
const struct svg_palette *svg_palette_by_name(const char *name);
void svg_palettes_add_names(struct text *names);

/* What a frame stands on, or is: of these the palette of kinds has colours. */
enum svg_side {
    SVG_PLAIN,
    SVG_WAKER, /* on a `--` */
    SVG_RUNNING, /* the parts of a thread's time: [running] and so on */
    SVG_RUNNABLE,
    SVG_BLOCKED,
    SVG_SIDES,
};

/* That of a frame of this name on one of `below`. */
enum svg_side svg_side_of(const struct flame_name *name, enum svg_side below);

struct svg_color svg_color_of(const struct svg_palette *palette, const struct flame_name *name,
                              enum svg_side side);

/* From -1, all blue, by 0, white, to 1, all red. */
struct svg_color svg_color_of_change(double change);

/*
 * What is half transparent on a dark page has light text on it, but for a colour that this is true
 * of: it has dark text there, too. flame.css has the same pages.
 */
bool svg_color_is_pale(struct svg_color color);

#define SVG_DARK_PAGE ((struct svg_color){0x16, 0x16, 0x1a})
/* White frames are seen on it. */
#define SVG_DIFFERENTIAL_PAGE ((struct svg_color){0xe4, 0xe4, 0xe8})

#endif
