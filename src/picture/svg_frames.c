/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "picture/svg_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "picture/svg_text.h"

#define FRAME_HEIGHT 15
#define LEAST_LETTERS 3
#define LABEL_MARGINS 6
#define LEAST_TITLED 1.0
/* Of all tooltips: files stay below 5 MB, and browsers are slow with many small texts. */
#define TITLE_BYTES (1024 * 1024)
#define MOST_TITLES 5000
#define BYTES_AT_ONCE 60000

void svg_flush(struct svg_picture *picture)
{
    if (picture->line.failed)
        return;
    fwrite(picture->line.data, 1, picture->line.length, picture->out);
    text_clear(&picture->line);
}

static uint64_t total_of(const struct svg_picture *picture)
{
    const struct flame_node *root = picture->flame->nodes;

    return root->value ? root->value : root->before;
}

static double width_of(const struct svg_picture *picture, const struct svg_frame *frame)
{
    return (double)frame->node->value * picture->width / (double)total_of(picture);
}

/* ---- Before it is written ---- */

/* Would tooltips for all frames of at least this width be too much? */
static bool are_many_titles(const struct svg_picture *picture, double from)
{
    size_t count = 0, bytes = 0;

    for (size_t i = 0; i < picture->layout.count; i++)
        if (width_of(picture, &picture->layout.frames[i]) >= from) {
            count++;
            bytes += picture->layout.frames[i].name->length + 50;
        }
    return count > MOST_TITLES || bytes > TITLE_BYTES;
}

int svg_prepare_frames(struct svg_picture *picture)
{
    picture->titles_from = LEAST_TITLED;
    while (picture->titles_from < picture->width && are_many_titles(picture, picture->titles_from))
        picture->titles_from *= 1.25;
    for (size_t i = 0; i < picture->layout.count; i++) {
        double change = svg_change_of(picture, picture->layout.frames[i].node);
        if (change < 0)
            change = -change;
        if (change > picture->greatest_change)
            picture->greatest_change = change;
    }
    picture->name_numbers = calloc(picture->flame->name_count, sizeof(*picture->name_numbers));
    return picture->name_numbers ? 0 : -ENOMEM;
}

/* ---- A frame's description ---- */

double svg_change_of(const struct svg_picture *picture, const struct flame_node *node)
{
    return ((double)node->value - (double)node->before) / (double)total_of(picture);
}

void svg_add_change(struct text *text, double change)
{
    double percent = change * 100;

    text_format(text, "%+.2f%%", percent > -0.005 && percent < 0.005 ? 0 : percent);
}

/* name (1,234 samples, 12.34 %, +1.23%): flame.js says it in the same words. */
static void add_description(const struct svg_picture *picture, const struct svg_frame *frame,
                            const struct text *name, struct text *text)
{
    svg_add_xml(text, name->data, name->length);
    text_add(text, " (");
    svg_add_number(text, frame->node->value);
    text_add(text, " ");
    svg_add_xml(text, picture->count_name.data, picture->count_name.length);
    text_format(text, ", %.2f %%",
                (double)frame->node->value * 100 / (double)total_of(picture));
    if (picture->options->differential) {
        text_add(text, ", ");
        svg_add_change(text, svg_change_of(picture, frame->node));
    }
    text_add(text, ")");
}

static struct svg_color color_of(const struct svg_picture *picture, const struct svg_frame *frame)
{
    if (!picture->options->differential)
        return svg_color_of(picture->palette, frame->name, frame->side);
    double change = svg_change_of(picture, frame->node);
    double share = picture->greatest_change > 0 ? change / picture->greatest_change : 0;
    /* So that small changes are visible, too. */
    share *= 2 - (share < 0 ? -share : share);
    return svg_color_of_change(picture->options->negate ? -share : share);
}

/* ---- Elements ---- */

/* A frame's name, escaped. False: memory ran out, as the line records. */
static bool take_name(struct svg_picture *picture, const struct svg_frame *frame,
                      struct text *name)
{
    text_clear(name);
    svg_add_clean(name, frame->name->text, frame->name->length);
    text_add(name, ""); /* so that data is never NULL */
    if (name->failed)
        picture->line.failed = true;
    return !name->failed;
}

static void add_place(const struct svg_picture *picture, const struct svg_frame *frame,
                      struct text *text)
{
    double total = (double)total_of(picture);
    uint32_t row = picture->options->inverted ? frame->depth
                                              : picture->layout.levels - 1 - frame->depth;

    text_add(text, " x=\"");
    svg_add_decimal(text, (double)frame->start * 100 / total);
    text_format(text, "%%\" y=\"%u\" width=\"", row * SVG_ROW);
    svg_add_decimal(text, (double)frame->node->value * 100 / total);
    text_format(text, "%%\" height=\"%d\"", FRAME_HEIGHT);
}

static void add_fill(struct text *text, struct svg_color color)
{
    text_format(text, " fill=\"#%02x%02x%02x\"", color.red, color.green, color.blue);
}

static void add_title(const struct svg_picture *picture, const struct svg_frame *frame,
                      const struct text *name, struct text *text)
{
    if (width_of(picture, frame) < picture->titles_from)
        return;
    text_add(text, "<title>");
    add_description(picture, frame, name, text);
    text_add(text, "</title>");
}

static void add_narrow(const struct svg_picture *picture, const struct svg_frame *frame,
                       const struct text *name, struct text *text)
{
    struct svg_color color = color_of(picture, frame);

    text_add(text, svg_color_is_pale(color) ? "<rect class=\"pale\"" : "<rect");
    add_place(picture, frame, text);
    add_fill(text, color);
    size_t length = text->length;
    text_add(text, ">");
    add_title(picture, frame, name, text);
    if (text->length == length + 1 && !text->failed) {
        text->length = length;
        text_add(text, "/>\n");
    } else {
        text_add(text, "</rect>\n");
    }
}

/* A frame with its name on it is a nested picture, which cuts the name where the frame ends. */
static void add_labelled(const struct svg_picture *picture, const struct svg_frame *frame,
                         const struct text *name, size_t letters, struct text *text)
{
    struct svg_color color = color_of(picture, frame);
    size_t fitting = svg_fitting(name->data, name->length, letters);
    bool cut = fitting < name->length;

    text_add(text, svg_color_is_pale(color) ? "<g class=\"frame pale\">" : "<g class=\"frame\">");
    add_title(picture, frame, name, text);
    text_add(text, "<svg");
    add_place(picture, frame, text);
    text_add(text, "><rect width=\"100%\" height=\"100%\"");
    add_fill(text, color);
    text_add(text, "/><text x=\"3\" y=\"11.5\">");
    if (cut)
        fitting = svg_fitting(name->data, name->length, letters - 2);
    svg_add_xml(text, name->data, fitting);
    text_add(text, cut ? "..</text></svg></g>\n" : "</text></svg></g>\n");
}

void svg_write_frames(struct svg_picture *picture)
{
    struct text name = {0};

    for (size_t i = 0; i < picture->layout.count; i++) {
        const struct svg_frame *frame = &picture->layout.frames[i];
        double letters = (width_of(picture, frame) - LABEL_MARGINS) / SVG_LETTER;
        if (!take_name(picture, frame, &name))
            break;
        if (letters >= LEAST_LETTERS && name.length)
            add_labelled(picture, frame, &name, (size_t)letters, &picture->line);
        else
            add_narrow(picture, frame, &name, &picture->line);
        if (picture->line.length > BYTES_AT_ONCE)
            svg_flush(picture);
    }
    text_free(&name);
}

/* ---- Numbers ---- */

static void write_names(struct svg_picture *picture)
{
    struct text name = {0};
    uint32_t number = 0;

    for (size_t i = 0; i < picture->layout.count; i++) {
        const struct svg_frame *frame = &picture->layout.frames[i];
        uint32_t *known = &picture->name_numbers[frame->node->name];
        if (*known)
            continue;
        *known = ++number;
        if (!take_name(picture, frame, &name))
            break;
        text_add(&picture->line, number > 1 ? ",\n" : "");
        svg_add_json(&picture->line, name.data, name.length);
        if (picture->line.length > BYTES_AT_ONCE)
            svg_flush(picture);
    }
    text_free(&name);
}

/* The script works out where each starts: it knows the order. */
void svg_write_data(struct svg_picture *picture)
{
    struct text *line = &picture->line;

    text_add(line, "{\"unit\":");
    svg_add_json(line, picture->count_name.data, picture->count_name.length);
    text_add(line, ",\"names\":[\n");
    write_names(picture);
    /* For each frame: the number of its name, its depth, its value, and the value before. */
    text_format(line, "],\"numbers\":%d,\"frames\":[\n", picture->options->differential ? 4 : 3);
    for (size_t i = 0; i < picture->layout.count; i++) {
        const struct svg_frame *frame = &picture->layout.frames[i];
        text_format(line, "%s%u,%u,%llu", !i ? "" : i % 8 ? "," : ",\n",
                    picture->name_numbers[frame->node->name] - 1, frame->depth,
                    (unsigned long long)frame->node->value);
        if (picture->options->differential)
            text_format(line, ",%llu", (unsigned long long)frame->node->before);
        if (line->length > BYTES_AT_ONCE)
            svg_flush(picture);
    }
    text_add(line, "]}");
}
