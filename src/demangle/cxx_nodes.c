/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "demangle/cxx_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No name of 64 KB has more; 16 bytes each. */
#define MOST_NODES 131072
/*
 * The deepest nesting of types, names and expressions: real ones reach some forty. A thread's stack
 * may be small.
 */
#define DEEPEST 128

void cxx_start(struct cxx *cxx, struct cxx_store *store, const char *name, const char *end)
{
    cxx_free(cxx);
    *cxx = (struct cxx){
        .name = name, .at = name, .end = end, .store = store, .scopes = cxx->scopes,
        .nodes = store->nodes, .room = sizeof(store->nodes) / sizeof(*store->nodes),
        .lists = {.items = store->lists, .room = sizeof(store->lists) / sizeof(uint32_t)},
        .open = {.items = store->open, .room = sizeof(store->open) / sizeof(uint32_t)},
        .seen = {.items = store->seen, .room = sizeof(store->seen) / sizeof(uint32_t)}};
    cxx_make(cxx, CXX_NONE, 0, 0, 0);
}

void cxx_free(struct cxx *cxx)
{
    if (!cxx->store)
        return;
    if (cxx->nodes != cxx->store->nodes)
        free(cxx->nodes);
    if (cxx->lists.items != cxx->store->lists)
        free(cxx->lists.items);
    if (cxx->open.items != cxx->store->open)
        free(cxx->open.items);
    if (cxx->seen.items != cxx->store->seen)
        free(cxx->seen.items);
    cxx->store = NULL;
}

/* Doubles the room, moving out of the store if necessary; NULL: no memory. */
static void *grow(void *items, const void *stored, size_t *room, size_t size)
{
    void *more = realloc(items == stored ? NULL : items, 2 * *room * size);

    if (!more)
        return NULL;
    if (items == stored)
        memcpy(more, items, *room * size);
    *room *= 2;
    return more;
}

/* Makes room for the next node; returns the number of the last. */
static uint32_t grow_nodes(struct cxx *cxx)
{
    void *more = NULL;

    if (cxx->count >= MOST_NODES) {
        cxx->error = -EINVAL;
    } else if ((more = grow(cxx->nodes, cxx->store->nodes, &cxx->room, sizeof(*cxx->nodes)))) {
        cxx->nodes = more;
        return (uint32_t)cxx->count - 1;
    } else {
        cxx->error = -ENOMEM;
    }
    /* Gives the last one up, to leave room for another try. */
    cxx->count--;
    return 0;
}

bool cxx_grow(struct cxx *cxx, struct cxx_numbers *numbers)
{
    const uint32_t *stored = numbers == &cxx->lists  ? cxx->store->lists
                             : numbers == &cxx->open ? cxx->store->open
                                                     : cxx->store->seen;
    void *more = grow(numbers->items, stored, &numbers->room, sizeof(*numbers->items));

    if (more)
        numbers->items = more;
    else
        cxx->error = -ENOMEM;
    return more != NULL;
}

bool cxx_take_two(struct cxx *cxx, const char *two)
{
    if (cxx->end - cxx->at < 2 || cxx->at[0] != two[0] || cxx->at[1] != two[1])
        return false;
    cxx->at += 2;
    return true;
}

uint32_t cxx_make(struct cxx *cxx, enum cxx_kind kind, uint32_t a, uint32_t b, uint32_t c)
{
    struct cxx_node *node = &cxx->nodes[cxx->count];
    node->kind = (uint8_t)kind;
    node->flags = 0;
    node->small = 0;
    node->a = a;
    node->b = b;
    node->c = c;
    /* The check for room comes last: nothing done for each node needs a saved register. */
    return ++cxx->count < cxx->room ? (uint32_t)cxx->count - 1 : grow_nodes(cxx);
}

uint32_t cxx_wrap(struct cxx *cxx, enum cxx_kind kind, uint32_t a)
{
    return a ? cxx_make(cxx, kind, a, 0, 0) : 0;
}

uint32_t cxx_list(struct cxx *cxx, size_t first)
{
    size_t begin = cxx->lists.count, count = cxx->open.count - first;

    while (cxx->lists.room - begin < count)
        if (!cxx_grow(cxx, &cxx->lists))
            return 0;
    for (size_t i = 0; i < count; i++)
        cxx->lists.items[begin + i] = cxx->open.items[first + i];
    cxx->lists.count += count;
    cxx->open.count = first;
    return cxx_make(cxx, CXX_LIST, (uint32_t)begin, (uint32_t)count, 0);
}

uint32_t cxx_remember(struct cxx *cxx, uint32_t number)
{
    return cxx_push(cxx, &cxx->seen, number) ? number : 0;
}

bool cxx_enter(struct cxx *cxx)
{
    if (cxx->depth >= DEEPEST || cxx->error)
        return false;
    cxx->depth++;
    return true;
}

bool cxx_number(struct cxx *cxx, uint32_t *number)
{
    const char *at = cxx->at;
    uint32_t sum = 0;

    for (; at < cxx->end && cxx_is_digit(*at) && sum < 100000000; at++)
        sum = 10 * sum + (uint32_t)(*at - '0');
    *number = sum;
    if (at == cxx->at || sum >= 100000000)
        return false;
    cxx->at = at;
    return true;
}

bool cxx_counted(struct cxx *cxx, uint32_t *number)
{
    *number = 0;
    if (cxx_take(cxx, '_'))
        return true;
    if (!cxx_number(cxx, number))
        return false;
    ++*number;
    return cxx_take(cxx, '_');
}

uint32_t cxx_digits(struct cxx *cxx)
{
    const char *first = cxx->at;

    while (cxx_is_digit(cxx_peek(cxx)))
        cxx->at++;
    if (cxx->at == first)
        return 0;
    return cxx_make(cxx, CXX_NUMBER, (uint32_t)(first - cxx->name), (uint32_t)(cxx->at - first), 0);
}
