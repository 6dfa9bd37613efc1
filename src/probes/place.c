/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "probes/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

static void free_names(struct place *place)
{
    free(place->name);
    free(place->first_name);
}

int places_add(struct places *places, const struct place *place)
{
    if (array_reserve(&places->items, &places->room, places->count + 1, sizeof(*places->items)))
        return -ENOMEM;
    struct place *added = &places->items[places->count];
    *added = *place;
    added->name = strdup(place->name);
    added->first_name = place->first_name ? strdup(place->first_name) : NULL;
    if (!added->name || (place->first_name && !added->first_name)) {
        free_names(added);
        return -ENOMEM;
    }
    places->count++;
    return 0;
}

/* Places that are one and the same compare equal; else by kind, place, name. */
static int compare_places(const struct place *a, const struct place *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->at_return != b->at_return)
        return a->at_return ? 1 : -1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->address ? 0 : strcmp(a->name, b->name);
}

static int compare_for_sort(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    int order = compare_places(a, b);

    if (!order && a->named != b->named)
        return a->named ? -1 : 1;
    return order ? order : strcmp(a->name, b->name);
}

void places_remove_doubles(struct places *places)
{
    size_t kept = 0;

    if (!places->count)
        return; /* no array yet, which qsort() would not take */
    qsort(places->items, places->count, sizeof(*places->items), compare_for_sort);
    for (size_t i = 0; i < places->count; i++) {
        if (kept && !compare_places(&places->items[kept - 1], &places->items[i]))
            free_names(&places->items[i]);
        else
            places->items[kept++] = places->items[i];
    }
    places->count = kept;
}

void places_free(struct places *places)
{
    for (size_t i = 0; i < places->count; i++)
        free_names(&places->items[i]);
    free(places->items);
    *places = (struct places){0};
}
