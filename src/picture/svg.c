/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The file: texts, the frames as seen without a script, and then a script with the same frames as
 * numbers. Horizontal positions are in percent: the picture is as wide as its window.
 */
#include "picture/svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "picture/svg_frames.h"
#include "picture/svg_head.h"
#include "picture/svg_parts.h"
#include "picture/svg_text.h"

#define MADE_FOR 1200
#define ROW_BELOW 22
#define VANISHED_ROW 16
#define VANISHED_BYTES 120

/* Where things are, from the top. */
struct rows {
    unsigned long controls, details, frames, vanished, height;
};

static struct rows make_rows(const struct svg_picture *picture, const struct svg_head *head)
{
    struct rows rows = {.controls = SVG_HEAD_ROWS + head->count * SVG_HEAD_ROW + 8};
    unsigned long levels = picture->layout.levels * SVG_ROW;

    if (picture->options->inverted) {
        rows.details = rows.controls + ROW_BELOW - 2;
        rows.frames = rows.details + 8;
        rows.vanished = rows.frames + levels;
    } else {
        rows.frames = rows.controls + 8;
        rows.details = rows.frames + levels + ROW_BELOW - 5;
        rows.vanished = rows.details;
    }
    rows.height = rows.vanished + 12;
    if (picture->vanished.count)
        rows.height += ROW_BELOW + 4 + VANISHED_ROW * (picture->vanished.shown + 1);
    return rows;
}

/* Comments and indentation are for readers of the source. */
static void write_part(struct svg_picture *picture, struct svg_part part)
{
    const char *line = part.text, *end = part.text + part.length;

    while (line < end) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end;
        while (line < next && *line == ' ')
            line++;
        bool comment = next - line > 1 && line[0] == '/' && (line[1] == '/' || line[1] == '*');
        if (!comment && *line != '\n')
            text_append(&picture->line, line, (size_t)(next - line));
        line = next;
    }
    svg_flush(picture);
}

/* An XML comment must contain no two dashes in a row, and not end with one. */
static void write_notes(struct svg_picture *picture, const char *notes)
{
    struct text clean = {0};

    svg_add_clean(&clean, notes, strlen(notes));
    text_add(&picture->line, "<!-- ");
    for (size_t i = 0; i < clean.length; i++) {
        text_append(&picture->line, &clean.data[i], 1);
        if (clean.data[i] == '-' && clean.data[i + 1] == '-')
            text_add(&picture->line, " ");
    }
    text_add(&picture->line, " -->\n");
    picture->line.failed |= clean.failed;
    text_free(&clean);
    svg_flush(picture);
}

static void write_start(struct svg_picture *picture, const struct rows *rows)
{
    const struct svg_options *options = picture->options;
    struct text *line = &picture->line;

    text_format(line,
                "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" class=\"flame%s%s\" "
                "width=\"%.0f\" height=\"%lu\" font-family=\"Verdana,DejaVu Sans,sans-serif\" "
                "font-size=\"12\">\n<title>",
                options->width ? "" : " fluid", options->differential ? " differential" : "",
                picture->width, rows->height);
    svg_add_xml(line, picture->title.data, picture->title.length);
    text_add(line, "</title>\n");
    if (options->notes)
        write_notes(picture, options->notes);
    text_add(line, "<style><![CDATA[\n");
    write_part(picture, svg_style());
    text_format(line, "]]></style>\n<rect id=\"background\" width=\"100%%\" height=\"%lu\" "
                "fill=\"%s\"/>\n", rows->height, options->differential ? "#e4e4e8" : "#fff");
}

static void write_head(struct svg_picture *picture, const struct svg_head *head)
{
    struct text *line = &picture->line;

    text_add(line, "<text id=\"title\" x=\"1%\" y=\"28\" font-size=\"17\">");
    svg_add_xml(line, picture->title.data, picture->title.length);
    text_add(line, "</text>\n<text id=\"subtitle\">");
    for (size_t i = 0; i < head->count; i++) {
        text_format(line, "<tspan x=\"1%%\" y=\"%zu\">", SVG_HEAD_ROWS + i * SVG_HEAD_ROW);
        svg_add_xml(line, head->text.data + head->lines[i].start, head->lines[i].length);
        text_add(line, head->lines[i].goes_on ? "</tspan> " : "</tspan>\n");
    }
    text_add(line, "</text>\n");
}

/* Without a script they are invisible. */
static void write_controls(struct svg_picture *picture, const struct rows *rows)
{
    text_format(&picture->line,
                "<g id=\"controls\">"
                "<text id=\"reset\" class=\"button off\" x=\"1%%\" y=\"%lu\">Reset Zoom</text>\n"
                "<text id=\"matched\" class=\"off\" x=\"50%%\" y=\"%lu\" text-anchor=\"middle\"/>\n"
                "<text id=\"search\" class=\"button\" x=\"99%%\" y=\"%lu\" text-anchor=\"end\" "
                "transform=\"translate(-26)\">Search</text>\n"
                "<text id=\"ignorecase\" class=\"button\" x=\"99%%\" y=\"%lu\" text-anchor=\"end\">"
                "ic<title>ignore case (Ctrl-I)</title></text>\n"
                "<foreignObject id=\"ask\" class=\"off\" x=\"40%%\" y=\"%lu\" width=\"59%%\" "
                "height=\"24\"><input xmlns=\"http://www.w3.org/1999/xhtml\" id=\"query\" "
                "placeholder=\"regular expression\" aria-label=\"regular expression\"/>"
                "</foreignObject></g>\n",
                rows->controls, rows->controls, rows->controls, rows->controls,
                rows->controls - 17);
}

static void write_vanished_line(struct svg_picture *picture, unsigned long y, uint32_t index)
{
    const struct flame_node *node = &picture->flame->nodes[index];
    struct text *line = &picture->line;
    struct text path = {0};

    svg_add_path(&path, picture->flame, index, VANISHED_BYTES);
    text_format(line, "<tspan x=\"1%%\" y=\"%lu\">", y);
    svg_add_change(line, svg_change_of(picture, node));
    text_add(line, "  ");
    svg_add_xml(line, path.data ? path.data : "", path.length);
    text_add(line, " (");
    svg_add_number(line, node->before);
    text_add(line, " ");
    svg_add_xml(line, picture->count_name.data, picture->count_name.length);
    text_add(line, ")</tspan>\n");
    line->failed |= path.failed;
    text_free(&path);
}

static void write_vanished(struct svg_picture *picture, unsigned long y)
{
    const struct svg_vanished *vanished = &picture->vanished;
    struct text *line = &picture->line;

    if (!vanished->count)
        return;
    y += ROW_BELOW + 4;
    text_format(line, "<text id=\"vanished\"><tspan x=\"1%%\" y=\"%lu\">Vanished: ", y);
    svg_add_number(line, vanished->count);
    text_add(line, vanished->count == 1 ? " frame that only" : " frames that only");
    text_add(line, " the older one has");
    if (vanished->lowest > vanished->shown) {
        text_format(line, ". The %zu greatest paths, of ", vanished->shown);
        svg_add_number(line, vanished->lowest);
    }
    text_add(line, ":</tspan>\n");
    for (size_t i = 0; i < vanished->shown; i++)
        write_vanished_line(picture, y + VANISHED_ROW * (i + 1), vanished->nodes[i]);
    text_add(line, "</text>\n");
    svg_flush(picture);
}

static void write_script(struct svg_picture *picture)
{
    text_add(&picture->line, "<script><![CDATA[\n");
    write_part(picture, svg_script());
    text_add(&picture->line, "(");
    svg_write_data(picture);
    text_add(&picture->line, ");\n]]></script>\n");
}

static void write_all(struct svg_picture *picture, const struct svg_head *head)
{
    const struct rows rows = make_rows(picture, head);
    struct text *line = &picture->line;

    write_start(picture, &rows);
    write_head(picture, head);
    if (picture->layout.count) {
        write_controls(picture, &rows);
        text_format(line, "<svg id=\"frames\" x=\"1%%\" y=\"%lu\" width=\"98%%\" height=\"%lu\">\n",
                    rows.frames, (unsigned long)picture->layout.levels * SVG_ROW);
        svg_write_frames(picture);
        text_format(line, "</svg>\n<text id=\"details\" x=\"1%%\" y=\"%lu\"> </text>\n",
                    rows.details);
    } else {
        text_format(line, "<text id=\"empty\" x=\"1%%\" y=\"%lu\">There are no stacks in it."
                    "</text>\n", rows.controls);
    }
    write_vanished(picture, rows.vanished);
    if (picture->layout.count)
        write_script(picture);
    text_add(line, "</svg>\n");
    svg_flush(picture);
}

static void add_clean(struct text *text, const char *given, const char *otherwise)
{
    if (!given)
        given = otherwise;
    svg_add_clean(text, given, strlen(given));
    text_add(text, ""); /* so that data is never NULL */
}

int svg_write(FILE *out, const struct flame *flame, const struct svg_options *options)
{
    struct svg_picture picture = {
        .out = out, .flame = flame, .options = options,
        .palette = svg_palette_by_name(svg_has_colors(options->colors) ? options->colors : NULL),
        .width = options->width ? (double)options->width : MADE_FOR,
    };
    struct svg_head head = {0};
    int result = 0;

    add_clean(&picture.title, options->title, "Flame Graph");
    add_clean(&picture.count_name, options->count_name, "samples");
    if (flame->nodes[0].value)
        result = svg_layout_make(&picture.layout, flame, picture.width,
                                 options->least_given ? options->least_width : -1);
    if (!result)
        result = svg_prepare_frames(&picture);
    if (options->differential)
        svg_find_vanished(&picture.vanished, flame);
    if (!result)
        result = svg_head_make(&head, &picture);
    if (!result && (picture.title.failed || picture.count_name.failed))
        result = -ENOMEM;
    if (!result)
        write_all(&picture, &head);
    if (picture.line.failed)
        result = -ENOMEM;
    svg_head_free(&head);
    svg_layout_free(&picture.layout);
    free(picture.name_numbers);
    text_free(&picture.title);
    text_free(&picture.count_name);
    text_free(&picture.line);
    return result;
}
