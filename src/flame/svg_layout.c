/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "flame/flame.h"
#include "flame/svg.h"

#define LEAST_WIDTH 1.0
/* By default the layout leaves out no frames wider than this, but the highest instead. */
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

/* Chooses the wide frames: these are a tree, as a child is never wider than its parent. */
static int choose_wide(struct choice *choice, struct svg_layout *layout)
{
    const struct flame *flame = choice->flame;

    for (size_t i = 0; i < flame->count; i++) {
        if (!is_wide(choice, (uint32_t)i, layout->least_width)) {
            layout->narrow += flame->nodes[i].value != 0;
            continue;
        }
        if (ARRAY_RESERVE(choice->items, choice->room, choice->count + 1))
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
    return (uint32_t)search_first(choice->items, choice->count, sizeof(*choice->items), &node,
                                  is_before);
}

static void find_parents(struct choice *choice)
{
    for (size_t i = 1; i < choice->count; i++) {
        struct item *item = &choice->items[i];
        item->parent = find_item(choice, choice->flame->nodes[item->node].parent);
        item->depth = choice->items[item->parent].depth + 1;
    }
}

/* A single stack of a hundred thousand frames has no narrow ones: leaves out its top. */
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

    return order_of(one->parent, other->parent) ?: flame_compare_names(one->name, other->name);
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
        const struct flame *flame = choice->flame;
        const struct flame_name *name = &flame->names[flame->nodes[item->node].name];
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

/*
 * Black text has a contrast of 4.5 or more on all colours, also on frames below a zoomed one, which
 * are half transparent. The unit test computes this for every colour.
 */

/* Colours between `base` and base + way, and up to `light` lighter. */
struct range {
    struct svg_color base, way, light;
};

enum range_name {
    NO_RANGE, WARM, STEEL, GREEN, AQUA, VIOLET, RED, BLUE, YELLOW, PURPLE, ORANGE, MEMORY, IO,
};

static const struct range ranges[] = {
    /* Warm against cool, as users with red-green colour blindness can tell these apart. */
    [WARM] = {{205, 88, 42}, {10, 108, 8}, {20, 4, 10}},
    [STEEL] = {{112, 152, 196}, {30, 22, 16}, {10, 8, 6}},
    [GREEN] = {{88, 178, 78}, {40, 26, 20}, {8, 8, 8}},
    [AQUA] = {{70, 188, 186}, {32, 16, 20}, {8, 8, 8}},
    [VIOLET] = {{166, 136, 226}, {30, 20, 14}, {6, 6, 6}},

    [RED] = {{214, 84, 76}, {14, 60, 56}, {8, 8, 8}},
    [BLUE] = {{110, 140, 226}, {40, 40, 14}, {6, 6, 6}},
    [YELLOW] = {{200, 172, 40}, {18, 22, 20}, {8, 6, 8}},
    [PURPLE] = {{184, 110, 206}, {24, 46, 20}, {6, 6, 6}},
    [ORANGE] = {{216, 116, 36}, {8, 50, 10}, {8, 8, 8}},
    [MEMORY] = {{92, 176, 120}, {20, 22, 60}, {8, 8, 8}},
    [IO] = {{112, 142, 206}, {40, 44, 22}, {8, 8, 8}},
};

static const struct svg_color delimiter_color = {200, 200, 200};
static const struct svg_color meeting_color = {130, 130, 130};

/* Ranges; `scoped`: for names that contain `::`; NO_RANGE: as others. */
struct svg_palette {
    char name[7];
    uint8_t plain, kernel, jit, inlined, waker, scoped;
};

#define ONE(range) range, range, range, range, range, NO_RANGE

static const struct svg_palette palettes[] = {
    {"kinds", WARM, STEEL, GREEN, AQUA, VIOLET, NO_RANGE},
    {"hot", ONE(WARM)},
    {"mem", ONE(MEMORY)},
    {"io", ONE(IO)},
    {"java", RED, ORANGE, GREEN, AQUA, VIOLET, YELLOW},
    {"js", RED, ORANGE, GREEN, AQUA, VIOLET, YELLOW},
    {"perl", RED, ORANGE, GREEN, AQUA, VIOLET, YELLOW},
    {"wakeup", ONE(AQUA)},
    {"chain", BLUE, BLUE, BLUE, BLUE, AQUA, NO_RANGE},
    {"red", ONE(RED)},
    {"green", ONE(GREEN)},
    {"blue", ONE(BLUE)},
    {"aqua", ONE(AQUA)},
    {"yellow", ONE(YELLOW)},
    {"purple", ONE(PURPLE)},
    {"orange", ONE(ORANGE)},
};

const struct svg_palette *svg_palette_by_name(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(palettes); i++)
        if (!name || !strcmp(palettes[i].name, name))
            return &palettes[i];
    return NULL;
}

bool svg_has_colors(const char *name)
{
    return name && svg_palette_by_name(name);
}

void svg_add_colors(struct text *names)
{
    for (size_t i = 0; i < COUNT_OF(palettes); i++)
        text_format(names, i ? ", %s" : "%s", palettes[i].name);
}

/* FNV-1a, with its bits mixed: names often differ only in their last letter. */
static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619;
    hash = (hash ^ hash >> 16) * 0x7feb352d;
    hash = (hash ^ hash >> 15) * 0x846ca68b;
    return hash ^ hash >> 16;
}

static uint8_t mixed(uint8_t base, uint8_t way, uint32_t far, uint8_t light, uint32_t lit)
{
    return (uint8_t)(base + way * far / 255 + light * lit / 255);
}

static struct svg_color color_in(const struct range *range, uint32_t hash)
{
    uint32_t far = hash & 255, lit = hash >> 8 & 255;

    return (struct svg_color){
        mixed(range->base.red, range->way.red, far, range->light.red, lit),
        mixed(range->base.green, range->way.green, far, range->light.green, lit),
        mixed(range->base.blue, range->way.blue, far, range->light.blue, lit),
    };
}

static bool is_scoped(const struct flame_name *name)
{
    return name->length > 1 && memmem(name->text, name->length, "::", 2);
}

enum svg_side svg_side_of(const struct flame_name *name, enum svg_side below)
{
    static const char *const parts[] = {"[running]", "[runnable]", "[blocked]"};

    for (unsigned i = 0; i < COUNT_OF(parts); i++)
        if (name->length == strlen(parts[i]) && !memcmp(name->text, parts[i], name->length))
            return (enum svg_side)(SVG_RUNNING + i);
    return below;
}

static uint8_t range_of(const struct svg_palette *palette, const struct flame_name *name,
                        enum svg_side side)
{
    static const uint8_t parts[] = {WARM, YELLOW, BLUE};

    if (side >= SVG_RUNNING && palette == palettes)
        return parts[side - SVG_RUNNING];
    if (side == SVG_WAKER || name->kind == FLAME_WAKER)
        return palette->waker;
    if (name->kind == FLAME_KERNEL)
        return palette->kernel;
    if (name->kind == FLAME_JIT)
        return palette->jit;
    if (name->kind == FLAME_INLINED)
        return palette->inlined;
    return palette->scoped && is_scoped(name) ? palette->scoped : palette->plain;
}

struct svg_color svg_color_of(const struct svg_palette *palette, const struct flame_name *name,
                              enum svg_side side)
{
    if (name->kind == FLAME_DELIMITER)
        return delimiter_color;
    if (name->kind == FLAME_MEETING)
        return meeting_color;
    return color_in(&ranges[range_of(palette, name, side)], hash_of(name->text, name->length));
}

/* A little above 255, so that whole numbers stay whole on i386, which computes with more digits. */
#define WHITE 255.0001

struct svg_color svg_color_of_change(double change)
{
    double size = change < 0 ? -change : change;
    uint8_t others = (uint8_t)(WHITE - 175 * (size < 1 ? size : 1));

    if (change < 0)
        return (struct svg_color){others, (uint8_t)(WHITE - 105 * (size < 1 ? size : 1)), 255};
    return (struct svg_color){255, others, others};
}

/* The light that a screen makes of a value: within about a hundredth of sRGB's power of 2.4. */
static double light_of(double value)
{
    double part = value / 255;

    return part * part * (0.72 + 0.28 * part);
}

bool svg_color_is_pale(struct svg_color color)
{
    const struct svg_color page = SVG_DARK_PAGE;
    double light = 0.2126 * light_of((color.red + page.red) / 2.0) +
                   0.7152 * light_of((color.green + page.green) / 2.0) +
                   0.0722 * light_of((color.blue + page.blue) / 2.0);

    return light > 0.18;
}
