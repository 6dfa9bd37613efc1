/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/bpf.h"
#include "processes/mapped_open.h"
#include "unwind/objects_parts.h"

/* For files read at the same time. Their tables are a tenth of it. */
#define MOST_FILE_BYTES (64 << 20)
/* Failures in a row to start a process before giving up. */
#define MOST_FAILURES 10

static void set_none(struct objects *objects, struct object *object, int why)
{
    object->why = why;
    object_set_state(objects, object, why == -ENOSPC ? HAS_NO_ROOM : HAS_NONE);
    tables_tell_kind(&objects->tables, &object->key, (uint32_t)object_end(object) + 1);
}

/* ---- Making ---- */

static bool is_of(const struct kept *kept, const struct mapped_file *file)
{
    return kept->size == (uint64_t)file->about.st_size && kept->time == mapped_file_time(&file->about.st_mtim);
}

static void use(struct objects *objects, struct object *object, struct kept *kept)
{
    kept->users++;
    object->kept = (uint32_t)(kept - objects->tables.items);
    object_set_state(objects, object, HAS_TABLE);
}

static bool drop_unused(struct objects *objects, uint64_t before);

static int put(struct objects *objects, const struct kept *about, const struct table *table, struct kept **kept)
{
    int result = tables_put(&objects->tables, about, table, kept);

    if (result == -ENOSPC && drop_unused(objects, UINT64_MAX))
        result = tables_put(&objects->tables, about, table, kept);
    return result;
}

/* The kernel's key for it: found through a mapping of our own. */
static int find_key(const struct objects *objects, struct object *object)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (!objects->wishes.key) {
        object->key = (struct unwind_key){object->file->about.st_dev, object->file->about.st_ino, 0, 0};
        return 0;
    }
    void *mapped = mmap(NULL, page, PROT_READ, MAP_PRIVATE, object->file->fd, 0);

    if (mapped == MAP_FAILED)
        return -errno;
    bpf_begin_unpreempted();
    int result = objects->wishes.key(objects->wishes.context, mapped, &object->key);
    bpf_end_unpreempted();
    munmap(mapped, page);
    return result;
}

/*
 * Somebody whose files take for ever has many of them: each gets half the time of the one before.
 */
static void trust_less(struct making *making)
{
    const unsigned seconds = making->seconds ? making->seconds : MAKING_SECONDS;

    making->seconds = seconds > 1 ? seconds / 2 : 1;
}

static void take_made(void *context, size_t which, int result, const struct table *table, uint64_t rows)
{
    struct objects *objects = context;
    struct object *object = &objects->items[objects->batch[which]];
    const struct kept about = {
        .key = object->key,
        .rows = rows,
        .size = (uint64_t)object->file->about.st_size,
        .time = mapped_file_time(&object->file->about.st_mtim),
    };
    struct kept *kept = NULL;

    if (result == -EAGAIN && !object->alone) {
        object->alone = true;
        object_set_state(objects, object, TO_BE_MADE);
        return;
    }
    if (!result)
        kept = tables_find(&objects->tables, &object->key);
    if (!result && !(kept && is_of(kept, object->file)))
        result = put(objects, &about, table, &kept);
    object->blocks = (uint32_t)table->blocks;
    if (result == -ETIME)
        trust_less(&objects->making);
    if (result)
        set_none(objects, object, result);
    else
        use(objects, object, kept);
}

/* Another name of a file with a table, or one for which the kernel has no key. */
static bool is_settled(struct objects *objects, struct object *object)
{
    int result = find_key(objects, object);
    struct kept *kept = result ? NULL : tables_find(&objects->tables, &object->key);

    if (result)
        set_none(objects, object, result);
    else if (kept && is_of(kept, object->file))
        use(objects, object, kept);
    return object->state != TO_BE_MADE;
}

static bool comes_before(const struct object *a, const struct object *b)
{
    if (a->alone != b->alone)
        return b->alone;
    if (a->awaited != b->awaited)
        return a->awaited;
    return a->wanted != b->wanted ? a->wanted : a->sights > b->sights;
}

static struct object *next_to_make(const struct objects *objects)
{
    struct object *next = NULL;

    for (size_t i = 0; i < objects->count && objects->waiting; i++)
        if (objects->items[i].state == TO_BE_MADE && (!next || comes_before(&objects->items[i], next)))
            next = &objects->items[i];
    return next;
}

/* An awaited one does not wait for others. */
static bool goes_with(const struct object *object, const struct object *first)
{
    return !object->alone && !first->alone && object->awaited == first->awaited;
}

static void begin(struct objects *objects)
{
    int fds[MAKING_MOST];
    size_t count = 0;
    uint64_t bytes = 0;
    struct object *object;

    while (count < MAKING_MOST && (object = next_to_make(objects))) {
        bytes += (uint64_t)object->file->about.st_size;
        if (count && (!goes_with(object, &objects->items[objects->batch[0]]) || bytes > MOST_FILE_BYTES))
            break;
        if (is_settled(objects, object))
            continue;
        object_set_state(objects, object, IS_MADE);
        fds[count] = object->file->fd;
        objects->batch[count++] = (size_t)(object - objects->items);
    }
    int result = count ? making_begin(&objects->making, fds, count) : 0;
    if (!result) {
        objects->failures = 0;
        return;
    }
    const bool once_more = objects->failures++ < MOST_FAILURES;
    for (size_t i = 0; i < count; i++)
        if (once_more)
            object_set_state(objects, &objects->items[objects->batch[i]], TO_BE_MADE);
        else
            set_none(objects, &objects->items[objects->batch[i]], result);
    objects->making.count = 0;
}

/* ---- Unused tables ---- */

static void drop(struct objects *objects, struct object *object)
{
    if (object->state == HAS_TABLE)
        tables_leave(&objects->tables, object->kept);
    else
        tables_tell_kind(&objects->tables, &object->key, 0);
    mapped_file_drop(objects->wishes.files, object->file);
    object->file = NULL;
    object_set_state(objects, object, GONE);
    objects->gone++;
}

/* Drops those unused since then. Did one of them have a table? */
static bool drop_unused(struct objects *objects, uint64_t before)
{
    const uint64_t dropped = objects->tables.dropped, now = now_ns();

    for (size_t i = 0; i < objects->count; i++) {
        struct object *object = &objects->items[i];
        if (object->state == GONE || object->state == IS_MADE || object->wanted)
            continue;
        if (!mapped_file_is_last(object->file))
            object->unused_since = 0;
        else if (!object->unused_since)
            object->unused_since = now;
        if (object->unused_since && object->unused_since < before)
            drop(objects, object);
    }
    return objects->tables.dropped != dropped;
}

/* Nothing is being made. What does not fit into the index is not found there, and seen as new. */
static void close_ranks(struct objects *objects)
{
    size_t left = 0;

    index_free(&objects->index);
    for (size_t i = 0; i < objects->count; i++) {
        if (objects->items[i].state == GONE)
            continue;
        objects->items[left] = objects->items[i];
        (void)index_add(&objects->index, object_hash(objects->items[left].file), (uint32_t)left);
        left++;
    }
    objects->count = left;
    objects->gone = 0;
}

static bool has_none_waiting(const struct objects *objects)
{
    size_t i = 0;

    while (i < objects->count && objects->items[i].state != HAS_NO_ROOM)
        i++;
    return i == objects->count;
}

/* Those for which there was no room, now that others are gone. */
static void try_again(struct objects *objects)
{
    if (objects->dropped == objects->tables.dropped || has_none_waiting(objects))
        return;
    objects->dropped = objects->tables.dropped;
    (void)space_settle(&objects->tables.space);
    for (size_t i = 0; i < objects->count; i++)
        if (objects->items[i].state == HAS_NO_ROOM && objects->items[i].blocks <= space_left(&objects->tables.space))
            object_set_state(objects, &objects->items[i], TO_BE_MADE);
}

static void keep_house(struct objects *objects)
{
    const uint64_t now = now_ns();

    if (now < objects->next_house)
        return;
    objects->next_house = now + objects->wishes.unused_ns / OBJECTS_LOOKS;
    drop_unused(objects, now - objects->wishes.unused_ns);
    try_again(objects);
    if (objects->gone)
        close_ranks(objects);
}

size_t objects_make(struct objects *objects, uint64_t until)
{
    struct making *making = &objects->making;

    do {
        if (making->count && making_end(making, until, take_made, objects) == -EINPROGRESS)
            break;
        objects->cpu_ns += making->count ? making->run.cpu_ns : 0;
        making->count = 0;
        keep_house(objects);
        begin(objects);
    } while (making->count && now_ns() < until);
    return objects->waiting + making->count;
}
