/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "processes/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

struct image *image_make(void)
{
    struct image *image = calloc(1, sizeof(*image));

    if (image)
        image->references = 1;
    return image;
}

void image_hold(struct image *image)
{
    image->references++;
}

void image_drop(struct image *image, struct mapped_files *files)
{
    if (--image->references)
        return;
    for (size_t i = 0; i < image->count; i++)
        mapped_file_drop(files, image->mappings[i].file);
    free(image->mappings);
    free(image);
}

/* Most programs map four to twenty. */
static int reserve(struct image *image, size_t need)
{
    size_t room = image->room ? image->room : 6;

    if (need <= image->room)
        return 0;
    while (room < need)
        room *= 2;
    struct mapping *mappings = realloc(image->mappings, room * sizeof(*mappings));
    if (!mappings)
        return -ENOMEM;
    image->mappings = mappings;
    image->room = room;
    return 0;
}

static struct image *copy(const struct image *image)
{
    struct image *made = image_make();

    if (!made || reserve(made, image->count + 1)) {
        free(made);
        return NULL;
    }
    if (image->count)
        memcpy(made->mappings, image->mappings, image->count * sizeof(*made->mappings));
    made->count = image->count;
    for (size_t i = 0; i < made->count; i++)
        mapped_file_hold(made->mappings[i].file);
    return made;
}

size_t image_first_behind(const struct image *image, uint64_t address)
{
    return image->count ? first_key_above(&image->mappings->end, sizeof(*image->mappings),
                                          image->count, address)
                        : 0;
}

/* Removes [start, end). There must be room for one more mapping. */
static void cut(struct image *image, struct mapped_files *files, uint64_t start, uint64_t end)
{
    size_t first = image_first_behind(image, start), last;

    if (first == image->count || image->mappings[first].start >= end)
        return;
    struct mapping *at = &image->mappings[first];
    if (at->start < start) {
        if (at->end > end) { /* its head and its tail remain */
            memmove(at + 1, at, (image->count - first) * sizeof(*at));
            image->count++;
            mapped_file_hold(at->file);
            at[1].offset += end - at->start;
            at[1].start = end;
            at->end = start;
            return;
        }
        at->end = start;
        first++;
    }
    for (last = first; last < image->count && image->mappings[last].end <= end; last++)
        mapped_file_drop(files, image->mappings[last].file);
    if (last < image->count && image->mappings[last].start < end) {
        image->mappings[last].offset += end - image->mappings[last].start;
        image->mappings[last].start = end;
    }
    memmove(&image->mappings[first], &image->mappings[last],
            (image->count - last) * sizeof(*image->mappings));
    image->count -= last - first;
}

int image_add(struct image **image, struct mapped_files *files, const struct mapping *mapping)
{
    struct image *to = *image;
    int result = to->count >= IMAGE_MAPPINGS ? -ENOSPC : 0;

    if (!result && to->references > 1) {
        to = copy(to);
        result = to ? 0 : -ENOMEM;
    }
    if (!result)
        result = reserve(to, to->count + 2); /* one may become two */
    if (result) {
        if (to && to != *image)
            image_drop(to, files);
        mapped_file_drop(files, mapping->file);
        return result;
    }
    if (to != *image) {
        image_drop(*image, files);
        *image = to;
    }
    cut(to, files, mapping->start, mapping->end);
    size_t at = image_first_behind(to, mapping->start);
    memmove(&to->mappings[at + 1], &to->mappings[at], (to->count - at) * sizeof(*to->mappings));
    to->mappings[at] = *mapping;
    to->count++;
    return 0;
}

const struct mapping *image_find(const struct image *image, uint64_t address)
{
    size_t at = image_first_behind(image, address);

    if (at == image->count || image->mappings[at].start > address)
        return NULL;
    return &image->mappings[at];
}

bool image_has_anonymous(const struct image *image)
{
    for (size_t i = 0; i < image->count; i++)
        if (image->mappings[i].file->kind == MAPPED_ANONYMOUS)
            return true;
    return false;
}

size_t image_bytes(const struct image *image)
{
    return sizeof(*image) + image->room * sizeof(*image->mappings);
}
