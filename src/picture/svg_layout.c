/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "picture/svg_layout.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/util.h"
#include "picture/flame_order.h"

#define LEAST_WIDTH 1.0
/* Frames wider than this are not left out by default: the highest are, instead. */
#define WIDEST_LEFT_OUT 100
/* From this width on a frame has its name, or a few letters of it. */
#define NAMED_WIDTH 28

/* A node that is drawn. They are in the nodes' order: parents before children. */
struct item {
    uint32_t node;
    uint32_t parent; /* an item */
    uint32_t depth;
    uint32_t first_child, children; /* in the list of siblings */
};

/* A child of an item; when sorted, those of one parent are adjacent, by name. */
struct sibling {
    uint32_t parent, item;
    const struct flame_name *name;
};

struct choice {
    const struct flame *flame;
    struct item *items;
    size_t count, room;
    struct sibling *siblings;
    double scale; /* px of a value of 1 */
};

static bool is_wide(const struct choice *choice, uint32_t node, double width)
{
    uint64_t value = choice->flame->nodes[node].value;

    return value && (!node || (double)value * choice->scale >= width);
}

/* A child is never wider than its parent: what is left is a tree. */
static int choose_wide(struct choice *choice, struct svg_layout *layout)
{
    const struct flame *flame = choice->flame;

    for (size_t i = 0; i < flame->count; i++) {
        if (!is_wide(choice, (uint32_t)i, layout->least_width)) {
            layout->narrow += flame->nodes[i].value != 0;
            continue;
        }
        if (array_reserve(&choice->items, &choice->room, choice->count + 1,
                          sizeof(*choice->items)))
            return -ENOMEM;
        choice->items[choice->count++] = (struct item){.node = (uint32_t)i};
    }
    return 0;
}

static size_t parts_of(const struct choice *choice, const struct item *item)
{
    return is_wide(choice, item->node, NAMED_WIDTH) ? SVG_NAMED_PARTS : 1;
}

static bool is_too_much(const struct choice *choice)
{
    size_t parts = 0;

    for (size_t i = 0; i < choice->count && parts <= SVG_MOST_PARTS; i++)
        parts += parts_of(choice, &choice->items[i]);
    return parts > SVG_MOST_PARTS;
}

static void leave_out_narrow(struct choice *choice, struct svg_layout *layout)
{
    size_t count = 0;

    for (size_t i = 0; i < choice->count; i++)
        if (is_wide(choice, choice->items[i].node, layout->least_width))
            choice->items[count++] = choice->items[i];
    layout->narrow += choice->count - count;
    choice->count = count;
}

/* The next larger round width. */
static double wider(double width)
{
    static const double steps[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    double unit = LEAST_WIDTH;
    size_t step = 0;

    while (unit * 9.9 < width)
        unit *= 10;
    while (unit * steps[step] < width * 1.01)
        step++;
    return unit * steps[step];
}

static bool is_before(const void *item, const void *node)
{
    return ((const struct item *)item)->node < *(const uint32_t *)node;
}

static uint32_t find_item(const struct choice *choice, uint32_t node)
{
    return (uint32_t)search_first(choice->items, choice->count, sizeof(*choice->items), &node, is_before);
}

static void find_parents(struct choice *choice)
{
    for (size_t i = 1; i < choice->count; i++) {
        struct item *item = &choice->items[i];
        item->parent = find_item(choice, choice->flame->nodes[item->node].parent);
        item->depth = choice->items[item->parent].depth + 1;
    }
}

/* A single stack of a hundred thousand frames has no narrow ones: its top is then not drawn. */
static int leave_out_high(struct choice *choice, struct svg_layout *layout)
{
    size_t *on_level = calloc(choice->count, sizeof(*on_level)), parts = 0, count = 0;
    uint32_t levels = 0;

    if (!on_level)
        return -ENOMEM;
    for (size_t i = 0; i < choice->count; i++)
        on_level[choice->items[i].depth] += parts_of(choice, &choice->items[i]);
    for (; parts + on_level[levels] <= SVG_MOST_PARTS; levels++)
        parts += on_level[levels];
    free(on_level);
    for (size_t i = 0; i < choice->count; i++)
        if (choice->items[i].depth < levels)
            choice->items[count++] = choice->items[i];
    layout->high = choice->count - count;
    choice->count = count;
    find_parents(choice);
    return 0;
}

static int compare_siblings(const void *left, const void *right)
{
    const struct sibling *one = left, *other = right;

    if (one->parent != other->parent)
        return one->parent < other->parent ? -1 : 1;
    return flame_compare_names(one->name, other->name);
}

static int sort_children(struct choice *choice)
{
    const struct flame *flame = choice->flame;
    size_t count = choice->count - 1;

    choice->siblings = calloc(count + 1, sizeof(*choice->siblings));
    if (!choice->siblings)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct item *item = &choice->items[i + 1];
        choice->siblings[i] = (struct sibling){
            item->parent, (uint32_t)i + 1, &flame->names[flame->nodes[item->node].name]};
    }
    qsort(choice->siblings, count, sizeof(*choice->siblings), compare_siblings);
    for (size_t i = count; i--;) {
        struct item *parent = &choice->items[choice->siblings[i].parent];
        parent->first_child = (uint32_t)i;
        parent->children++;
    }
    return 0;
}

/* Children are side by side from where their parent starts. */
static void place(struct svg_layout *layout, const struct choice *choice, const struct item *item,
                  uint64_t *next_start, enum svg_side side)
{
    const struct flame_node *node = &choice->flame->nodes[item->node];
    uint64_t start = next_start[item->depth];

    layout->frames[layout->count++] = (struct svg_frame){
        .node = node,
        .name = &choice->flame->names[node->name],
        .start = start,
        .depth = item->depth,
        .side = side,
    };
    next_start[item->depth] = start + node->value;
    next_start[item->depth + 1] = start;
    if (item->depth >= layout->levels)
        layout->levels = item->depth + 1;
}

/* From the root up, without recursion: lines may have any number of frames. */
static int place_all(struct svg_layout *layout, const struct choice *choice)
{
    uint32_t *waiting = calloc(choice->count + 1, sizeof(*waiting));
    uint64_t *next_start = calloc(choice->count + 1, sizeof(*next_start));
    enum svg_side *sides = calloc(choice->count, sizeof(*sides));
    size_t count = 1;

    layout->frames = calloc(choice->count, sizeof(*layout->frames));
    bool made = waiting && next_start && sides && layout->frames;
    while (made && count) {
        uint32_t index = waiting[--count];
        const struct item *item = &choice->items[index];
        const struct flame_name *name = &choice->flame->names[choice->flame->nodes[item->node].name];
        enum svg_side side = svg_side_of(name, sides[index]);
        place(layout, choice, item, next_start, side);
        side = name->kind == FLAME_MEETING ? SVG_WAKER : side;
        for (uint32_t i = item->children; i--;) {
            uint32_t child = choice->siblings[item->first_child + i].item;
            sides[child] = side;
            waiting[count++] = child;
        }
    }
    free(waiting);
    free(next_start);
    free(sides);
    return made ? 0 : -ENOMEM;
}

int svg_layout_make(struct svg_layout *layout, const struct flame *flame, double width,
                    double least_width)
{
    struct choice choice = {.flame = flame, .scale = width / (double)flame->nodes[0].value};
    bool ours = least_width < 0;

    *layout = (struct svg_layout){.least_width = ours ? LEAST_WIDTH : least_width};
    int result = choose_wide(&choice, layout);
    while (!result && ours && layout->least_width < WIDEST_LEFT_OUT && is_too_much(&choice)) {
        layout->least_width = wider(layout->least_width);
        leave_out_narrow(&choice, layout);
    }
    if (!result)
        find_parents(&choice);
    if (!result && ours && is_too_much(&choice))
        result = leave_out_high(&choice, layout);
    if (!result)
        result = sort_children(&choice);
    if (!result)
        result = place_all(layout, &choice);
    free(choice.items);
    free(choice.siblings);
    return result;
}

void svg_layout_free(struct svg_layout *layout)
{
    free(layout->frames);
    *layout = (struct svg_layout){0};
}
