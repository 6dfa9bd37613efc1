/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "counting/wall_time.h"

#include <string.h>

#include "base/say.h"
#include "insns/wall.h"
#include "kernel/sampling.h"

#define BLOCKED "SDTtPI" /* as in /proc/TID/stat */

int wall_time_attach(struct wall_time *wall, const struct offwake_wishes *wishes,
                     const struct trace_options *options, uint64_t frequency)
{
    struct sampled *sampled = &wall->sampled;
    struct program program = {0};

    sampled->wishes.event = sampling_events;
    sampled->wishes.frequency = frequency;
    sampled->wishes.cpu = -1;
    emit_wall_sample(&program, wishes);
    int status = sampled_load(sampled, &program, options);
    if (status)
        return status;
    int result = sampling_open(&sampled->sampling, &sampled->wishes);
    return result ? sampled_refuse(result, &(struct text){0}) : 0;
}

void wall_time_begin(struct wall_time *wall, const struct asleep_wishes *threads, struct walling *walling)
{
    wall->threads = *threads;
    wall->threads.states = "R" BLOCKED;
    walling->strangers = &wall->threads;
}

void wall_time_look(struct wall_time *wall, int map)
{
    struct asleep_wishes blocked = wall->threads;

    blocked.states = BLOCKED;
    wall->unseen = first_waits_note(&wall->first, &blocked, map);
}

int wall_time_add(struct wall_time *wall, const struct walling *walling,
                  struct blocked_all_along *all_along, struct tally *tally)
{
    struct asleep_wishes busy = *all_along->wishes;

    all_along->time = walling->ended - walling->began;
    all_along->mark = MARK_BLOCKED;
    int result = first_waits_give(&wall->first, all_along->kallsyms, tally);
    if (!result)
        result = blocked_add_all_along(all_along, tally);
    busy.states = "R";
    all_along->wishes = &busy;
    all_along->mark = MARK_NOT_SAMPLED;
    all_along->kernel = false;
    return result ? result : blocked_add_all_along(all_along, tally);
}

void wall_time_add_losses(struct wall_time *wall, struct missing *missing)
{
    struct sampling_stops stops = {.samples = 0};

    sampling_stops(&wall->sampled.sampling, &stops);
    sampled_add_stops(&wall->sampled, &stops, missing);
    if (wall->unseen)
        missing_add(missing, &(struct loss){.count = MISSING_UNCOUNTED, .events = "waits"},
                    "that began before the run may have no stack: cannot list threads: %s", strerror(-wall->unseen));
}

void wall_time_close(struct wall_time *wall)
{
    sampled_close(&wall->sampled);
    first_waits_free(&wall->first);
}
