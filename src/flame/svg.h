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
 * An empty flame becomes a picture that says so. 0 or -ENOMEM: the caller checks whether it was
 * written.
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

#endif
