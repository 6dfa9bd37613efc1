/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reports that show who calls whom: as a flame graph and as a tree in text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/screen.h"
#include "base/text.h"
#include "base/util.h"
#include "flame/flame.h"
#include "flame/svg.h"
#include "report/blocks.h"

/* A report as the tree of a flame graph. 0 or -ENOMEM; flame_free after either. */
static int report_flame_make(struct flame *flame, const struct report *report)
{
    struct line line = {0};
    struct flame_slice *frames = NULL;
    size_t room = 0;
    int result = flame_init(flame);

    for (size_t i = 0; i < report->blocks->count && !result; i++) {
        const struct block *block = &report->blocks->items[i];
        result = line_make(&line, report, block);
        if (!result)
            result = ARRAY_RESERVE(frames, room, line.count);
        for (size_t at = 0; at < line.count && !result; at++)
            frames[at] = (struct flame_slice){line.frames[at].name, strlen(line.frames[at].name)};
        if (!result)
            result = flame_add(flame, FLAME_NOW, frames, line.count,
                               blocks_shown_value(block->value, report->options));
    }
    free(frames);
    line_free(&line);
    return result;
}

/* ---- Its picture ---- */

/* profile: CPU time */
static void add_title(struct text *text, const struct report_options *options)
{
    const struct report_measure *measure = &options->measure;

    text_format(text, "%s: ", options->about->applet);
    if (blocks_are_times(options))
        text_add(text, strcmp(measure->value, "wall") ? "blocked time" : "wall-clock time");
    else if (blocks_are_sums(options))
        text_format(text, "sum of %s", measure->value);
    else if (measure->value)
        text_add(text, strcmp(measure->value, "cpu") ? measure->value : "CPU time");
    else
        text_add(text, blocks_value_name(options));
    if (options->layout == LAYOUT_WAKEUPTIME)
        text_add(text, " by who ended it");
    else if (options->layout == LAYOUT_OFFWAKETIME)
        text_add(text, " and who ended it");
}

static void add_when(struct text *text, uint64_t began)
{
    time_t seconds = (time_t)(began / 1000000000);
    struct tm when;

    if (localtime_r(&seconds, &when))
        text_format(text, ", %d-%02d-%02d %02d:%02d:%02d", 1900 + when.tm_year, 1 + when.tm_mon,
                    when.tm_mday,
                    when.tm_hour, when.tm_min, when.tm_sec);
}

/* What it shows, where and when it was recorded, and what was lost: one line each. */
static void add_subtitle(struct text *text, const struct report_options *options)
{
    const struct report_about *about = options->about;

    escape_bytes(text, about->command_line, strlen(about->command_line));
    text_add(text, "\non ");
    escape_bytes(text, about->host, strlen(about->host));
    add_when(text, about->began);
    text_format(text, ", %.1f s, ", (double)(about->ended - about->began) / 1e9);
    svg_add_number(text, about->events);
    text_format(text, " %s", blocks_events_name(&options->measure));
    const char *rest = about->losses, *line;
    for (size_t length; (line = next_line(&rest, &length));) {
        text_add(text, "\n");
        escape_bytes(text, line, length);
    }
}

int report_svg_write(FILE *out, const struct report *report)
{
    const struct report_options *options = report->options;
    struct text title = {0}, subtitle = {0};
    struct flame flame;
    int result = report_flame_make(&flame, report);

    if (!result && options->about) {
        add_title(&title, options);
        add_subtitle(&subtitle, options);
    }
    if (title.failed || subtitle.failed)
        result = -ENOMEM;
    if (!result)
        result = svg_write(out, &flame, &(struct svg_options){
            .title = title.data,
            .subtitle = subtitle.data,
            .count_name = blocks_value_name(options),
            .inverted = options->inverted,
        });
    text_free(&title);
    text_free(&subtitle);
    flame_free(&flame);
    return result;
}

#define CUT "..." /* ends a line that was cut */

/* ---- The tree ---- */

/*
 * Stacks as a tree in text: who calls whom, with each frame's own share and its share with
 * everything it calls.
 *
 *       self%  total%  of 1000 samples
 *              100.00  main
 *        2.00  100.00  run
 *               30.00  |- parse
 *       30.00   30.00  |  read
 *                8.00  |- (5 branches below 1%)
 *       60.00   60.00  compute
 *
 * A frame stands below its caller, in the same column, if it is the only one or has more than half
 * of it; others branch off to the right before that one continues. So each step to the right at
 * least halves what is left: branches of one percent or more are at most six steps in, whatever the
 * depth.
 */
struct tree {
    FILE *out;
    const struct flame *flame;
    const struct report_options *options;
    double whole;
    uint32_t *wide; /* the children shown, of all nodes on the path */
    size_t count, room;
    struct text marks; /* what precedes names at the moment */
    struct text line;
};

/* A node's children that are not shown. */
struct narrow {
    size_t count;
    uint64_t value;
};

/* ---- Lines ---- */

/* Leaves the column empty for a frame without a self value, so that the others stand out. */
static void begin_line(struct tree *tree, const char *mark, uint64_t self, uint64_t total)
{
    text_clear(&tree->line);
    if (self)
        text_format(&tree->line, "%7.2f", 100 * (double)self / tree->whole);
    else
        text_format(&tree->line, "%7s", "");
    text_format(&tree->line, " %7.2f  ", 100 * (double)total / tree->whole);
    text_append(&tree->line, tree->marks.data, tree->marks.length);
    text_add(&tree->line, mark);
}

static int end_line(struct tree *tree)
{
    const size_t width = tree->options->width, cut = width > strlen(CUT) ? strlen(CUT) : 0;
    struct text *line = &tree->line;

    if (line->failed || tree->marks.failed)
        return -ENOMEM;
    if (width && columns_fit(line->data, line->length, width) < line->length) {
        line->length = columns_fit(line->data, line->length, width - cut);
        text_append(line, CUT, cut);
    }
    fwrite(line->data, 1, line->length, tree->out);
    fputc('\n', tree->out);
    return 0;
}

static int print_narrow(struct tree *tree, const char *mark, const struct narrow *narrow)
{
    begin_line(tree, mark, 0, narrow->value);
    text_format(&tree->line, "(%zu branch%s below %.10g%%)", narrow->count,
                narrow->count == 1 ? "" : "es", (double)tree->options->narrow / TREE_PERCENT);
    return end_line(tree);
}

/* ---- Branches ---- */

/* qsort() passes no context to the comparison function. */
static const struct flame *sorted;

static int compare(const void *left, const void *right)
{
    const struct flame_node *a = &sorted->nodes[*(const uint32_t *)left];
    const struct flame_node *b = &sorted->nodes[*(const uint32_t *)right];

    return order_of(b->value, a->value)
        ?: flame_compare_names(&sorted->names[a->name], &sorted->names[b->name]);
}

/* Appends the children shown, greatest first; *self becomes the node's own value. */
static int take_children(struct tree *tree, uint32_t node, uint64_t *self, struct narrow *narrow)
{
    const struct flame_node *nodes = tree->flame->nodes;
    size_t first = tree->count;

    *self = nodes[node].value;
    for (uint32_t child = nodes[node].first_child; child; child = nodes[child].next) {
        *self -= nodes[child].value;
        if (!nodes[child].value || (double)nodes[child].value * 100 * TREE_PERCENT <
                                       (double)tree->options->narrow * tree->whole) {
            narrow->count++;
            narrow->value += nodes[child].value;
            continue;
        }
        if (ARRAY_RESERVE(tree->wide, tree->room, tree->count + 1))
            return -ENOMEM;
        tree->wide[tree->count++] = child;
    }
    sorted = tree->flame;
    if (tree->count > first)
        qsort(tree->wide + first, tree->count - first, sizeof(*tree->wide), compare);
    return 0;
}

/* The child that continues in its caller's column, or 0. */
static uint32_t find_trunk(const struct tree *tree, uint32_t node, size_t first)
{
    const struct flame_node *nodes = tree->flame->nodes;
    size_t count = tree->count - first;
    uint32_t greatest = count ? tree->wide[first] : 0;

    return count == 1 || nodes[greatest].value > nodes[node].value / 2 ? greatest : 0;
}

static int print_branch(struct tree *tree, uint32_t node, const char *mark, const char *below);

/*
 * The children from `first` on, and the narrow ones; `on`: the node's own column continues below.
 */
static int print_sides(struct tree *tree, size_t first, const struct narrow *narrow, bool on)
{
    const size_t end = tree->count;
    int result = 0;

    for (size_t i = first; i < end && !result; i++) {
        bool last = !on && !narrow->count && i + 1 == end;
        result = print_branch(tree, tree->wide[i], last ? "`- " : "|- ", last ? "   " : "|  ");
    }
    if (!result && narrow->count)
        result = print_narrow(tree, on ? "|- " : "`- ", narrow);
    return result;
}

/*
 * A node, and everything it calls. Each step in has at most half of the one before: there are at
 * most 64.
 */
static int print_branch(struct tree *tree, uint32_t node, const char *mark, const char *below)
{
    const size_t marks = tree->marks.length, first = tree->count;
    int result = 0;

    while (node && !result) {
        struct narrow narrow = {0};
        uint64_t self;
        result = take_children(tree, node, &self, &narrow);
        if (result)
            break;
        begin_line(tree, mark, self, tree->flame->nodes[node].value);
        flame_add_name(&tree->line, &tree->flame->names[tree->flame->nodes[node].name]);
        result = end_line(tree);
        text_add(&tree->marks, below);
        mark = below = "";
        node = find_trunk(tree, node, first);
        if (!result)
            result = print_sides(tree, first + (node ? 1 : 0), &narrow, node);
        tree->count = first;
    }
    tree->marks.length = marks;
    return result;
}

/* A frame without a caller begins a tree of its own, after an empty line. */
static int print_trees(struct tree *tree)
{
    struct narrow narrow = {0};
    uint64_t self;
    int result = take_children(tree, 0, &self, &narrow);
    const size_t end = tree->count;

    for (size_t i = 0; i < end && !result; i++) {
        if (i)
            fputc('\n', tree->out);
        result = print_branch(tree, tree->wide[i], "", "");
    }
    if (result || !narrow.count)
        return result;
    if (end)
        fputc('\n', tree->out);
    return print_narrow(tree, "", &narrow);
}

int tree_write(FILE *out, const struct report *report)
{
    const struct report_options *options = report->options;
    struct flame flame;
    struct tree tree = {.out = out, .flame = &flame, .options = options};
    int result = report_flame_make(&flame, report);

    if (!result) {
        const uint64_t whole = flame.nodes[0].value;
        tree.whole = whole ? (double)whole : 1;
        blocks_write_time(out, report);
        text_format(&tree.line, "%7s %7s  of %llu %s", "self%", "total%", (unsigned long long)whole,
                    blocks_value_name(options));
        result = end_line(&tree);
    }
    if (!result)
        result = print_trees(&tree);
    flame_free(&flame);
    free(tree.wide);
    text_free(&tree.marks);
    text_free(&tree.line);
    return result;
}
