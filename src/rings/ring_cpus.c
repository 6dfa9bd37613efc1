/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/cpus.h"
#include "kernel/limits.h"
#include "kernel/perf.h"

/*
 * Room for a third of a second of 50,000 events a second on one CPU, with stacks of 60 frames, as
 * long as all of them are a small part of free memory.
 */
#define MOST_BYTES (8u << 20)
#define MOST_OF_TASKS (128u << 10)
#define MOST_OF_ALL (64u << 20)
#define MOST_WITH_STACKS (64u << 20) /* per CPU, if samples have a piece of the user stack */
#define LEAST_BYTES 16384
#define MOST_SHARE 16
#define MOST_SHARE_WITH_STACKS 8
#define WAKING_SHARE 8 /* of a ring: when it is this full, the reader is woken */

#define LOOK_NS 200000000

/* ---- Rings ---- */

/*
 * All events of that CPU write to this ring; its own event is on ourselves: see
 * rings_have_losses_told().
 */
static int open_ring(struct rings *rings, unsigned cpu, bool of_tasks)
{
    struct perf_event_attr attributes = rings_teller(rings);
    struct ring_reading *reading = &rings->reading;
    const size_t bytes = of_tasks && rings->bytes > MOST_OF_TASKS ? MOST_OF_TASKS : rings->bytes;

    attributes.task = 0;
    attributes.watermark = 1;
    attributes.wakeup_watermark = (uint32_t)(bytes / WAKING_SHARE);
    int fd = perf_open(&attributes, (int)getpid(), cpu, 0);
    if (fd < 0)
        return fd;
    if (array_reserve(&reading->rings, &rings->room, reading->count + 1, sizeof(*reading->rings))) {
        close(fd);
        return -ENOMEM;
    }
    struct ring *ring = &reading->rings[reading->count];
    int result = ring_open(ring, cpu, fd, bytes);
    ring->of_tasks = of_tasks;
    reading->count += !result;
    if (result)
        ring_close(ring);
    return result == -EPERM ? -ENOMEM : result; /* the memory is refused, not the events */
}

static bool is_known(const struct rings *rings, unsigned cpu, size_t *at)
{
    for (*at = 0; *at < rings->cpu_count; ++*at)
        if (rings->cpus[*at].cpu == cpu)
            return true;
    return false;
}

static int add_cpu(void *context, unsigned cpu)
{
    struct rings *rings = context;
    struct ring_reading *reading = &rings->reading;
    size_t at;

    if ((rings->wishes.cpu >= 0 && rings->wishes.cpu != cpu) || is_known(rings, cpu, &at))
        return 0;
    if (array_reserve(&rings->cpus, &rings->cpu_room, at + 1, sizeof(*rings->cpus)))
        return -ENOMEM;
    int result = open_ring(rings, cpu, false);
    if (!result)
        result = open_ring(rings, cpu, true);
    if (result && reading->count % 2)
        ring_close(&reading->rings[--reading->count]);
    if (!result)
        rings->cpus[rings->cpu_count++] = (struct rings_cpu){.cpu = cpu};
    return result;
}

void rings_close_cpus(struct rings *rings)
{
    for (size_t i = 0; i < rings->reading.count; i++)
        ring_close(&rings->reading.rings[i]);
    rings->reading.count = rings->cpu_count = 0;
}

static int count_cpu(void *count, unsigned cpu)
{
    (void)cpu;
    ++*(uint64_t *)count;
    return 0;
}

static uint64_t most_bytes(const struct rings *rings)
{
    const bool has_stacks = rings->wishes.registers;
    const uint64_t free_memory = kernel_free_memory();
    const uint64_t share = free_memory / (has_stacks ? MOST_SHARE_WITH_STACKS : MOST_SHARE);
    uint64_t cpus = 0, all = rings->wishes.bytes;
    uint64_t bytes = all ? 1u << 30 : has_stacks ? MOST_WITH_STACKS : MOST_BYTES;

    if (!all)
        all = free_memory && (has_stacks || share < MOST_OF_ALL) ? share : MOST_OF_ALL;
    (void)cpus_each_present(count_cpu, &cpus);
    while (bytes > LEAST_BYTES && bytes * cpus > all)
        bytes /= 2;
    return bytes;
}

/* Locked memory may be limited, too: all rings are halved until they fit. */
int rings_open_cpus(struct rings *rings)
{
    bool again = false;
    int result;

    rings->bytes = (size_t)most_bytes(rings);
    for (;;) {
        result = rings->wishes.tid_count ? cpus_each_present(add_cpu, rings) : cpus_each_online(add_cpu, rings);
        const bool refused = result == -ENOMEM;
        if (rings->bytes / 2 < LEAST_BYTES || (!refused && !again))
            break;
        again = refused; /* and once more: a user's allowance is not only for us */
        rings->bytes /= 2;
        rings_close_cpus(rings);
    }
    return result ? result : rings->cpu_count ? 0 : -ENODEV;
}

/* ---- CPU hotplug ---- */

/* The events of a CPU that went offline are dead, and stay dead when it comes back. */
static void close_dead(struct rings *rings, struct rings_cpu *cpu)
{
    uint64_t armed = 0;

    if (!cpu->is_open)
        return;
    cpu->is_open = !perf_armed_ns(rings->opened[cpu->pulse].fd, &armed) && armed > cpu->armed;
    cpu->armed = cpu->is_open ? armed : 0;
    if (!cpu->is_open)
        rings_close_dead(rings, cpu);
}

static int look_at_cpu(void *context, unsigned cpu)
{
    struct rings *rings = context;
    size_t at;
    int result = add_cpu(rings, cpu);

    if (result || !is_known(rings, cpu, &at) || rings->cpus[at].is_open)
        return result;
    result = rings_open_events(rings, at);
    rings->came += rings->cpus[at].is_open;
    return result;
}

void rings_look(struct rings *rings)
{
    const uint64_t now = now_ns();

    if ((rings->wishes.tid_count && !rings->wishes.events_of_all) || !rings->has_started || now - rings->looked < LOOK_NS)
        return;
    rings->looked = now;
    for (size_t i = 0; i < rings->cpu_count; i++)
        close_dead(rings, &rings->cpus[i]);
    int result = cpus_each_online(look_at_cpu, rings);
    rings->refused = result ? result : rings->refused;
}

/* By a record on each CPU that we may run on; the others' rings may have been full. */
static void provide_records(struct rings *rings, cpu_set_t *one, size_t bytes)
{
    char name[16] = "";

    prctl(PR_GET_NAME, name);
    for (size_t i = 0; i < rings->cpu_count; i++) {
        CPU_ZERO_S(bytes, one);
        CPU_SET_S(rings->cpus[i].cpu, bytes, one);
        if (!sched_setaffinity(0, bytes, one))
            prctl(PR_SET_NAME, name);
        else
            rings->untold = rings->untold || rings->reading.rings[2 * i].was_full;
    }
}

void rings_have_losses_told(struct rings *rings)
{
    const size_t bytes = CPU_ALLOC_SIZE(cpus_possible());

    if (rings->counts_lost)
        return;
    cpu_set_t *before = malloc(bytes), *one = malloc(bytes);
    if (before && one && !sched_getaffinity(0, bytes, before)) {
        provide_records(rings, one, bytes);
        sched_setaffinity(0, bytes, before);
    } else {
        rings->untold = true;
    }
    free(before);
    free(one);
}

void rings_stopped(const struct rings *rings, uint64_t *times, uint64_t *nanoseconds)
{
    *times = *nanoseconds = 0;
    for (size_t i = 0; i < rings->reading.count; i++) {
        *times += rings->reading.rings[i].throttle.times;
        *nanoseconds += throttle_stopped(&rings->reading.rings[i].throttle);
    }
}
