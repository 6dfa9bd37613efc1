/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "probes/attach_text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/tracefs.h"

#define GROUP "stackbox_"
#define ENTRY_EVENT "entry"
#define RETURN_EVENT "return"

static int open_events(int tracefs)
{
    int fd = openat(tracefs, "kprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

/* The kernel takes a definition a write; what it thinks of it is the result of the write. */
static int write_line(int events, const struct text *line)
{
    if (line->failed)
        return -ENOMEM;
    return write(events, line->data, line->length) < 0 ? -errno : 0;
}

static void remove_event(int events, const char *group, const char *name)
{
    struct text line = {0};

    text_format(&line, "-:%s/%s\n", group, name);
    (void)write_line(events, &line);
    text_free(&line);
}

static bool maker_is_dead(void *context, const char *group)
{
    uint64_t pid;

    (void)context;
    if (strncmp(group, GROUP, strlen(GROUP)) ||
        parse_number(group + strlen(GROUP), 1, INT32_MAX, &pid))
        return false;
    return kill((pid_t)pid, 0) && errno == ESRCH;
}

struct names {
    char **items;
    size_t count, room;
};

/* Collected first and removed after: the directory that is read must not change meanwhile. */
static int collect_name(void *context, const char *group, const char *name)
{
    struct names *names = context;
    struct text full = {0};

    text_format(&full, "%s/%s", group, name);
    if (full.failed || array_reserve(&names->items, &names->room, names->count + 1,
                                     sizeof(*names->items))) {
        text_free(&full);
        return -ENOMEM;
    }
    names->items[names->count++] = full.data;
    return 0;
}

void attach_text_sweep(int tracefs)
{
    struct names names = {0};
    int events = open_events(tracefs);

    if (events < 0)
        return;
    (void)tracefs_each_event(tracefs, maker_is_dead, collect_name, &names);
    for (size_t i = 0; i < names.count; i++) {
        char *slash = strchr(names.items[i], '/');
        *slash = '\0';
        remove_event(events, names.items[i], slash + 1);
        free(names.items[i]);
    }
    free(names.items);
    close(events);
}

static void own_group(struct text *group)
{
    text_format(group, GROUP "%d", (int)getpid());
}

static int define(int events, const char *group, const struct place *place)
{
    struct text line = {0};

    text_format(&line, "%c:%s/%s ", place->at_return ? 'r' : 'p', group,
                place->at_return ? RETURN_EVENT : ENTRY_EVENT);
    if (place->address)
        text_format(&line, "0x%llx\n", (unsigned long long)(place->address + place->offset));
    else
        text_format(&line, "%s+%llu\n", place->name, (unsigned long long)place->offset);
    int result = write_line(events, &line);
    text_free(&line);
    return result;
}

int attach_text_define(int tracefs, bool at_return, struct place *const *places, size_t count,
                       uint32_t *id)
{
    struct text group = {0};
    size_t defined = 0;
    int events = open_events(tracefs);

    if (events < 0)
        return events == -ENOENT ? -EOPNOTSUPP : events;
    own_group(&group);
    for (size_t i = 0; i < count && !group.failed; i++) {
        places[i]->error = define(events, group.data, places[i]);
        defined += !places[i]->error;
    }
    close(events);
    int result = group.failed ? -ENOMEM : defined ? 0 : -ENOENT;
    if (!result)
        result = tracefs_event_id(tracefs, group.data, at_return ? RETURN_EVENT : ENTRY_EVENT, id);
    text_free(&group);
    return result;
}

void attach_text_remove(int tracefs)
{
    struct text group = {0};
    int events = open_events(tracefs);

    if (events < 0)
        return;
    own_group(&group);
    if (!group.failed) {
        remove_event(events, group.data, ENTRY_EVENT);
        remove_event(events, group.data, RETURN_EVENT);
    }
    text_free(&group);
    close(events);
}
