/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "flame/svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SVG_VANISHED_SHOWN 20

struct svg_vanished {
    uint64_t count; /* all of them */
    /* The greatest of those whose parent still exists, greatest first. */
    uint32_t nodes[SVG_VANISHED_SHOWN];
    size_t shown;
    uint64_t lowest; /* how many have such a parent, shown or not */
};

#define SVG_ROW 16 /* px from a frame to the one above it */

struct svg_picture {
    FILE *out;
    const struct flame *flame;
    const struct svg_options *options;
    const struct svg_palette *palette;
    double width; /* px, which it is made for */
    struct svg_layout layout; /* without frames there is nothing to show */
    struct svg_vanished vanished;
    struct text title, count_name; /* escaped */
    double greatest_change;        /* of the frames drawn */
    double titles_from;            /* px: the script gives narrower frames their tooltip */
    uint32_t *name_numbers;        /* for the flame's names: numbers in the script's table, + 1 */
    struct text line;              /* not written yet */
};

#define SVG_HEAD_ROWS 48 /* px, where they begin */
#define SVG_HEAD_ROW 16
#define SVG_MOST_HEAD_LINES 32

struct svg_head {
    struct text text; /* escaped */
    struct {
        size_t start, length;
        bool goes_on; /* in the next line, as it would be too long */
    } lines[SVG_MOST_HEAD_LINES];
    size_t count;
};

/* Frames in one path: more are not helpful. */
#define PATH_FRAMES 64

static double svg_change_of(const struct svg_picture *picture, const struct flame_node *node);

static bool has_vanished(const struct flame_node *node)
{
    return !node->value && node->before;
}

/* Inserts it among the greatest, after those of the same size. */
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

static void svg_find_vanished(struct svg_vanished *vanished, const struct flame *flame)
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

/*
 * Appends the names from the root's child to the node, separated by `;` and escaped. If the path
 * exceeds `most` bytes, its beginning is left out.
 */
static void svg_add_path(struct text *path, const struct flame *flame, uint32_t node, size_t most)
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

#define FRAME_HEIGHT 15
#define LEAST_LETTERS 3
#define LABEL_MARGINS 6
#define LEAST_TITLED 1.0
/* Of all tooltips: files stay below 5 MB, and browsers are slow with many small texts. */
#define TITLE_BYTES (1024 * 1024)
#define MOST_TITLES 5000
#define BYTES_AT_ONCE 60000

/* Writes `line` to the file. A line that is incomplete, because memory ran out, stays. */
static void svg_flush(struct svg_picture *picture)
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

/* After the layout is made. 0 or -ENOMEM. */
static int svg_prepare_frames(struct svg_picture *picture)
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

/* How much a frame has grown, as a share of everything; and as a text: +1.23%. */
static double svg_change_of(const struct svg_picture *picture, const struct flame_node *node)
{
    return ((double)node->value - (double)node->before) / (double)total_of(picture);
}

static void svg_add_change(struct text *text, double change)
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
    text_format(text, ", %.2f %%", (double)frame->node->value * 100 / (double)total_of(picture));
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
static bool take_name(struct svg_picture *picture, const struct svg_frame *frame, struct text *name)
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

static void svg_write_frames(struct svg_picture *picture)
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
static void svg_write_data(struct svg_picture *picture)
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

/* Always leaves room for the note about frames that were left out. */
#define LINES_OF_OURS 2
#define LEAST_HEAD_LETTERS 20

static void add_line(struct svg_head *head, size_t start, size_t length)
{
    head->lines[head->count].start = start;
    head->lines[head->count].length = length;
    head->count++;
}

/* A line that is too long continues in the next one, broken at a blank if possible. */
static size_t line_length(const char *clean, size_t length, size_t letters)
{
    size_t fitting = svg_fitting(clean, length, letters);

    if (fitting == length)
        return length;
    for (size_t i = fitting; i > fitting / 2; i--)
        if (clean[i] == ' ')
            return i;
    return fitting;
}

static void wrap(struct svg_head *head, size_t start, size_t letters)
{
    while (start < head->text.length && head->count < SVG_MOST_HEAD_LINES - LINES_OF_OURS) {
        const char *clean = head->text.data + start;
        size_t length = line_length(clean, head->text.length - start, letters);
        add_line(head, start, length);
        start += length;
        while (start < head->text.length && head->text.data[start] == ' ')
            start++;
        head->lines[head->count - 1].goes_on = start < head->text.length;
    }
}

static void say_left_out(struct svg_head *head, uint64_t count, const char *which, double least,
                         const char *unit)
{
    size_t start = head->text.length;

    if (!count)
        return;
    svg_add_number(&head->text, count);
    text_add(&head->text, count == 1 ? " frame " : " frames ");
    text_add(&head->text, which);
    svg_add_decimal(&head->text, least);
    text_add(&head->text, unit);
    text_add(&head->text, count == 1 ? " is left out" : " are left out");
    add_line(head, start, head->text.length - start);
}

/* The subtitle's lines, and a note about frames that were left out. 0 or -ENOMEM. */
static int svg_head_make(struct svg_head *head, const struct svg_picture *picture)
{
    const struct svg_layout *layout = &picture->layout;
    const char *line = picture->options->subtitle ? picture->options->subtitle : "";
    double letters = picture->width * 0.98 / SVG_LETTER;

    if (letters < LEAST_HEAD_LETTERS)
        letters = LEAST_HEAD_LETTERS;
    while (*line && !head->text.failed) {
        size_t length = strcspn(line, "\n"), start = head->text.length;
        svg_add_clean(&head->text, line, length);
        wrap(head, start, (size_t)letters);
        line += length + (line[length] == '\n');
    }
    say_left_out(head, layout->narrow, "narrower than ", layout->least_width, " px");
    say_left_out(head, layout->high, "above the lowest ", layout->levels, " levels");
    return head->text.failed ? -ENOMEM : 0;
}

/*
 * The assembler includes the files that make has stripped of comments and margins. The labels are
 * global: GNU's linker for aarch64 turns local ones into one address, the section's.
 */
#define PART(name, path)                              \
    __asm__(".pushsection .rodata." #name ",\"a\"\n" \
            ".globl " #name "\n"                      \
            #name ":\n"                               \
            ".incbin \"" path "\"\n"                  \
            ".byte 0\n"                               \
            ".popsection\n")

PART(svg_style, "flame.css");
PART(svg_script, "flame.js");

/*
 * The file: texts, the frames as seen without a script, and then a script with the same frames as
 * numbers. Horizontal positions are in percent: the picture is as wide as its window.
 */

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
    text_add(&picture->line, svg_style);
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
    svg_add_xml(line, text_string(&path), path.length);
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
    text_add(&picture->line, svg_script);
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
    text_free(&head.text);
    free(picture.layout.frames);
    free(picture.name_numbers);
    text_free(&picture.title);
    text_free(&picture.count_name);
    text_free(&picture.line);
    return result;
}
