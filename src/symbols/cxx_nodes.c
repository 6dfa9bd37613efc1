/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbols/cxx_nodes.h"

#include <errno.h>

#include "util.h"

/* A name of 64 KB has fewer, whatever it is; 16 bytes each. */
#define MOST_NODES 131072
/*
 * How deep types, names and expressions may be in each other: real ones come to some forty. A thread's
 * stack may be small.
 */
#define DEEPEST 128

uint32_t cxx_make(struct cxx *cxx, enum cxx_kind kind, uint32_t a, uint32_t b, uint32_t c)
{
    if (cxx->count == cxx->room &&
        (cxx->count >= MOST_NODES ||
         array_reserve(&cxx->nodes, &cxx->room, cxx->count + 1, sizeof(*cxx->nodes)))) {
        cxx->error = cxx->count >= MOST_NODES ? -EINVAL : -ENOMEM;
        return 0;
    }
    cxx->nodes[cxx->count] = (struct cxx_node){.kind = (uint8_t)kind, .a = a, .b = b, .c = c};
    return (uint32_t)cxx->count++;
}

uint32_t cxx_wrap(struct cxx *cxx, enum cxx_kind kind, uint32_t a)
{
    return a ? cxx_make(cxx, kind, a, 0, 0) : 0;
}

bool cxx_push(struct cxx *cxx, struct cxx_numbers *numbers, uint32_t number)
{
    if (!number)
        return false;
    if (numbers->count == numbers->room &&
        array_reserve(&numbers->items, &numbers->room, numbers->count + 1,
                      sizeof(*numbers->items))) {
        cxx->error = -ENOMEM;
        return false;
    }
    numbers->items[numbers->count++] = number;
    return true;
}

uint32_t cxx_list(struct cxx *cxx, size_t first)
{
    size_t begin = cxx->lists.count;

    for (size_t i = first; i < cxx->open.count; i++)
        if (!cxx_push(cxx, &cxx->lists, cxx->open.items[i]))
            return 0;
    cxx->open.count = first;
    return cxx_make(cxx, CXX_LIST, (uint32_t)begin, (uint32_t)(cxx->lists.count - begin), 0);
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
    uint32_t sum = 0;

    if (!cxx_is_digit(cxx_peek(cxx)))
        return false;
    for (; cxx_is_digit(cxx_peek(cxx)); cxx->at++) {
        if (sum > 100000000)
            return false;
        sum = 10 * sum + (uint32_t)(*cxx->at - '0');
    }
    *number = sum;
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
