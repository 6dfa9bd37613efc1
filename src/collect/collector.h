/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What applets see of a collector, and what it lost. */
#ifndef STACKBOX_COLLECT_COLLECTOR_H
#define STACKBOX_COLLECT_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "insns/layout.h"
#include "tally/tally.h"

/*
 * What was lost, by cause. Files and --debug have a line for each; without --debug there is one
 * line in all, and only if it matters.
 */

/*
 * A loss of less than one in this many is not worth a line; nor is one of fewer waits whose end was
 * not seen, which every tracer has.
 */
#define LOSSES_MATTERS 1000
#define LOSSES_ENDS_MATTER 100

struct loss {
    uint64_t count;     /* 0: none, and nothing is added; LOSSES_UNCOUNTED: unknown */
    const char *events; /* their name, if it differs from the report's */
    bool at_most;
    bool beside;        /* they are not among the events counted */
    unsigned matters;   /* 0: LOSSES_MATTERS, together with others; else that, on its own */
};
#define LOSSES_UNCOUNTED UINT64_MAX

#define LOSSES_KINDS 12

struct losses {
    struct loss kinds[LOSSES_KINDS];
    struct text what[LOSSES_KINDS]; /* "are not counted: why; what to do" */
    size_t count;
    uint64_t unfit; /* events that the user left out by size: shares are of these, too */
};

/* Adds a cause; `format` says what became of them and why, and what to do about it. */
void losses_add(struct losses *losses, const struct loss *loss, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Events that the kernel did not pass to programs: at most that many. */
void losses_add_recursion(struct losses *losses, const char *events, uint64_t count);
/* Returns of user functions: at most that many, if not every return was asked for. */
void losses_add_nested(struct losses *losses, uint64_t count, bool at_most);
void losses_free(struct losses *losses);

/* A line per cause: "12 events are ...". */
void losses_add_lines(const struct losses *losses, struct text *lines);
/* The same, with their share of everything: `events` were counted, called `name`. */
void losses_add_shares(const struct losses *losses, uint64_t events, const char *name,
                       struct text *lines);
/* One line, about the greatest: nothing if they do not matter even together. */
void losses_add_summary(const struct losses *losses, uint64_t events, const char *name,
                        struct text *line);

/*
 * What applets see of a collector: counts of stacks, which go into a tally, or single events. A
 * collector fills in these calls, and has a struct collector as its first member.
 *
 *     open         makes what it needs; nothing is collected yet
 *     start        collects events from now on
 *     ...          calls of its kind, below
 *     close        after either, and after open failed, too
 */

struct collector {
    const struct collector_calls *calls;
    const struct counter_calls *counter;     /* of a collector that counts, */
    const struct event_source_calls *events; /* or of one that delivers single events */
    /* Its descriptors become readable at the first event, not only when a buffer is half full. */
    bool wakes_at_once;
};

/*
 * What became of the events seen since the beginning, as of the last collection, or (rings) of now.
 */
struct collector_account {
    uint64_t seen, filtered, counted, lost;
    uint64_t open;   /* known not to have ended */
    int64_t unknown; /* unaccounted for: 0, or an error of ours */
    uint64_t stacks; /* kept for events to come */
    uint64_t bytes;  /* of kernel memory */
    uint32_t depth;  /* frames per stack, at most */
};

/* An event; its size is in bytes. A negative errno ends reading. */
typedef int collector_take(void *context, const struct snoop_record *record, size_t size);

struct collector_calls {
    /* 0 or a negative errno, with a sentence in `why` that says what cannot be done, and why. */
    int (*open)(struct collector *collector, struct text *why);
    int (*start)(struct collector *collector);
    void (*account)(struct collector *collector, struct collector_account *account);
    /* What the run has lost until now, by cause. */
    void (*add_losses)(const struct collector *collector, struct losses *losses);
    /* Its size, for --debug, a line or two; with `again`, what has grown since. */
    void (*describe)(const struct collector *collector, bool again, struct text *lines);
    void (*close)(struct collector *collector);
};

static inline struct collector_account collector_account(struct collector *collector)
{
    struct collector_account account;

    collector->calls->account(collector, &account);
    return account;
}

struct counter_calls {
    enum tally_news (*look)(struct collector *collector);
    /* To be called often, for work between reports. 0 or a negative errno. */
    int (*settle)(struct collector *collector);
    /*
     * Ends the current report and adds its counts to the tally. With `again` the next report starts
     * at the same instant; otherwise collecting ends there. 0 or a negative errno.
     */
    int (*collect)(struct collector *collector, bool again, struct tally *tally);
};

struct event_source_calls {
    /*
     * Descriptors that become readable when there is something: the index-th, or below 0 after the
     * last.
     */
    int (*fd)(const struct collector *collector, size_t index);
    /* Delivers what is there, unordered. Returns how many, or a negative errno. */
    int (*read)(struct collector *collector, collector_take *take, void *context);
    /* Events still to come are not older than this. */
    uint64_t (*settled)(const struct collector *collector);
    /* An event is pending for which no wakeup will arrive. */
    bool (*is_behind)(const struct collector *collector);
    /* Stops: when it returns, all events seen can be read. 0 or a negative errno. */
    int (*stop)(struct collector *collector);
};

#endif
