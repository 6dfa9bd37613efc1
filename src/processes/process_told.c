/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tracker's sources: what /proc shows, and what the kernel reports. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "processes/proc_maps.h"
#include "processes/process_parts.h"

/* How long a record may be on its way from another CPU. */
#define ON_ITS_WAY_NS 1000000

/* How long a file that was found unchanged is taken to be so. */
#define LOOK_AGAIN_NS 4000000

/* How many processes are looked at between two reads of what is reported. */
#define READ_EVERY 64

/* ---- Looking at what is mapped now ---- */

struct look {
    struct processes *processes;
    struct image *image;
    uint32_t shown_by;
    const uint64_t *addresses; /* sorted; NULL: all executable mappings */
    size_t count;
};

static bool is_wanted(const struct look *look, const struct maps_entry *entry)
{
    if (!look->addresses)
        return true;
    size_t first = first_not_below(look->addresses, look->count, entry->start);
    return first < look->count && look->addresses[first] < entry->end;
}

/* A file that is open already needs no name. */
static bool is_known(void *context, const struct maps_entry *entry)
{
    const struct look *look = context;

    return mapped_files_knows(look->processes->files, entry->device, entry->inode);
}

static int take_mapping(void *context, const struct maps_entry *entry)
{
    struct look *look = context;
    const struct mapped_sight sight = {
        .start = entry->start, .end = entry->end, .device = entry->device, .inode = entry->inode,
        .path = entry->path, .pid = look->shown_by,
    };
    struct mapping mapping = {.start = entry->start, .end = entry->end};

    if (!is_wanted(look, entry))
        return 0;
    mapping.offset = entry->inode ? entry->offset : 0;
    mapping.file = mapped_files_see(look->processes->files, &sight);
    if (!mapping.file)
        return -ENOMEM;
    int result = image_add(&look->image, look->processes->files, &mapping);
    return result == -ENOSPC ? 0 : result;
}

/* Except for processes that ended meanwhile, and what may not be seen. */
static bool is_trouble(int result)
{
    return result && result != -ENOENT && result != -ESRCH && result != -EACCES && result != -EPERM;
}

int processes_look(struct processes *processes, uint32_t pid, const uint64_t *addresses,
                   size_t count, struct image **image)
{
    struct look look = {.processes = processes, .addresses = addresses, .count = count};

    look.image = image_make();
    if (!look.image)
        return -ENOMEM;
    int result = addresses ? maps_each_of(pid, &look.shown_by, take_mapping, &look)
                           : maps_each_executable(pid, &look.shown_by, take_mapping, is_known,
                                                  &look);
    if (!result && !look.image->count && !addresses)
        result = -ENOENT;
    processes->unread += is_trouble(result);
    if (result) {
        image_drop(look.image, processes->files);
        look.image = NULL;
    }
    *image = look.image;
    return result;
}

/* ---- What the kernel reports ---- */

static bool is_wished(const struct processes *processes, uint32_t pid)
{
    for (size_t i = 0; i < processes->pid_count; i++)
        if (processes->pids[i] == pid)
            return true;
    return !processes->pid_count;
}

static void keep_result(struct processes *processes, int result)
{
    if (result == -ENOMEM)
        processes->result = result;
}

/*
 * A life whose beginning was not reported, as it looks now; if that cannot be seen, with the image
 * `known`, or nothing.
 */
static struct life *begin_unknown(struct processes *processes, uint32_t pid, uint64_t time,
                                  struct image *known)
{
    uint64_t from = now_ns();
    char name[sizeof(((struct program *)NULL)->name)] = "";
    struct image *image;

    (void)processes_read_name(pid, pid, name);
    int looked = processes_look(processes, pid, NULL, 0, &image);
    bool seen = !looked;

    keep_result(processes, looked);
    if (!seen && known)
        image_hold(known);
    if (!seen)
        image = known ? known : image_make();
    /* The pid's previous owner is somebody else. */
    if (!history_newest(&processes->history, pid))
        time = known ? time : 0;
    enum program_origin origin = seen || !known ? PROGRAM_SEEN : PROGRAM_INHERITED;
    struct life *life =
        image ? history_begin(&processes->history, pid, time, origin, image) : NULL;
    if (!life) {
        processes->result = -ENOMEM;
    } else if (seen) {
        memcpy(life->programs->name, name, sizeof(name));
        life->seen = from;
        life->seen_until = now_ns();
        if (image_has_anonymous(image))
            look_at_owner(processes, life);
    }
    return life;
}

static struct life *life_of(struct processes *processes, const struct task_event *event)
{
    struct life *life = history_living(&processes->history, event->pid);

    return life ? life : begin_unknown(processes, event->pid, event->time, NULL);
}

/*
 * A new process has the name of the thread that forked it. Of other threads than the first one, reports tell no
 * names: one that is gone has most likely kept its process's.
 */
static void inherit_name(struct program *program, const struct life *parent, const struct task_event *event)
{
    if (event->forker == event->parent || !processes_read_name(event->parent, event->forker, program->name))
        memcpy(program->name, parent->programs->name, sizeof(program->name));
}

static void take_fork(struct processes *processes, const struct task_event *event)
{
    struct life *life = history_living(&processes->history, event->pid), *parent;

    if (event->pid == event->parent) {
        if (life && life->threads)
            life->threads++;
        return;
    }
    if (life && event->time <= life->seen_until) { /* that is the one we saw */
        life->forked = event->time;
        life->parent = event->parent;
        return;
    }
    parent = history_living(&processes->history, event->parent);
    struct image *image = parent ? parent->programs->image : NULL;
    if (parent && event->time >= parent->seen) {
        image_hold(image);
        life = history_begin(&processes->history, event->pid, event->time, PROGRAM_INHERITED,
                             image);
        if (life)
            inherit_name(life->programs, parent, event);
    } else {
        /* The parent may have run another program when it forked than it was seen to run. */
        life = begin_unknown(processes, event->pid, event->time, image);
    }
    if (!life) {
        processes->result = -ENOMEM;
        return;
    }
    life->parent = event->parent;
    if (!life->seen)
        life->threads = 1;
}

static void take_exec(struct processes *processes, const struct task_event *event)
{
    struct life *life = life_of(processes, event);

    if (!life || event->time < life->seen)
        return;
    struct image *image = image_make();
    if (image)
        keep_result(processes, history_exec(&processes->history, life, event->time, image));
    else
        processes->result = -ENOMEM;
    life->threads = 1; /* exec ended all others */
    life->first_thread_ended = 0;
}

static void take_name(struct processes *processes, const struct task_event *event)
{
    struct life *life = history_living(&processes->history, event->pid);

    if (life && event->path && event->time >= life->seen)
        snprintf(life->programs->name, sizeof(life->programs->name), "%s", event->path);
}

static struct mapped_file *see_file(struct processes *processes, const struct task_event *event)
{
    const struct life *life = history_living(&processes->history, event->pid);
    const struct mapped_sight sight = {
        .start = event->start, .end = event->end, .device = event->device,
        .inode = event->inode, .generation = event->generation, .path = event->path,
        .pid = event->pid, .parent = life ? life->parent : 0, .time = event->time,
    };

    return mapped_files_see(processes->files, &sight);
}

static void take_map(struct processes *processes, const struct task_event *event)
{
    struct life *life = life_of(processes, event);
    struct mapping mapping = {.start = event->start, .end = event->end,
                              .offset = event->inode ? event->offset : 0};

    if (!life || event->time < life->seen)
        return;
    mapping.file = see_file(processes, event);
    if (!mapping.file) {
        processes->result = -ENOMEM;
        return;
    }
    bool anonymous = mapping.file->kind == MAPPED_ANONYMOUS;
    keep_result(processes, history_map(&processes->history, life, &mapping, event->time));
    if (anonymous)
        look_at_owner(processes, life);
}

static void take_exit(struct processes *processes, const struct task_event *event)
{
    struct life *life = history_living(&processes->history, event->pid);

    if (!life || event->time < life->seen)
        return;
    if (event->tid == event->pid)
        life->first_thread_ended = event->time;
    /*
     * If its threads were not counted, it is unknown whether that was the last: another one may be
     * about to exec, and /proc shows a later state.
     */
    if (life->threads && !--life->threads)
        history_end(&processes->history, life, event->time);
}

void processes_take(struct processes *processes, const struct task_event *event)
{
    if (event->kind == TASK_LOST) {
        processes->lost_records += event->lost;
        processes->lost_at = event->time;
        return;
    }
    if (!is_wished(processes, event->pid))
        return;
    switch (event->kind) {
    case TASK_FORK:
        take_fork(processes, event);
        break;
    case TASK_EXEC:
        take_exec(processes, event);
        take_name(processes, event);
        break;
    case TASK_NAME:
        take_name(processes, event);
        break;
    case TASK_MAP:
        take_map(processes, event);
        break;
    default:
        take_exit(processes, event);
    }
}

static void take_event(void *context, const struct task_event *event)
{
    processes_take(context, event);
}

int processes_lend(struct loans *loans, struct mapped_file *file, uint64_t time)
{
    if (array_reserve(&loans->items, &loans->room, loans->count + 1, sizeof(*loans->items)))
        return -ENOMEM;
    mapped_file_hold(file);
    loans->items[loans->count++] = (struct loan){file, time};
    return 0;
}

void processes_take_back(struct processes *processes, struct loans *loans, uint64_t time)
{
    size_t kept = 0;

    for (size_t i = 0; i < loans->count; i++) {
        if (loans->items[i].time <= time)
            mapped_file_drop(processes->files, loans->items[i].file);
        else
            loans->items[kept++] = loans->items[i];
    }
    loans->count = kept;
}

/*
 * A file is opened as soon as it is reported, and held until the record is taken: its process may
 * be gone by then. True: the file, or a JIT's process, is new.
 */
static bool see_event(void *context, const struct task_event *event)
{
    struct processes *processes = context;

    if (event->kind != TASK_MAP || !is_wished(processes, event->pid))
        return false;
    struct mapped_file *file = see_file(processes, event);
    if (!file)
        return false;
    struct life *life = history_living(&processes->history, event->pid);
    const bool is_new = file->kind == MAPPED_ANONYMOUS ? !life || look_at_owner(processes, life)
                                                       : mapped_file_is_last(file);
    keep_result(processes, processes_lend(&processes->early, file, event->time));
    mapped_file_drop(processes->files, file);
    return is_new;
}

/* Not for each of thousands of short processes: file times are not that fine, either. */
static void look_again(struct processes *processes)
{
    uint64_t now = now_ns();

    if (now - processes->looked_again < LOOK_AGAIN_NS)
        return;
    processes->looked_again = now;
    mapped_files_look_again(processes->files);
}

int processes_read_until(struct processes *processes, uint64_t until)
{
    if (!processes->events)
        return 0;
    processes_hold(processes);
    processes->result = 0;
    look_again(processes);
    task_events_read(processes->events, until, see_event, take_event, processes);
    processes_take_back(processes, &processes->early, until);
    int result = processes->result;
    processes_release(processes);
    return result;
}

int processes_read(struct processes *processes)
{
    processes->read = now_ns();
    return processes_read_until(processes, now_ns() - ON_ITS_WAY_NS);
}

/* ---- The first look ---- */

/* What is reported meanwhile is taken now and then: there is not room for all of it. */
static int look_at_some(struct processes *processes, DIR *directory)
{
    const struct dirent *entry;
    int result = 0;
    uint64_t pid;
    unsigned seen = 0;

    while (!result && (errno = 0, entry = readdir(directory))) {
        if (parse_number(entry->d_name, 1, UINT32_MAX, &pid))
            continue;
        if (!history_living(&processes->history, (uint32_t)pid))
            (void)begin_unknown(processes, (uint32_t)pid, 0, NULL);
        result = processes->result;
        if (!result && ++seen % READ_EVERY == 0)
            result = processes_read(processes);
    }
    return result ? result : -errno;
}

int processes_look_at_all(struct processes *processes)
{
    int result = 0;

    processes->result = 0;
    for (size_t i = 0; i < processes->pid_count; i++)
        (void)begin_unknown(processes, processes->pids[i], 0, NULL);
    if (processes->pid_count)
        return processes->result;
    DIR *directory = opendir("/proc");
    if (!directory)
        return errno == ENOENT ? 0 : -errno;
    result = look_at_some(processes, directory);
    closedir(directory);
    return result;
}
