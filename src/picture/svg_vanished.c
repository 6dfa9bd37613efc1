/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "picture/svg_vanished.h"

#include <string.h>

#include "base/text.h"
#include "picture/svg_text.h"

/* Frames in one path: more are not helpful. */
#define PATH_FRAMES 64

static bool has_vanished(const struct flame_node *node)
{
    return !node->value && node->before;
}

/* Among the greatest, after those of the same size. */
static void insert(struct svg_vanished *vanished, const struct flame *flame, uint32_t node)
{
    size_t at = vanished->shown;

    while (at && flame->nodes[vanished->nodes[at - 1]].before < flame->nodes[node].before)
        at--;
    if (at == SVG_VANISHED_SHOWN)
        return;
    size_t behind = vanished->shown - at;
    if (vanished->shown < SVG_VANISHED_SHOWN)
        vanished->shown++;
    else
        behind--;
    memmove(&vanished->nodes[at + 1], &vanished->nodes[at], behind * sizeof(vanished->nodes[0]));
    vanished->nodes[at] = node;
}

void svg_find_vanished(struct svg_vanished *vanished, const struct flame *flame)
{
    *vanished = (struct svg_vanished){0};
    for (size_t i = 1; i < flame->count; i++) {
        const struct flame_node *node = &flame->nodes[i];
        if (!has_vanished(node))
            continue;
        vanished->count++;
        if (node->parent && has_vanished(&flame->nodes[node->parent]))
            continue;
        vanished->lowest++;
        insert(vanished, flame, (uint32_t)i);
    }
}

void svg_add_path(struct text *path, const struct flame *flame, uint32_t node, size_t most)
{
    uint32_t nodes[PATH_FRAMES];
    size_t count = 0, length = 0;

    for (; node && count < PATH_FRAMES; node = flame->nodes[node].parent) {
        length += flame->names[flame->nodes[node].name].length + 1;
        if (count && length > most)
            break;
        nodes[count++] = node;
    }
    if (node)
        text_add(path, "..;");
    while (count--) {
        const struct flame_name *name = &flame->names[flame->nodes[nodes[count]].name];
        svg_add_clean(path, name->text, name->length);
        if (count)
            text_add(path, ";");
    }
}
