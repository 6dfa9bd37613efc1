/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <string.h>

#include "unwind/objects_parts.h"

enum unwind_end object_end(const struct object *object)
{
    if (object->state == HAS_NO_ROOM || object->why == -ETIME || object->why == -E2BIG)
        return UNWIND_END_NO_ROOM;
    return object->why == -ENOENT ? UNWIND_END_NO_TABLE : UNWIND_END_UNREAD;
}

static bool can_be_read(const struct objects *objects, const struct kept *kept)
{
    const uint32_t first = kept->object.block / UNWIND_CHUNK_BLOCKS;
    const uint32_t last = (kept->object.block + kept->blocks - 1) / UNWIND_CHUNK_BLOCKS;

    for (uint32_t i = first; i <= last; i++)
        if (!objects->tables.space.at[i])
            return false;
    return true;
}

static int lend(const struct objects *objects, const struct kept *kept, struct table *table)
{
    if (!kept || !can_be_read(objects, kept))
        return UNWIND_END_COLD;
    *table = (struct table){
        .chunks = objects->tables.space.at,
        .blocks = kept->blocks,
        .object = kept->object,
    };
    return 0;
}

int objects_find(struct objects *objects, const struct mapped_file *file, struct table *table)
{
    static const struct unwind_key vdso;

    if (file->kind == MAPPED_VDSO)
        return lend(objects, tables_find(&objects->tables, &vdso), table);
    struct object *object = object_find(objects, file);
    if (!object)
        return UNWIND_END_UNREAD;
    if (object->state == SEEN)
        object_set_state(objects, object, TO_BE_MADE);
    if (object->state == TO_BE_MADE || object->state == IS_MADE) {
        object->awaited = true;
        return -EAGAIN;
    }
    if (object->state == HAS_TABLE)
        return lend(objects, &objects->tables.items[object->kept], table);
    return object_end(object);
}

void objects_tell_kind(struct objects *objects, const struct unwind_key *key, uint32_t kind)
{
    struct unwind_key *place = &objects->told[objects->told_count % OBJECTS_TOLD];

    for (size_t i = 0; i < OBJECTS_TOLD && i < objects->told_count; i++)
        if (!memcmp(&objects->told[i], key, sizeof(*key)))
            return;
    if (objects->told_count++ >= OBJECTS_TOLD)
        tables_tell_kind(&objects->tables, place, 0);
    *place = *key;
    tables_tell_kind(&objects->tables, key, kind);
}
