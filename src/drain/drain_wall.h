/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * All of threads' time: from the maps that insns/wall.c writes to a tally. A report has what was
 * counted since the last one, and what threads' entries have of the time before its cut.
 */
#ifndef STACKBOX_DRAIN_DRAIN_WALL_H
#define STACKBOX_DRAIN_DRAIN_WALL_H

#include "drain/drain.h"
#include "maps/asleep.h"
#include "maps/waits.h"

/* {0} at first. */
struct walling {
    /*
     * Where to look at the end for threads that had events but have not left their CPU yet, so that
     * their process is unknown. NULL: nowhere.
     */
    const struct asleep_wishes *strangers;
    uint64_t began, ended; /* of the last report */
};

/* As drain_counts. Threads without any event are in no report: see waits_has_seen(). */
int drain_wall(struct walling *walling, struct waits *waits, bool again, struct tally *tally,
               struct losses *losses);

#endif
