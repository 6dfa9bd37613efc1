/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/sampling.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "kernel/limits.h"
#include "kernel/perf.h"

#define NS_PER_SECOND 1000000000
#define DEFAULT_RATE_LIMIT 100000 /* the kernel's default */

/* An armed event seems to stand still if it is read again before its clock has advanced. */
#define SOONEST_LOOK_NS (SAMPLING_LOOK_NS / 2)

const struct sampling_event sampling_events[] = {
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false},
    {0},
};

const struct sampling_event *sampling_find_event(const char *name)
{
    for (const struct sampling_event *event = sampling_events; event->name; event++)
        if (!strcmp(event->name, name))
            return event;
    return NULL;
}

uint64_t sampling_rate_limit(void)
{
    const uint64_t limit = kernel_number("/proc/sys/kernel/perf_event_max_sample_rate", 0);

    return limit ? limit : DEFAULT_RATE_LIMIT;
}

uint64_t sampling_clock_period(const struct sampling_config *config)
{
    return config->count ? config->count : NS_PER_SECOND / config->frequency;
}

/*
 * A clock gets a fixed period: the kernel's search for a frequency would drift. Other events come
 * at any rate, and only the kernel's search reaches a frequency.
 */
struct perf_sampled sampling_event_of(const struct sampling_config *config, unsigned cpu)
{
    const struct sampling_event *event = config->event;

    return (struct perf_sampled){
        .type = event->type,
        .config = event->config,
        .by_frequency = !config->count && !event->clock,
        .period = event->clock    ? sampling_clock_period(config)
                  : config->count ? config->count
                                  : config->frequency,
        .leaves_idle_out = !config->idle && event->clock,
        .cpu = cpu,
    };
}

static int open_event(const struct sampling_config *config, unsigned cpu)
{
    const struct perf_sampled sampled = sampling_event_of(config, cpu);
    int result = perf_open_sampled(&sampled);

    return result == -EOPNOTSUPP ? -ENOENT : result;
}

static int try_event(void *event, unsigned cpu)
{
    return open_event(&(struct sampling_config){.event = event, .frequency = 1, .idle = true}, cpu);
}

int sampling_try(const struct sampling_event *event)
{
    return cpus_try(try_event, (void *)(uintptr_t)event);
}

void sampling_add_available(struct text *names)
{
    const char *between = "";

    for (const struct sampling_event *event = sampling_events; event->name; event++)
        if (!sampling_try(event)) {
            text_format(names, "%s%s", between, event->name);
            between = ", ";
        }
}

/* ---- CPUs ---- */

static int make_room(struct sampling *sampling, unsigned cpu)
{
    int result = ARRAY_RESERVE(sampling->cpus, sampling->room, cpu + 1);

    for (; !result && sampling->count <= cpu; sampling->count++)
        sampling->cpus[sampling->count] = (struct sampled_cpu){.event.ring.fd = -1};
    return result;
}

static bool is_sampled(const struct sampling *sampling, unsigned cpu)
{
    return cpu < sampling->count && sampling->cpus[cpu].event.ring.fd >= 0;
}

static int add_cpu(void *context, unsigned cpu)
{
    struct sampling *sampling = context;

    if (is_sampled(sampling, cpu) || (sampling->config.cpu >= 0 && sampling->config.cpu != cpu))
        return 0;
    int fd = open_event(&sampling->config, cpu);
    int result = fd < 0 ? fd : make_room(sampling, cpu);
    if (!result)
        result = perf_attach(fd, sampling->config.program);
    if (!result)
        result = perf_enable(fd);
    if (result) {
        close_fd(fd);
        return result;
    }
    throttle_open(&sampling->cpus[cpu].event, fd);
    sampling->cpus[cpu].armed = 0;
    return 0;
}

static void add_stops(const struct sampling *sampling, unsigned cpu, struct sampling_stops *stops)
{
    const struct throttle *event = &sampling->cpus[cpu].event;
    uint64_t stopped = throttle_stopped(event);

    stops->times += event->times;
    stops->nanoseconds += stopped;
    if (sampling->config.event->clock)
        stops->samples += stopped / sampling_clock_period(&sampling->config);
}

void sampling_stops(struct sampling *sampling, struct sampling_stops *stops)
{
    *stops = sampling->stops;
    for (unsigned cpu = 0; cpu < sampling->count; cpu++)
        if (is_sampled(sampling, cpu)) {
            throttle_read(&sampling->cpus[cpu].event);
            add_stops(sampling, cpu, stops);
        }
}

/* The event of a CPU that went offline stays dead even when the CPU comes back. */
static void drop_dead(struct sampling *sampling)
{
    for (unsigned cpu = 0; cpu < sampling->count; cpu++) {
        uint64_t armed = 0;
        if (!is_sampled(sampling, cpu))
            continue;
        throttle_read(&sampling->cpus[cpu].event);
        bool is_on = !perf_armed_ns(sampling->cpus[cpu].event.ring.fd, &armed) &&
            armed > sampling->cpus[cpu].armed;
        sampling->cpus[cpu].armed = armed;
        if (is_on)
            continue;
        add_stops(sampling, cpu, &sampling->stops);
        perf_ring_close(&sampling->cpus[cpu].event.ring);
    }
}

int sampling_open(struct sampling *sampling, const struct sampling_config *config)
{
    *sampling = (struct sampling){.config = *config, .looked = now_ns()};
    int result = cpus_each_online(add_cpu, sampling);

    for (unsigned cpu = 0; !result && cpu < sampling->count; cpu++)
        if (is_sampled(sampling, cpu))
            return 0;
    return result ? result : -ENODEV;
}

int sampling_look(struct sampling *sampling)
{
    uint64_t now = now_ns();

    if (now - sampling->looked < SOONEST_LOOK_NS)
        return 0;
    sampling->looked = now;
    drop_dead(sampling);
    return cpus_each_online(add_cpu, sampling);
}

void sampling_close(struct sampling *sampling)
{
    for (unsigned cpu = 0; cpu < sampling->count; cpu++)
        if (is_sampled(sampling, cpu))
            perf_ring_close(&sampling->cpus[cpu].event.ring);
    free(sampling->cpus);
    *sampling = (struct sampling){0};
}
