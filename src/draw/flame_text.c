/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A flame as text: functions, with their shares or with what has changed. */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/util.h"
#include "picture/flame_order.h"
#include "report/flat.h"

#define LEAST_PERCENT 0.05 /* what is less is shown as 0.0 */

/* What is known of each name. */
struct function {
    uint64_t self, before; /* of stacks that end in it */
    uint64_t total;        /* of stacks that it is in */
    uint32_t open;         /* how often it is on the way to the node that is looked at */
};

struct functions {
    const struct flame *flame;
    struct function *items; /* by the index of their names */
    uint32_t *leaves;       /* by depth: whose own a stack is that ends there, a node or 0 */
    size_t room;
};

/* A name that is drawn, and is no function's. */
static bool is_mark(const struct flame *flame, uint32_t node)
{
    uint32_t kind = flame->names[flame->nodes[node].name].kind;

    return kind == FLAME_DELIMITER || kind == FLAME_MEETING;
}

/*
 * The function that a stack is of which ends in this node. Behind `--` stands a waker's, upside
 * down: the stack is of the one where the two meet.
 */
static uint32_t leaf_at(const struct functions *functions, uint32_t node, size_t depth, size_t met)
{
    return is_mark(functions->flame, node) || met < depth ? functions->leaves[depth - 1] : node;
}

/* What goes through a node is not its parent's own. */
static void add_own(struct functions *functions, const struct flame_node *node, uint32_t leaf,
                    uint32_t leaf_before)
{
    const struct flame_node *nodes = functions->flame->nodes;

    if (leaf) {
        functions->items[nodes[leaf].name].self += node->value;
        functions->items[nodes[leaf].name].before += node->before;
    }
    if (leaf_before) {
        functions->items[nodes[leaf_before].name].self -= node->value;
        functions->items[nodes[leaf_before].name].before -= node->before;
    }
}

static int enter(struct functions *functions, uint32_t node, size_t depth, size_t *met)
{
    const struct flame_node *at = &functions->flame->nodes[node];

    if (array_reserve(&functions->leaves, &functions->room, depth + 1, sizeof(*functions->leaves)))
        return -ENOMEM;
    functions->leaves[0] = 0;
    if (*met >= depth)
        *met = SIZE_MAX;
    uint32_t leaf = leaf_at(functions, node, depth, *met);
    /* Nothing comes before it: it is the leaf after all. */
    if (!leaf && !is_mark(functions->flame, node))
        leaf = node;
    functions->leaves[depth] = leaf;
    if (functions->flame->names[at->name].kind == FLAME_MEETING && *met > depth)
        *met = depth;
    add_own(functions, at, leaf, functions->leaves[depth - 1]);
    if (!functions->items[at->name].open++ && !is_mark(functions->flame, node))
        functions->items[at->name].total += at->value;
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
        /* What was on the way, and is not any more. */
        for (; before >= depth && node; before--, node = flame->nodes[node].parent)
            functions->items[flame->nodes[node].name].open--;
        node = next;
        result = enter(functions, node, depth, &met);
    }
    return result;
}

static int functions_make(struct functions *functions, const struct flame *flame)
{
    *functions = (struct functions){
        .flame = flame,
        .items = calloc(flame->name_count + 1, sizeof(*functions->items)),
    };
    return functions->items ? add_all(functions) : -ENOMEM;
}

static void functions_free(struct functions *functions)
{
    free(functions->items);
    free(functions->leaves);
}

/* ---- Shares ---- */

/* Where each name begins in a text that has them all, with a NUL after each. */
static int list_names(const struct functions *functions, struct text *names,
                      struct flat_function *list, size_t *count)
{
    const struct flame *flame = functions->flame;
    size_t at = 0;

    for (size_t i = 0; i < flame->name_count; i++)
        if (functions->items[i].total) {
            flame_add_name(names, &flame->names[i]);
            text_append(names, "", 1);
        }
    if (names->failed)
        return -ENOMEM;
    for (size_t i = 0; i < flame->name_count; i++) {
        const struct function *function = &functions->items[i];
        if (!function->total)
            continue;
        list[(*count)++] = (struct flat_function){
            .name = names->data + at,
            .self = function->self,
            .total = function->total,
        };
        while (names->data[at++])
            ;
    }
    return 0;
}

int flame_write_functions(FILE *out, const struct flame *flame)
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
        flat_write_functions(out, list, count, count, flame->nodes[0].value);
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

/* qsort() passes nothing along to the function that compares. */
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
        return 100 * (double)function->self / now - 100 * (double)function->before / before;
    return 100 * ((double)function->self - (double)function->before) / (whole > 0 ? whole : 1);
}

/* How many have changed. */
static size_t find_changes(const struct functions *functions, bool shares, struct change *changes)
{
    size_t count = 0;

    for (size_t i = 0; i < functions->flame->name_count; i++) {
        double percent = find_percent(&functions->items[i], functions->flame->nodes, shares);
        double size = percent < 0 ? -percent : percent;
        /* What is left of equal shares is of how such numbers are kept. */
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
