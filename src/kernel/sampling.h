/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Runs a program periodically on every CPU: at the ticks of a clock, or once every N events of
 * another kind. It handles CPU hotplug.
 */
#ifndef STACKBOX_KERNEL_SAMPLING_H
#define STACKBOX_KERNEL_SAMPLING_H

#include <stdint.h>

#include "base/text.h"
#include "kernel/ring_buffers.h"

struct sampling_event {
    const char *name;
    uint32_t type;
    uint64_t config;
    bool clock; /* it counts nanoseconds */
};

/* All of them, the default first, up to one without a name; and the one of a name, or NULL. */
extern const struct sampling_event sampling_events[];
const struct sampling_event *sampling_find_event(const char *name);

/* Can it be opened here? 0, or a negative errno: -ENOENT if the machine has no such event. */
int sampling_try(const struct sampling_event *event);
/* Appends the names of those that this machine has and we may open: "a, b, c". */
void sampling_add_available(struct text *names);

/* kernel.perf_event_max_sample_rate. */
uint64_t sampling_rate_limit(void);

struct sampling_config {
    const struct sampling_event *event;
    uint64_t frequency; /* samples per second and CPU; or */
    uint64_t count;     /* events per sample */
    int64_t cpu;        /* -1: all */
    bool idle;          /* sample idle CPUs, too */
    int program;        /* of BPF_PROG_TYPE_PERF_EVENT; the caller's to close, after the sampling */
};

struct perf_sampled;
struct perf_sampled sampling_event_of(const struct sampling_config *config, unsigned cpu);
/* Of a clock: nanoseconds between samples. */
uint64_t sampling_clock_period(const struct sampling_config *config);

/* What was not sampled because samples came faster than the kernel allows. */
struct sampling_stops {
    uint64_t times, nanoseconds; /* of all CPUs */
    uint64_t samples;            /* that were due meanwhile; 0 if unknown */
};

struct sampled_cpu {
    struct throttle event;
    uint64_t armed; /* for how long (ns) it had been when last looked at */
};

struct sampling {
    struct sampling_config config;
    struct sampled_cpu *cpus;
    size_t count, room;
    uint64_t looked;         /* when that was */
    struct sampling_stops stops; /* of events that are gone */
};

/*
 * Starts sampling. 0, or a negative errno: -ENOENT if the machine has no such event, -ENODEV if
 * none of the CPUs asked for is online. sampling_close after either.
 */
int sampling_open(struct sampling *sampling, const struct sampling_config *config);
void sampling_close(struct sampling *sampling);

/* The total so far. */
void sampling_stops(struct sampling *sampling, struct sampling_stops *stops);

/* The interval (ns) at which sampling_look should be called. */
#define SAMPLING_LOOK_NS 200000000

/*
 * Starts sampling CPUs that came online, or back online, since the last call; does nothing if
 * called too soon. 0, or why one of them cannot be sampled.
 */
int sampling_look(struct sampling *sampling);

#endif
