/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A flame graph as one self-contained SVG file. Pure. */
#ifndef STACKBOX_PICTURE_SVG_H
#define STACKBOX_PICTURE_SVG_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"
#include "picture/flame.h"

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

#endif
