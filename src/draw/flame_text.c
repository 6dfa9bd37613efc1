/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A flame as text: functions, with their shares or their changes. */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "draw/functions.h"
#include "picture/flame_order.h"
#include "report/flat.h"

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
        flat_write_functions(out, list, count, count, &(struct flat_whole){
            .value = flame->nodes[0].value,
            .shown = flame->nodes[0].value,
            .counted = counted,
        });
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
        return 100 * (double)function->now.self / now - 100 * (double)function->before.self / before;
    return 100 * ((double)function->now.self - (double)function->before.self) / (whole > 0 ? whole : 1);
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
                        const struct spellings *spellings, struct text *line)
{
    text_clear(line);
    text_format(line, "%+.1f%% -> ", change->percent);
    flame_add_name(line, &flame->names[change->name]);
    if (spellings)
        spellings_add(spellings, change->name, line);
    text_add(line, "\n");
    if (line->failed)
        return -ENOMEM;
    fwrite(line->data, 1, line->length, out);
    return 0;
}

int flame_write_changes(FILE *out, const struct flame *flame, const struct spellings *spellings,
                        bool shares)
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
        result = write_change(out, flame, &changes[shown], spellings, &line);
    if (!result && shown < count)
        fprintf(out, "%zu more changed by less than 0.05%%\n", count - shown);
    functions_free(&functions);
    free(changes);
    text_free(&line);
    return result;
}
