/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unwind/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/index.h"
#include "base/util.h"
#include "insns/unwind.h"
#include "kernel/bpf.h"
#include "sandbox/sandbox.h"
#include "unwind/table_store.h"

/* How many times in `unused_ns` unused tables are looked for. */
#define LOOKS 4
/* Keys without an object: beyond this many, the oldest one's kind is withdrawn. */
#define MOST_KEYS 256
/*
 * Files read in one batch have at most this many bytes; their tables take a tenth of that. A batch
 * that stacks wait for is small, and soon done.
 */
#define MOST_FILE_BYTES (64 << 20)
#define MOST_AWAITED_BYTES (4 << 20)
/* Failures in a row to start a process before giving up. */
#define MOST_FAILURES 10
/* How often a file is put off whose reader was silent (sandbox_silence()). */
#define MOST_SILENCES 3

enum state {
    GONE,
    SEEN, /* its table has not been asked for */
    TO_BE_MADE,
    IS_MADE, /* being made */
    HAS_TABLE,
    HAS_NONE,
    HAS_NO_ROOM,
};

struct object {
    struct mapped_file *file; /* with a reference; NULL: gone */
    struct unwind_key key;
    enum state state;
    int why;               /* HAS_NONE: a negative errno */
    bool wanted, alone;    /* made before those not wanted; made without others */
    unsigned silences;     /* how often its reader was silent: the fewer, the sooner */
    bool demanded;         /* a stack was the first to ask for its table */
    uint64_t awaited;      /* how often a stack needed it: the more, the sooner */
    uint32_t sights;
    uint32_t stored;         /* HAS_TABLE: its index */
    uint32_t blocks;       /* HAS_NO_ROOM: how many were missing */
    uint64_t unused_since; /* 0: in use, as far as is known */
};

struct objects {
    struct objects_options options;
    struct tables tables;
    struct object *items;
    size_t count, room, gone;
    struct index index; /* by their file's address */
    size_t waiting;     /* how many are to be made */
    struct table_builder builder;
    size_t batch[BUILDER_MOST]; /* the objects being made */
    unsigned failures;
    struct unwind_key told[MOST_KEYS]; /* keys without an object whose kind programs were told */
    size_t told_count;
    uint64_t next_house, cpu_ns;
    uint64_t dropped; /* tables.dropped, when those without room were last tried */
    uint64_t settled; /* how often an object got a table, or is to have none */
};

static uint64_t object_hash(const struct mapped_file *file)
{
    return hash_word(0, (uintptr_t)file);
}

static void object_set_state(struct objects *objects, struct object *object, enum state state)
{
    objects->waiting += (size_t)(state == TO_BE_MADE) - (size_t)(object->state == TO_BE_MADE);
    objects->settled += state != SEEN && state != TO_BE_MADE && state != IS_MADE;
    object->state = state;
}

/* ---- Seeing files ---- */

/* NULL: it was not seen. */
static struct object *object_find(const struct objects *objects, const struct mapped_file *file)
{
    size_t at = 0;
    uint32_t item;

    while (index_next(&objects->index, object_hash(file), &at, &item))
        if (objects->items[item].file == file)
            return &objects->items[item];
    return NULL;
}

static int see(struct objects *objects, struct mapped_file *file, bool at_once, bool wanted)
{
    struct object *object = object_find(objects, file);

    if (file->kind != MAPPED_FILE || file->fd < 0)
        return 0;
    if (!object) {
        if (ARRAY_RESERVE(objects->items, objects->room, objects->count + 1) ||
            index_add(&objects->index, object_hash(file), (uint32_t)objects->count))
            return -ENOMEM;
        mapped_file_hold(file);
        object = &objects->items[objects->count++];
        *object = (struct object){.file = file};
        object_set_state(objects, object, SEEN);
    }
    if (object->state == SEEN && at_once)
        object_set_state(objects, object, TO_BE_MADE);
    object->wanted = object->wanted || wanted;
    object->sights++;
    return 0;
}

int objects_see(struct objects *objects, struct mapped_file *file, bool at_once)
{
    return see(objects, file, at_once, false);
}

int objects_want(struct objects *objects, struct mapped_file *file)
{
    return see(objects, file, true, true);
}

uint64_t objects_settled(const struct objects *objects)
{
    return objects->settled;
}

/* ---- What there is to report ---- */

struct objects_figures objects_figures(const struct objects *objects)
{
    struct objects_figures figures = {
        .files = objects->count - objects->gone,
        .left = objects->waiting + objects->builder.count,
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
        const struct stored_table *stored = &objects->tables.items[i];
        if (!stored->users)
            continue;
        figures.tables++;
        figures.counts.rows += stored->counts.rows;
        figures.counts.by_table += stored->counts.by_table;
        figures.counts.by_code += stored->counts.by_code;
        figures.counts.by_none += stored->counts.by_none;
        figures.bytes += stored->blocks * UNWIND_BLOCK_BYTES;
    }
    return figures;
}

void objects_add_demanded(const struct objects *objects, struct text *names)
{
    for (size_t i = 0; i < objects->count; i++) {
        const struct object *object = &objects->items[i];
        if (object->state == GONE || !object->demanded)
            continue;
        text_add(names, names->length ? ", " : "");
        escape_bytes(names, object->file->label, strlen(object->file->label));
    }
}

int objects_error(const struct objects *objects, const struct mapped_file *file)
{
    const struct object *object = object_find(objects, file);
    const enum state state = object ? object->state : GONE;

    if (!object && file->fd < 0)
        return file->fd;
    return state == HAS_TABLE ? 0
        : state == HAS_NONE || state == HAS_NO_ROOM ? object->why : -EAGAIN;
}

/* ---- The table of an object ---- */

/* The end of walks that reach an object that will have no table. */
static enum unwind_end object_end(const struct object *object)
{
    if (object->state == HAS_NO_ROOM || object->why == -ETIME || object->why == -E2BIG)
        return UNWIND_END_NO_ROOM;
    return object->why == -ENOENT ? UNWIND_END_NO_TABLE : UNWIND_END_UNREAD;
}

static int lend(struct objects *objects, const struct stored_table *stored, struct table *table)
{
    if (!stored || !space_map(&objects->tables.space, stored->object.block, stored->blocks))
        return UNWIND_END_DEFERRED;
    *table = (struct table){
        .chunks = objects->tables.space.at,
        .blocks = stored->blocks,
        .object = stored->object,
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
    if (object->state == SEEN) {
        object->demanded = true;
        object_set_state(objects, object, TO_BE_MADE);
    }
    if (object->state == TO_BE_MADE || object->state == IS_MADE) {
        object->awaited++;
        return -EAGAIN;
    }
    if (object->state == HAS_TABLE)
        return lend(objects, &objects->tables.items[object->stored], table);
    return object_end(object);
}

void objects_set_kind(struct objects *objects, const struct unwind_key *key, uint32_t kind)
{
    struct unwind_key *place = &objects->told[objects->told_count % MOST_KEYS];

    for (size_t i = 0; i < MOST_KEYS && i < objects->told_count; i++)
        if (!memcmp(&objects->told[i], key, sizeof(*key)))
            return;
    if (objects->told_count++ >= MOST_KEYS)
        tables_set_kind(&objects->tables, place, 0);
    *place = *key;
    tables_set_kind(&objects->tables, key, kind);
}

static void set_none(struct objects *objects, struct object *object, int why)
{
    object->why = why;
    object_set_state(objects, object, why == -ENOSPC ? HAS_NO_ROOM : HAS_NONE);
    tables_set_kind(&objects->tables, &object->key, (uint32_t)object_end(object) + 1);
}

static void drop(struct objects *objects, struct object *object)
{
    if (object->state == HAS_TABLE)
        tables_leave(&objects->tables, object->stored);
    else
        tables_set_kind(&objects->tables, &object->key, 0);
    mapped_file_drop(objects->options.files, object->file);
    object->file = NULL;
    object_set_state(objects, object, GONE);
    objects->gone++;
}

/* Drops objects unused since before `before`. True: one of them had a table. */
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

/* ---- Making ---- */

static bool is_of(const struct stored_table *stored, const struct mapped_file *file)
{
    return stored->size == (uint64_t)file->about.st_size &&
           stored->time == mapped_file_time(&file->about.st_mtim);
}

static void use(struct objects *objects, struct object *object, struct stored_table *stored)
{
    stored->users++;
    object->stored = (uint32_t)(stored - objects->tables.items);
    object_set_state(objects, object, HAS_TABLE);
}

static int put(struct objects *objects, const struct stored_table *about, const struct table *table,
               struct stored_table **stored)
{
    int result = tables_put(&objects->tables, about, table, stored);

    if (result == -ENOSPC && drop_unused(objects, UINT64_MAX))
        result = tables_put(&objects->tables, about, table, stored);
    return result;
}

/* Finds the kernel's key for the object's file, through a mapping of our own. */
static int find_key(const struct objects *objects, struct object *object)
{
    const size_t page = page_bytes();

    if (!objects->options.key) {
        object->key =
            (struct unwind_key){object->file->about.st_dev, object->file->about.st_ino, 0, 0};
        return 0;
    }
    const int fd = sandbox_readable(object->file->fd);
    void *mapped = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);

    if (fd != object->file->fd)
        close_fd(fd);
    if (mapped == MAP_FAILED)
        return -errno;
    bpf_begin_unpreempted();
    int result = objects->options.key(objects->options.context, mapped, &object->key);
    bpf_end_unpreempted();
    munmap(mapped, page);
    return result;
}

static void take_made(void *context, size_t which, int result, const struct table *table,
                      const struct frame_counts *counts)
{
    struct objects *objects = context;
    struct object *object = &objects->items[objects->batch[which]];

    if (!result && object->file->is_served) /* its server has just answered the reader */
        result = find_key(objects, object);
    const struct stored_table about = {
        .key = object->key,
        .counts = *counts,
        .size = (uint64_t)object->file->about.st_size,
        .time = mapped_file_time(&object->file->about.st_mtim),
    };
    struct stored_table *stored = NULL;

    if (result == -EAGAIN && !object->alone) {
        object->alone = true;
        object_set_state(objects, object, TO_BE_MADE);
        return;
    }
    if (!result)
        stored = tables_find(&objects->tables, &object->key);
    if (!result && !(stored && is_of(stored, object->file)))
        result = put(objects, &about, table, &stored);
    object->blocks = (uint32_t)table->blocks;
    if (result == -ETIME) { /* more such files may follow: the next gets half the time */
        const unsigned seconds =
            objects->builder.seconds ? objects->builder.seconds : BUILDER_SECONDS;
        objects->builder.seconds = seconds > 1 ? seconds / 2 : 1;
    }
    if (result)
        set_none(objects, object, result);
    else
        use(objects, object, stored);
}

/* True: needs no new table, as its file has one under another name, or the kernel has no key. */
static bool is_settled(struct objects *objects, struct object *object)
{
    int result = find_key(objects, object);
    struct stored_table *stored = result ? NULL : tables_find(&objects->tables, &object->key);

    if (result)
        set_none(objects, object, result);
    else if (stored && is_of(stored, object->file))
        use(objects, object, stored);
    return object->state != TO_BE_MADE;
}

static bool comes_before(const struct object *a, const struct object *b)
{
    if (a->silences != b->silences)
        return a->silences < b->silences;
    if (a->alone != b->alone)
        return b->alone;
    if (a->awaited != b->awaited)
        return a->awaited > b->awaited;
    if (a->wanted != b->wanted)
        return a->wanted;
    return a->sights > b->sights;
}

static struct object *next_to_make(const struct objects *objects)
{
    struct object *next = NULL;

    for (size_t i = 0; i < objects->count && objects->waiting; i++)
        if (objects->items[i].state == TO_BE_MADE &&
            (!next || comes_before(&objects->items[i], next)))
            next = &objects->items[i];
    return next;
}

/* One that is awaited or wanted does not wait for others. `bytes`: of the batch with `object`. */
static bool goes_with(const struct object *object, const struct object *first, uint64_t bytes)
{
    return !object->alone && !first->alone && !object->awaited == !first->awaited &&
        object->wanted == first->wanted &&
        bytes <= (first->awaited ? MOST_AWAITED_BYTES : MOST_FILE_BYTES);
}

static void begin(struct objects *objects)
{
    int fds[BUILDER_MOST];
    size_t count = 0;
    uint64_t bytes = 0;
    struct object *object;

    while (count < BUILDER_MOST && (object = next_to_make(objects))) {
        bytes += (uint64_t)object->file->about.st_size;
        if (count && !goes_with(object, &objects->items[objects->batch[0]], bytes))
            break;
        if (!object->file->is_served && is_settled(objects, object))
            continue;
        object_set_state(objects, object, IS_MADE);
        fds[count] = object->file->fd;
        objects->batch[count++] = (size_t)(object - objects->items);
    }
    int result = count ? table_builder_begin(&objects->builder, fds, count) : 0;
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
    objects->builder.count = 0;
}

/* ---- Unused tables ---- */

/* Only while nothing is being made. If memory runs out, an object left out is seen as new. */
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
    for (size_t i = 0; i < objects->count; i++)
        if (objects->items[i].state == HAS_NO_ROOM)
            return false;
    return true;
}

/* Retries objects without room, once other tables were dropped. */
static void try_again(struct objects *objects)
{
    if (objects->dropped == objects->tables.dropped || has_none_waiting(objects))
        return;
    objects->dropped = objects->tables.dropped;
    (void)space_settle(&objects->tables.space);
    for (size_t i = 0; i < objects->count; i++)
        if (objects->items[i].state == HAS_NO_ROOM &&
            objects->items[i].blocks <= space_left(&objects->tables.space))
            object_set_state(objects, &objects->items[i], TO_BE_MADE);
}

static void keep_house(struct objects *objects)
{
    const uint64_t now = now_ns();

    if (now < objects->next_house)
        return;
    objects->next_house = now + objects->options.unused_ns / LOOKS;
    drop_unused(objects, now - objects->options.unused_ns);
    try_again(objects);
    if (objects->gone)
        close_ranks(objects);
}

void objects_put_off(struct objects *objects)
{
    if (!objects->builder.count)
        return;
    table_builder_free(&objects->builder);
    for (size_t i = 0; i < objects->builder.count; i++)
        object_set_state(objects, &objects->items[objects->batch[i]], TO_BE_MADE);
    objects->builder.count = 0;
}

/*
 * The reader's file may be on a file system that does not answer: other files, and reports that
 * need names, must not wait for it.
 */
static void put_off_silent(struct objects *objects, size_t count, uint64_t silence)
{
    struct object *first = &objects->items[objects->batch[0]];

    objects_put_off(objects);
    for (size_t i = 0; i < count; i++)
        objects->items[objects->batch[i]].alone = true;
    if (count > 1 || (++first->silences < MOST_SILENCES && silence < SANDBOX_MOST_SILENCE_NS))
        return;
    mapped_file_give_up(first->file, -ETIME);
    set_none(objects, first, -ETIME);
}

/* Stacks that wait for a table fill up memory, so a table that no stack awaits makes way for it. */
static void make_way(struct objects *objects)
{
    const size_t count = objects->builder.count;
    const struct object *next = next_to_make(objects);
    const uint64_t silence = count ? sandbox_silence(&objects->builder.run) : 0;

    if (silence > (next || count > 1 ? SANDBOX_SILENCE_NS : SANDBOX_MOST_SILENCE_NS))
        put_off_silent(objects, count, silence);
    else if (count && next && next->awaited && !objects->items[objects->batch[0]].awaited)
        objects_put_off(objects);
}

size_t objects_make(struct objects *objects)
{
    struct table_builder *builder = &objects->builder;

    make_way(objects);
    if (!builder->count || table_builder_end(builder, 0, take_made, objects) != -EINPROGRESS) {
        objects->cpu_ns += builder->count ? builder->run.cpu_ns : 0;
        builder->count = 0;
        keep_house(objects);
        begin(objects);
    }
    return objects->waiting + builder->count;
}

void objects_make_room(struct objects *objects, objects_lock *lock, void *context)
{
    struct spares spares;

    lock(context, true);
    space_lack_spares(&objects->tables.space, &spares);
    lock(context, false);
    if (!spares.count)
        return;
    space_make_spares(&spares);
    lock(context, true);
    space_take_spares(&objects->tables.space, &spares);
    lock(context, false);
}

/* ---- The whole ---- */

int objects_open(struct objects **made, const struct objects_options *options)
{
    struct objects *objects = calloc(1, sizeof(*objects));

    *made = objects;
    if (!objects)
        return -ENOMEM;
    objects->options = *options;
    objects->next_house = now_ns() + options->unused_ns / LOOKS;
    return tables_open(&objects->tables, options->most_bytes, !options->key);
}

void objects_close(struct objects *objects)
{
    if (!objects)
        return;
    table_builder_free(&objects->builder);
    for (size_t i = 0; i < objects->count; i++)
        if (objects->items[i].file)
            mapped_file_drop(objects->options.files, objects->items[i].file);
    tables_close(&objects->tables);
    index_free(&objects->index);
    free(objects->items);
    free(objects);
}

void objects_get_maps(const struct objects *objects, struct unwind_maps *maps)
{
    maps->objects = objects->tables.map;
    maps->chunks = objects->tables.space.chunks;
    maps->cache = objects->tables.cache;
}
