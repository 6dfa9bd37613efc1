/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The maps that count, and the word that says where programs count into: the main bank, or, while
 * that is drained for a report, a stand-in. Before a bank is read no program can still write to it,
 * and so each event is in exactly one report: what came to the stand-in is in the next.
 */
#ifndef STACKBOX_KERNEL_STORE_H
#define STACKBOX_KERNEL_STORE_H

#include <stdint.h>

#include "insns/layout.h"
#include "kernel/grace.h"
#include "tally.h"
#include "util.h"

struct store_wishes {
    uint64_t stacks; /* distinct stacks; 0: by the memory that is there */
    uint64_t usual_stacks; /* so many then, if there is enough; 0: 4096 */
    uint64_t depth;  /* frames per stack; 0: the kernel's limit */
    bool by_hash;    /* programs keep stacks by their own hash */
    bool by_id;      /* others do so by the kernel's ids: both may be */
    uint32_t key_bytes, value_bytes; /* of a count; 0: those of struct count_key and a word */
};

struct bank {
    int counts, stacks, spilled;
    uint32_t count_entries, stack_entries, spilled_entries;
};

struct store {
    struct bank main, stand_in;
    uint32_t stacks, depth; /* distinct stacks in the main bank; frames of each */
    uint32_t key_bytes, value_bytes; /* of a count */
    int control, account, slots;
    struct grace grace;
    uint64_t account_before[ACCOUNT_ENTRIES];
    /* As seen: this kernel's walk from a function's start has no caller; [1]: if that is endbr64. */
    bool walks_omit_callers[2];
};

/* What a drain could not give, by cause; all are events. */
struct losses {
    uint64_t table_full;  /* not counted at all */
    uint64_t slots_taken; /* likewise: too many programs were preempted on a CPU at once */
    uint64_t stacks_lost; /* counted without their stack: there was no room for it */
    uint64_t walks_failed; /* likewise: the kernel could not walk the user's stack */
};

/* A store that holds nothing, which store_close takes. */
void store_init(struct store *store);

/*
 * Creates the maps, paused: nothing is counted yet. Sizes that memory does not allow are halved
 * until it does, unless they were wished for. 0 or a negative errno; store_close after either.
 */
int store_open(struct store *store, const struct store_wishes *wishes);
void store_close(struct store *store);

/* About what the maps take of the kernel's memory. */
uint64_t store_bytes(const struct store *store);

/* perf_event_max_stack, the kernel's limit of frames. */
uint64_t store_depth_limit(void);

/*
 * A map for event_filter.cgroup, which holds the cgroup of that directory. A descriptor, the caller's,
 * or a negative errno: -EBADF when the path is no directory of cgroup v2.
 */
int store_open_cgroup(const char *path);

/* From here on events are counted. */
int store_start(struct store *store);

/* What programs have counted in their account since the store was opened. 0 or a negative errno. */
int store_read_account(const struct store *store, enum account_index index, uint64_t *number);

/*
 * Ends the report that runs and drains it into `tally` and `losses` (both are added to). With
 * `again` the next report starts at the same instant; else counting ends there.
 */
int store_collect(struct store *store, bool again, struct tally *tally, struct losses *losses);

/*
 * The same for counts that are not those of stackcount: `drain` is called for each bank while no
 * program writes to it, takes what is in it, and with `again` leaves it empty of stacks, too.
 */
typedef int store_drain(void *context, const struct bank *bank, bool again);
int store_collect_by(struct store *store, bool again, store_drain *drain, void *context,
                     struct losses *losses);

/* Adds to *lost what the programs could not count, for one cause, since the last time. */
int store_take_account(struct store *store, enum account_index index, uint64_t *lost);

/* Free memory in bytes, or 0 where nobody tells. */
uint64_t store_free_memory(void);

#endif
