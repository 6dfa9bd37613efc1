/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What applets ask of whatever collects for them: counts of stacks, which come into a tally, or events one
 * by one. Who makes one fills in the calls, and embeds a struct collector at the beginning of its own.
 *
 *     open         makes what it takes; nothing is collected yet
 *     start        from here on events are
 *     ...          those of its kind, below
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

/* What became of the events that were seen since the beginning, as of the last that was collected. */
struct collector_account {
    uint64_t seen, filtered, counted, lost;
    uint64_t open;   /* of which it is known that they have not ended */
    int64_t unknown; /* and of so many nothing is, though it should be: 0, or an error of ours */
    uint64_t stacks; /* that are kept for what is to come */
    uint64_t bytes;  /* of the kernel's memory */
    uint32_t depth;  /* frames of each stack, at most */
};

enum collector_news {
    COLLECTOR_NOTHING_NEW,
    COLLECTOR_HAS_NEWS,
    COLLECTOR_IS_FILLING, /* so much that it should be collected soon */
};

/* An event; its size is in bytes. A negative errno ends the reading. */
typedef int collector_take(void *context, const struct snoop_record *record, size_t size);

struct collector_calls {
    /* 0 or a negative errno, with the sentence in `why` that tells what cannot be done, and why. */
    int (*open)(struct collector *collector, struct text *why);
    int (*start)(struct collector *collector);
    void (*account)(const struct collector *collector, struct collector_account *account);
    /* Of the run until now: what is missing of what was collected, by causes. */
    void (*add_losses)(const struct collector *collector, struct missing *missing);
    /* How large it is, for --debug, a line or two; with `again` of what has grown since. */
    void (*describe)(const struct collector *collector, bool again, struct text *lines);
    void (*close)(struct collector *collector);

    /* ---- Of those that count ---- */

    /* What came since the last look. */
    enum collector_news (*look)(struct collector *collector);
    /* To be called often, for what is to be done between reports. 0 or a negative errno. */
    int (*settle)(struct collector *collector);
    /*
     * Ends the report that runs and adds what is in it to the tally. With `again` the next report starts
     * at the same instant; else collecting ends there. 0 or a negative errno.
     */
    int (*collect)(struct collector *collector, bool again, struct tally *tally);

    /* ---- Of those that hand out events ---- */

    /* Descriptors that are readable when there is something: the index-th, or below 0 behind the last. */
    int (*fd)(const struct collector *collector, size_t index);
    /* Hands out what is there, in no order: how many, or a negative errno. */
    int (*read)(struct collector *collector, collector_take *take, void *context);
    /* No event will come any more whose time is before this. */
    uint64_t (*settled)(const struct collector *collector);
    /* There is an event to come that nobody is woken for. */
    bool (*is_behind)(const struct collector *collector);
    /* No more events: those that were seen can be read when it returns. 0 or a negative errno. */
    int (*stop)(struct collector *collector);
    /* Are the descriptors readable at the first event, or when a buffer is half full? */
    bool (*wakes_at_once)(const struct collector *collector);
};

#endif
