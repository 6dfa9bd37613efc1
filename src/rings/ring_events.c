/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/perf.h"
#include "machine/machine.h"
#include "rings/ring_cpus.h"
#include "rings/ring_frames.h"

#define USUAL_STACK 8192
#define LEAST_STACK 4096
#define LEAST_SAMPLES 8
#define OF_TASKS UINT32_MAX /* the number of task events */

/* ---- Attributes ---- */

static struct perf_event_attr attributes_of(const struct rings *rings)
{
    const struct rings_wishes *wishes = &rings->wishes;

    return (struct perf_event_attr){
        .size = PERF_ATTR_SIZE_VER3, /* up to clockid: 4.1 */
        .sample_type = RECORD_SAMPLE_TYPE | (wishes->raw ? PERF_SAMPLE_RAW : 0) |
                       (wishes->registers ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER : 0),
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | (rings->counts_lost ? PERF_FORMAT_LOST : 0),
        .sample_id_all = 1,
        .exclude_kernel = rings->user_part_alone,
        .exclude_hv = rings->user_part_alone,
        .exclude_callchain_kernel = !wishes->kernel || rings->user_part_alone,
        .exclude_callchain_user = !wishes->user,
        .sample_regs_user = wishes->registers,
        .sample_stack_user = wishes->stack_bytes,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
}

struct perf_event_attr rings_teller(const struct rings *rings)
{
    struct perf_event_attr attributes = attributes_of(rings);

    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.exclude_kernel = attributes.exclude_hv = 1; /* by the event, not by its records */
    attributes.exclude_callchain_kernel = 1;
    attributes.comm = 1;
    attributes.comm_exec = 1;
    attributes.task = 1;
    return attributes;
}

/* Opened after the start, it starts at once. */
static struct perf_event_attr asked_for(const struct rings *rings, const struct rings_event *event)
{
    struct perf_event_attr attributes = attributes_of(rings);

    attributes.type = event->type;
    attributes.config = event->config;
    attributes.config1 = event->config1;
    attributes.config2 = event->config2;
    attributes.freq = event->by_frequency;
    attributes.sample_period = event->period ? event->period : 1;
    attributes.exclude_idle = event->leaves_idle_out;
    attributes.disabled = !rings->has_started;
    attributes.enable_on_exec = rings->wishes.from_exec;
    return attributes;
}

/* ---- What is open ---- */

static int keep(struct rings *rings, int fd, unsigned cpu, uint32_t number)
{
    if (array_reserve(&rings->opened, &rings->opened_room, rings->count + 1, sizeof(*rings->opened))) {
        close(fd);
        return -ENOMEM;
    }
    struct rings_opened *opened = &rings->opened[rings->count++];
    *opened = (struct rings_opened){.fd = fd, .cpu = cpu, .number = number};
    return perf_id(fd, &opened->id);
}

/* `asked` is NULL for task events, here and below. */
static bool is_of_all(const struct rings *rings, const struct rings_asked *asked)
{
    return !rings->wishes.tid_count || (asked && rings->wishes.events_of_all);
}

/* How many tasks events are for; at least one, which may be everybody. */
static size_t targets(const struct rings *rings, bool of_all)
{
    return of_all ? 1 : rings->wishes.tid_count;
}

static int open_for(const struct rings *rings, const struct rings_asked *asked, struct perf_event_attr *attributes,
                    size_t target, unsigned cpu)
{
    const struct rings_wishes *wishes = &rings->wishes;

    if (!is_of_all(rings, asked)) {
        attributes->inherit = !wishes->alone;
        return perf_open(attributes, (int)wishes->tids[target], cpu, 0);
    }
    if (!wishes->cgroup || !asked || asked->event.outside)
        return perf_open(attributes, -1, cpu, 0);
    int fd = perf_open(attributes, wishes->cgroup, cpu, PERF_FLAG_PID_CGROUP);
    return fd == -ENOENT ? -ENODATA : fd; /* not about the event, but the cgroup */
}

static int open_event(struct rings *rings, const struct rings_asked *asked, size_t target, unsigned cpu)
{
    struct perf_event_attr attributes = asked ? asked_for(rings, &asked->event) : rings_teller(rings);
    int fd = open_for(rings, asked, &attributes, target, cpu);

    /* Someone who may not see the kernel may see user code. */
    if (fd == -EACCES && asked && !rings->user_part_alone && !is_of_all(rings, asked)) {
        rings->user_part_alone = true;
        return open_event(rings, asked, target, cpu);
    }
    return fd;
}

static int add(struct rings *rings, const struct rings_asked *asked, size_t target, size_t at)
{
    const unsigned cpu = rings->cpus[at].cpu;
    int fd = open_event(rings, asked, target, cpu);

    if (fd == -ESRCH && rings->wishes.tid_count > 1)
        return 0; /* a thread may end before it has its event */
    if (fd < 0)
        return fd;
    int result = keep(rings, fd, cpu, asked ? asked->number : OF_TASKS);
    return result ? result : perf_redirect(fd, rings->reading.rings[2 * at + !asked].ring.fd);
}

static int add_for_each(struct rings *rings, const struct rings_asked *asked, size_t at)
{
    const bool of_all = is_of_all(rings, asked);
    const size_t first = rings->count;
    struct rings_cpu *cpu = &rings->cpus[at];
    int result = 0;

    for (size_t target = 0; target < targets(rings, of_all) && !result; target++)
        result = add(rings, asked, target, at);
    if (of_all && !cpu->is_open && rings->count > first) {
        cpu->is_open = true;
        cpu->pulse = first;
    }
    /* Tasks have their rings on CPUs that are offline, too. */
    return result == -ENODEV && of_all && rings->wishes.tid_count ? 0 : result;
}

int rings_open_events(struct rings *rings, size_t at)
{
    int result = rings->cpus[at].is_told ? 0 : add_for_each(rings, NULL, at);

    rings->cpus[at].is_told = !result;
    for (size_t i = 0; i < rings->asked_count && !result; i++)
        result = add_for_each(rings, &rings->asked[i], at);
    return result;
}

/*
 * As many samples as asked for must fit into a ring of some size, with less of each stack. A small
 * ring has room for at least some, with little of each stack, or none.
 */
static void fit_stacks(struct rings *rings)
{
    struct rings_wishes *wishes = &rings->wishes;
    const size_t share = wishes->samples ? rings->bytes / wishes->samples & ~(size_t)7 : 0;
    const size_t usual = share > USUAL_STACK ? share : USUAL_STACK, room = rings->bytes / LEAST_SAMPLES & ~(size_t)7;
    const uint32_t most = (uint32_t)(usual < room ? usual : room);

    if (wishes->stack_bytes > most)
        wishes->stack_bytes = most;
    if (wishes->stack_bytes < LEAST_STACK)
        wishes->registers = wishes->stack_bytes = 0;
    rings->reading.shape.registers = wishes->registers;
    rings->reading.shape.narrow = wishes->registers && machine_of_kernel()->bits == 32;
}

int rings_open(struct rings *rings, const struct rings_wishes *wishes)
{
    *rings = (struct rings){
        .wishes = *wishes,
        .reading.shape = {.raw = wishes->raw},
        .counts_lost = perf_counts_lost(),
    };
    int result = rings_open_cpus(rings);

    fit_stacks(rings);
    if (!result && wishes->user)
        rings->saving = rings_have_frames_saved();
    for (size_t at = 0; at < rings->cpu_count && !result; at++)
        result = rings_open_events(rings, at);
    return result;
}

static void add_lost(const struct rings_opened *opened, uint64_t *lost)
{
    uint64_t count;

    if (!perf_lost(opened->fd, &count))
        lost[opened->number == OF_TASKS ? RINGS_TASKS : RINGS_SAMPLES] += count;
}

void rings_close_dead(struct rings *rings, struct rings_cpu *cpu)
{
    const bool keeps_told = rings->wishes.tid_count;

    for (size_t i = 0; i < rings->count; i++) {
        struct rings_opened *opened = &rings->opened[i];
        if (opened->cpu != cpu->cpu || opened->fd < 0 || (keeps_told && opened->number == OF_TASKS))
            continue;
        add_lost(opened, rings->lost);
        close(opened->fd);
        opened->fd = -1;
    }
    cpu->is_told = keeps_told;
}

void rings_count_lost(struct rings *rings)
{
    memcpy(rings->all_lost, rings->lost, sizeof(rings->all_lost));
    for (size_t i = 0; i < rings->count && rings->counts_lost; i++)
        if (rings->opened[i].fd >= 0)
            add_lost(&rings->opened[i], rings->all_lost);
}

/* Records of losses may still be read after these were counted. */
uint64_t rings_lost(const struct rings *rings, enum rings_kind kind)
{
    const struct ring_reading *reading = &rings->reading;
    const uint64_t told = kind == RINGS_TASKS ? reading->tasks_lost : reading->lost;

    return told > rings->all_lost[kind] ? told : rings->all_lost[kind];
}

void rings_close_events(struct rings *rings)
{
    for (size_t i = 0; i < rings->count; i++)
        if (rings->opened[i].fd >= 0)
            close(rings->opened[i].fd);
    rings->count = rings->asked_count = 0;
    rings->has_started = false;
}

void rings_close(struct rings *rings)
{
    rings_close_events(rings);
    rings_close_cpus(rings);
    if (rings->saving > 0)
        close(rings->saving);
    free(rings->reading.rings);
    free(rings->cpus);
    free(rings->asked);
    free(rings->opened);
    *rings = (struct rings){.bytes = 0};
}

int rings_add(struct rings *rings, const struct rings_event *event, uint32_t number)
{
    int result = array_reserve(&rings->asked, &rings->asked_room, rings->asked_count + 1, sizeof(*rings->asked));

    if (result)
        return -ENOMEM;
    const struct rings_asked *asked = &rings->asked[rings->asked_count];
    rings->asked[rings->asked_count] = (struct rings_asked){*event, number};
    for (size_t at = 0; at < rings->cpu_count && !result; at++)
        result = add_for_each(rings, asked, at);
    rings->asked_count += !result;
    return result;
}

size_t rings_descriptors(const struct rings *rings, size_t events)
{
    return (events + 3) * rings->cpu_count * targets(rings, !rings->wishes.tid_count);
}

/* Events get rising ids, so they are sorted. */
uint32_t rings_number(const struct rings *rings, uint64_t id)
{
    const size_t at = rings->count ? first_key_above(&rings->opened->id, sizeof(*rings->opened), rings->count, id) : 0;

    return at && rings->opened[at - 1].id == id ? rings->opened[at - 1].number : OF_TASKS;
}

int rings_start(struct rings *rings)
{
    int result = 0;

    for (size_t i = 0; i < rings->count && !result && !rings->wishes.from_exec; i++)
        result = perf_enable(rings->opened[i].fd);
    rings->has_started = true;
    return result;
}

int rings_stop(struct rings *rings)
{
    int result = 0;

    rings->has_started = false;
    for (size_t i = 0; i < rings->count; i++) {
        int stopped = rings->opened[i].fd < 0 ? 0 : perf_disable(rings->opened[i].fd);
        result = result ? result : stopped;
    }
    return result;
}
