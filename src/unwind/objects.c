/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "insns/unwind.h"
#include "unwind/objects_parts.h"

/* ---- Seeing files ---- */

struct object *object_find(const struct objects *objects, const struct mapped_file *file)
{
    size_t at = 0;
    uint32_t item;

    while (index_next(&objects->index, object_hash(file), &at, &item))
        if (objects->items[item].file == file)
            return &objects->items[item];
    return NULL;
}

static int see(struct objects *objects, struct mapped_file *file, bool wanted)
{
    struct object *object = object_find(objects, file);

    if (file->kind != MAPPED_FILE || file->fd < 0)
        return 0;
    if (!object) {
        if (array_reserve(&objects->items, &objects->room, objects->count + 1, sizeof(*objects->items)) ||
            index_add(&objects->index, object_hash(file), (uint32_t)objects->count))
            return -ENOMEM;
        mapped_file_hold(file);
        object = &objects->items[objects->count++];
        *object = (struct object){.file = file};
        object_set_state(objects, object, TO_BE_MADE);
    }
    object->wanted = object->wanted || wanted;
    object->sights++;
    return 0;
}

int objects_see(struct objects *objects, struct mapped_file *file)
{
    return see(objects, file, false);
}

int objects_want(struct objects *objects, struct mapped_file *file)
{
    return see(objects, file, true);
}

/* ---- What there is to report ---- */

struct objects_figures objects_figures(const struct objects *objects)
{
    struct objects_figures figures = {
        .files = objects->count - objects->gone,
        .left = objects->waiting + objects->making.count,
        .made = objects->tables.made,
        .dropped = objects->tables.dropped,
        .cpu_ns = objects->cpu_ns,
    };

    for (size_t i = 0; i < objects->count; i++) {
        const struct object *object = &objects->items[i];
        const bool none = object->state == HAS_NONE;
        figures.no_room += object->state == HAS_NO_ROOM;
        figures.without += none || object->state == HAS_NO_ROOM;
        figures.no_tables += none && object->why == -ENOENT;
        figures.too_slow += none && object->why == -ETIME;
    }
    for (size_t i = 0; i < objects->tables.count; i++) {
        const struct kept *kept = &objects->tables.items[i];
        figures.tables += kept->users != 0;
        figures.rows += kept->users ? kept->rows : 0;
        figures.bytes += kept->users ? kept->blocks * UNWIND_BLOCK_BYTES : 0;
    }
    return figures;
}

static const char *why_none(int why)
{
    switch (why) {
    case -ENOENT:
        return "there are no unwind tables in it";
    case -ETIME:
        return "it takes too long to read its unwind tables";
    case -E2BIG:
        return "its unwind tables are too large";
    case -EBADMSG:
        return "its unwind tables are malformed";
    case APART_KEEPS_RIGHTS:
        return "its reader could not drop its privileges";
    case -ENODATA:
        return "the kernel has no key for it";
    }
    return strerror(-why);
}

const char *objects_why(const struct objects *objects, const struct mapped_file *file)
{
    const struct object *object = object_find(objects, file);

    if (file->kind == MAPPED_VDSO || (object && object->state == HAS_TABLE))
        return NULL;
    if (file->kind == MAPPED_FILE && file->fd < 0)
        return strerror(-file->fd);
    if (object && object->state == HAS_NONE)
        return why_none(object->why);
    return object && object->state == HAS_NO_ROOM ? "there is no memory left for its unwind table"
                                                  : "its unwind table is not made yet";
}

/* ---- The whole ---- */

int objects_open(struct objects **made, const struct objects_wishes *wishes)
{
    struct objects *objects = calloc(1, sizeof(*objects));

    *made = objects;
    if (!objects)
        return -ENOMEM;
    objects->wishes = *wishes;
    objects->next_house = now_ns() + wishes->unused_ns / OBJECTS_LOOKS;
    return tables_open(&objects->tables, wishes->most_bytes, !wishes->key);
}

void objects_close(struct objects *objects)
{
    if (!objects)
        return;
    making_free(&objects->making);
    for (size_t i = 0; i < objects->count; i++)
        if (objects->items[i].file)
            mapped_file_drop(objects->wishes.files, objects->items[i].file);
    tables_close(&objects->tables);
    index_free(&objects->index);
    free(objects->items);
    free(objects);
}

void objects_tell_maps(const struct objects *objects, struct unwind_maps *maps)
{
    maps->objects = objects->tables.map;
    maps->chunks = objects->tables.space.chunks;
    maps->cache = objects->tables.cache;
}
