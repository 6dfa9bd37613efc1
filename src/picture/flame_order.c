/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "picture/flame_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int flame_compare_names(const struct flame_name *a, const struct flame_name *b)
{
    int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);

    if (order)
        return order;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return a->kind < b->kind ? -1 : a->kind > b->kind;
}

/* qsort() passes no context to the comparison function. */
static const struct flame_name *sorted_names;

static int compare_indexes(const void *left, const void *right)
{
    return flame_compare_names(&sorted_names[*(const uint32_t *)left],
                               &sorted_names[*(const uint32_t *)right]);
}

/* ranks[name]: its rank among the others. */
static void rank_names(const struct flame *flame, uint32_t *names, uint32_t *ranks)
{
    for (size_t i = 0; i < flame->name_count; i++)
        names[i] = (uint32_t)i;
    sorted_names = flame->names;
    qsort(names, flame->name_count, sizeof(*names), compare_indexes);
    for (size_t i = 0; i < flame->name_count; i++)
        ranks[names[i]] = (uint32_t)i;
}

/* All nodes but the root, by their names' ranks: a counting sort. */
static void sort_nodes(const struct flame *flame, const uint32_t *ranks, uint32_t *ends,
                       uint32_t *order)
{
    uint32_t at = 0;

    memset(ends, 0, flame->name_count * sizeof(*ends));
    for (size_t i = 1; i < flame->count; i++)
        ends[ranks[flame->nodes[i].name]]++;
    for (size_t i = 0; i < flame->name_count; i++)
        ends[i] = at += ends[i];
    for (size_t i = flame->count; i-- > 1;)
        order[--ends[ranks[flame->nodes[i].name]]] = (uint32_t)i;
}

int flame_order(struct flame *flame)
{
    uint32_t *names = malloc((flame->name_count + 1) * sizeof(*names));
    uint32_t *ranks = malloc((flame->name_count + 1) * sizeof(*ranks));
    uint32_t *order = malloc((flame->count + 1) * sizeof(*order));
    int result = names && ranks && order ? 0 : -ENOMEM;

    if (!result) {
        rank_names(flame, names, ranks);
        sort_nodes(flame, ranks, names, order);
        for (size_t i = 0; i < flame->count; i++)
            flame->nodes[i].first_child = 0;
        /* Last first: each is put before those already there. */
        for (size_t i = flame->count - 1; i--;) {
            struct flame_node *node = &flame->nodes[order[i]];
            node->next = flame->nodes[node->parent].first_child;
            flame->nodes[node->parent].first_child = order[i];
        }
    }
    free(names);
    free(ranks);
    free(order);
    return result;
}

uint32_t flame_next(const struct flame *flame, uint32_t node, size_t *depth)
{
    if (flame->nodes[node].first_child) {
        ++*depth;
        return flame->nodes[node].first_child;
    }
    while (node && !flame->nodes[node].next) {
        node = flame->nodes[node].parent;
        --*depth;
    }
    return node ? flame->nodes[node].next : 0;
}

/* Of a part of the values before; a greater part never becomes less. */
static uint64_t scale(uint64_t part, const struct flame_node *root)
{
    double scaled = root->before ? (double)part / (double)root->before * (double)root->value : 0;

    return part == root->before || scaled >= (double)root->value ? root->value : (uint64_t)scaled;
}

int flame_scale(const struct flame *flame, uint64_t **scaled)
{
    const struct flame_node *nodes = flame->nodes;
    uint64_t *begins = *scaled = calloc(flame->count, sizeof(*begins));

    if (!begins)
        return -ENOMEM;
    /* First, each one's offset in the whole, until its turn comes. */
    for (size_t i = 0; i < flame->count; i++) {
        uint64_t at = begins[i], end = at + nodes[i].before;
        for (uint32_t child = nodes[i].first_child; child; child = nodes[child].next) {
            begins[child] = at;
            at += nodes[child].before;
        }
        begins[i] = scale(end, nodes) - scale(begins[i], nodes);
    }
    return 0;
}

void flame_exchange_before(struct flame *flame, uint64_t *values)
{
    for (size_t i = 0; i < flame->count; i++) {
        uint64_t value = flame->nodes[i].before;
        flame->nodes[i].before = values[i];
        values[i] = value;
    }
}

void flame_add_name(struct text *text, const struct flame_name *name)
{
    static const char *const endings[] = {
        [FLAME_KERNEL] = "_[k]", [FLAME_JIT] = "_[j]", [FLAME_INLINED] = "_[i]",
        [FLAME_WAKER] = "_[w]",
    };

    text_append(text, name->text, name->length);
    if (name->kind >= FLAME_KERNEL && name->kind <= FLAME_WAKER)
        text_add(text, endings[name->kind]);
}
