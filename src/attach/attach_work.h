/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Shared by the ways of attaching. For src/attach/attach*.c only. */
#ifndef STACKBOX_ATTACH_ATTACH_WORK_H
#define STACKBOX_ATTACH_ATTACH_WORK_H

#include <stdbool.h>

#include "attach/attach.h"
#include "find/place.h"
#include "kernel/tracefs.h"

struct work {
    struct attachment *attachment;
    const struct attach_request *request;
    const struct place *all; /* places' numbers are their indices here */
    struct place **places; /* of one kind; those not attached yet */
    size_t count;
    uint32_t event_pid, linked_pid; /* events and links are for this process only; 0: for all */
};

enum program_kind {
    PROGRAM_MULTI,
    PROGRAM_PROBE,
    PROGRAM_TRACEPOINT,
};

/* Loads the program: a descriptor that stays the attachment's, or a negative errno. */
int attach_load(struct work *work, enum attach_program which, enum program_kind kind);

/* Takes over an event or a link. 0 or -ENOMEM. */
int attach_keep(struct work *work, int fd);
/*
 * Attaches its program to the event of a place, or of several that are not numbered, and keeps it;
 * closes it on failure. `event` may be an errno. `by_link`: if the kernel has links, which report
 * what the probe itself missed.
 */
int attach_event(struct work *work, int event, const struct place *place, enum program_kind kind,
                 bool by_link);

/* The places' numbers, for a link; NULL if not needed, or without memory: -ENOMEM. */
int attach_cookies(const struct work *work, struct place *const *part, uint32_t count,
                   uint64_t **cookies);

/*
 * Defines as text places that one event can hold: as one event, or, if they are numbered, one each.
 */
int attach_as_text(struct work *work, struct place **group, uint32_t count);

/*
 * One link to all of `part`; if that is refused, to each half, and so on down to the culprits,
 * which get their error. `link` attaches all or nothing.
 */
typedef int attach_link(struct work *work, int program, struct place **part, uint32_t count);
int attach_by_halves(struct work *work, attach_link *link, int program, struct place **part,
                     uint32_t count);

/*
 * Opens an event of such a type (perf_probe_type, the context) for each place left. -E2BIG, and how
 * long it would take, if there are too many without `force`; -EOPNOTSUPP: there is no such type.
 */
typedef int attach_open_event(struct work *work, const void *context, const struct place *place);
int attach_each(struct work *work, const char *type, attach_open_event *open, enum attach_way *way);

/* 0, or -E2BIG if there are more than are traced without `force`. */
int attach_check_count(struct work *work);

/* Without programs: the places left, of one kind. */
int attach_instead_of_programs(struct work *work);

/* Does the error concern only this place, so that the next may work? */
bool attach_concerns_one_place(int error);

/* For kernel functions, and for user places. */
int attach_functions(struct work *work);
int attach_user_places(struct work *work);

/*
 * Probes as text in tracefs' kprobe_events and uprobe_events: for old kernels. Unlike all others
 * they outlive their maker if it is killed, so they carry its name (attach.h), and the next run
 * removes what dead makers left.
 */

/* Removes the probes of makers that no longer live. */
void attach_text_sweep(int tracefs);

/* Can an event have several places (5.4)? Before, defining one again silently replaces it. */
bool attach_text_adds(int tracefs, struct maker *maker, const struct place *place);

/*
 * Defines the probes of all `places` (`count` pointers: all entries or all returns, all in the
 * kernel or all in user programs) as one event, and returns its id, to be opened as a tracepoint.
 * `caller`, if not NULL, is the argument that fetches the caller (struct machine). A place that is
 * refused gets its `error`. 0, or a negative errno if no place is left (-EOPNOTSUPP: this kernel
 * has no such file); attach_text_remove is needed after either.
 */
int attach_text_define(int tracefs, struct maker *maker, struct place *const *places, size_t count,
                       const char *caller, uint32_t *id);
/* Which field of the event defined last it is. 0 or a negative errno. */
int attach_text_find_caller(int tracefs, struct maker *maker, struct tracefs_field *field);

/* Hits that the maker's kernel probes have missed so far. */
uint64_t attach_text_missed(int tracefs, const struct maker *maker);

/*
 * Removes the maker's probes, and ends it; events opened on them must be closed first. 0 or a
 * negative errno: some are left.
 */
int attach_text_remove(int tracefs, struct maker *maker);

#endif
