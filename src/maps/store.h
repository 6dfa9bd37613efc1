/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The maps that count, and the word that tells programs where to count: into the main bank, or,
 * while that is drained for a report, into a stand-in. Before a bank is read, no program can still
 * be writing to it, so each event is in exactly one report: what went to the stand-in is in the
 * next. Each bank has an account of the events that programs saw; it is read at the same time and
 * must balance.
 *
 * If no size was asked for, the banks begin with room for what a machine creates in a moment, the
 * stand-in when it is first needed; and when more than half of that comes between two looks, larger
 * ones replace them as long as memory allows.
 */
#ifndef STACKBOX_MAPS_STORE_H
#define STACKBOX_MAPS_STORE_H

#include <stdint.h>

#include "insns/layout.h"
#include "insns/stacks.h"
#include "maps/callers.h"
#include "maps/controls.h"
#include "maps/settled.h"

struct store_wishes {
    uint64_t stacks; /* distinct stacks; 0: by free memory, growing as needed */
    uint64_t depth;  /* frames per stack; 0: the kernel's limit */
    bool by_id;      /* programs may keep stacks by the kernel's ids */
    uint32_t key_bytes, value_bytes; /* of a count; 0: those of struct count_key and a word */
};

struct bank {
    enum control_mode mode;
    int maps[BANK_MAPS]; /* below 0: none yet, */
    uint32_t entries[BANK_MAPS]; /* and so 0 entries */
    struct account before;       /* when it was last taken */
    uint64_t kept[BANK_MAPS];    /* stacks, since they were last emptied */
};

struct store {
    struct bank main, stand_in;
    struct bank_maps banks; /* how programs find their maps */
    uint32_t wanted[BANK_MAPS]; /* entries that both are to have, next time they are empty */
    bool grows, needs_stand_in;
    struct settled settled; /* of the main bank */
    uint32_t id_entries;    /* distinct stacks that have ids; 0: none do */
    uint32_t stacks, depth; /* distinct stacks in a bank; frames per stack, at most */
    uint32_t key_bytes, value_bytes; /* of a count */
    struct controls controls;
    struct account sum; /* of all that was drained, */
    uint64_t counted;   /* and of the events that were in its tables, */
    uint64_t summed;    /* and of their values, as far as 64 bits hold */
    uint64_t looked_at; /* new counts when store_look was last called */
    struct callers callers; /* that the kernel's walks leave out */
};

/* An empty store, which store_close accepts. */
void store_init(struct store *store);

/*
 * Creates the maps, paused: nothing is counted yet. Sizes are halved until memory allows them,
 * unless they were asked for. 0 or a negative errno; store_close after either.
 */
int store_open(struct store *store, const struct store_wishes *wishes);
void store_close(struct store *store);

/* How often the sum of the values has wrapped at 2^64. */
uint64_t store_wraps(const struct store *store);

/* Roughly the kernel memory that the maps take, once both banks have the size wanted. */
uint64_t store_bytes(const struct store *store);

/*
 * perf_event_max_stack, the kernel's limit of frames, or what programs have room for if that is
 * less.
 */
uint64_t store_depth_limit(void);

/* Counts events from now on. */
int store_start(struct store *store);

/* What came since the last look, and whether it should be collected soon. */
enum store_news {
    STORE_NOTHING_NEW,
    STORE_HAS_NEWS,
    STORE_IS_FILLING,
};
enum store_news store_look(struct store *store);

/*
 * Settles the kernel's ids of new stacks, and makes a stand-in when needed: to be called often. 0
 * or a negative errno.
 */
int store_settle(struct store *store);

/*
 * Ends the current report: calls `drain` for each bank, while no program writes to it, to take what
 * is in it. With `again` the next report starts at the same instant, and `drain` empties the bank;
 * otherwise counting ends there.
 */
typedef int store_drain(void *context, struct bank *bank, bool again);
int store_drain_by(struct store *store, bool again, store_drain *drain, void *context);

/* Does it hold so many stacks that they should be dropped? */
bool store_has_filled(const struct bank *bank);

/* An upper bound of the stacks in the kernel's maps, kept for counts to come. */
uint64_t store_stacks_kept(const struct store *store);

/* How many of the events seen and collected are in no table. */
uint64_t store_lost(const struct store *store);
/* How many are unaccounted for: 0, or the number of threads that wait. */
int64_t store_account_gap(const struct store *store);

#endif
