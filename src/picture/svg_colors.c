/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Text on all colours is black, with a contrast of at least 4.5; also on frames below a zoomed one,
 * which are half transparent. The unit test computes this for every colour.
 */
#include "picture/svg_colors.h"

#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "picture/svg.h"

/* Colours between `base` and base + way, and up to `light` lighter. */
struct range {
    struct svg_color base, way, light;
};

/* Warm against cool: these can be told apart by the red-green colour-blind, too. */
static const struct range warm = {{205, 88, 42}, {10, 108, 8}, {20, 4, 10}};
static const struct range steel = {{112, 152, 196}, {30, 22, 16}, {10, 8, 6}};
static const struct range green = {{88, 178, 78}, {40, 26, 20}, {8, 8, 8}};
static const struct range aqua = {{70, 188, 186}, {32, 16, 20}, {8, 8, 8}};
static const struct range violet = {{166, 136, 226}, {30, 20, 14}, {6, 6, 6}};

static const struct range red = {{214, 84, 76}, {14, 60, 56}, {8, 8, 8}};
static const struct range blue = {{110, 140, 226}, {40, 40, 14}, {6, 6, 6}};
static const struct range yellow = {{200, 172, 40}, {18, 22, 20}, {8, 6, 8}};
static const struct range purple = {{184, 110, 206}, {24, 46, 20}, {6, 6, 6}};
static const struct range orange = {{216, 116, 36}, {8, 50, 10}, {8, 8, 8}};
static const struct range memory = {{92, 176, 120}, {20, 22, 60}, {8, 8, 8}};
static const struct range io = {{112, 142, 206}, {40, 44, 22}, {8, 8, 8}};

static const struct svg_color delimiter_color = {200, 200, 200};
static const struct svg_color meeting_color = {130, 130, 130};

/* `scoped`: for names that contain `::`; NULL: as others. */
struct svg_palette {
    const char *name;
    const struct range *plain, *kernel, *jit, *inlined, *waker, *scoped;
};

#define ONE(range) &(range), &(range), &(range), &(range), &(range), NULL

static const struct svg_palette palettes[] = {
    {"kinds", &warm, &steel, &green, &aqua, &violet, NULL},
    {"hot", ONE(warm)},
    {"mem", ONE(memory)},
    {"io", ONE(io)},
    {"java", &red, &orange, &green, &aqua, &violet, &yellow},
    {"js", &red, &orange, &green, &aqua, &violet, &yellow},
    {"perl", &red, &orange, &green, &aqua, &violet, &yellow},
    {"wakeup", ONE(aqua)},
    {"chain", &blue, &blue, &blue, &blue, &aqua, NULL},
    {"red", ONE(red)},
    {"green", ONE(green)},
    {"blue", ONE(blue)},
    {"aqua", ONE(aqua)},
    {"yellow", ONE(yellow)},
    {"purple", ONE(purple)},
    {"orange", ONE(orange)},
};

const struct svg_palette *svg_palette_by_name(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(palettes); i++)
        if (!name || !strcmp(palettes[i].name, name))
            return &palettes[i];
    return NULL;
}

void svg_palettes_add_names(struct text *names)
{
    for (size_t i = 0; i < COUNT_OF(palettes); i++)
        text_format(names, i ? ", %s" : "%s", palettes[i].name);
}

bool svg_has_colors(const char *name)
{
    return name && svg_palette_by_name(name);
}

void svg_add_colors(struct text *names)
{
    svg_palettes_add_names(names);
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

static const struct range *range_of(const struct svg_palette *palette,
                                    const struct flame_name *name, enum svg_side side)
{
    static const struct range *const parts[] = {&warm, &yellow, &blue};

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
    return color_in(range_of(palette, name, side), hash_of(name->text, name->length));
}

/* A little above 255: so whole numbers stay whole on i386, too, which computes with more digits. */
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
