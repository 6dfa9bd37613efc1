/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The maps that programs count in, in two banks: programs count into one while the tracer drains
 * the other. And what steers programs: the control word, accounts, and the cut between two reports.
 */
#ifndef STACKBOX_STORE_STORE_H
#define STACKBOX_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insns/capture.h"
#include "insns/layout.h"
#include "kernel/bpf.h"
#include "tally/tally.h"

/* Waiting for all running programs to end, on all CPUs. */

struct grace {
    int outer, inner; /* a map of maps: its update waits for running programs */
};
#define GRACE_NONE {-1, -1}

/* Closes a descriptor, unless it is below 0, and sets it to -1. */
void close_map(int *fd);

/* 0 or a negative errno; grace_close after either. */
int grace_open(struct grace *grace);
void grace_close(struct grace *grace);

/* Returns when every program that was running at the call has ended. 0 or a negative errno. */
int grace_wait(const struct grace *grace);

/*
 * What collecting programs share, whatever they collect into: the word that says whether to collect
 * and where to, their account, and the slots in which they prepare what they write.
 */

struct controls {
    int control, account, slots, cuts; /* maps; below 0: none */
    /* with the map of cuts: when the time of the present report began, or collecting ended */
    uint64_t cut;
    struct grace grace;
};
#define CONTROLS_NONE {-1, -1, -1, -1, 0, GRACE_NONE}

/* Starts paused. 0 or a negative errno; controls_close after either. */
int controls_open(struct controls *controls);
/* The slots, of `bytes` each. */
int controls_open_slots(struct controls *controls, size_t bytes);
/* The map in which programs find the cut that belongs to the control word. */
int controls_open_cuts(struct controls *controls);
void controls_close(struct controls *controls);

/* Sets the word: programs that are running may still use the old one. 0 or a negative errno. */
int controls_set(struct controls *controls, enum control_mode mode);
/* The same, but waits until those have ended. */
int controls_set_and_wait(struct controls *controls, enum control_mode mode);

/* What the programs did under that word. 0 or a negative errno. */
int controls_account(const struct controls *controls, enum control_mode mode,
                     struct account *account);

/*
 * The map that get_stackid fills, and which of its ids are settled: see insns/stacks.c. A program
 * notes that it got an id; once all programs that were running when the tracer saw that note have
 * ended, none can still have seen the bucket empty, and its stack stays.
 */

struct settled {
    struct stack_ids ids; /* no buckets: stacks are only kept by our own hash */
    volatile uint8_t *states; /* of each bucket: enum bucket_state; shared with the programs */
    uint64_t next, pause;     /* when to look again, and how long to wait after that, ns */
};
#define SETTLED_NONE {.ids = {-1, -1, 0}}

/*
 * 0 or a negative errno; settled_close after either. If the kernel cannot share arrays (before 5.5)
 * there are no buckets: everything works, but slower.
 */
int settled_open(struct settled *settled, uint32_t stacks, uint32_t depth);
void settled_close(struct settled *settled);

/* How many buckets are in use, at most. */
uint32_t settled_used(const struct settled *settled);

/* Settles the ids of buckets filled since the last time, if it is time to. */
int settled_advance(struct settled *settled, const struct grace *grace);

/* Empties all buckets, while no program can reach one. 0 or a negative errno. */
int settled_clear(struct settled *settled);

/*
 * At a function's first instruction, newer kernels take the caller from the top of the stack, if
 * the function begins as most do. Stacks show whether this kernel does: one without its caller
 * settles that for all functions that begin alike. Until one was seen, a second frame equal to the
 * caller came from the kernel, or from a function that calls itself.
 *
 * For kernel functions, callers are missing on machines with a link register, and on x86-64 if the
 * kernel walks frame pointers, whatever the function begins with; if it unwinds by tables, the
 * caller may be there. At tracepoints many kernels walk from a frame that they have already
 * recorded, so that the stack has it twice.
 */

struct callers {
    bool left_out[2]; /* as seen; [1]: for functions that begin with endbr64 */
    bool kernel_finds; /* the kernel's walk was seen to find a kernel function's caller */
};

enum caller_seen {
    CALLER_IS_THERE, /* or there is none to add */
    CALLER_IS_MISSING,
    CALLER_IN_DOUBT, /* callers_are_left_out() decides, after more stacks */
};

/* For a user stack: `caller` and `flags` as in its key or record. */
enum caller_seen callers_see(struct callers *callers, uint64_t caller, uint64_t flags,
                             const uint64_t *frames, size_t count);

bool callers_are_left_out(const struct callers *callers, uint64_t flags);

/* For a kernel stack: is `caller` to be inserted after the first frame? */
bool callers_miss_kernel(uint64_t caller, uint64_t flags, const uint64_t *frames, size_t count);

/* For a kernel stack at a tracepoint: how many of its frames are duplicates. */
size_t callers_count_twice(const uint64_t *frames, size_t count);
/* Leaves the duplicates out of a stack in a tally. */
void callers_drop_twice(const struct tally *tally, struct stack *stack);

/* Inserts the caller after the first frame, with at most `depth` of all. 0 or -ENOMEM. */
int callers_insert(struct tally *tally, struct stack *stack, uint64_t caller, uint32_t depth);

/* Does so in all entries with a caller, as flags say, where it is missing. 0 or -ENOMEM. */
int callers_complete(struct callers *callers, struct tally *tally, uint32_t depth);

/*
 * The maps that count, and the word that tells programs where to count: into the main bank, or,
 * while the tracer drains that for a report, into a stand-in. The tracer reads a bank only when no
 * program can still write to it, so each event is in exactly one report: what went to the stand-in
 * is in the next. Each bank has an account of the events that programs saw, which the tracer reads
 * at the same time and which must balance.
 *
 * If the user asked for no size, banks begin with room for what a machine creates in a moment; the
 * stand-in is made when it is first needed. If more than half of that room fills up between two
 * looks, larger maps replace them as long as memory allows.
 */

struct store_config {
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
    struct account sum; /* of all drained banks */
    uint64_t counted;   /* events in all drained tables, */
    uint64_t summed;    /* and the sum of their values, modulo 2^64 */
    uint64_t looked_at; /* new counts when store_look was last called */
    struct callers callers; /* that the kernel's walks leave out */
};

/* An empty store, which store_close accepts. */
void store_init(struct store *store);

/*
 * Creates the maps, paused: nothing is counted yet. Sizes are halved until memory allows them,
 * unless they were asked for. 0 or a negative errno; store_close after either.
 */
int store_open(struct store *store, const struct store_config *config);
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

enum tally_news store_look(struct store *store);

/*
 * Settles the kernel's ids of new stacks, and makes a stand-in when needed: to be called often. 0
 * or a negative errno.
 */
int store_settle(struct store *store);

/*
 * Ends the current report: calls `drain` for each bank, while no program writes to it, to take what
 * is in it. With `again` the next report starts at the same instant, and `drain` empties the bank;
 * otherwise counting ends there. Adds what no table had room for to `tally`.
 */
typedef int store_drain(void *context, struct bank *bank, bool again);
int store_drain_by(struct store *store, bool again, store_drain *drain, void *context,
                   struct tally *tally);

/* Does the bank hold so many stacks that they should be dropped? */
bool store_has_filled(const struct bank *bank);

/* An upper bound of the stacks in the kernel's maps, kept for counts to come. */
uint64_t store_stacks_kept(const struct store *store);

/* How many of the events seen and collected are in no table. */
uint64_t store_lost(const struct store *store);
/* How many are unaccounted for: 0, or the number of threads that wait. */
int64_t store_account_gap(const struct store *store);

/* The shape of a bank's map with this many entries. */
struct bpf_map_shape store_map_shape(const struct store *store, enum bank_map map,
                                     uint32_t entries);

/* The maps of an open store, and the depth of their stacks. */
void store_capture(const struct store *store, struct capture *capture);

/* Reports: from the maps that count to a tally. */

/* What a drain could not deliver, by cause; all are events. */
struct drain_losses {
    uint64_t stacks_lost; /* counted without their stack, for lack of room */
    uint64_t walks_failed; /* likewise, because the kernel could not walk the user stack */
};

/*
 * Ends the current report and drains it into `tally` and `losses` (both are added to). With `again`
 * the next report starts at the same instant; otherwise counting ends there. 0 or a negative errno.
 */
int drain_counts(struct store *store, bool again, struct tally *tally, struct drain_losses *losses);

/* Takes all stacks out of a bank, by their words: a struct spilled_stack each. */
int drain_stacks(const struct store *store, const struct bank *bank, bpf_take *take, void *context);

/* Adds an entry for events that no count has: the table was full. 0 or -ENOMEM. */
int drain_uncounted(struct tally *tally, uint64_t events, uint64_t value);

#endif
