/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What applets see of a collector: counts of stacks, which go into a tally, or single events. A
 * collector fills in these calls, and has a struct collector as its first member.
 *
 *     open         makes what it needs; nothing is collected yet
 *     start        collects events from now on
 *     ...          calls of its kind, below
 *     close        after either, and after open failed, too
 */
#ifndef STACKBOX_COLLECT_COLLECTOR_H
#define STACKBOX_COLLECT_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "collect/missing.h"
#include "insns/layout.h"
#include "tally/tally.h"

struct collector {
    const struct collector_calls *calls;
};

/* What became of the events seen since the beginning, as of the last collection, or (rings) of now. */
struct collector_account {
    uint64_t seen, filtered, counted, lost;
    uint64_t open;   /* known not to have ended */
    int64_t unknown; /* unaccounted for: 0, or an error of ours */
    uint64_t stacks; /* kept for events to come */
    uint64_t bytes;  /* of kernel memory */
    uint32_t depth;  /* frames per stack, at most */
};

enum collector_news {
    COLLECTOR_NOTHING_NEW,
    COLLECTOR_HAS_NEWS,
    COLLECTOR_IS_FILLING, /* it should be collected soon */
};

/* An event; its size is in bytes. A negative errno ends reading. */
typedef int collector_take(void *context, const struct snoop_record *record, size_t size);

struct collector_calls {
    /* 0 or a negative errno, with a sentence in `why` that says what cannot be done, and why. */
    int (*open)(struct collector *collector, struct text *why);
    int (*start)(struct collector *collector);
    void (*account)(struct collector *collector, struct collector_account *account);
    /* What the run has lost until now, by cause. */
    void (*add_losses)(const struct collector *collector, struct missing *missing);
    /* Its size, for --debug, a line or two; with `again`, what has grown since. */
    void (*describe)(const struct collector *collector, bool again, struct text *lines);
    void (*close)(struct collector *collector);

    /* ---- For those that count ---- */

    /* What is new since the last look. */
    enum collector_news (*look)(struct collector *collector);
    /* To be called often, for work between reports. 0 or a negative errno. */
    int (*settle)(struct collector *collector);
    /*
     * Ends the current report and adds its counts to the tally. With `again` the next report starts
     * at the same instant; otherwise collecting ends there. 0 or a negative errno.
     */
    int (*collect)(struct collector *collector, bool again, struct tally *tally);

    /* ---- For those that deliver events ---- */

    /*
     * Descriptors that become readable when there is something: the index-th, or below 0 after the
     * last.
     */
    int (*fd)(const struct collector *collector, size_t index);
    /* Delivers what is there, unordered. Returns how many, or a negative errno. */
    int (*read)(struct collector *collector, collector_take *take, void *context);
    /* Events still to come are not older than this. */
    uint64_t (*settled)(const struct collector *collector);
    /* There is an event to come that will wake nobody. */
    bool (*is_behind)(const struct collector *collector);
    /* Stops: when it returns, all events seen can be read. 0 or a negative errno. */
    int (*stop)(struct collector *collector);
    /* Do the descriptors become readable at the first event, or only when a buffer is half full? */
    bool (*wakes_at_once)(const struct collector *collector);
};

#endif
