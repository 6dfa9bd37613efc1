/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "flame/flame.h"

/* Is it a name that is drawn, but not a function's? */
static bool is_mark(const struct flame *flame, uint32_t node)
{
    uint32_t kind = flame->names[flame->nodes[node].name].kind;

    return kind == FLAME_DELIMITER || kind == FLAME_MEETING;
}

/*
 * The function to which a stack belongs that ends in this node. After `--` comes a waker's,
 * inverted: the stack belongs to the one where the two meet.
 */
static uint32_t leaf_at(const struct functions *functions, uint32_t node, size_t depth, size_t met)
{
    return is_mark(functions->flame, node) || met < depth ? functions->leaves[depth - 1] : node;
}

/* Moves a node's values from its parent's own counts to its own. */
static void add_own(struct functions *functions, const struct flame_node *node, uint32_t leaf,
                    uint32_t leaf_before)
{
    const struct flame_node *nodes = functions->flame->nodes;

    if (leaf) {
        functions->items[nodes[leaf].name].now.self += node->value;
        functions->items[nodes[leaf].name].before.self += node->before;
    }
    if (leaf_before) {
        functions->items[nodes[leaf_before].name].now.self -= node->value;
        functions->items[nodes[leaf_before].name].before.self -= node->before;
    }
}

static int enter(struct functions *functions, uint32_t node, size_t depth, size_t *met)
{
    const struct flame_node *at = &functions->flame->nodes[node];

    if (ARRAY_RESERVE(functions->leaves, functions->room, depth + 1))
        return -ENOMEM;
    functions->leaves[0] = 0;
    if (*met >= depth)
        *met = SIZE_MAX;
    uint32_t leaf = leaf_at(functions, node, depth, *met);
    /* Without a frame before it, the node itself is the leaf. */
    if (!leaf && !is_mark(functions->flame, node))
        leaf = node;
    functions->leaves[depth] = leaf;
    if (functions->flame->names[at->name].kind == FLAME_MEETING && *met > depth)
        *met = depth;
    add_own(functions, at, leaf, functions->leaves[depth - 1]);
    struct function *function = &functions->items[at->name];
    if (!function->open++ && !is_mark(functions->flame, node)) {
        function->now.total += at->value;
        function->before.total += at->before;
    }
    return 0;
}

/* Fills the items. 0 or -ENOMEM. */
static int add_all(struct functions *functions)
{
    const struct flame *flame = functions->flame;
    size_t depth = 0, met = SIZE_MAX, before;
    uint32_t node = 0, next;
    int result = 0;

    while (!result && (before = depth, next = flame_next(flame, node, &depth))) {
        /* Closes the functions that are no longer on the path. */
        for (; before >= depth && node; before--, node = flame->nodes[node].parent)
            functions->items[flame->nodes[node].name].open--;
        node = next;
        result = enter(functions, node, depth, &met);
    }
    return result;
}

int functions_make(struct functions *functions, const struct flame *flame)
{
    *functions = (struct functions){
        .flame = flame,
        .items = calloc(flame->name_count + 1, sizeof(*functions->items)),
    };
    return functions->items ? add_all(functions) : -ENOMEM;
}

void functions_free(struct functions *functions)
{
    free(functions->items);
    free(functions->leaves);
}

#define MOST_SHOWN 3
#define NOTHING 1e-9 /* equal shares differ by rounding errors */

/* ---- Shares ---- */

static double part_of(const struct share *share)
{
    return (double)share->count / (double)share->all;
}

/* How far below (sign -1) or above (1) the observed share the true one may be, by Wilson. */
static double distance(const struct share *share, double sigmas, double sign)
{
    const double part = part_of(share), all = (double)share->all, more = sigmas * sigmas / all;
    const double half = sigmas * sqrt(part * (1 - part) / all + more / all / 4);

    return sign * (((part + more / 2) + sign * half) / (1 + more) - part);
}

double share_growth_at_least(const struct share *before, const struct share *now, double sigmas)
{
    const double below = distance(now, sigmas, -1), above = distance(before, sigmas, 1);

    return part_of(now) - part_of(before) - sqrt(below * below + above * above);
}

/* ---- Growths ---- */

/* Greater is worse. */
enum certainty { WITHIN, UNCERTAIN, CERTAIN };

struct growth {
    struct share before, now;
    double grown, least;
    enum certainty certainty;
    bool total; /* with what it calls; otherwise by itself */
    uint32_t name;
};

/* qsort() passes no context to the comparison function. */
static const struct flame_name *sorted_names;

static int compare(const void *left, const void *right)
{
    const struct growth *a = left, *b = right;

    if (a->certainty != b->certainty)
        return a->certainty < b->certainty ? 1 : -1;
    if (a->grown != b->grown)
        return a->grown < b->grown ? 1 : -1;
    return flame_compare_names(&sorted_names[a->name], &sorted_names[b->name]);
}

static void judge(struct growth *growth, double limit)
{
    growth->grown = part_of(&growth->now) - part_of(&growth->before);
    growth->least = share_growth_at_least(&growth->before, &growth->now, VERDICT_SIGMAS);
    growth->certainty = growth->least > limit            ? CERTAIN
                      : growth->grown > limit + NOTHING ? UNCERTAIN
                                                         : WITHIN;
}

/* The worse of a function's two shares; its own, if they are alike. */
static struct growth find_growth(const struct functions *functions, uint32_t name, double limit)
{
    const struct function *function = &functions->items[name];
    const struct flame_node *root = functions->flame->nodes;
    struct growth self = {
        .name = name,
        .before = {function->before.self, root->before},
        .now = {function->now.self, root->value},
    };
    struct growth total = {
        .name = name,
        .before = {function->before.total, root->before},
        .now = {function->now.total, root->value},
        .total = true,
    };

    judge(&self, limit);
    judge(&total, limit);
    return compare(&self, &total) <= 0 ? self : total;
}

/* ---- The text ---- */

static void write_heading(FILE *out, const struct verdict_options *options, size_t certain,
                          size_t uncertain)
{
    const char *sign = strchr(options->text, '%') ? "" : "%";

    if (certain)
        fprintf(out, "%zu function%s grew by more than %s%s of all", certain,
                certain == 1 ? "" : "s", options->text, sign);
    else
        fprintf(out, "no function grew by more than %s%s of all", options->text, sign);
    if (uncertain)
        fprintf(out, "; %zu uncertain: too few samples", uncertain);
    fputc('\n', out);
}

static int write_growth(FILE *out, const struct flame *flame, const struct growth *growth,
                        struct text *line)
{
    text_clear(line);
    text_format(line, "+%.2f%% %s -> ", 100 * growth->grown, growth->total ? "total" : "self");
    flame_add_name(line, &flame->names[growth->name]);
    text_format(line, ": %.2f%% before, %.2f%% now, %+.2f%% at least%s\n",
                100 * part_of(&growth->before), 100 * part_of(&growth->now), 100 * growth->least,
                growth->certainty == UNCERTAIN ? ", uncertain" : "");
    if (line->failed)
        return -ENOMEM;
    fwrite(line->data, 1, line->length, out);
    return 0;
}

int verdict_write(FILE *out, const struct flame *flame, const struct verdict_options *options,
                  size_t *grown)
{
    struct growth *growths = calloc(flame->name_count + 1, sizeof(*growths));
    struct functions functions;
    struct text line = {0};
    size_t counts[CERTAIN + 1] = {0};
    int result = functions_make(&functions, flame);

    if (!growths)
        result = -ENOMEM;
    sorted_names = flame->names;
    for (uint32_t i = 0; i < flame->name_count && !result; i++) {
        growths[i] = find_growth(&functions, i, options->limit);
        counts[growths[i].certainty]++;
    }
    if (!result) {
        qsort(growths, flame->name_count, sizeof(*growths), compare);
        write_heading(out, options, counts[CERTAIN], counts[UNCERTAIN]);
    }
    for (size_t i = 0; i < MOST_SHOWN && i < flame->name_count && !result; i++)
        if (growths[i].grown > NOTHING)
            result = write_growth(out, flame, &growths[i], &line);
    *grown = counts[CERTAIN];
    functions_free(&functions);
    free(growths);
    text_free(&line);
    return result;
}
