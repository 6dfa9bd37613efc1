/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* For tests of reports: tallies with symbols, and the texts they must become. */
#ifndef STACKBOX_REPORT_SCENE_H
#define STACKBOX_REPORT_SCENE_H

#include "report/report.h"
#include "test.h"

struct scene {
    struct tally tally;
    struct symbols symbols;
    size_t item_room, frame_room, first_room, frame_count;
};

static inline uint32_t add_symbol(struct scene *scene, bool kernel, uint64_t address,
                                  const char *function, const char *file, uint64_t offset)
{
    struct symbols *symbols = &scene->symbols;

    if (array_reserve(&symbols->items, &scene->item_room, symbols->count + 1, sizeof(*symbols->items)))
        abort();
    struct symbol *symbol = &symbols->items[symbols->count];
    *symbol = (struct symbol){.kernel = kernel, .address = address, .offset = offset};
    if (function)
        text_add(&symbol->function, function);
    if (file)
        text_add(&symbol->file, file);
    return (uint32_t)symbols->count++;
}

/* Symbols of a stack, leaf first. */
struct frames {
    const uint32_t *symbols;
    size_t count;
};
#define FRAMES(...)                                                                            \
    ((struct frames){(const uint32_t[]){__VA_ARGS__},                                          \
                     sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)})
#define NO_FRAMES ((struct frames){0})

static inline void add_frames(struct scene *scene, struct stack *stack, struct frames frames)
{
    uint64_t addresses[16];

    if (frames.count > COUNT_OF(addresses) ||
        array_reserve(&scene->symbols.frames, &scene->frame_room,
                      scene->frame_count + frames.count + 1, sizeof(*scene->symbols.frames)))
        abort();
    for (size_t i = 0; i < frames.count; i++) {
        addresses[i] = scene->symbols.items[frames.symbols[i]].address;
        scene->symbols.frames[scene->frame_count++] = frames.symbols[i];
    }
    if (tally_add_stack(&scene->tally, stack, addresses, frames.count))
        abort();
}

static inline struct tally_entry *add_entry(struct scene *scene, uint64_t value, uint32_t pid,
                                            const char *comm, struct frames kernel,
                                            struct frames user)
{
    struct tally_entry *entry = tally_add(&scene->tally);

    if (!entry || array_reserve(&scene->symbols.first, &scene->first_room, scene->tally.count,
                                sizeof(*scene->symbols.first)))
        abort();
    entry->value = value;
    entry->task.pid = pid;
    entry->task.tid = pid + 1;
    snprintf(entry->task.comm, sizeof(entry->task.comm), "%.*s", COMM_BYTES, comm);
    scene->symbols.first[scene->tally.count - 1] = scene->frame_count;
    add_frames(scene, &entry->task.kernel, kernel);
    add_frames(scene, &entry->task.user, user);
    return entry;
}

/* The waker: to be set before the next entry is added. */
static inline void add_waker(struct scene *scene, struct tally_entry *entry, uint32_t pid,
                             const char *comm, struct frames kernel, struct frames user)
{
    entry->has_waker = true;
    entry->waker.pid = pid;
    entry->waker.tid = pid + 1;
    strncpy(entry->waker.comm, comm, COMM_BYTES);
    add_frames(scene, &entry->waker.kernel, kernel);
    add_frames(scene, &entry->waker.user, user);
}

static inline void free_scene(struct scene *scene)
{
    symbols_free(&scene->symbols);
    tally_free(&scene->tally);
}

/* Is freed where its scope ends. */
#define AUTO_SCENE AUTO(free_scene) struct scene

static const struct tm six_oclock = {.tm_hour = 6, .tm_min = 5, .tm_sec = 4};

/* Writes the report and compares it; *summary may be NULL. */
static inline void expect_all(const struct scene *scene, struct report_options options,
                              const char *expected, struct report_summary *summary)
{
    struct report_summary own;
    size_t length;
    char *written = NULL;
    FILE *out = open_memstream(&written, &length);

    CHECK_NUMBER(report_write(out, &scene->tally, &scene->symbols, &options, &six_oclock,
                              summary ? summary : &own), 0);
    fclose(out);
    if (strcmp(written, expected)) {
        printf("--- got\n%s--- should be\n%s---\n", written, expected);
        WRONG("the text");
    }
    free(written);
}

#define EXPECT(scene, expected, ...)                                                           \
    expect_all(scene, (struct report_options){__VA_ARGS__}, expected, NULL)

#define BOTH .kernel = true, .user = true
#define TEXT .format = REPORT_TEXT, .show_process = true
#define FOLDED .format = REPORT_FOLDED, .show_process = true

#endif
