/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Unwinding by tables, for stacks of user code without frame pointers: a run's state. */
#ifndef STACKBOX_SESSION_UNWINDING_H
#define STACKBOX_SESSION_UNWINDING_H

#include "insns/filter.h"
#include "insns/unwind.h"
#include "processes/process.h"
#include "rings/ring_unwind.h"
#include "tally/tally.h"
#include "unwind/cold.h"
#include "unwind/cold_objects.h"
#include "unwind/learn.h"
#include "unwind/objects.h"

struct unwinding {
    struct learned learned;
    struct objects *objects; /* NULL: this run has no tables */
    struct cold *cold;       /* stacks that were met before there was a table */
    struct cold_objects cold_objects;
    struct processes *processes;
    struct processes_watcher watcher;
    struct unwind_wishes wishes; /* of programs that may nest */
    struct ring_unwind rings;    /* how samples in rings are walked if there are no programs */
    bool is_behind;              /* of tables, at the last look: slow ones are not awaited again */
    int refused;                 /* 0, or why not: a negative errno */
};

/* An empty one. */
void unwinding_init(struct unwinding *unwinding);
/* Samples in rings are to be walked here: call before rings are opened. */
void unwinding_take_samples(struct unwinding *unwinding);
/* Only first frames are needed, and no callers. */
void unwinding_take_first_alone(struct unwinding *unwinding);

struct unwinding_wishes {
    uint32_t depth;
    bool asked; /* the user chose that depth */
    const struct event_filter *filter; /* whose pid namespace numbers processes */
    bool by_rings; /* after unwinding_take_samples() */
};

/* From now on tables are made for what these processes map. */
void unwinding_open(struct unwinding *unwinding, struct processes *processes,
                    const struct unwinding_wishes *wishes);
/* Before the processes are closed. */
void unwinding_close(struct unwinding *unwinding);

/* And for what this command will map, as far as that can be told before it runs. */
void unwinding_see_command(struct unwinding *unwinding, const char *name);
/* Before anything is traced: for everything that runs already. */
void unwinding_look_at_all(struct unwinding *unwinding);
/*
 * To be called often while it runs: has tables made for what was mapped since, and may wait that
 * long (ns) for them.
 */
void unwinding_look(struct unwinding *unwinding, uint64_t most);

/*
 * Walks stacks that were met before there was a table, of all events seen until now; waits that
 * long (ns) for tables.
 */
void unwinding_settle(struct unwinding *unwinding, uint64_t most);
/*
 * Puts them into the tally; those that cannot be walked yet are left for later, or, `for_good`,
 * cut. 0 or -ENOMEM.
 */
int unwinding_complete(struct unwinding *unwinding, struct tally *tally, bool for_good);

/* Which stacks were left to frame pointers: a line if that matters, or with `all`. */
void unwinding_add_lines(const struct unwinding *unwinding, bool all, struct text *lines);

/* What programs are made with; NULL: there are no tables. */
const struct unwind_wishes *unwinding_wishes(const struct unwinding *unwinding);

#endif
