/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Runs a program again and again on every CPU: at the ticks of a clock, or at every so many events of
 * another kind. It follows CPU hotplug.
 */
#ifndef STACKBOX_KERNEL_SAMPLING_H
#define STACKBOX_KERNEL_SAMPLING_H

#include <stdint.h>

#include "base/text.h"
#include "kernel/throttle.h"

struct sampling_event {
    const char *name;
    uint32_t type;
    uint64_t config;
    bool clock; /* it counts nanoseconds */
};

/* All of them, the default first, up to one without a name; and that of a name, or NULL. */
extern const struct sampling_event sampling_events[];
const struct sampling_event *sampling_find_event(const char *name);

/* Can it be opened here? 0, or a negative errno: -ENOENT where the machine has no such event. */
int sampling_try(const struct sampling_event *event);
/* Appends the names of those that this machine has, as far as we may open them: "a, b, c". */
void sampling_add_available(struct text *names);

/* kernel.perf_event_max_sample_rate. */
uint64_t sampling_rate_limit(void);

struct sampling_wishes {
    const struct sampling_event *event;
    uint64_t frequency; /* samples per second and CPU; or */
    uint64_t count;     /* a sample at every so many events */
    int64_t cpu;        /* -1: all */
    bool idle;          /* also where nobody runs */
    int program;        /* of BPF_PROG_TYPE_PERF_EVENT; the caller's to close, after the sampling */
};

/* Of a clock: the nanoseconds from one sample to the next. */
struct perf_sampled;
struct perf_sampled sampling_event_of(const struct sampling_wishes *wishes, unsigned cpu);
uint64_t sampling_clock_period(const struct sampling_wishes *wishes);

/* What the kernel did not sample because samples came faster than it allows. */
struct sampling_stops {
    uint64_t times, nanoseconds; /* of all CPUs */
    uint64_t samples;            /* that were due meanwhile; 0 where that is not known */
};

struct sampling {
    struct sampling_wishes wishes;
    struct throttle *events; /* by CPU */
    uint64_t *armed;         /* for how long (ns) each was so when last looked at */
    size_t count, room, armed_room;
    uint64_t looked;         /* when that was */
    struct sampling_stops stops; /* of events that are gone */
};

/*
 * From here on the program runs. 0, or a negative errno: -ENOENT where the machine has no such event,
 * -ENODEV where no CPU that was asked for is online. sampling_close after either.
 */
int sampling_open(struct sampling *sampling, const struct sampling_wishes *wishes);
void sampling_close(struct sampling *sampling);

/* What there was of it until now. */
void sampling_stops(struct sampling *sampling, struct sampling_stops *stops);

/* Every so long (ns) is soon enough for sampling_look. */
#define SAMPLING_LOOK_NS 200000000

/*
 * Samples CPUs that came, or went and came back, since the last call; one that comes too early does
 * nothing. 0, or why one of them cannot be sampled.
 */
int sampling_look(struct sampling *sampling);

#endif
