/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From what the user typed to all the places that it means, or a sentence why there are none. */
#ifndef STACKBOX_FIND_FIND_H
#define STACKBOX_FIND_FIND_H

#include "find/pattern.h"
#include "find/place.h"
#include "insns/machine.h"

/* {.tracefs = -1, .kallsyms = -1} is empty; find_close takes it. */
struct find {
    struct pattern *patterns;
    size_t count;
    size_t *matched; /* for each pattern: how many places, doubles counted */
    uint32_t pid;    /* the caller's: whose libraries and files are meant, 0: ours */
    int kallsyms;    /* the caller's; open or below 0 */
    const struct machine *kernel; /* filled in by find_places */
    int tracefs;     /* open or below 0: a negative errno that says why not */
    struct places places;
    struct text unread; /* "FILE: why": not all of its functions could be looked through; or empty */
    struct text left_out; /* how many of them cannot be probed, and why; or empty */
};

/* Takes the words apart. 0, or -EINVAL or -ENOMEM with one line in `error`. */
int find_parse(struct find *find, char *const *words, size_t count, bool is_regex,
               struct text *error);

/*
 * Patterns such as sched:sched_switch become those of tracepoints, where such a one exists. Fills in
 * `tracefs`, if it was needed for that. 0 or -ENOMEM.
 */
int find_translate(struct find *find);

/*
 * Asks the kernel for the places, and fills in `tracefs` and `places`, each place once. 0, or a
 * negative errno with one line in `error`: a pattern that matches nothing is -ENOENT.
 */
int find_places(struct find *find, struct text *error);

bool find_any_of_kind(const struct find *find, enum pattern_kind kind);

/*
 * Whether programs on places that the patterns may mean can meet: one of them run on a CPU before
 * another has ended there (insns/slot.h).
 */
bool find_programs_meet(const struct find *find);

void find_close(struct find *find);

#endif
