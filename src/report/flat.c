/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions with their shares: of stacks that end in them, and of stacks that contain them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/flat.h"
#include "report/lines.h"

static int compare(const void *left, const void *right)
{
    const struct flat_function *a = left, *b = right;

    if (a->self != b->self)
        return a->self < b->self ? 1 : -1;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    int order = strcmp(a->name, b->name);
    return order || !a->who ? order : strcmp(a->who, b->who);
}

/* What separates two stacks is not a function. */
static bool is_function(const struct line_frame *frame, const struct report_options *options)
{
    return frame->part == LINE_FRAME && !(options->delimited && !strcmp(frame->name, "-"));
}

/*
 * For one block; the leaf of a waker's inverted stack is where the two meet. Frames that only lead
 * to a wait are not where the time went, unless there is nothing else.
 */
static void add_line(struct flat_function *functions, const struct line *line,
                     const struct report *report, uint64_t value, size_t number)
{
    struct flat_function *leaf = NULL, *leading = NULL;
    const bool *leads = report->blocks->leading;
    bool met = false;

    for (size_t i = 0; i < line->count; i++) {
        met = met || line->frames[i].part == LINE_MEETING;
        if (!is_function(&line->frames[i], report->options))
            continue;
        struct flat_function *function = &functions[line->frames[i].label];
        function->name = line->frames[i].name;
        if (function->counted != number)
            function->total += value;
        function->counted = number;
        if (met && (leaf || leading))
            continue;
        if (leads && leads[line->frames[i].label])
            leading = function;
        else
            leaf = function;
    }
    leaf = leaf ? leaf : leading;
    if (leaf)
        leaf->self += value;
}

void flat_write_functions(FILE *out, struct flat_function *functions, size_t count, size_t most,
                          const struct flat_whole *of)
{
    double whole = of->value ? (double)of->value : 1;

    if (count)
        qsort(functions, count, sizeof(*functions), compare);
    fprintf(out, "%7s %7s  of %llu %s\n", "self%", "total%", (unsigned long long)of->shown, of->counted);
    for (size_t i = 0; i < count && i < most; i++)
        fprintf(out, "%7.2f %7.2f  %s%s%s\n", 100 * (double)functions[i].self / whole,
                100 * (double)functions[i].total / whole, functions[i].who ? functions[i].who : "",
                functions[i].who ? ": " : "", functions[i].name);
}

/* ---- By owner ---- */

/* The block's owner, the root of its line; "" for all if they are not told apart. */
static char *who_of(const struct report *report, const struct line *line)
{
    const char *who = "";

    for (size_t i = 0; report->options->by && i < line->count && !*who; i++)
        if (line->frames[i].part == LINE_TASK || line->frames[i].part == LINE_WAKER)
            who = line->frames[i].name;
    return strdup(who);
}

struct owned {
    char *who;
    size_t block;
};

static int compare_owned(const void *left, const void *right)
{
    const struct owned *a = left, *b = right;
    int order = strcmp(a->who, b->who);

    return order ? order : a->block < b->block ? -1 : a->block > b->block;
}

struct flat {
    const struct report *report;
    struct line line;
    struct owned *owned; /* the blocks, by owner */
    struct flat_function *functions, *kept;
    size_t kept_count, kept_room;
    uint64_t sum;
};

static int find_owners(struct flat *flat)
{
    const struct blocks *blocks = flat->report->blocks;

    flat->owned = calloc(blocks->count + 1, sizeof(*flat->owned));
    if (!flat->owned)
        return -ENOMEM;
    for (size_t i = 0; i < blocks->count; i++) {
        int result = line_make(&flat->line, flat->report, &blocks->items[i]);
        flat->owned[i] = (struct owned){result ? NULL : who_of(flat->report, &flat->line), i};
        if (!flat->owned[i].who)
            return -ENOMEM;
    }
    if (blocks->count)
        qsort(flat->owned, blocks->count, sizeof(*flat->owned), compare_owned);
    return 0;
}

/* One owner's functions. */
static int keep(struct flat *flat, const char *who)
{
    for (size_t i = 0; i < flat->report->blocks->label_count; i++) {
        if (!flat->functions[i].counted)
            continue;
        if (array_reserve(&flat->kept, &flat->kept_room, flat->kept_count + 1, sizeof(*flat->kept)))
            return -ENOMEM;
        flat->functions[i].who = *who ? who : NULL;
        flat->kept[flat->kept_count++] = flat->functions[i];
        flat->functions[i] = (struct flat_function){0};
    }
    return 0;
}

static int add_up(struct flat *flat)
{
    const struct blocks *blocks = flat->report->blocks;
    int result = 0;

    for (size_t i = 0; i < blocks->count && !result; i++) {
        const struct block *block = &blocks->items[flat->owned[i].block];
        result = line_make(&flat->line, flat->report, block);
        flat->sum += block->value;
        if (!result)
            add_line(flat->functions, &flat->line, flat->report, block->value, i + 1);
        if (!result && (i + 1 == blocks->count || strcmp(flat->owned[i].who, flat->owned[i + 1].who)))
            result = keep(flat, flat->owned[i].who);
    }
    return result;
}

int flat_write(FILE *out, const struct report *report)
{
    const uint64_t wished = report->options->functions;
    struct flat flat = {
        .report = report,
        .functions = calloc(report->blocks->label_count + 1, sizeof(*flat.functions)),
    };
    int result = flat.functions ? find_owners(&flat) : -ENOMEM;

    if (!result)
        result = add_up(&flat);
    if (!result && report->options->timestamp)
        fprintf(out, "%02d:%02d:%02d\n", report->when->tm_hour, report->when->tm_min,
                report->when->tm_sec);
    if (!result)
        flat_write_functions(out, flat.kept, flat.kept_count,
                             wished && wished < flat.kept_count ? (size_t)wished : flat.kept_count,
                             &(struct flat_whole){
                                 .value = flat.sum,
                                 .shown = blocks_shown_value(flat.sum, report->options),
                                 .counted = blocks_value_name(report->options),
                             });
    for (size_t i = 0; flat.owned && i < report->blocks->count; i++)
        free(flat.owned[i].who);
    free(flat.owned);
    free(flat.functions);
    free(flat.kept);
    line_free(&flat.line);
    return result;
}
