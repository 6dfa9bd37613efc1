/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Unwinding by tables, for stacks of user code without frame pointers: a run's state. */
#ifndef STACKBOX_RUN_USER_STACKS_H
#define STACKBOX_RUN_USER_STACKS_H

#include <pthread.h>
#include <sys/stat.h>

#include "insns/filter.h"
#include "insns/unwind.h"
#include "processes/process.h"
#include "rings/ring_source.h"
#include "tally/tally.h"
#include "unwind/deferred.h"
#include "unwind/kernel_offsets.h"
#include "unwind/objects.h"

struct user_stacks {
    struct kernel_offsets offsets;
    struct objects *objects; /* NULL: this run has no tables */
    struct deferred *deferred;       /* stacks that came before their table was made */
    struct deferred_objects deferred_objects;
    struct processes *processes;
    const struct event_filter *filter; /* its processes' tables come first */
    struct unwind_config config; /* of programs that may nest */
    struct ring_unwind rings;    /* how samples in rings are walked if there are no programs */
    size_t ring_bytes;           /* for stacks that need a table; 0: there is none */
    bool on_demand;              /* a table is made once a stack needs it */
    struct stat own;             /* of our own program */
    uint64_t settled;            /* objects_settled() when waiting stacks were last walked */
    bool is_behind;              /* of tables, at the last look: slow ones are not awaited again */
    pthread_t maker;             /* makes the tables that stacks wait for, */
    int stop;                    /* an eventfd that ends the maker; below 0: there is no maker */
    bool ends;                   /* the maker is to end */
    int refused;                 /* 0, or why there are no tables: a negative errno */
};

/* An empty one. */
void user_stacks_init(struct user_stacks *user_stacks);
/* Samples in rings are to be walked here: call before rings are opened. */
void user_stacks_take_samples(struct user_stacks *user_stacks);
/* Only first frames are needed, and no callers. */
void user_stacks_take_first_alone(struct user_stacks *user_stacks);

struct user_stacks_config {
    uint32_t depth;
    bool asked; /* the user chose that depth */
    const struct event_filter *filter; /* whose pid namespace numbers processes */
    bool by_rings; /* after user_stacks_take_samples() */
};

/* From now on tables are made for what these processes map. */
void user_stacks_open(struct user_stacks *user_stacks, struct processes *processes,
                      const struct user_stacks_config *config);
/* Before the processes are closed. */
void user_stacks_close(struct user_stacks *user_stacks);

/* Has tables made for what this command will map, as far as that can be told before it runs. */
void user_stacks_see_command(struct user_stacks *user_stacks, const char *name);
/* Has a table made for a file that is known to be in stacks. */
void user_stacks_see_file(const struct user_stacks *user_stacks, const char *path);
/* Before anything is traced: makes tables for everything that runs already. */
void user_stacks_look_at_all(struct user_stacks *user_stacks);
/*
 * Until user_stacks_end(), threads with the rights that we have make the tables that stacks wait
 * for at once.
 */
void user_stacks_begin(struct user_stacks *user_stacks);
void user_stacks_end(struct user_stacks *user_stacks);
/*
 * To be called often while it runs: has other tables made for what was mapped since, and may wait
 * that long (ns) for them.
 */
void user_stacks_look(struct user_stacks *user_stacks, uint64_t most);

/*
 * Goes on with stacks that came before their table was made, of all events seen until now; waits up
 * to `most` ns for tables.
 */
void user_stacks_settle(struct user_stacks *user_stacks, uint64_t most);
/*
 * Puts these stacks into the tally. Those that cannot be walked yet are left for later, or, if
 * `for_good`, cut. 0 or -ENOMEM.
 */
int user_stacks_complete(struct user_stacks *user_stacks, struct tally *tally, bool for_good);

/* Do stacks wait for tables? Until then, each event has a stack of its own in the store. */
bool user_stacks_are_waiting(const struct user_stacks *user_stacks);

/* Says where functions have their rows from: unwind tables, their code, or nowhere. */
void user_stacks_add_functions(const struct frame_counts *functions, struct text *text);

/* Which stacks were left to frame pointers: a line if that matters, or with `all`. */
void user_stacks_add_lines(const struct user_stacks *user_stacks, bool all, struct text *lines);

/* What programs are made with; NULL: there are no tables. */
const struct unwind_config *user_stacks_config(const struct user_stacks *user_stacks);

#endif
