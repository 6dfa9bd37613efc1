/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Walks along tables, for the stacks of user code without frame pointers: what a run has of them. */
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
    struct objects *objects; /* NULL: there are no tables in this run */
    struct cold *cold;       /* stacks that were met before there was a table */
    struct cold_objects cold_objects;
    struct processes *processes;
    struct processes_watcher watcher;
    struct unwind_wishes wishes; /* of programs that may meet others */
    struct ring_unwind rings;    /* how samples in rings are walked, where there are no programs */
    bool is_behind;              /* with tables, at the last look: what takes long is not waited for again */
    int refused;                 /* 0, or why not: a negative errno */
};

/* Without any. */
void unwinding_init(struct unwinding *unwinding);
/* Samples in rings are to have what is walked, before those are opened. */
void unwinding_take_samples(struct unwinding *unwinding);
/* None are wanted, nor callers. */
void unwinding_take_first_alone(struct unwinding *unwinding);

struct unwinding_wishes {
    uint32_t depth;
    bool asked; /* for that depth */
    const struct event_filter *filter; /* as which processes are numbered */
    bool by_rings; /* after unwinding_take_samples() */
};

/* From here on what these processes map gets tables. */
void unwinding_open(struct unwinding *unwinding, struct processes *processes,
                    const struct unwinding_wishes *wishes);
/* Before the processes are closed. */
void unwinding_close(struct unwinding *unwinding);

/* What this command will map, too, as far as that can be told before it runs. */
void unwinding_see_command(struct unwinding *unwinding, const char *name);
/* Before anything is traced: of all that runs already. */
void unwinding_look_at_all(struct unwinding *unwinding);
/*
 * While it runs there are so many events a second at most: where there is room for the stacks of all of them until
 * the next look, tables of what comes are made once one of them needs it.
 */
void unwinding_expect(struct unwinding *unwinding, uint64_t events);
/* To be called often, while it runs: has tables made of what was mapped since, and may wait for them so long (ns). */
void unwinding_look(struct unwinding *unwinding, uint64_t most);

/*
 * Stacks that were met before there was a table are walked now, those of all events that were seen until now;
 * so long (ns) it is waited for tables.
 */
void unwinding_settle(struct unwinding *unwinding, uint64_t most);
/* And put into the tally; what is still to be walked then is left, or `for_good` cut. 0 or -ENOMEM. */
int unwinding_complete(struct unwinding *unwinding, struct tally *tally, bool for_good);

/* Which stacks were left to frame pointers: a line where that matters, or with `all`. */
void unwinding_add_lines(const struct unwinding *unwinding, bool all, struct text *lines);

/* What programs are made with; NULL: there are no tables. */
const struct unwind_wishes *unwinding_wishes(const struct unwinding *unwinding);

#endif
