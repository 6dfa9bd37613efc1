/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * All of threads' time: from the maps that insns/wall.c writes to a tally. A report has what was
 * counted since the last one, and unfinished states as far as they have got, less what the last
 * report had of them.
 */
#ifndef STACKBOX_DRAIN_DRAIN_WALL_H
#define STACKBOX_DRAIN_DRAIN_WALL_H

#include "drain/drain.h"
#include "maps/asleep.h"
#include "maps/waits.h"

struct wall_row;

/* {0} at first. */
struct walling {
    /*
     * Where to look for threads that had events but have not left their CPU yet, so that their
     * process is unknown. NULL: nowhere.
     */
    const struct asleep_wishes *strangers;
    /* Of the last report: */
    uint64_t began, ended;  /* when it did */
    uint64_t spent, lived;  /* ns of all threads since the start: as summed up, and as it must be */
    uint64_t doubt;         /* may be in the next: of threads that ran on before a look at them */
    /* What had not ended then. */
    struct wall_row *open;
    size_t open_count, open_room;
    /* In counts, or lost with them. */
    uint64_t counted_spent, counted_lived;
};

/* From now on threads' states are timed. 0 or a negative errno. */
int walling_start(struct walling *walling, const struct waits *waits);
void walling_free(struct walling *walling);

/* As drain_counts. Threads without any event are in no report: see waits_has_seen(). */
int drain_wall(struct walling *walling, struct waits *waits, bool again, struct tally *tally,
               struct losses *losses);

#endif
