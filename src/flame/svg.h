/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A flame graph as one self-contained SVG file. Pure. */
#ifndef STACKBOX_FLAME_SVG_H
#define STACKBOX_FLAME_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"
#include "flame/flame.h"

/* Texts are UTF-8 without control bytes; what XML needs escaped is escaped here. */
struct svg_options {
    const char *title;      /* NULL: "Flame Graph" */
    const char *subtitle;   /* lines below it, or NULL */
    const char *count_name; /* what is counted; NULL: "samples" */
    const char *colors;     /* a palette's name, or NULL: by the kinds of frames */
    const char *notes;      /* a comment for readers of the file, or NULL */
    uint64_t width;         /* fixed, in px; 0: as wide as the window, made for 1200 */
    double least_width;     /* px: narrower frames are left out. If not given: 1 or more */
    bool least_given;
    bool inverted;          /* the root on top */
    bool differential;      /* nodes have a `before`, which colours them */
    bool negate;            /* and the colours are swapped */
};

/* Is this the name of a palette? */
bool svg_has_colors(const char *name);
void svg_add_colors(struct text *names);

/*
 * An empty flame becomes a picture that says so. 0 or -ENOMEM. The caller checks `out` for errors.
 */
int svg_write(FILE *out, const struct flame *flame, const struct svg_options *options);

/*
 * The same in every file: flame.css, and flame.js, which is an expression: a function to call with
 * the frames' data.
 */
extern __attribute__((visibility("hidden"))) const char svg_style[], svg_script[];

/* ---- Names and numbers in the file, whatever bytes they came from ---- */

/* The average width of a letter at 12 px in browsers' sans fonts. */
#define SVG_LETTER 7.08

/* Characters that XML does not allow become \xNN. All functions below take the result of this. */
void svg_add_clean(struct text *text, const char *bytes, size_t length);

/* As the text of an element or attribute; and as a script's string, with quotes. */
void svg_add_xml(struct text *text, const char *clean, size_t length);
void svg_add_json(struct text *text, const char *clean, size_t length);
/* The same for any bytes, escaped first. */
void svg_add_json_bytes(struct text *text, const char *bytes, size_t length);

/* 1,234 */
void svg_add_number(struct text *text, uint64_t number);
/* Without trailing zeros; up to four digits after the point. */
void svg_add_decimal(struct text *text, double number);

/* How many bytes fit into `letters`: whole characters. */
size_t svg_fitting(const char *clean, size_t length, size_t letters);

/* Which frames of a flame are drawn, where, and in which colours. */

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
 * On a dark page, half-transparent frames have light text; those of pale colours keep dark text.
 * flame.css has the same page colours.
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
    uint64_t start; /* the part of the root's value to the left of the frame */
    uint32_t depth; /* the root has 0 */
    enum svg_side side;
};

struct svg_layout {
    /* Parents before their children, which are sorted by name; the root first. */
    struct svg_frame *frames;
    size_t count;
    uint32_t levels;
    double least_width; /* px: narrower frames are left out */
    uint64_t narrow;    /* how many of these */
    uint64_t high;      /* how many were left out above the highest level drawn */
};

/*
 * `width` is the whole picture's, in px. least_width < 0: 1, or as much as keeps the picture within
 * SVG_MOST_PARTS. 0 or -ENOMEM; the caller frees `frames` after either.
 */
int svg_layout_make(struct svg_layout *layout, const struct flame *flame, double width,
                    double least_width);

#endif
