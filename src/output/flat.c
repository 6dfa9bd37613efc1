/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions with their shares: of stacks that end in them, and of stacks that they are in. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/flat.h"
#include "output/lines.h"

static int compare(const void *left, const void *right)
{
    const struct flat_function *a = left, *b = right;

    if (a->self != b->self)
        return a->self < b->self ? 1 : -1;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* What stands between two stacks is no function. */
static bool is_function(const struct line_frame *frame, const struct report_options *options)
{
    return frame->part == LINE_FRAME && !(options->delimited && !strcmp(frame->name, "-"));
}

/* Of one block; the leaf of a waker's stack that stands upside down is where the two meet. */
static void add_line(struct flat_function *functions, const struct line *line,
                     const struct report_options *options, uint64_t value, size_t number)
{
    struct flat_function *leaf = NULL;
    bool met = false;

    for (size_t i = 0; i < line->count; i++) {
        met = met || line->frames[i].part == LINE_MEETING;
        if (!is_function(&line->frames[i], options))
            continue;
        struct flat_function *function = &functions[line->frames[i].label];
        function->name = line->frames[i].name;
        if (function->counted != number)
            function->total += value;
        function->counted = number;
        leaf = met && leaf ? leaf : function;
    }
    if (leaf)
        leaf->self += value;
}

void flat_write_functions(FILE *out, struct flat_function *functions, size_t count, size_t most,
                          uint64_t sum)
{
    double whole = sum ? (double)sum : 1;

    qsort(functions, count, sizeof(*functions), compare);
    fprintf(out, "%7s %7s  %s\n", "self%", "total%", "name");
    for (size_t i = 0; i < count && i < most; i++)
        fprintf(out, "%7.2f %7.2f  %s\n", 100 * (double)functions[i].self / whole,
                100 * (double)functions[i].total / whole, functions[i].name);
}

int flat_write(FILE *out, const struct report *report)
{
    const struct blocks *blocks = report->blocks;
    struct flat_function *functions = calloc(blocks->label_count + 1, sizeof(*functions));
    const uint64_t wished = report->options->functions;
    struct line line = {0};
    uint64_t sum = 0;
    size_t kept = 0;
    int result = functions ? 0 : -ENOMEM;

    for (size_t i = 0; i < blocks->count && !result; i++) {
        result = line_make(&line, report, &blocks->items[i]);
        sum += blocks->items[i].value;
        if (!result)
            add_line(functions, &line, report->options, blocks->items[i].value, i + 1);
    }
    for (size_t i = 0; i < blocks->label_count && !result; i++)
        if (functions[i].counted)
            functions[kept++] = functions[i];
    if (!result && report->options->timestamp)
        fprintf(out, "%02d:%02d:%02d\n", report->when->tm_hour, report->when->tm_min,
                report->when->tm_sec);
    if (!result)
        flat_write_functions(out, functions, kept,
                             wished && wished < kept ? (size_t)wished : kept, sum);
    line_free(&line);
    free(functions);
    return result;
}
