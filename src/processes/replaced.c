/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "processes/replaced.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Set in all epochs, so that none is 0 and they wrap around without it. */
#define NUMBERED 0x80000000u

/* Anonymous memory has nothing to tell it apart. */
bool replaced_is_same(const struct mapping *a, const struct mapping *b)
{
    return a->file == b->file &&
           (a->file->kind != MAPPED_FILE || a->offset - a->start == b->offset - b->start);
}

static void forget_first(struct replaced_list *list, struct mapped_files *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mapped_file_drop(files, list->items[i].mapping.file);
    list->count -= count;
    if (list->count)
        memmove(list->items, list->items + count, list->count * sizeof(*list->items));
    list->forgotten += (uint32_t)count;
}

/* The part of `had` within `mapping`. */
static int keep(struct replaced_list *list, const struct mapping *had,
                const struct mapping *mapping, uint64_t time)
{
    struct mapping part = *had;

    if (array_reserve(&list->items, &list->room, list->count + 1, sizeof(*list->items)))
        return -ENOMEM;
    if (part.start < mapping->start) {
        part.offset += mapping->start - part.start;
        part.start = mapping->start;
    }
    if (part.end > mapping->end)
        part.end = mapping->end;
    mapped_file_hold(part.file);
    list->items[list->count++] = (struct replaced){part, time};
    return 0;
}

int replaced_keep(struct replaced_list *list, struct mapped_files *files, const struct image *image,
                  const struct mapping *mapping, uint64_t time)
{
    int forgotten = 0;

    for (size_t i = image_first_behind(image, mapping->start);
         i < image->count && image->mappings[i].start < mapping->end; i++) {
        if (replaced_is_same(&image->mappings[i], mapping))
            continue;
        if (list->count == REPLACED_MOST) {
            forget_first(list, files, 1);
            forgotten++;
        }
        if (keep(list, &image->mappings[i], mapping, time))
            return -ENOMEM;
    }
    return forgotten;
}

void replaced_forget(struct replaced_list *list, struct mapped_files *files, uint64_t time)
{
    size_t count = 0;

    while (count < list->count && list->items[count].until < time)
        count++;
    if (count)
        forget_first(list, files, count);
}

void replaced_free(struct replaced_list *list, struct mapped_files *files)
{
    forget_first(list, files, list->count);
    free(list->items);
    *list = (struct replaced_list){.forgotten = 0};
}

uint32_t replaced_epoch(const struct replaced_list *list, uint64_t time)
{
    size_t before = 0;

    while (before < list->count && list->items[before].until <= time)
        before++;
    return (list->forgotten + (uint32_t)before) | NUMBERED;
}

const struct mapping *replaced_find(const struct replaced_list *list, uint32_t epoch,
                                    uint64_t address)
{
    const uint32_t ahead = (epoch - list->forgotten) & ~NUMBERED;
    size_t at = ahead < NUMBERED / 2 ? ahead : 0;

    return replaced_next(list, address, 0, &at);
}

const struct mapping *replaced_next(const struct replaced_list *list, uint64_t address,
                                    uint64_t since, size_t *at)
{
    while (*at < list->count) {
        const struct replaced *item = &list->items[(*at)++];
        if (item->until >= since && item->mapping.start <= address &&
            address < item->mapping.end)
            return &item->mapping;
    }
    return NULL;
}
