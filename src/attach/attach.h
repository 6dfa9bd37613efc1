/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Attaches programs to places in the best way that this kernel has, and detaches them. */
#ifndef STACKBOX_ATTACH_ATTACH_H
#define STACKBOX_ATTACH_ATTACH_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "find/place.h"
#include "insns/program.h"

/*
 * The maker of probes that stay in the kernel if their maker is killed. Probes are visible in every
 * pid namespace, but a pid is valid in its own only: so a maker has a unique name, and holds a lock
 * on a file of that name as long as it lives. If another process can take the lock, the maker is
 * dead; without a file of its name, nothing is known about it.
 */

#define MAKER_NAME_ROOM 32

/* A process may have many, also in threads; zeroed, it has no name yet. */
struct maker {
    char name[MAKER_NAME_ROOM]; /* the process's pid, and 16 unique digits */
    int lock;                   /* its file; below 0: there is none */
    unsigned events;            /* how many it has named, each differently */
};

/* The first call names the maker and takes its lock. */
const char *maker_name(struct maker *maker);

/*
 * Calls `dead` with the name of every maker that no longer lives, and forgets those for which that
 * returns 0.
 */
typedef int maker_dead(void *context, const char *name);
void makers_each_dead(maker_dead *dead, void *context);

/* When nothing it made is left. */
void maker_end(struct maker *maker);

/*
 * The counters that arm USDT probes: a program reaches such a probe only while its counter, in the
 * program's memory, is not 0. Kernels since 4.20 raise it themselves; older ones accept it and do
 * nothing. Then we raise it, in the memory of the one process asked for.
 */

/* Zeroed, it is empty. */
struct semaphores {
    int memory; /* of the process, if `count` is not 0: a later process with its pid has another */
    uint64_t *addresses;
    size_t count, room;
};

/*
 * Raises the counter of a place that has one, in a running process. 0 or a negative errno: -ENOENT,
 * the place's file is not mapped there.
 */
int semaphores_raise(struct semaphores *semaphores, const struct place *place, uint32_t pid);

enum attach_way {
    ATTACH_BEST,    /* the first of these that works */
    ATTACH_MULTI,   /* one link to many functions (5.18; of user programs: 6.6) */
    ATTACH_PMU,     /* a perf event per place (4.17) */
    ATTACH_TRACEFS, /* all in one event of tracefs' kprobe_events or uprobe_events */
};
/* Its name for kernel functions, or for user places. */
const char *attach_way_name(enum attach_way way, bool user);

/* Where an event comes from decides what its program has to do. */
enum attach_program {
    ATTACH_KERNEL,      /* kernel functions; this and the next have links of their own kind */
    ATTACH_KERNEL_START, /* at a function's start, where its caller has to be added (START_LINK) */
    ATTACH_TRACEPOINT,
    ATTACH_USER,        /* in user code, but not at the start of a function */
    ATTACH_PUSH_START,  /* at one of the starts that enum place_start tells apart */
    ATTACH_MARK_START,
    ATTACH_OTHER_START,
    /* at starts of user functions whose returns are traced, if it is given (nested.c) */
    ATTACH_NESTED,
    ATTACH_PROGRAMS,
};

enum attach_program attach_program_of(const struct place *place);

/* What is known about every event of such a kind. */
struct attach_variant {
    const char *what;
    bool caller;    /* it is at the first instruction of a user function */
    uint32_t flags; /* of a key (insns/layout.h) */
};
extern const struct attach_variant attach_variants[ATTACH_PROGRAMS];

struct attachment;
struct attach_request;
/* Attaching without programs. */
struct attach_instead {
    /*
     * Called first with how many places of a kind will follow; or NULL. 0, or a negative errno for
     * all of them.
     */
    int (*prepare)(void *context, const struct attach_request *request, enum place_kind kind,
                   size_t count);
    /* Attaches a place with its number. 0 or a negative errno. */
    int (*attach)(void *context, struct attachment *attachment,
                  const struct attach_request *request, const struct place *place, size_t number);
    /* Detaches everything; or NULL. */
    void (*detach)(void *context);
    /* Why that errno, from either, and what to do about it. */
    void (*explain)(const void *context, int error, struct text *sentence);
};

struct attach_request {
    const struct attach_instead *instead; /* of programs, or NULL */
    void *context;
    struct linked programs[ATTACH_PROGRAMS]; /* loaded as places need them */
    /*
     * Programs need to know which place was hit. `number_at` is, in each program, the index of an
     * instruction that sets r0 to 0 while r1 is the context; it is replaced by one that sets r0 to
     * the place's index in the list. Links pass that to a program at each hit; with events, each
     * place has a program of its own.
     */
    bool numbered;
    size_t number_at[ATTACH_PROGRAMS];
    const char *program_name;
    int tracefs;                  /* an open directory, or below 0; ATTACH_TRACEFS needs it */
    enum attach_way way;
    uint32_t pid;                 /* user places in this process only; 0: in all */
    /* no process was named: user places slow every program that runs them */
    bool of_all;
    bool user_memory;             /* programs read it, for stacks */
    bool force;                   /* however long it takes */
    const volatile sig_atomic_t *stop; /* becomes true when the user interrupts */
    void (*progress)(size_t done, size_t total); /* called while attaching is slow; or NULL */
};

/* Up to this many, in whatever way, are traced without `force`: not all kernel functions. */
#define ATTACH_MOST_AT_ONCE 10000
/* The same for user places `of_all`: not a whole C library. */
#define ATTACH_MOST_OF_ALL 1000
/* A place's error: it was left out because tracing itself would hit it all the time. */
#define ATTACH_LEFT_OUT (-ECANCELED)
/* Likewise: a USDT probe whose semaphore neither the kernel nor we can raise. */
#define ATTACH_UNARMED (-ENOLINK)

/* For links, probe events and tracepoint events: the kernel has a program type for each. */
#define ATTACH_KINDS 3

#define ATTACH_CLOSERS 8

struct attachment {
    int *fds; /* events and links */
    size_t count, room;
    size_t closed;   /* the next to be closed */
    pthread_t threads[ATTACH_CLOSERS];
    size_t closers;  /* threads that close them */
    bool ended;
    bool no_text_misses; /* of text probes: the kernel's counter has more than these */
    uint64_t missed; /* until it ended */
    int programs[ATTACH_PROGRAMS][ATTACH_KINDS]; /* below 0: not needed */
    int *own_programs; /* of numbered places, one each */
    size_t own_count, own_room;
    size_t attached, failed; /* places; failed ones have place.error set */
    size_t left_out;         /* likewise, with ATTACH_LEFT_OUT; not among the failed */
    uint64_t attach_ns;      /* how long attaching took */
    bool of_process; /* there are probes that the kernel limits to the request's process */
    enum attach_way kernel_way, user_way; /* how functions were attached; ATTACH_BEST: none */
    int tracefs;        /* if there are text probes in it, else below 0; the request's */
    struct maker maker; /* of these */
    struct semaphores semaphores;
    struct text log;   /* the verifier's message if a program was rejected */
    /* -E2BIG: how many functions are too many, and roughly how long one by one would take. */
    size_t too_many;
    double seconds;
    const struct attach_instead *instead; /* the request's */
    void *context;
};

/*
 * Attaches all places, except those that cannot be attached, which get their `error`. 0, or a
 * negative errno if nothing can be attached (a program that does not load, no rights, no place
 * left): the caller reports it. -E2BIG: too many to attach without `force`; -EINTR: the user
 * interrupted. attach_close is needed after either.
 */
int attach_open(struct attachment *attachment, const struct attach_request *request,
                struct places *places);

/* ---- For attaching without programs ---- */

/* Makes room for that many descriptors. */
void attach_allow_descriptors(size_t wanted);

/* Events that the kernel did not pass to programs, as far as it reports them (kernel/perf.h). */
uint64_t attach_missed(const struct attachment *attachment);

/*
 * The run ends: misses are no longer counted. As the kernel takes some 50 ms to detach a probe,
 * detaching goes on after attach_close, in children that outlive us; or else it begins now, while
 * the report is made. Not needed before attach_close.
 */
void attach_end(struct attachment *attachment);
/*
 * Detaches everything. 0, or a negative errno: probes are left in tracefs. After attach_end, the
 * caller must have ended counting before.
 */
int attach_close(struct attachment *attachment);

#endif
