/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The same in every SVG file: flame.css and flame.js, which are in the binary. */
#ifndef STACKBOX_PICTURE_SVG_PARTS_H
#define STACKBOX_PICTURE_SVG_PARTS_H

#include <stddef.h>

struct svg_part {
    const char *text;
    size_t length;
};

struct svg_part svg_style(void);
/* An expression: a function to call with the frames' data. */
struct svg_part svg_script(void);

#endif
