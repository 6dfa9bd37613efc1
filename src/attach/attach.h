/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Places and programs -> attached, by the best way that this kernel has. */
#ifndef STACKBOX_ATTACH_ATTACH_H
#define STACKBOX_ATTACH_ATTACH_H

#include <errno.h>
#include <signal.h>

#include "attach/maker.h"
#include "attach/semaphores.h"
#include "base/text.h"
#include "find/place.h"
#include "insns/program.h"

enum attach_way {
    ATTACH_BEST,    /* the first of these that works */
    ATTACH_MULTI,   /* one link to many functions (5.18; of user programs: 6.6) */
    ATTACH_PMU,     /* a perf event for each (4.17) */
    ATTACH_TRACEFS, /* all in one event of tracefs' kprobe_events or uprobe_events */
};
/* How it is called for kernel functions, or for places of user programs. */
const char *attach_way_name(enum attach_way way, bool user);

/* Where an event comes from decides what its program has to do. */
enum attach_program {
    ATTACH_KERNEL,      /* functions of the kernel; this and the next have links of their own kind */
    ATTACH_KERNEL_START, /* at the start of one, where its caller is still to be found (START_LINK) */
    ATTACH_TRACEPOINT,
    ATTACH_USER,        /* in a user's program, but not at the start of a function */
    ATTACH_PUSH_START,  /* at one of those starts that enum place_start tells apart */
    ATTACH_MARK_START,
    ATTACH_OTHER_START,
    ATTACH_PROGRAMS,
};

enum attach_program attach_program_of(const struct place *place);

/* What is known of every event of such a kind. */
struct attach_variant {
    const char *what;
    bool caller;    /* it is at the first instruction of a user's function */
    uint32_t flags; /* of a key (insns/layout.h) */
};
extern const struct attach_variant attach_variants[ATTACH_PROGRAMS];

struct attachment;
struct attach_request;
/* Who attaches without programs. */
struct attach_instead {
    /* So many of a kind are to come. 0, or a negative errno that is of them all. */
    int (*prepare)(void *context, const struct attach_request *request, enum place_kind kind, size_t count);
    /* The place of that number. 0 or a negative errno. */
    int (*attach)(void *context, struct attachment *attachment, const struct attach_request *request,
                  const struct place *place, size_t number);
    /* Whatever was attached. */
    void (*detach)(void *context);
};

struct attach_request {
    const struct attach_instead *instead; /* of programs, or NULL */
    void *context;
    struct linked programs[ATTACH_PROGRAMS]; /* loaded as places need them */
    /*
     * Programs are to know which of the places was hit. `number_at` is the index, in each, of an
     * instruction that sets r0 to 0 while r1 is the context: in its stead r0 becomes the index of the
     * place in the list. Links tell a program so much at each hit; where there are events, each has a
     * program of its own.
     */
    bool numbered;
    size_t number_at[ATTACH_PROGRAMS];
    const char *program_name;
    int tracefs;                  /* an open directory or below 0; ATTACH_TRACEFS needs it */
    enum attach_way way;
    uint32_t pid;                 /* user places are wanted in this process alone; 0: in all */
    bool force;                   /* however long it takes */
    const volatile sig_atomic_t *stop; /* becomes true when the user gives up */
    void (*progress)(size_t done, size_t total); /* or NULL; called as slow attaching goes on */
};

/* So many, by whatever way, are traced without `force`: all functions of the kernel are not. */
#define ATTACH_MOST_AT_ONCE 10000
/* An error of a place: it was left out, because tracing itself would run into it all the time. */
#define ATTACH_LEFT_OUT (-ECANCELED)
/* Likewise: a USDT probe whose semaphore the kernel does not count, and neither can we (semaphores.h). */
#define ATTACH_UNARMED (-ENOLINK)

/* By links, by probe events, by tracepoint events: the kernel has a kind of program for each. */
#define ATTACH_KINDS 3

struct attachment {
    int *fds; /* events and links */
    size_t count, room;
    int programs[ATTACH_PROGRAMS][ATTACH_KINDS]; /* below 0: none was needed */
    int *own_programs; /* of numbered places, one each */
    size_t own_count, own_room;
    size_t attached, failed; /* places; those that failed have place.error set */
    size_t left_out;         /* likewise, ATTACH_LEFT_OUT; they are not among the failed */
    uint64_t attach_ns;      /* how long attaching took */
    enum attach_way kernel_way, user_way; /* how functions were attached; ATTACH_BEST: there are none */
    int tracefs;        /* with text probes in it, else below 0; the request's */
    struct maker maker; /* of these */
    struct semaphores semaphores;
    struct text log;   /* the verifier's words where a program was refused */
    /* -E2BIG: this many functions are too many, or one by one would take about so long. */
    size_t too_many;
    double seconds;
    const struct attach_instead *instead; /* the request's */
    void *context;
};

/*
 * Attaches all places but those that cannot be, which get their `error`. 0, or a negative errno when
 * nothing can be attached (a program that does not load, no rights, no place left): what is said
 * about it is the caller's matter. -E2BIG: too many to attach without `force`; -EINTR: the user gave
 * up. attach_close is needed after either.
 */
int attach_open(struct attachment *attachment, const struct attach_request *request,
                struct places *places);

/* ---- For who attaches instead ---- */

/* So many descriptors are to come. */
void attach_allow_descriptors(size_t wanted);

/* Events that the kernel kept from the programs, as far as it tells (kernel/misses.h). */
uint64_t attach_missed(const struct attachment *attachment);

/* Detaches everything. 0, or a negative errno: probes are left in tracefs. */
int attach_close(struct attachment *attachment);

#endif
