/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "draw/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "draw/functions.h"
#include "picture/flame_order.h"

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

static void write_heading(FILE *out, const struct verdict_wishes *wishes, size_t certain,
                          size_t uncertain)
{
    const char *sign = strchr(wishes->text, '%') ? "" : "%";

    if (certain)
        fprintf(out, "%zu function%s grew by more than %s%s of all", certain, certain == 1 ? "" : "s",
                wishes->text, sign);
    else
        fprintf(out, "no function grew by more than %s%s of all", wishes->text, sign);
    if (uncertain)
        fprintf(out, "; %zu uncertain: too few samples", uncertain);
    fputc('\n', out);
}

static int write_growth(FILE *out, const struct flame *flame, const struct spellings *spellings,
                        const struct growth *growth, struct text *line)
{
    text_clear(line);
    text_format(line, "+%.2f%% %s -> ", 100 * growth->grown, growth->total ? "total" : "self");
    flame_add_name(line, &flame->names[growth->name]);
    spellings_add(spellings, growth->name, line);
    text_format(line, ": %.2f%% before, %.2f%% now, %+.2f%% at least%s\n",
                100 * part_of(&growth->before), 100 * part_of(&growth->now), 100 * growth->least,
                growth->certainty == UNCERTAIN ? ", uncertain" : "");
    if (line->failed)
        return -ENOMEM;
    fwrite(line->data, 1, line->length, out);
    return 0;
}

int verdict_write(FILE *out, const struct flame *flame, const struct spellings *spellings,
                  const struct verdict_wishes *wishes, size_t *grown)
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
        growths[i] = find_growth(&functions, i, wishes->limit);
        counts[growths[i].certainty]++;
    }
    if (!result) {
        qsort(growths, flame->name_count, sizeof(*growths), compare);
        write_heading(out, wishes, counts[CERTAIN], counts[UNCERTAIN]);
    }
    for (size_t i = 0; i < MOST_SHOWN && i < flame->name_count && !result; i++)
        if (growths[i].grown > NOTHING)
            result = write_growth(out, flame, spellings, &growths[i], &line);
    *grown = counts[CERTAIN];
    functions_free(&functions);
    free(growths);
    text_free(&line);
    return result;
}
