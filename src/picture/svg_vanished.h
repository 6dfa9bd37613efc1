/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * When two flames are compared: frames that only the older one has, which the picture does not
 * show.
 */
#ifndef STACKBOX_PICTURE_SVG_VANISHED_H
#define STACKBOX_PICTURE_SVG_VANISHED_H

#include "base/text.h"
#include "picture/flame.h"

#define SVG_VANISHED_SHOWN 20

struct svg_vanished {
    uint64_t count; /* all of them */
    /* The greatest of those whose parent still exists, greatest first. */
    uint32_t nodes[SVG_VANISHED_SHOWN];
    size_t shown;
    uint64_t lowest; /* how many have such a parent, shown or not */
};

void svg_find_vanished(struct svg_vanished *vanished, const struct flame *flame);

/*
 * Appends the names from the root's child to the node, separated by `;` and escaped. If the path
 * exceeds `most` bytes, its beginning is left out.
 */
void svg_add_path(struct text *path, const struct flame *flame, uint32_t node, size_t most);

#endif
