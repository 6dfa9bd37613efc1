/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "attach/attach_work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/attach.h"
#include "base/text.h"
#include "base/util.h"
#include "kernel/perf.h"
#include "kernel/tracefs.h"

#define GROUP "stackbox_"
#define NUMBER_ROOM 22

static const char *const files[] = {"kprobe_events", "uprobe_events"};

static int open_events(int tracefs, const char *file)
{
    int fd = openat(tracefs, file, O_WRONLY | O_APPEND | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

/* The kernel takes one definition per write; the write returns its result. */
static int write_line(int events, const struct text *line)
{
    if (line->failed)
        return -ENOMEM;
    return UNINTERRUPTED(write(events, line->data, line->length)) < 0 ? -errno : 0;
}

/* ---- Removing ---- */

struct names {
    const char *maker; /* whose */
    struct text *items;
    size_t count, room;
};

static bool is_of(void *context, const char *group)
{
    const struct names *names = context;
    const char *maker = starts_with(group, GROUP);

    return maker && !strcmp(maker, names->maker);
}

#define BUSY_TRIES 200
#define BUSY_NS 10000000

/* Collected first and removed afterwards: the directory must not change while it is read. */
static int collect_name(void *context, const char *group, const char *name)
{
    struct names *names = context;
    struct text line = {0};

    text_format(&line, "-:%s/%s\n", group, name);
    if (line.failed || ARRAY_RESERVE(names->items, names->room, names->count + 1)) {
        text_free(&line);
        return -ENOMEM;
    }
    names->items[names->count++] = line;
    return 0;
}

/* Those that are not in this file stay in the list. */
static int remove_from(int events, struct names *names)
{
    size_t kept = 0;
    int result = 0;

    for (size_t i = 0; i < names->count; i++) {
        int removed = write_line(events, &names->items[i]);
        if (!removed) {
            text_free(&names->items[i]);
            continue;
        }
        names->items[kept++] = names->items[i];
        if (removed != -ENOENT)
            result = removed;
    }
    names->count = kept;
    return result;
}

/* Each event is in one of two files. Returns how many were listed; a negative errno: some stay. */
static int remove_listed(int tracefs, const char *maker)
{
    struct names names = {.maker = maker};
    int result = tracefs_each_event(tracefs, is_of, collect_name, &names), refused = -ENOENT;
    const size_t listed = names.count;

    for (size_t file = 0; file < COUNT_OF(files) && names.count; file++) {
        int events = open_events(tracefs, files[file]);
        int removed = events < 0 ? events : remove_from(events, &names);
        if (removed && removed != -ENOENT)
            refused = removed;
        close_fd(events);
    }
    if (!result && names.count)
        result = refused;
    for (size_t i = 0; i < names.count; i++)
        text_free(&names.items[i]);
    free(names.items);
    return result ? result : (int)listed;
}

/*
 * While other tracers create and remove events, a list may miss events that exist all the time:
 * none is left if two lists in a row are empty.
 */
static int remove_of(int tracefs, const char *maker)
{
    int listed = 0;

    for (unsigned empty = 0; empty < 2 && listed >= 0; empty = listed ? 0 : empty + 1)
        listed = remove_listed(tracefs, maker);
    return listed < 0 ? listed : 0;
}

static int remove_dead(void *context, const char *maker)
{
    return remove_of(*(const int *)context, maker);
}

void attach_text_sweep(int tracefs)
{
    makers_each_dead(remove_dead, &tracefs);
}

/*
 * Events that a command's tasks inherited stay in use for a moment after the last of them has
 * ended.
 */
int attach_text_remove(int tracefs, struct maker *maker)
{
    int result = maker->name[0] ? remove_of(tracefs, maker->name) : 0;

    for (unsigned attempt = 0; attempt < BUSY_TRIES && result == -EBUSY; attempt++) {
        nanosleep(&(struct timespec){.tv_nsec = BUSY_NS}, NULL);
        result = remove_of(tracefs, maker->name);
    }
    if (!result)
        maker_end(maker);
    return result;
}

uint64_t attach_text_missed(int tracefs, const struct maker *maker)
{
    char prefix[sizeof(GROUP) + MAKER_NAME_ROOM];

    if (!maker->name[0])
        return 0;
    snprintf(prefix, sizeof(prefix), GROUP "%s_", maker->name);
    return misses_of_text(tracefs, prefix);
}

/* ---- Defining ---- */

struct definition {
    const char *event, *caller; /* NULL: not needed */
};

/* Functions are given by address, if known. */
static int define_at(int events, const struct definition *as, const struct place *place,
                     bool by_address, uint64_t offset)
{
    const bool user = place->kind == PLACE_USER;
    struct text line = {0};

    text_format(&line, "%c:%s ", place->at_return ? 'r' : 'p', as->event);
    if (user)
        text_format(&line, "%s:0x%llx", place->file, (unsigned long long)place->file_offset);
    else if (by_address)
        text_format(&line, "0x%llx", (unsigned long long)(place->address + offset));
    else
        text_format(&line, "%s+%llu", place->name, (unsigned long long)offset);
    if (user && place->semaphore)
        text_format(&line, "(0x%llx)", (unsigned long long)place->semaphore);
    if (as->caller)
        text_format(&line, " caller=%s", as->caller);
    text_add(&line, "\n");
    int result = write_line(events, &line);
    text_free(&line);
    return result;
}

static int define(int events, const struct definition *as, const struct place *place,
                  bool by_address)
{
    const uint64_t later = place_later(place);
    const uint64_t offset = by_address ? place_first(place) : place->offset;
    int result = define_at(events, as, place, by_address, offset);

    return result == -EINVAL && later ? define_at(events, as, place, by_address, later) : result;
}

static int open_for(int tracefs, const struct place *place)
{
    int events = open_events(tracefs, files[place->kind == PLACE_USER]);

    return events == -ENOENT ? -EOPNOTSUPP : events;
}

static int define_all(int tracefs, const struct definition *as, struct place *const *places,
                      size_t count)
{
    int events = open_for(tracefs, places[0]);
    size_t defined = 0;

    if (events < 0)
        return events;
    for (size_t i = 0; i < count; i++) {
        places[i]->error = define(events, as, places[i], places[i]->address);
        /*
         * Some kernels (5.10) take all addresses of one event for the same place, others none at a
         * return (before 4.12).
         */
        if ((places[i]->error == -EEXIST || places[i]->error == -EINVAL) &&
            places[i]->kind != PLACE_USER)
            places[i]->error = define(events, as, places[i], false);
        defined += !places[i]->error;
    }
    close(events);
    return defined ? 0 : -ENOENT;
}

struct event {
    char group[sizeof(GROUP) + MAKER_NAME_ROOM],
        name[sizeof(GROUP) + MAKER_NAME_ROOM + NUMBER_ROOM];
    char both[2 * (sizeof(GROUP) + MAKER_NAME_ROOM) + NUMBER_ROOM];
};

static void name_event(struct maker *maker, unsigned number, struct event *event)
{
    snprintf(event->group, sizeof(event->group), GROUP "%s", maker_name(maker));
    snprintf(event->name, sizeof(event->name), "%s_%u", event->group, number);
    snprintf(event->both, sizeof(event->both), "%s/%s", event->group, event->name);
}

bool attach_text_adds(int tracefs, struct maker *maker, const struct place *place)
{
    struct text removal = {0};
    struct event event;
    const struct definition as = {event.both, NULL};
    int events = open_for(tracefs, place);

    if (events < 0)
        return false;
    name_event(maker, maker->events++, &event);
    bool defined = !define(events, &as, place, place->address);
    /* EEXIST shows that another place would have been added. */
    bool adds = defined && define(events, &as, place, place->address) == -EEXIST;
    text_format(&removal, "-:%s\n", event.both);
    if (defined)
        (void)write_line(events, &removal);
    text_free(&removal);
    close(events);
    return adds;
}

int attach_text_define(int tracefs, struct maker *maker, struct place *const *places, size_t count,
                       const char *caller, uint32_t *id)
{
    struct event event;

    name_event(maker, maker->events++, &event);
    int result = define_all(tracefs, &(struct definition){event.both, caller}, places, count);
    return result ? result : tracefs_event_id(tracefs, event.group, event.name, id);
}

int attach_text_find_caller(int tracefs, struct maker *maker, struct tracefs_field *field)
{
    struct event event;

    name_event(maker, maker->events - 1, &event);
    return tracefs_find_field(tracefs, event.group, event.name, "caller", field);
}
