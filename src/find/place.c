/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "machine/machine.h"

/* Bytes before the local entry: for callers from elsewhere, they load the function's own TOC. */
#define LOCAL_ENTRY 8

static void free_names(struct place *place)
{
    free(place->name);
    free(place->first_name);
}

/* The list's own copy of a path. Files come one after another: the last one is likely the same. */
static const char *own_path(struct places *places, const char *path)
{
    for (size_t i = places->path_count; i--;)
        if (!strcmp(places->paths[i], path))
            return places->paths[i];
    if (ARRAY_RESERVE(places->paths, places->path_room, places->path_count + 1))
        return NULL;
    char *copy = strdup(path);
    if (copy)
        places->paths[places->path_count++] = copy;
    return copy;
}

int places_add(struct places *places, const struct place *place)
{
    if (ARRAY_RESERVE(places->items, places->room, places->count + 1))
        return -ENOMEM;
    struct place *added = &places->items[places->count];
    *added = *place;
    added->name = strdup(place->name);
    added->first_name = place->first_name ? strdup(place->first_name) : NULL;
    added->file = place->file ? own_path(places, place->file) : NULL;
    added->path = place->path ? own_path(places, place->path) : NULL;
    if (!added->name || !added->first_name != !place->first_name ||
        !added->file != !place->file || !added->path != !place->path) {
        free_names(added);
        return -ENOMEM;
    }
    places->count++;
    return 0;
}

/* The same place compares equal; otherwise by kind, file, place, name. */
static int compare_places(const struct place *a, const struct place *b)
{
    int order = order_of(a->kind, b->kind);

    if (!order && a->file != b->file && a->file && b->file)
        return strcmp(a->file, b->file);
    order = order ?: order_of(a->at_return, b->at_return) ?: order_of(a->address, b->address);
    if (order || a->file)
        return order; /* the address is the instruction's own */
    return order_of(a->offset, b->offset) ?: a->address ? 0 : strcmp(a->name, b->name);
}

const char *place_own_name(const struct place *place)
{
    return place->path ? place->name + strlen(base_name(place->path)) + 1 : place->name;
}

uint64_t place_first(const struct place *place)
{
    const bool by_address = place->kind == PLACE_KERNEL_FUNCTION && place->address;

    return by_address && !place->offset && machine_of_kernel()->local_entries ? LOCAL_ENTRY
                                                                              : place->offset;
}

uint64_t place_later(const struct place *place)
{
    return place->start == START_LINK ? machine_of_kernel()->entry_patch : 0;
}

void place_add_own_name(const struct place *place, const struct demangle_options *readable,
                        struct text *to)
{
    const char *raw = place_own_name(place);
    struct text name = {0};
    int result = readable && place->kind != PLACE_TRACEPOINT ? demangle_symbol(raw, readable, &name)
                                                             : -EINVAL;

    text_add(to, result ? raw : name.data);
    to->failed = to->failed || result == -ENOMEM;
    text_free(&name);
}

/* Of a function's names in a file the plain one comes first: malloc, __libc_malloc. */
static int compare_names(const struct place *left, const struct place *right)
{
    const char *a = place_own_name(left), *b = place_own_name(right);
    size_t a_marks = left->path ? strspn(a, "_") : 0, b_marks = right->path ? strspn(b, "_") : 0;

    return order_of(a_marks, b_marks) ?: strcmp(a, b);
}

static int compare_for_sort(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    return compare_places(a, b) ?: order_of(b->named, a->named) ?: compare_names(a, b);
}

void places_remove_doubles(struct places *places)
{
    size_t kept = 0;

    if (!places->count)
        return; /* no array yet, which qsort() does not allow */
    qsort(places->items, places->count, sizeof(*places->items), compare_for_sort);
    for (size_t i = 0; i < places->count; i++) {
        struct place *last = kept ? &places->items[kept - 1] : NULL;
        if (!last || compare_places(last, &places->items[i])) {
            places->items[kept++] = places->items[i];
            continue;
        }
        /*
         * A function and a USDT probe at the same instruction: the kernel takes one counter for
         * both.
         */
        if (!last->semaphore)
            last->semaphore = places->items[i].semaphore;
        free_names(&places->items[i]);
    }
    places->count = kept;
}

void places_remove_failed(struct places *places, size_t first)
{
    size_t kept = first;

    for (size_t i = first; i < places->count; i++)
        if (places->items[i].error)
            free_names(&places->items[i]);
        else
            places->items[kept++] = places->items[i];
    places->count = kept;
}

void places_free(struct places *places)
{
    for (size_t i = 0; i < places->count; i++)
        free_names(&places->items[i]);
    for (size_t i = 0; i < places->path_count; i++)
        free(places->paths[i]);
    free(places->paths);
    free(places->items);
    *places = (struct places){0};
}
