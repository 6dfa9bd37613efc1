/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which life, and which of its programs, an event belongs to: by its `generation` or its time. */
#include "processes/process_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "insns/layout.h"

/* ---- Replaced mappings ---- */

/* Set in all epochs: none is 0, and the other bits may wrap around. */
#define NUMBERED 0x80000000u

/* The offset does not matter in anonymous memory, which is all alike. */
bool replaced_is_same(const struct mapping *a, const struct mapping *b)
{
    return a->file == b->file &&
           (a->file->kind != MAPPED_FILE || a->offset - a->start == b->offset - b->start);
}

static void drop_oldest(struct replaced_list *list, struct mapped_files *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mapped_file_drop(files, list->items[i].mapping.file);
    list->count -= count;
    if (list->count)
        memmove(list->items, list->items + count, list->count * sizeof(*list->items));
    list->forgotten += (uint32_t)count;
}

/* Keeps the part of `had` that `mapping` replaces. */
static int keep(struct replaced_list *list, const struct mapping *had,
                const struct mapping *mapping, uint64_t time)
{
    struct mapping part = *had;

    if (ARRAY_RESERVE(list->items, list->room, list->count + 1))
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

/*
 * Keeps the mappings of the image that `mapping` is about to replace. -ENOMEM, or how many older
 * ones were forgotten for them.
 */
static int replaced_keep(struct replaced_list *list, struct mapped_files *files,
                         const struct image *image, const struct mapping *mapping, uint64_t time)
{
    int forgotten = 0;

    for (size_t i = image_first_behind(image, mapping->start);
         i < image->count && image->mappings[i].start < mapping->end; i++) {
        if (replaced_is_same(&image->mappings[i], mapping))
            continue;
        if (list->count == REPLACED_MOST) {
            drop_oldest(list, files, 1);
            forgotten++;
        }
        if (keep(list, &image->mappings[i], mapping, time))
            return -ENOMEM;
    }
    return forgotten;
}

/* Forgets what was replaced before `time`. */
static void replaced_forget(struct replaced_list *list, struct mapped_files *files, uint64_t time)
{
    size_t count = 0;

    while (count < list->count && list->items[count].until < time)
        count++;
    if (count)
        drop_oldest(list, files, count);
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
        if (item->until >= since && item->mapping.start <= address && address < item->mapping.end)
            return &item->mapping;
    }
    return NULL;
}

/* ---- Finding ---- */

/* The newest program that had begun at `time`; otherwise the oldest. */
static struct program *program_at(const struct life *life, uint64_t time)
{
    struct program *program = life->programs;

    while (program->older && program->since > time)
        program = program->older;
    return program;
}

/* The first life of the pid that began after `time` (is_after), or had not ended before it. */
static struct life *first_life(const struct history *history, uint32_t pid, uint64_t time,
                               bool is_after)
{
    struct life *found = NULL;

    for (struct life *life = history_newest(history, pid); life; life = life->next)
        if (life->pid == pid &&
            (is_after ? life->forked > time : !(life->ended && life->ended_at < time)))
            found = life;
    return found;
}

/* The life of the pid at `time`, or the first one later. */
static struct life *life_from(const struct history *history, uint32_t pid, uint64_t time)
{
    return first_life(history, pid, time, false);
}

/*
 * The life of the pid at `time`, also while it exits. Kernels before 6.16 that have the stable
 * branches' fixes of June 2025 (6.1.142) report an exit before they free all memory, and pass the
 * tracepoint of the exit after that.
 */
static struct life *life_at(const struct history *history, uint32_t pid, uint64_t time)
{
    struct life *life = history_newest(history, pid);

    while (life && (life->pid != pid || life->forked > time))
        life = life->next;
    return life;
}

/* The program of an exec that a program counted at `time`, after the kernel reported it. */
static struct program *executed_at(struct life *life, uint64_t time)
{
    if (!life || life->forked > time)
        return NULL;
    struct program *program = program_at(life, time);
    bool is_it = program->origin == PROGRAM_EXECUTED ||
                 (program->origin == PROGRAM_SEEN && life->seen >= time);
    return is_it && program->since <= time ? program : NULL;
}

struct program *history_find(const struct history *history, uint32_t pid, uint64_t generation,
                             uint64_t begin, struct life **of)
{
    if (generation >> LIFE_THEN_BIT) {
        generation &= ~((uint64_t)1 << LIFE_THEN_BIT);
        *of = life_at(history, pid, generation);
        return *of ? program_at(*of, generation) : NULL;
    }
    if (generation && !(generation & LIFE_ENDED)) {
        *of = life_from(history, pid, generation);
        return executed_at(*of, generation);
    }
    *of = generation ? first_life(history, pid, generation, true) : life_from(history, pid, begin);
    if (*of) {
        struct program *first =
            program_at(*of, (*of)->forked > begin || generation ? 0 : begin);
        const bool is_later = first->origin == PROGRAM_EXECUTED && first->since > begin;
        return is_later ? NULL : first; /* the first is forgotten */
    }
    if (!generation)
        return NULL;
    *of = life_at(history, pid, generation);
    return *of ? program_at(*of, generation) : NULL;
}

bool history_is_in_doubt(const struct history *history, uint32_t pid, uint64_t generation,
                         uint64_t begin)
{
    return history->ends_forgotten && !generation &&
           life_from(history, pid, begin) != history_newest(history, pid);
}

/* The previous life of the pid; NULL: none is known. */
static const struct life *life_before(const struct history *history, const struct life *life)
{
    const struct life *found = NULL;

    for (const struct life *at = history_newest(history, life->pid); at; at = at->next)
        if (at->pid == life->pid && at->ended && at->ended_at < life->forked &&
            (!found || at->ended_at > found->ended_at))
            found = at;
    return found;
}

struct program *history_find_at(const struct history *history, uint32_t pid, uint64_t time,
                                struct life **of)
{
    *of = life_from(history, pid, time);
    return *of && (*of)->forked <= time ? program_at(*of, time) : NULL;
}

/* One value for all of a program's time, so that its events are recognized as one program's. */
uint64_t history_generation_at(const struct history *history, uint32_t pid, uint64_t time,
                               uint64_t begin)
{
    const struct life *life = life_at(history, pid, time), *before;

    if (!life)
        return 0;
    const struct program *program = program_at(life, time);
    if (program->origin == PROGRAM_EXECUTED && program->since > begin)
        return (program->since + 1) & ~(uint64_t)1;
    before = life_before(history, life);
    return before && before->ended_at > begin ? before->ended_at | 1 : 0;
}

/* ---- What is kept of the past ---- */

#define FIRST_BUCKETS 256 /* a power of two */

/* A living process begins to run it; image_leave(): one ends that. */
static void image_enter(struct history *history, struct image *image)
{
    if (!image->current++ && image->references > 1)
        history->past_bytes -= image_bytes(image);
}

static void image_leave(struct history *history, struct image *image)
{
    if (!--image->current)
        history->past_bytes += image_bytes(image);
}

static void drop_image(struct history *history, struct image *image)
{
    if (image->references == 1)
        history->past_bytes -= image_bytes(image);
    image_drop(image, history->files);
}

static void free_program(struct history *history, struct program *program)
{
    history->past_bytes -= sizeof(*program);
    drop_oldest(&program->replaced, history->files, program->replaced.count);
    free(program->replaced.items);
    drop_image(history, program->image);
    free(program);
}

/* From here on the program counts as past. */
static void leave_program(struct history *history, struct program *program)
{
    history->past_bytes += sizeof(*program);
    image_leave(history, program->image);
}

static struct program *make_program(struct history *history, uint64_t since,
                                    enum program_origin origin, struct image *image)
{
    struct program *program = malloc(sizeof(*program));

    if (!program) {
        image_drop(image, history->files);
        return NULL;
    }
    *program = (struct program){.since = since, .origin = origin, .image = image};
    image_enter(history, image);
    return program;
}

/* ---- The watcher ---- */

static void report_image(const struct history *history, uint32_t pid, const struct image *image)
{
    for (size_t i = 0; history->mapped && i < image->count; i++)
        history->mapped(history->watching, pid, &image->mappings[i]);
}

void history_watch(struct history *history, processes_mapped *mapped, void *context)
{
    history->mapped = mapped;
    history->watching = context;
    for (size_t i = 0; i < history->bucket_count; i++)
        for (const struct life *life = history->buckets[i]; life; life = life->next)
            if (!life->ended)
                report_image(history, life->pid, life->programs->image);
}

/* ---- Lives by pid ---- */

static struct life **bucket_of(const struct history *history, uint32_t pid)
{
    return &history->buckets[pid * 0x9e3779b1u >> 7 & (history->bucket_count - 1)];
}

static int grow(struct history *history)
{
    size_t before = history->bucket_count;
    struct life **old = history->buckets, *life;
    struct life **buckets = calloc(before ? before * 2 : FIRST_BUCKETS, sizeof(*buckets));

    if (!buckets)
        return -ENOMEM;
    history->buckets = buckets;
    history->bucket_count = before ? before * 2 : FIRST_BUCKETS;
    for (size_t i = 0; i < before; i++)
        while ((life = old[i])) {
            struct life **to = bucket_of(history, life->pid);
            old[i] = life->next;
            while (*to) /* at the end, so that the newest stay first */
                to = &(*to)->next;
            life->next = NULL;
            *to = life;
        }
    free(old);
    return 0;
}

struct life *history_newest(const struct history *history, uint32_t pid)
{
    struct life *life = *bucket_of(history, pid);

    while (life && life->pid != pid)
        life = life->next;
    return life;
}

struct life *history_living(const struct history *history, uint32_t pid)
{
    struct life *life = history_newest(history, pid);

    return life && !life->ended ? life : NULL;
}

static void free_owner(struct history *history, struct life *life)
{
    if (life->owner)
        mapped_root_drop(history->files, life->owner->root);
    free(life->owner);
    life->owner = NULL;
}

/* Frees a life that has ended and is no longer in any list. */
static void free_life(struct history *history, struct life *life)
{
    struct life **at = bucket_of(history, life->pid);

    while (*at != life)
        at = &(*at)->next;
    *at = life->next;
    while (life->programs) {
        struct program *older = life->programs->older;
        free_program(history, life->programs);
        life->programs = older;
    }
    free_owner(history, life);
    history->past_bytes -= sizeof(*life);
    history->count--;
    free(life);
}

static void forget_first(struct history *history)
{
    struct life *life = history->first_ended;

    history->first_ended = life->later;
    if (!life->later)
        history->last_ended = NULL;
    free_life(history, life);
}

static void keep_within_bound(struct history *history)
{
    while (history->past_bytes > history->most_bytes && history->first_ended) {
        forget_first(history);
        history->forgotten++;
    }
}

struct life *history_begin(struct history *history, uint32_t pid, uint64_t time,
                           enum program_origin origin, struct image *image)
{
    struct life *before = history_living(history, pid);

    if (before)
        history_end(history, before,
                    before->first_thread_ended ? before->first_thread_ended : time);
    struct life *life = calloc(1, sizeof(*life));
    if (!life || (history->count >= history->bucket_count && grow(history))) {
        image_drop(image, history->files);
        free(life);
        return NULL;
    }
    life->programs = make_program(history, time, origin, image);
    if (!life->programs) {
        free(life);
        return NULL;
    }
    struct life **bucket = bucket_of(history, pid);
    life->pid = pid;
    life->forked = time;
    life->program_count = 1;
    life->next = *bucket;
    *bucket = life;
    history->count++;
    report_image(history, pid, image);
    return life;
}

static void forget_oldest_program(struct history *history, struct life *life)
{
    struct program **at = &life->programs;

    while ((*at)->older)
        at = &(*at)->older;
    free_program(history, *at);
    *at = NULL;
    life->program_count--;
}

int history_exec(struct history *history, struct life *life, uint64_t time, struct image *image)
{
    struct program *program = make_program(history, time, PROGRAM_EXECUTED, image);

    if (!program)
        return -ENOMEM;
    leave_program(history, life->programs);
    program->older = life->programs;
    life->programs = program;
    if (++life->program_count > HISTORY_PROGRAMS) {
        forget_oldest_program(history, life);
        history->forgotten++;
    }
    keep_within_bound(history);
    return 0;
}

/* The newest program of a living process gets another image. */
static void replace_image(struct history *history, struct program *program, struct image *image)
{
    image_leave(history, program->image);
    drop_image(history, program->image);
    program->image = image;
    image_enter(history, image);
}

void history_see(struct history *history, struct life *life, struct image *image)
{
    replace_image(history, life->programs, image);
    life->programs->origin = PROGRAM_SEEN;
    report_image(history, life->pid, image);
}

int history_map(struct history *history, struct life *life, const struct mapping *mapping,
                uint64_t time)
{
    struct program *program = life->programs;
    struct image *image = program->image;
    int kept = replaced_keep(&program->replaced, history->files, image, mapping, time);

    if (kept < 0) {
        mapped_file_drop(history->files, mapping->file);
        return kept;
    }
    history->forgotten += (uint64_t)kept;
    image_hold(image); /* a shared image must outlive image_add() for image_leave() */
    bool shared = image->references > 2;
    if (!shared)
        image->references--;
    int result = image_add(&program->image, history->files, mapping);
    if (shared) {
        if (program->image != image) {
            image_enter(history, program->image);
            image_leave(history, image);
        }
        drop_image(history, image);
    }
    if (!result && history->mapped)
        history->mapped(history->watching, life->pid, mapping);
    return result;
}

void history_end(struct history *history, struct life *life, uint64_t time)
{
    if (life->ended)
        return;
    life->ended = true;
    life->ended_at = time;
    leave_program(history, life->programs);
    history->past_bytes += sizeof(*life);
    if (history->last_ended)
        history->last_ended->later = life;
    else
        history->first_ended = life;
    history->last_ended = life;
    keep_within_bound(history);
}

/* Forgets programs that the process left before `time`: each lasted until the next one began. */
static void forget_programs(struct history *history, struct life *life, uint64_t time)
{
    struct program *at = life->programs, *older;

    while (at->older && at->since >= time)
        at = at->older;
    older = at->older;
    at->older = NULL;
    for (; older; life->program_count--) {
        struct program *next = older->older;
        free_program(history, older);
        older = next;
    }
}

void history_forget(struct history *history, uint64_t time, uint64_t replaced)
{
    while (history->first_ended && history->first_ended->ended_at < time)
        forget_first(history);
    for (size_t i = 0; i < history->bucket_count; i++)
        for (struct life *life = history->buckets[i]; life; life = life->next) {
            forget_programs(history, life, time);
            for (struct program *at = life->programs; at; at = at->older)
                replaced_forget(&at->replaced, history->files, replaced);
        }
}

/* ---- Opening ---- */

int history_open(struct history *history, struct mapped_files *files, size_t most_bytes)
{
    *history = (struct history){.files = files, .most_bytes = most_bytes};
    return grow(history);
}

void history_close(struct history *history)
{
    history->most_bytes = SIZE_MAX;
    history->mapped = NULL;
    for (size_t i = 0; i < history->bucket_count; i++)
        for (struct life *life = history->buckets[i]; life; life = life->next)
            if (!life->ended)
                history_end(history, life, 0);
    history_forget(history, UINT64_MAX, UINT64_MAX);
    free(history->buckets);
}
