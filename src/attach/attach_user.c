/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Places in programs and libraries: by links, by events, by text. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "attach/attach_work.h"
#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/perf.h"
#include "processes/proc_maps.h"

/*
 * If links are for all processes, a few events are better where they may be for one process: they
 * leave all others undisturbed. But each takes a tenth of a second to close.
 */
#define MOST_OWN_EVENTS 4

/*
 * Places that one link or text event can take together compare equal; the list is sorted by this.
 */
static int compare_groups(const struct place *a, const struct place *b)
{
    return order_of((uintptr_t)a->file, (uintptr_t)b->file) ?:
           order_of(a->at_return, b->at_return) ?:
           order_of(attach_program_of(a), attach_program_of(b));
}

static int compare_for_sort(const void *left, const void *right)
{
    const struct place *a = *(struct place *const *)left, *b = *(struct place *const *)right;

    return compare_groups(a, b) ?: order_of(a->file_offset, b->file_offset);
}

static uint32_t group_length(const struct work *work, size_t from)
{
    uint32_t length = 1;

    while (from + length < work->count &&
           !compare_groups(work->places[from], work->places[from + length]))
        length++;
    return length;
}

/* ---- Links ---- */

static int link_all(struct work *work, int program, struct place **part, uint32_t count)
{
    uint64_t *offsets = calloc(count, sizeof(*offsets)),
        *semaphores = calloc(count, sizeof(*offsets));
    uint64_t *cookies;
    int fd = attach_cookies(work, part, count, &cookies) || !offsets || !semaphores ? -ENOMEM : 0;

    for (uint32_t i = 0; !fd && i < count; i++) {
        offsets[i] = part[i]->file_offset;
        semaphores[i] = part[i]->semaphore;
    }
    const struct bpf_uprobes probes = {
        .path = part[0]->file,
        .at_return = part[0]->at_return,
        .count = count,
        .offsets = offsets,
        .semaphores = semaphores,
        .cookies = cookies,
        .pid = work->linked_pid,
    };
    if (!fd)
        fd = bpf_link_uprobe_multi(program, &probes);
    free(offsets);
    free(semaphores);
    free(cookies);
    if (fd < 0)
        return fd;
    work->attachment->attached += count;
    work->attachment->of_process = work->attachment->of_process || work->linked_pid;
    return attach_keep(work, fd);
}

static int attach_by_links(struct work *work)
{
    int program = attach_load(work, attach_program_of(work->places[0]), PROGRAM_MULTI), result = 0;
    uint32_t length;

    /* Without the right to load it, no other way can load it, either. */
    if (program == -EPERM || program == -EACCES)
        return program;
    if (program < 0 || !bpf_has_uprobe_multi(program))
        return -EOPNOTSUPP;
    result = attach_check_count(work);
    for (size_t i = 0; i < work->count && !result; i += length) {
        struct place **group = work->places + i;
        length = group_length(work, i);
        program = attach_load(work, attach_program_of(*group), PROGRAM_MULTI);
        result = program < 0 ? program : attach_by_halves(work, link_all, program, group, length);
    }
    work->attachment->user_way = ATTACH_MULTI;
    work->count = 0;
    return result;
}

/* ---- Events ---- */

static int open_event(struct work *work, const void *context, const struct place *place)
{
    const struct perf_uprobe probe = {
        .path = place->file,
        .at_return = place->at_return,
        .offset = place->file_offset,
        .semaphore = place->semaphore,
        .pid = work->event_pid,
    };

    work->attachment->of_process = work->attachment->of_process || probe.pid;
    return attach_event(work, perf_open_uprobe(context, &probe), place, PROGRAM_PROBE, false);
}

static int attach_by_events(struct work *work)
{
    return attach_each(work, "uprobe", open_event, &work->attachment->user_way);
}

/* ---- Text ---- */

static int attach_by_text(struct work *work)
{
    int result = attach_check_count(work);
    uint32_t length;

    if (result)
        return result;
    if (work->request->tracefs < 0)
        return -EOPNOTSUPP;
    work->attachment->tracefs = work->request->tracefs;
    work->attachment->user_way = ATTACH_TRACEFS;
    attach_text_sweep(work->request->tracefs);
    for (size_t i = 0; i < work->count && !result; i += length) {
        length = group_length(work, i);
        result = attach_as_text(work, work->places + i, length);
    }
    work->count = 0;
    return result;
}

/*
 * The kernel takes a process for its first thread: events and links of the process see nothing once
 * that thread has ended, or another has executed a program. So for a process with several threads,
 * probes are for all processes, and programs drop what was not asked for.
 */
static void choose_pids(struct work *work)
{
    const uint32_t pid = work->request->pid;

    work->event_pid = pid && !maps_has_threads(pid) ? pid : 0;
    work->linked_pid = work->event_pid && bpf_has_uprobe_multi_of_processes() ? pid : 0;
}

/*
 * If the kernel does not raise the semaphore, we do; or the place is left out, as its program would
 * never reach it.
 */
static void count_listeners(struct work *work)
{
    const uint32_t pid = work->request->pid;
    struct perf_probe_type type;
    size_t left = 0, with = 0;

    for (size_t i = 0; i < work->count; i++)
        with += work->places[i]->semaphore != 0;
    if (!with || (!perf_probe_type("uprobe", &type) && type.counts))
        return;
    for (size_t i = 0; i < work->count; i++) {
        struct place *place = work->places[i];
        if (place->semaphore &&
            (!pid || semaphores_raise(&work->attachment->semaphores, place, pid))) {
            place->error = ATTACH_UNARMED;
            continue;
        }
        place->semaphore = 0;
        work->places[left++] = place;
    }
    work->count = left;
}

static int attach_best(struct work *work)
{
    enum attach_way way = work->request->way;
    int result = -EOPNOTSUPP;
    bool events_first = work->event_pid && !work->linked_pid && work->count <= MOST_OWN_EVENTS;

    if (way == ATTACH_BEST && events_first)
        result = attach_by_events(work);
    /* Events take more rights than links. */
    if ((way == ATTACH_BEST && work->count &&
         (!events_first || result == -EOPNOTSUPP || result == -EACCES || result == -EPERM)) ||
        way == ATTACH_MULTI)
        result = attach_by_links(work);
    if ((way == ATTACH_BEST && result == -EOPNOTSUPP && !events_first) || way == ATTACH_PMU)
        result = attach_by_events(work);
    if ((way == ATTACH_BEST && result == -EOPNOTSUPP) || way == ATTACH_TRACEFS)
        result = attach_by_text(work);
    return result;
}

/* The starts of the functions whose returns were attached. */
static size_t list_starts(const struct work *work, size_t count, struct place *starts,
                          struct place **list)
{
    size_t listed = 0;

    for (size_t i = 0; i < count; i++) {
        if (!work->places[i]->at_return || work->places[i]->error)
            continue;
        starts[listed] = *work->places[i];
        starts[listed].at_return = false;
        starts[listed].start = START_OF_RETURN;
        list[listed] = &starts[listed];
        listed++;
    }
    return listed;
}

/*
 * Attaches the program that counts returns which the kernel does not trace, in the way of the
 * returns. Without the program, only their number is unknown.
 */
static void attach_starts(const struct work *work, size_t count)
{
    static int (*const ways[])(struct work *) = {
        [ATTACH_MULTI] = attach_by_links,
        [ATTACH_PMU] = attach_by_events,
        [ATTACH_TRACEFS] = attach_by_text,
    };
    struct attachment *attachment = work->attachment;
    const size_t attached = attachment->attached;
    struct place *starts = calloc(count, sizeof(*starts)), **list = calloc(count, sizeof(*list));
    struct attach_request request = *work->request;
    struct work beside = *work;

    request.numbered = false;
    request.force = true;
    request.progress = NULL;
    beside.request = &request;
    beside.all = starts;
    beside.places = list;
    beside.count = starts && list ? list_starts(work, count, starts, list) : 0;
    if (beside.count && ways[attachment->user_way](&beside))
        text_free(&attachment->log);
    attachment->attached = attached;
    free(starts);
    free(list);
}

static int attach_all(struct work *work)
{
    const size_t count = work->count;

    if (work->request->instead)
        return attach_instead_of_programs(work);
    choose_pids(work);
    qsort(work->places, work->count, sizeof(*work->places), compare_for_sort);
    int result = attach_best(work);
    if (!result && work->request->programs[ATTACH_NESTED].count)
        attach_starts(work, count);
    return result;
}

/* Does each still lead to the file that was read? A descriptor does; without /proc it is a path. */
static int check_files(struct place *const *places, size_t count)
{
    struct stat about;

    for (size_t i = 0; i < count; i++) {
        if (!places[i]->inode || (i && places[i]->file == places[i - 1]->file))
            continue;
        if (stat(places[i]->file, &about) || about.st_ino != places[i]->inode ||
            about.st_dev != places[i]->device)
            return -ESTALE;
    }
    return 0;
}

int attach_user_places(struct work *work)
{
    count_listeners(work);
    const size_t count = work->count;
    int result = check_files(work->places, count);
    if (!result && count)
        result = attach_all(work);
    /* A failure ends all, and detaches what there is. */
    return result ? result : check_files(work->places, count);
}
