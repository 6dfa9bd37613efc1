/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which frames of a flame are drawn, where, and in which colours. */
#ifndef STACKBOX_FLAME_SVG_LAYOUT_H
#define STACKBOX_FLAME_SVG_LAYOUT_H

#include <stdbool.h>

#include "base/text.h"
#include "flame/flame.h"

/* A frame's colour depends on its kind and its name, so it is the same in every file. */
struct svg_color {
    uint8_t red, green, blue;
};

struct svg_palette;

/* NULL gives the palette by kinds. Returns NULL if there is none of this name. */
const struct svg_palette *svg_palette_by_name(const char *name);

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
