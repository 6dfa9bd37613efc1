/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The maps that count, and the word that says where programs count into: the main bank, or, while
 * that is drained for a report, a stand-in. Before a bank is read no program can still write to it,
 * and so each event is in exactly one report: what came to the stand-in is in the next. Each bank has
 * an account of the events that the programs saw; it is read at that moment, too, and closes.
 *
 * Where nobody wished a size the banks begin with room for what a machine makes anew in a moment, the
 * stand-in when it is first needed, and where more came between two looks than half of that, larger
 * ones take their places as long as memory allows.
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
    uint64_t stacks; /* distinct stacks; 0: by the memory that is there, and as many as come */
    uint64_t depth;  /* frames per stack; 0: the kernel's limit */
    bool by_id;      /* there are programs that may keep stacks by the kernel's ids */
    uint32_t key_bytes, value_bytes; /* of a count; 0: those of struct count_key and a word */
};

struct bank {
    enum control_mode mode;
    int maps[BANK_MAPS]; /* below 0: it has none yet, */
    uint32_t entries[BANK_MAPS]; /* and so no entries */
    struct account before;       /* as it was when it was last taken */
    uint64_t kept[BANK_MAPS];    /* stacks, since they were last emptied */
};

struct store {
    struct bank main, stand_in;
    struct bank_maps banks; /* how programs find their maps */
    uint32_t wanted[BANK_MAPS]; /* the entries that both are to have when they are next empty */
    bool grows, needs_stand_in;
    struct settled settled; /* of the main bank */
    uint32_t id_entries;    /* distinct stacks that have ids; 0: none do */
    uint32_t stacks, depth; /* distinct stacks in a bank; frames of each, at most */
    uint32_t key_bytes, value_bytes; /* of a count */
    struct controls controls;
    struct account sum; /* of all that was drained, */
    uint64_t counted;   /* and the events that were in the tables then */
    uint64_t summed;    /* and their values, as far as 64 bits hold it */
    uint64_t looked_at; /* counts that were new when store_look was called */
    struct callers callers; /* that walks leave out */
};

/* A store that holds nothing, which store_close takes. */
void store_init(struct store *store);

/*
 * Creates the maps, paused: nothing is counted yet. Sizes that memory does not allow are halved
 * until it does, unless they were wished for. 0 or a negative errno; store_close after either.
 */
int store_open(struct store *store, const struct store_wishes *wishes);
void store_close(struct store *store);

/* How often the sums of all that was drained have passed 2^64, and wrapped. */
uint64_t store_wraps(const struct store *store);

/* About what the maps take of the kernel's memory, once both banks are as large as is wanted. */
uint64_t store_bytes(const struct store *store);

/* perf_event_max_stack, the kernel's limit of frames, or what programs have room for if that is less. */
uint64_t store_depth_limit(void);

/* From here on events are counted. */
int store_start(struct store *store);

/* What came since the last look, and whether so much that it should be collected soon. */
enum store_news {
    STORE_NOTHING_NEW,
    STORE_HAS_NEWS,
    STORE_IS_FILLING,
};
enum store_news store_look(struct store *store);

/*
 * Makes the kernel's ids of new stacks hold, and a stand-in when it is time for that: to be called often.
 * 0 or a negative errno.
 */
int store_settle(struct store *store);

/*
 * Ends the report that runs: `drain` is called for each bank while no program writes to it, and takes
 * what is in it. With `again` the next report starts at the same instant, and `drain` empties the bank
 * of what is to be empty; else counting ends there.
 */
typedef int store_drain(void *context, struct bank *bank, bool again);
int store_drain_by(struct store *store, bool again, store_drain *drain, void *context);

/* Does it keep so many stacks that they are better forgotten? */
bool store_has_filled(const struct bank *bank);

/* How many stacks are in the kernel's maps, or more, for counts to come. */
uint64_t store_stacks_kept(const struct store *store);

/* How many of the events seen, as far as they were collected, are in no table. */
uint64_t store_lost(const struct store *store);
/* And for how many it is not known what became of them: 0, or the number of threads that wait. */
int64_t store_account_gap(const struct store *store);

#endif
