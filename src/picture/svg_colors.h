/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A frame's colour depends on its kind and its name, so it is the same in every file. */
#ifndef STACKBOX_PICTURE_SVG_COLORS_H
#define STACKBOX_PICTURE_SVG_COLORS_H

#include <stdbool.h>

#include "base/text.h"
#include "picture/flame.h"

struct svg_color {
    uint8_t red, green, blue;
};

struct svg_palette;

/* NULL gives the palette by kinds. Returns NULL if there is none of this name. */
const struct svg_palette *svg_palette_by_name(const char *name);
void svg_palettes_add_names(struct text *names);

/* What a frame is or stands on: the palette by kinds has colours for these. */
enum svg_side {
    SVG_PLAIN,
    SVG_WAKER, /* on a `--` */
    SVG_RUNNING, /* the parts of a thread's time: [running] and so on */
    SVG_RUNNABLE,
    SVG_BLOCKED,
    SVG_SIDES,
};

/* For a frame of this name on top of one of `below`. */
enum svg_side svg_side_of(const struct flame_name *name, enum svg_side below);

struct svg_color svg_color_of(const struct svg_palette *palette, const struct flame_name *name,
                              enum svg_side side);

/* From -1, all blue, through 0, white, to 1, all red. */
struct svg_color svg_color_of_change(double change);

/*
 * On a dark page, half-transparent frames have light text, except for colours that this is true of:
 * those keep dark text. flame.css has the same pages.
 */
bool svg_color_is_pale(struct svg_color color);

#define SVG_DARK_PAGE ((struct svg_color){0x16, 0x16, 0x1a})
/* White frames can be seen on it. */
#define SVG_DIFFERENTIAL_PAGE ((struct svg_color){0xe4, 0xe4, 0xe8})

#endif
