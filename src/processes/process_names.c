/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "processes/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/util.h"
#include "processes/process_parts.h"

/* ---- What the kernel reports ---- */

/* /proc adds to a kernel worker's name what it works on: false, as events have the bare name. */
bool processes_read_name(uint32_t pid, uint32_t tid, char *comm)
{
    char path[48], shown[64];

    snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t size = read(fd, shown, sizeof(shown));
    close(fd);
    if (size < 1 || size > COMM_BYTES || starts_with(shown, "kworker/"))
        return false;
    shown[size - 1] = '\0'; /* the end of the line */
    snprintf(comm, COMM_BYTES + 1, "%.*s", COMM_BYTES, shown);
    return true;
}

/* /proc/PID exists for a thread, too, which may have the number of a process that has ended. */
static bool is_process(uint32_t pid)
{
    char path[32];
    uint32_t process;

    snprintf(path, sizeof(path), "/proc/%u/status", pid);
    return !read_status(AT_FDCWD, path, "\nTgid:", &process) && process == pid;
}

/*
 * Is its name certainly the last one reported? Then /proc must not be asked: during an exec the
 * kernel changes the name there before it reports the exec.
 */
static bool is_certain(const struct processes *processes, const struct program *program)
{
    return processes->listens_to_all && program->name[0] && !program->name_guessed &&
           !processes->lost_at && !task_events_joined(processes->events);
}

static void look(const struct processes *processes, struct process_name *name)
{
    const struct life *newest = history_newest(&processes->history, name->pid);

    if (newest && (newest->ended || is_certain(processes, newest->programs)))
        return;
    if (is_process(name->pid))
        (void)processes_read_name(name->pid, name->pid, name->shown);
}

/* To be called after processes_settle(), and that after look(), which may see a later program. */
static bool find_name(struct processes *processes, struct process_name *name)
{
    struct life *life = NULL;

    if (history_is_in_doubt(&processes->history, name->pid, name->generation, processes->begin))
        return false;
    struct program *program =
        history_find(&processes->history, name->pid, name->generation, processes->begin, &life);

    if (!program && (life || !processes->listening || name->generation))
        return false;
    const char *found = program ? program->name : name->shown;
    if (program && !life->ended && life->programs == program && name->shown[0])
        found = name->shown;
    else if (program && processes->lost_at >= program->since && processes->lost_at)
        return false; /* a lost record may have renamed it */
    if (!found[0])
        return false;
    if (program && found != program->name)
        snprintf(program->name, sizeof(program->name), "%.15s", found);
    snprintf(name->comm, sizeof(name->comm), "%s", found);
    return true;
}

/* ---- Names in a tally ---- */

static int compare(const void *left, const void *right)
{
    const struct process_name *a = left, *b = right;

    return order_of(a->pid, b->pid) ?: order_of(a->generation, b->generation) ?:
           order_of(a->foreign, b->foreign);
}

static int add_task(struct process_names *names, const struct tally_task *task)
{
    if (!task->pid)
        return 0;
    if (ARRAY_RESERVE(names->items, names->room, names->count + 1))
        return -ENOMEM;
    struct process_name *added = &names->items[names->count++];
    *added = (struct process_name){
        .pid = task->pid,
        .foreign = task->foreign,
        .generation = task->generation,
        .from_thread = task->tid == task->pid,
    };
    memcpy(added->comm, task->comm, sizeof(added->comm));
    return 0;
}

/* Joins two names of one process: its first thread's counts, unless that has had two. */
static void join(struct process_name *kept, const struct process_name *other)
{
    if (!other->from_thread)
        return;
    kept->doubtful = kept->doubtful ||
                     (kept->from_thread && strcmp(kept->comm, other->comm) != 0);
    kept->from_thread = true;
    memcpy(kept->comm, other->comm, sizeof(kept->comm));
}

void process_names_sort(struct process_names *names)
{
    if (names->count)
        qsort(names->items, names->count, sizeof(*names->items), compare);
}

static void make_unique(struct process_names *names)
{
    size_t kept = 0;

    process_names_sort(names);
    for (size_t i = 0; i < names->count; i++)
        if (kept && !compare(&names->items[kept - 1], &names->items[i]))
            join(&names->items[kept - 1], &names->items[i]);
        else
            names->items[kept++] = names->items[i];
    names->count = kept;
}

int process_names_make(struct process_names *names, const struct tally *tally,
                       struct processes *processes)
{
    int result = 0;

    *names = (struct process_names){0};
    for (size_t i = 0; i < tally->count && !result; i++) {
        result = add_task(names, &tally->entries[i].task);
        if (!result && tally->entries[i].has_waker)
            result = add_task(names, &tally->entries[i].waker);
    }
    make_unique(names);
    for (size_t i = 0; i < names->count && processes; i++)
        if (!names->items[i].foreign)
            look(processes, &names->items[i]);
    if (processes && !result)
        result = processes_settle(processes);
    for (size_t i = 0; i < names->count; i++) {
        struct process_name *name = &names->items[i];
        name->known = (processes && !name->foreign && find_name(processes, name)) ||
                      (name->from_thread && !name->doubtful);
    }
    return result;
}

void process_names_free(struct process_names *names)
{
    free(names->items);
    *names = (struct process_names){0};
}

const char *process_names_find(const struct process_names *names, const struct tally_task *task)
{
    const struct process_name wanted = {
        .pid = task->pid, .foreign = task->foreign, .generation = task->generation};
    const struct process_name *found = NULL;

    if (names->count)
        found = bsearch(&wanted, names->items, names->count, sizeof(*names->items), compare);
    return found && found->known && found->comm[0] ? found->comm : task->comm;
}
