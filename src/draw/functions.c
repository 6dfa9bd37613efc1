/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "draw/functions.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "picture/flame_order.h"

/* A name that is drawn, but not a function's. */
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

/* What goes through a node is not its parent's own. */
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

    if (array_reserve(&functions->leaves, &functions->room, depth + 1, sizeof(*functions->leaves)))
        return -ENOMEM;
    functions->leaves[0] = 0;
    if (*met >= depth)
        *met = SIZE_MAX;
    uint32_t leaf = leaf_at(functions, node, depth, *met);
    /* Nothing precedes it: it is the leaf after all. */
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
        /* What was on the path and is no longer. */
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
