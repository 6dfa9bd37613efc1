/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "picture/flame_order.h"
#include "report/report_flame.h"
#include "view/columns.h"

#define CUT "..." /* ends a line that was cut */

struct tree {
    FILE *out;
    const struct flame *flame;
    const struct tree_wishes *wishes;
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

/* A frame without a self value shows none: so those with one stand out. */
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
    const size_t width = tree->wishes->width, cut = width > strlen(CUT) ? strlen(CUT) : 0;
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
                narrow->count == 1 ? "" : "es", (double)tree->wishes->narrow / TREE_PERCENT);
    return end_line(tree);
}

/* ---- Branches ---- */

static bool is_wide(const struct tree *tree, uint64_t value)
{
    return value && (double)value * 100 * TREE_PERCENT >= (double)tree->wishes->narrow * tree->whole;
}

/* qsort() passes no context to the comparison function. */
static const struct flame *sorted;

static int compare(const void *left, const void *right)
{
    const struct flame_node *a = &sorted->nodes[*(const uint32_t *)left];
    const struct flame_node *b = &sorted->nodes[*(const uint32_t *)right];

    if (a->value != b->value)
        return a->value < b->value ? 1 : -1;
    return flame_compare_names(&sorted->names[a->name], &sorted->names[b->name]);
}

/* Appends the children shown, greatest first; *self becomes the node's own value. */
static int take_children(struct tree *tree, uint32_t node, uint64_t *self, struct narrow *narrow)
{
    const struct flame_node *nodes = tree->flame->nodes;
    size_t first = tree->count;

    *self = nodes[node].value;
    for (uint32_t child = nodes[node].first_child; child; child = nodes[child].next) {
        *self -= nodes[child].value;
        if (!is_wide(tree, nodes[child].value)) {
            narrow->count++;
            narrow->value += nodes[child].value;
            continue;
        }
        if (array_reserve(&tree->wide, &tree->room, tree->count + 1, sizeof(*tree->wide)))
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

int tree_write_flame(FILE *out, const struct flame *flame, const struct tree_wishes *wishes)
{
    const uint64_t whole = flame->nodes[0].value;
    struct tree tree = {
        .out = out, .flame = flame, .wishes = wishes, .whole = whole ? (double)whole : 1};

    text_format(&tree.line, "%7s %7s  of %llu %s", "self%", "total%", (unsigned long long)whole,
                wishes->counted);
    int result = end_line(&tree);
    if (!result)
        result = print_trees(&tree);
    free(tree.wide);
    text_free(&tree.marks);
    text_free(&tree.line);
    return result;
}

int tree_write(FILE *out, const struct report *report)
{
    const struct report_options *options = report->options;
    struct flame flame;
    int result = report_flame_make(&flame, report);

    if (!result && options->timestamp)
        fprintf(out, "%02d:%02d:%02d\n", report->when->tm_hour, report->when->tm_min, report->when->tm_sec);
    if (!result)
        result = tree_write_flame(out, &flame, &(struct tree_wishes){
            .counted = blocks_value_name(options),
            .narrow = options->narrow,
            .width = options->width,
        });
    flame_free(&flame);
    return result;
}
