/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_events.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/cpus.h"
#include "kernel/limits.h"
#include "kernel/perf.h"

/* What comes within some tenths of a second is to fit, and be a small part of the free memory. */
#define MOST_BYTES (2u << 20)
#define MOST_WITH_STACKS (64u << 20)
#define LEAST_BYTES 16384
#define MOST_SHARE 16

/* ---- Attributes ---- */

static struct perf_event_attr attributes_of(const struct rings *rings)
{
    const struct rings_wishes *wishes = &rings->wishes;

    return (struct perf_event_attr){
        .size = PERF_ATTR_SIZE_VER3, /* up to clockid: 4.1 */
        .sample_type = RECORD_SAMPLE_TYPE | (wishes->raw ? PERF_SAMPLE_RAW : 0) |
                       (wishes->registers ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER : 0),
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

/* Tells of tasks and nothing else. */
static struct perf_event_attr teller_of(const struct rings *rings)
{
    struct perf_event_attr attributes = attributes_of(rings);

    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.exclude_kernel = attributes.exclude_hv = 1; /* of the event, not of the records */
    attributes.exclude_callchain_kernel = 1;
    attributes.comm = 1;
    attributes.comm_exec = 1;
    attributes.task = 1;
    return attributes;
}

/* ---- What is open ---- */

static int keep_other(struct rings *rings, int fd)
{
    if (array_reserve(&rings->others, &rings->others_room, rings->other_count + 1, sizeof(int))) {
        close(fd);
        return -ENOMEM;
    }
    rings->others[rings->other_count++] = fd;
    return 0;
}

static int keep_event(struct rings *rings, int fd, uint32_t number)
{
    const size_t count = rings->count + 1;

    if (array_reserve(&rings->events, &rings->events_room, count, sizeof(int)) ||
        array_reserve(&rings->numbers, &rings->numbers_room, count, sizeof(uint32_t)) ||
        array_reserve(&rings->ids, &rings->ids_room, count, sizeof(uint64_t))) {
        close(fd);
        return -ENOMEM;
    }
    rings->events[rings->count] = fd;
    rings->numbers[rings->count] = number;
    rings->ids[rings->count] = 0;
    return perf_id(fd, &rings->ids[rings->count++]);
}

/* The number of tasks that events are of; at least one, which may be everybody. */
static size_t targets(const struct rings *rings)
{
    return rings->wishes.tid_count ? rings->wishes.tid_count : 1;
}

static int open_for(const struct rings *rings, struct perf_event_attr *attributes, size_t target, unsigned cpu)
{
    const struct rings_wishes *wishes = &rings->wishes;

    if (wishes->tid_count) {
        attributes->inherit = !wishes->alone;
        return perf_open(attributes, (int)wishes->tids[target], cpu, 0);
    }
    return wishes->cgroup && attributes->config != PERF_COUNT_SW_DUMMY
               ? perf_open(attributes, wishes->cgroup, cpu, PERF_FLAG_PID_CGROUP)
               : perf_open(attributes, -1, cpu, 0);
}

/* A thread may end before it has its event: that is no error. */
static bool is_gone(const struct rings *rings, int error)
{
    return error == -ESRCH && rings->wishes.tid_count > 1;
}

/* ---- Rings ---- */

/* What is to be written to by all events of that CPU; it tells of ourselves: see rings_have_losses_told(). */
static int open_ring(void *context, unsigned cpu)
{
    struct rings *rings = context;
    struct perf_event_attr attributes = teller_of(rings);
    struct ring_reading *reading = &rings->reading;

    if (rings->wishes.cpu >= 0 && rings->wishes.cpu != cpu)
        return 0;
    attributes.task = 0;
    int fd = perf_open(&attributes, 0, cpu, 0);
    if (fd < 0)
        return fd;
    if (array_reserve(&reading->rings, &rings->room, reading->count + 1, sizeof(*reading->rings))) {
        close(fd);
        return -ENOMEM;
    }
    return ring_open(&reading->rings[reading->count++], cpu, fd, rings->bytes);
}

static void close_rings(struct rings *rings)
{
    for (size_t i = 0; i < rings->reading.count; i++)
        ring_close(&rings->reading.rings[i]);
    rings->reading.count = 0;
}

/* Beyond a limit of locked memory it is -EPERM: all get half, until they fit. */
static int open_rings(struct rings *rings)
{
    const uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF), free_memory = kernel_free_memory();
    bool again = false;
    int result;

    rings->bytes = rings->wishes.registers ? MOST_WITH_STACKS : MOST_BYTES;
    while (rings->bytes > LEAST_BYTES && free_memory && rings->bytes * cpus > free_memory / MOST_SHARE)
        rings->bytes /= 2;
    for (;;) {
        result = cpus_each_online(open_ring, rings);
        const bool refused = (result == -EPERM || result == -ENOMEM) && rings->reading.count;
        if (rings->bytes / 2 < LEAST_BYTES || (!refused && !again))
            break;
        again = refused; /* and once more: what a user may have is not for us alone */
        rings->bytes /= 2;
        close_rings(rings);
    }
    if (result == -EPERM && rings->reading.count)
        return -ENOMEM; /* it is the memory that is refused, and not the events */
    return result ? result : rings->reading.count ? 0 : -ENODEV;
}

static int open_teller(struct rings *rings, size_t target, const struct ring *ring)
{
    struct perf_event_attr attributes = teller_of(rings);
    int fd = open_for(rings, &attributes, target, ring->cpu);

    if (fd < 0)
        return is_gone(rings, fd) ? 0 : fd;
    int result = keep_other(rings, fd);
    return result ? result : perf_redirect(fd, ring->ring.fd);
}

static int open_tellers(struct rings *rings)
{
    int result = 0;

    for (size_t i = 0; i < rings->reading.count && !result; i++)
        for (size_t target = 0; target < targets(rings) && !result; target++)
            result = open_teller(rings, target, &rings->reading.rings[i]);
    return result;
}

int rings_open(struct rings *rings, const struct rings_wishes *wishes)
{
    *rings = (struct rings){.wishes = *wishes, .reading.shape = {wishes->raw, wishes->registers}};
    int result = open_rings(rings);

    return result ? result : open_tellers(rings);
}

void rings_close_events(struct rings *rings)
{
    for (size_t i = 0; i < rings->count; i++)
        close(rings->events[i]);
    rings->count = 0;
}

void rings_close(struct rings *rings)
{
    rings_close_events(rings);
    for (size_t i = 0; i < rings->other_count; i++)
        close(rings->others[i]);
    close_rings(rings);
    free(rings->reading.rings);
    free(rings->events);
    free(rings->numbers);
    free(rings->ids);
    free(rings->others);
    *rings = (struct rings){.bytes = 0};
}

/* ---- Events ---- */

static int open_event(struct rings *rings, const struct rings_event *event, size_t target, unsigned cpu)
{
    struct perf_event_attr attributes = attributes_of(rings);

    attributes.type = event->type;
    attributes.config = event->config;
    attributes.config1 = event->config1;
    attributes.config2 = event->config2;
    attributes.freq = event->by_frequency;
    attributes.sample_period = event->period ? event->period : 1;
    attributes.exclude_idle = event->leaves_idle_out;
    attributes.disabled = 1;
    attributes.enable_on_exec = rings->wishes.from_exec;
    int fd = open_for(rings, &attributes, target, cpu);
    /* Whoever may not see the kernel may see what is below. */
    if (fd == -EACCES && !rings->user_part_alone && rings->wishes.tid_count) {
        rings->user_part_alone = true;
        return open_event(rings, event, target, cpu);
    }
    return fd;
}

static int add(struct rings *rings, const struct rings_event *event, uint32_t number, size_t target,
               const struct ring *ring)
{
    int fd = open_event(rings, event, target, ring->cpu);

    if (fd < 0)
        return is_gone(rings, fd) ? 0 : fd;
    int result = keep_event(rings, fd, number);
    return result ? result : perf_redirect(fd, ring->ring.fd);
}

int rings_add(struct rings *rings, const struct rings_event *event, uint32_t number)
{
    int result = 0;

    for (size_t i = 0; i < rings->reading.count && !result; i++)
        for (size_t target = 0; target < targets(rings) && !result; target++)
            result = add(rings, event, number, target, &rings->reading.rings[i]);
    return result;
}

/* Events get ever higher numbers, so that they are in order. */
uint32_t rings_number(const struct rings *rings, uint64_t id)
{
    size_t low = 0, high = rings->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (rings->ids[middle] == id)
            return rings->numbers[middle];
        if (rings->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return UINT32_MAX;
}

int rings_start(struct rings *rings)
{
    int result = 0;

    for (size_t i = 0; i < rings->count && !result && !rings->wishes.from_exec; i++)
        result = perf_enable(rings->events[i]);
    return result;
}

int rings_stop(struct rings *rings)
{
    int result = 0;

    for (size_t i = 0; i < rings->count; i++) {
        int stopped = perf_disable(rings->events[i]);
        result = result ? result : stopped;
    }
    return result;
}

void rings_have_losses_told(const struct rings *rings)
{
    char name[16] = "";
    cpu_set_t before, one;

    if (prctl(PR_GET_NAME, name) || sched_getaffinity(0, sizeof(before), &before))
        return;
    for (size_t i = 0; i < rings->reading.count; i++) {
        CPU_ZERO(&one);
        CPU_SET(rings->reading.rings[i].cpu, &one);
        if (!sched_setaffinity(0, sizeof(one), &one))
            prctl(PR_SET_NAME, name);
    }
    sched_setaffinity(0, sizeof(before), &before);
}

void rings_stopped(const struct rings *rings, uint64_t *times, uint64_t *nanoseconds)
{
    *times = *nanoseconds = 0;
    for (size_t i = 0; i < rings->reading.count; i++) {
        *times += rings->reading.rings[i].throttle.times;
        *nanoseconds += throttle_stopped(&rings->reading.rings[i].throttle);
    }
}
