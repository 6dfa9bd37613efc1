/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_events.h"

#include <errno.h>
#include <stdlib.h>
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
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED, /* for perf_armed_ns */
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

/* How many tasks events are for; at least one, which may be everybody. */
static size_t targets(const struct rings *rings)
{
    return rings->wishes.tid_count ? rings->wishes.tid_count : 1;
}

static int open_for(const struct rings *rings, struct perf_event_attr *attributes, size_t target, unsigned cpu,
                    bool outside)
{
    const struct rings_wishes *wishes = &rings->wishes;

    if (wishes->tid_count) {
        attributes->inherit = !wishes->alone;
        return perf_open(attributes, (int)wishes->tids[target], cpu, 0);
    }
    if (!wishes->cgroup || outside)
        return perf_open(attributes, -1, cpu, 0);
    int fd = perf_open(attributes, wishes->cgroup, cpu, PERF_FLAG_PID_CGROUP);
    return fd == -ENOENT ? -ENODATA : fd; /* not about the event, but the cgroup */
}

/* `asked` is NULL for task events. */
static int open_event(struct rings *rings, const struct rings_asked *asked, size_t target, unsigned cpu)
{
    struct perf_event_attr attributes = asked ? asked_for(rings, &asked->event) : rings_teller(rings);
    int fd = open_for(rings, &attributes, target, cpu, !asked || asked->event.outside);

    /* Someone who may not see the kernel may see user code. */
    if (fd == -EACCES && asked && !rings->user_part_alone && rings->wishes.tid_count) {
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

static int add_for_all(struct rings *rings, const struct rings_asked *asked, size_t at)
{
    int result = 0;

    for (size_t target = 0; target < targets(rings) && !result; target++)
        result = add(rings, asked, target, at);
    return result;
}

int rings_open_events(struct rings *rings, size_t at)
{
    rings->cpus[at].pulse = rings->count;
    int result = add_for_all(rings, NULL, at);

    for (size_t i = 0; i < rings->asked_count && !result; i++)
        result = add_for_all(rings, &rings->asked[i], at);
    rings->cpus[at].is_open = rings->count > rings->cpus[at].pulse;
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
    *rings = (struct rings){.wishes = *wishes, .reading.shape = {.raw = wishes->raw}};
    int result = rings_open_cpus(rings);

    fit_stacks(rings);
    if (!result && wishes->user)
        rings->saving = rings_have_frames_saved();
    for (size_t at = 0; at < rings->cpu_count && !result; at++)
        result = rings_open_events(rings, at);
    return result;
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
        result = add_for_all(rings, asked, at);
    rings->asked_count += !result;
    return result;
}

size_t rings_descriptors(const struct rings *rings, size_t events)
{
    return (events + 3) * rings->cpu_count * targets(rings);
}

/* Events get rising ids, so they are sorted. */
uint32_t rings_number(const struct rings *rings, uint64_t id)
{
    size_t low = 0, high = rings->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (rings->opened[middle].id == id)
            return rings->opened[middle].number;
        if (rings->opened[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return OF_TASKS;
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
