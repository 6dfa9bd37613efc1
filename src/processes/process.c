/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "processes/process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "machine/machine.h"
#include "processes/proc_maps.h"
#include "processes/process_parts.h"

/* How long a thread may wait for the others to end before it execs. */
#define EXEC_TAKES_NS 1000000000

/* How long an event with a time may wait to be sorted with others. */
#define EVENTS_WAIT_NS 10000000000

void processes_ends_forgotten(struct processes *processes)
{
    processes->history.ends_forgotten = true;
}

/* ---- Finding ---- */

static bool is_running(const struct life *life, const struct program *program)
{
    return !life || (!life->ended && life->programs == program);
}

/* Records were lost since this was known to be right: what still runs is looked at again. */
static void make_sure(struct processes *processes, struct life *life, struct program *program)
{
    uint64_t from = now_ns(), known = program->since;
    struct image *image;

    if (life->seen > known)
        known = life->seen;
    if (!processes->lost_at || processes->lost_at < known || !is_running(life, program) ||
        processes_look(processes, life->pid, NULL, 0, &image))
        return;
    history_see(&processes->history, life, image);
    life->seen = from;
    life->seen_until = now_ns();
}

/* Where the addresses are looked up. */
struct search {
    const struct image *image;
    const struct replaced_list *replaced; /* NULL: nothing is known about earlier mappings */
    uint32_t epoch;
};

/* Did one before the `end`th have this name? */
static bool has_label(const struct processes *processes, const struct search *search,
                      uint64_t address, size_t end, const char *label)
{
    const struct mapping *mapping;
    size_t at = 0;

    while ((mapping = replaced_next(search->replaced, address, processes->window, &at)) && at < end)
        if (!strcmp(mapping->file->label, label))
            return true;
    return false;
}

/* All that were at this address in this window, oldest first. NULL: out of memory. */
static const char *label_unsure(struct processes *processes, const struct search *search,
                                const struct mapping *now, uint64_t address)
{
    const struct mapping *mapping;
    struct text label = {0};
    size_t at = 0;

    text_add(&label, "[");
    while ((mapping = replaced_next(search->replaced, address, processes->window, &at)))
        if (!has_label(processes, search, address, at, mapping->file->label))
            text_format(&label, "%s or ", mapping->file->label);
    text_format(&label, "%s%s]",
                has_label(processes, search, address, SIZE_MAX, now->file->label) ? "another " : "",
                now->file->label);
    if (label.failed || array_reserve(&processes->unsure, &processes->unsure_room,
                                      processes->unsure_count + 1, sizeof(*processes->unsure))) {
        text_free(&label);
        return NULL;
    }
    processes->unsure[processes->unsure_count++] = label;
    return label.data;
}

static bool is_unsure(const struct processes *processes, const struct search *search,
                      const struct mapping *now, uint64_t address)
{
    const struct mapping *mapping;
    size_t at = 0;

    while ((mapping = replaced_next(search->replaced, address, processes->window, &at)))
        if (!replaced_is_same(mapping, now))
            return true;
    return false;
}

static int fill_in(struct processes *processes, const struct search *search, uint64_t address,
                   struct process_place *place)
{
    const struct mapping *mapping = image_find(search->image, address), *before = NULL;

    if (search->replaced && search->epoch)
        before = replaced_find(search->replaced, search->epoch, address);
    mapping = before ? before : mapping;
    if (!mapping)
        return 0;
    if (search->replaced && !search->epoch && is_unsure(processes, search, mapping, address)) {
        *place = (struct process_place){
            .kind = MAPPED_OTHER, .label = label_unsure(processes, search, mapping, address),
            .address = address - mapping->start,
        };
        return place->label ? 0 : -ENOMEM;
    }
    *place = (struct process_place){
        .kind = mapping->file->kind, .file = mapping->file, .label = mapping->file->label,
        .address = address - mapping->start + mapping->offset,
    };
    return processes_lend(&processes->lent, mapping->file, 0);
}

static int fill_in_all(struct processes *processes, const struct search *search,
                       const uint64_t *addresses, size_t count, struct process_place *places,
                       size_t *missing)
{
    int result = 0;

    *missing = 0;
    for (size_t i = 0; i < count && !result; i++) {
        if (places[i].kind == MAPPED_NOTHING)
            result = fill_in(processes, search, addresses[i], &places[i]);
        *missing += places[i].kind == MAPPED_NOTHING;
    }
    return result;
}

/* What this machine's kernels show to all programs at a fixed address. */
static void fill_in_fixed(const uint64_t *addresses, size_t count, struct process_place *places)
{
    const struct machine_fixed *fixed = machine_ours()->fixed;

    for (size_t i = count; fixed && i && addresses[i - 1] >= fixed->start; i--)
        if (places[i - 1].kind == MAPPED_NOTHING && addresses[i - 1] < fixed->end)
            places[i - 1] = (struct process_place){.kind = MAPPED_OTHER, .label = fixed->label,
                                                   .address = addresses[i - 1] - fixed->start};
}

void processes_hold(struct processes *processes)
{
    pthread_mutex_lock(&processes->lock);
}

void processes_release(struct processes *processes)
{
    pthread_mutex_unlock(&processes->lock);
}

int processes_settle(struct processes *processes)
{
    return processes_read_until(processes, UINT64_MAX);
}

uint32_t processes_epoch(struct processes *processes, uint32_t pid, uint64_t born, uint64_t time)
{
    struct life *life;
    const struct program *program =
        history_find(&processes->history, pid, born, processes->begin, &life);

    return program && (program->replaced.count || program->replaced.forgotten)
               ? replaced_epoch(&program->replaced, time)
               : 0;
}

void processes_watch(struct processes *processes, const struct processes_watcher *watcher)
{
    history_watch(&processes->history, watcher);
}

struct mapped_files *processes_files(const struct processes *processes)
{
    return processes->files;
}

uint64_t processes_born_at(const struct processes *processes, uint32_t pid, uint64_t time)
{
    return history_born_at(&processes->history, pid, time, processes->begin);
}

struct mapped_file *processes_code_at(struct processes *processes, uint32_t pid, uint64_t time, uint64_t *address)
{
    struct life *life;
    struct program *program = history_find_at(&processes->history, pid, time, &life);
    const struct mapping *mapping = NULL;

    if (!program)
        return NULL;
    make_sure(processes, life, program);
    if (program->replaced.count || program->replaced.forgotten)
        mapping = replaced_find(&program->replaced, replaced_epoch(&program->replaced, time), *address);
    if (!mapping)
        mapping = image_find(program->image, *address);
    if (!mapping)
        return NULL;
    *address += mapping->offset - mapping->start;
    return mapping->file;
}

static int find(struct processes *processes, uint32_t pid, uint64_t born, uint32_t epoch,
                const uint64_t *addresses, size_t count, struct process_place *places)
{
    struct life *life = NULL;
    size_t missing = count;
    struct image *image;

    for (size_t i = 0; i < count; i++)
        places[i] = (struct process_place){.label = ""};
    int result = processes_read_until(processes, UINT64_MAX);
    if (history_is_in_doubt(&processes->history, pid, born, processes->begin)) {
        processes->doubtful++;
        fill_in_fixed(addresses, count, places);
        return result;
    }
    struct program *program =
        history_find(&processes->history, pid, born, processes->begin, &life);
    if (program) {
        make_sure(processes, life, program);
        if (!result)
            result = fill_in_all(processes,
                                 &(struct search){program->image, &program->replaced, epoch},
                                 addresses, count, places, &missing);
    }
    if (result)
        return result;
    fill_in_fixed(addresses, count, places);
    if (!missing || (program && !is_running(life, program)))
        return 0;
    mapped_files_look_again(processes->files);
    /* Whatever was not reported: everything, what is not executable, what was moved. */
    result = processes_look(processes, pid, addresses, count, &image);
    if (result)
        return result == -ENOMEM ? result : program ? 0 : result;
    result = fill_in_all(processes, &(struct search){.image = image}, addresses, count, places, &missing);
    image_drop(image, processes->files);
    return result;
}

int processes_find(struct processes *processes, uint32_t pid, uint64_t born, uint32_t epoch,
                   const uint64_t *addresses, size_t count, struct process_place *places)
{
    processes_hold(processes);
    int result = find(processes, pid, born, epoch, addresses, count, places);
    processes_release(processes);
    return result;
}

/*
 * Its first thread has ended, and there is no other: but not just now, when another one may be
 * about to exec and take the first one's place.
 */
static bool has_ended(const struct life *life)
{
    return life->first_thread_ended && now_ns() - life->first_thread_ended > EXEC_TAKES_NS &&
           !maps_has_threads(life->pid);
}

/* Ends lives that seem to go on but may not. */
static void end_who_is_gone(struct processes *processes)
{
    bool any_lost = processes->lost_records > processes->lost_before;
    struct history *history = &processes->history;

    for (size_t i = 0; i < history->bucket_count; i++)
        for (struct life *life = history->buckets[i], *next; life; life = next) {
            next = life->next;
            if (life->ended)
                continue;
            if (has_ended(life) ||
                (any_lost && kill((pid_t)life->pid, 0) && errno == ESRCH)) {
                history_end(history, life, now_ns());
                next = history->buckets[i]; /* others may have been forgotten for it */
            }
        }
    processes->lost_before = processes->lost_records;
}

static void forget_unsure(struct processes *processes)
{
    for (size_t i = 0; i < processes->unsure_count; i++)
        text_free(&processes->unsure[i]);
    processes->unsure_count = 0;
}

void processes_forget(struct processes *processes)
{
    processes_hold(processes);
    processes_take_back(processes, &processes->lent, UINT64_MAX);
    end_who_is_gone(processes);
    processes->window = processes->read;
    history_forget(&processes->history, processes->reported,
                   processes->window > EVENTS_WAIT_NS ? processes->window - EVENTS_WAIT_NS : 0);
    forget_unsure(processes);
    processes->reported = now_ns();
    processes_release(processes);
}

/* ---- Opening ---- */

static size_t bytes_to_keep(uint64_t free_memory)
{
    uint64_t bytes = free_memory / PROCESSES_KEPT_SHARE;

    if (bytes > PROCESSES_KEPT_MOST)
        return PROCESSES_KEPT_MOST;
    return bytes > PROCESSES_KEPT_BYTES ? (size_t)bytes : PROCESSES_KEPT_BYTES;
}

int processes_open(struct processes **made, const struct processes_wishes *wishes)
{
    struct processes *processes = calloc(1, sizeof(*processes));
    int result = processes ? mapped_files_open(&processes->files) : -ENOMEM;
    pthread_mutexattr_t again;

    *made = processes;
    if (processes) {
        pthread_mutexattr_init(&again);
        pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_init(&processes->lock, &again);
    }
    if (!result)
        result = history_open(&processes->history, processes->files,
                              bytes_to_keep(wishes->free_memory));
    if (!result && wishes->pid_count) {
        processes->pids = malloc(wishes->pid_count * sizeof(*processes->pids));
        result = processes->pids ? 0 : -ENOMEM;
    }
    if (result) {
        processes_close(processes);
        *made = NULL;
        return result;
    }
    if (wishes->pid_count)
        memcpy(processes->pids, wishes->pids, wishes->pid_count * sizeof(*processes->pids));
    processes->pid_count = wishes->pid_count;
    processes->listening = wishes->silent ? -ECANCELED : task_events_open(&processes->events, 0);
    if ((processes->listening == -EACCES || processes->listening == -EPERM) && wishes->task)
        processes->listening = task_events_open(&processes->events, wishes->task);
    if (processes->listening)
        return 0;
    result = processes_look_at_all(processes);
    processes_begin(processes);
    if (!result)
        result = processes_read(processes);
    if (result) {
        processes_close(processes);
        *made = NULL;
    }
    return result;
}

void processes_close(struct processes *processes)
{
    if (!processes)
        return;
    task_events_close(processes->events);
    processes_take_back(processes, &processes->lent, UINT64_MAX);
    processes_take_back(processes, &processes->early, UINT64_MAX);
    forget_unsure(processes);
    free(processes->unsure);
    free(processes->lent.items);
    free(processes->early.items);
    if (processes->history.buckets)
        history_close(&processes->history);
    if (processes->files)
        mapped_files_close(processes->files);
    free(processes->pids);
    free(processes);
}

void processes_begin(struct processes *processes)
{
    processes->begin = processes->reported = processes->window = processes->read = now_ns();
}

int processes_listening(const struct processes *processes)
{
    return processes->listening;
}

void processes_look_at_cpus(struct processes *processes)
{
    processes_hold(processes);
    if (processes->events)
        (void)task_events_look(processes->events);
    processes_release(processes);
}

int processes_fd(const struct processes *processes)
{
    return processes->events ? task_events_fd(processes->events) : -1;
}

struct processes_lost processes_lost(const struct processes *processes)
{
    return (struct processes_lost){
        .records = processes->lost_records,
        .forgotten = processes->history.forgotten,
        .files = mapped_files_not_kept(processes->files),
        .unread = processes->unread,
        .doubtful = processes->doubtful,
        .cpus = processes->events ? task_events_joined(processes->events) : 0,
    };
}
