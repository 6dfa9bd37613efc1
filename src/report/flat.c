/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions with their shares: of stacks that end in them, and of stacks that contain them. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "flame/flame.h"
#include "report/blocks.h"

struct flat_function {
    const char *name;
    const char *who; /* its owner, if told apart; else NULL */
    uint64_t self, total;
    size_t counted; /* the last block, from 1, added to its total: recursion counts once */
};

static int compare_functions(const void *left, const void *right)
{
    const struct flat_function *a = left, *b = right;

    return order_of(b->self, a->self) ?: order_of(b->total, a->total)
        ?: strcmp(a->name, b->name) ?: a->who ? strcmp(a->who, b->who) : 0;
}

/*
 * Adds one block. The leaf of a waker's inverted stack is where both stacks meet. A frame that only
 * leads to a wait does not get its time, unless the stack has no other.
 */
static void add_line(struct flat_function *functions, const struct line *line,
                     const struct report *report, uint64_t value, size_t number)
{
    struct flat_function *leaf = NULL, *leading = NULL;
    const bool *leads = report->blocks->leading;
    bool met = false;

    for (size_t i = 0; i < line->count; i++) {
        met = met || line->frames[i].part == LINE_MEETING;
        /* Frames that separate two stacks are no functions. */
        if (line->frames[i].part != LINE_FRAME ||
            (report->options->delimited && !strcmp(line->frames[i].name, "-")))
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

/*
 * Sorts the functions, greatest self first, and writes the first `most`, with shares of a value,
 * which is `shown` of what was `counted`.
 */
static void write_functions(FILE *out, struct flat_function *functions, size_t count, size_t most,
                            uint64_t value, uint64_t shown, const char *counted)
{
    const double whole = value ? (double)value : 1;

    if (count)
        qsort(functions, count, sizeof(*functions), compare_functions);
    fprintf(out, "%7s %7s  of %llu %s\n", "self%", "total%", (unsigned long long)shown, counted);
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

    return strcmp(a->who, b->who) ?: order_of(a->block, b->block);
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
        if (ARRAY_RESERVE(flat->kept, flat->kept_room, flat->kept_count + 1))
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
        if (!result && (i + 1 == blocks->count || strcmp(flat->owned[i].who,
                                                         flat->owned[i + 1].who)))
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
    if (!result)
        blocks_write_time(out, report);
    if (!result)
        write_functions(out, flat.kept, flat.kept_count,
                        wished && wished < flat.kept_count ? (size_t)wished : flat.kept_count,
                        flat.sum, blocks_shown_value(flat.sum, report->options),
                        blocks_value_name(report->options));
    for (size_t i = 0; flat.owned && i < report->blocks->count; i++)
        free(flat.owned[i].who);
    free(flat.owned);
    free(flat.functions);
    free(flat.kept);
    line_free(&flat.line);
    return result;
}

/* A flame as text: functions, with their shares or their changes. */

#define LEAST_PERCENT 0.05 /* anything less is shown as 0.0 */

/* ---- Shares ---- */

/* Where each name begins in a text with all of them, with a NUL after each. */
static int list_names(const struct functions *functions, struct text *names,
                      struct flat_function *list, size_t *count)
{
    const struct flame *flame = functions->flame;
    size_t at = 0;

    for (size_t i = 0; i < flame->name_count; i++)
        if (functions->items[i].now.total) {
            flame_add_name(names, &flame->names[i]);
            text_append(names, "", 1);
        }
    if (names->failed)
        return -ENOMEM;
    for (size_t i = 0; i < flame->name_count; i++) {
        const struct function *function = &functions->items[i];
        if (!function->now.total)
            continue;
        list[(*count)++] = (struct flat_function){
            .name = names->data + at,
            .self = function->now.self,
            .total = function->now.total,
        };
        while (names->data[at++])
            ;
    }
    return 0;
}

int flame_write_functions(FILE *out, const struct flame *flame, const char *counted)
{
    struct flat_function *list = calloc(flame->name_count + 1, sizeof(*list));
    struct functions functions;
    struct text names = {0};
    size_t count = 0;
    int result = functions_make(&functions, flame);

    if (!list)
        result = -ENOMEM;
    if (!result)
        result = list_names(&functions, &names, list, &count);
    if (!result)
        write_functions(out, list, count, count, flame->nodes[0].value, flame->nodes[0].value,
                        counted);
    functions_free(&functions);
    free(list);
    text_free(&names);
    return result;
}

/* ---- Changes ---- */

struct change {
    double percent, size;
    uint32_t name;
};

/* qsort() passes no context to the comparison function. */
static const struct flame_name *sorted_names;

static int compare_changes(const void *left, const void *right)
{
    const struct change *a = left, *b = right;

    if (a->size != b->size)
        return a->size < b->size ? 1 : -1;
    return flame_compare_names(&sorted_names[a->name], &sorted_names[b->name]);
}

/* By how many percent a function has changed. */
static double find_percent(const struct function *function, const struct flame_node *root,
                           bool shares)
{
    double now = (double)root->value, before = (double)root->before;
    double whole = now > 0 ? now : before;

    if (shares && now > 0 && before > 0)
        return 100 * (double)function->now.self / now -
               100 * (double)function->before.self / before;
    return 100 * ((double)function->now.self - (double)function->before.self) / (whole > 0 ? whole
                                                                                 : 1);
}

/* How many have changed. */
static size_t find_changes(const struct functions *functions, bool shares, struct change *changes)
{
    size_t count = 0;

    for (size_t i = 0; i < functions->flame->name_count; i++) {
        double percent = find_percent(&functions->items[i], functions->flame->nodes, shares);
        double size = percent < 0 ? -percent : percent;
        /* Equal shares differ by rounding errors. */
        if (size > 1e-9)
            changes[count++] = (struct change){percent, size, (uint32_t)i};
    }
    sorted_names = functions->flame->names;
    qsort(changes, count, sizeof(*changes), compare_changes);
    return count;
}

static int write_change(FILE *out, const struct flame *flame, const struct change *change,
                        struct text *line)
{
    text_clear(line);
    text_format(line, "%+.1f%% -> ", change->percent);
    flame_add_name(line, &flame->names[change->name]);
    text_add(line, "\n");
    if (line->failed)
        return -ENOMEM;
    fwrite(line->data, 1, line->length, out);
    return 0;
}

int flame_write_changes(FILE *out, const struct flame *flame, bool shares)
{
    struct change *changes = calloc(flame->name_count + 1, sizeof(*changes));
    struct functions functions;
    struct text line = {0};
    size_t count = 0, shown = 0;
    int result = functions_make(&functions, flame);

    if (!changes)
        result = -ENOMEM;
    if (!result) {
        fprintf(out, "before %llu, now %llu%s\n", (unsigned long long)flame->nodes[0].before,
                (unsigned long long)flame->nodes[0].value, shares ? ", as shares" : "");
        count = find_changes(&functions, shares, changes);
    }
    for (; shown < count && changes[shown].size >= LEAST_PERCENT && !result; shown++)
        result = write_change(out, flame, &changes[shown], &line);
    if (!result && shown < count)
        fprintf(out, "%zu more changed by less than 0.05%%\n", count - shown);
    functions_free(&functions);
    free(changes);
    text_free(&line);
    return result;
}
