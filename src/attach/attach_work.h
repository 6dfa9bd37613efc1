/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the ways of attaching share. Of src/attach/attach*.c only. */
#ifndef STACKBOX_ATTACH_ATTACH_WORK_H
#define STACKBOX_ATTACH_ATTACH_WORK_H

#include "attach/attach.h"
#include "kernel/bpf.h"

struct work {
    struct attachment *attachment;
    const struct attach_request *request;
    const struct place *all; /* whose numbers are their indices */
    struct place **places; /* of one kind; those that still want attaching */
    size_t count;
    uint32_t linked_pid; /* links are made for this process alone; 0: for all */
};

enum program_kind {
    PROGRAM_MULTI,
    PROGRAM_PROBE,
    PROGRAM_TRACEPOINT,
};

struct bpf_load attach_how_to_load(const struct work *work, enum attach_program which,
                                   enum program_kind kind);
/* The program, loaded: a descriptor that stays the attachment's, or a negative errno. */
int attach_load(struct work *work, enum attach_program which, enum program_kind kind);
/* The same for this place alone: its number is in it. */
int attach_load_own(struct work *work, const struct place *place, enum program_kind kind);

/* Takes over an event or a link. 0 or -ENOMEM. */
int attach_keep(struct work *work, int fd);
/*
 * Gives the event of a place, or of several that are not numbered, its program and keeps it; closes it
 * where that fails. `event` may be an errno.
 */
int attach_event(struct work *work, int event, const struct place *place, enum program_kind kind);

/* The same by a link, where the kernel has those: then it says what the probe itself missed. */
int attach_event_by_link(struct work *work, int event, const struct place *place,
                         enum program_kind kind);

/* The numbers of places, for a link; NULL where they are not wanted, or memory is out: -ENOMEM. */
int attach_cookies(const struct work *work, struct place *const *part, uint32_t count,
                   uint64_t **cookies);

/*
 * Defines places that one event can have together as text: as one, or, where they are numbered, as one
 * for each.
 */
int attach_as_text(struct work *work, struct place **group, uint32_t count);

/*
 * One link to all of `part`; where that is refused, to each half, and so on down to the culprits,
 * which get their error. `link` attaches all or nothing.
 */
typedef int attach_link(struct work *work, int program, struct place **part, uint32_t count);
int attach_by_halves(struct work *work, attach_link *link, int program, struct place **part,
                     uint32_t count);

/*
 * Opens an event for each place that is left. -E2BIG, and how long it would take, when there are too
 * many and `force` was not asked for.
 */
typedef int attach_open_event(struct work *work, const void *context, const struct place *place);
int attach_one_by_one(struct work *work, attach_open_event *open, const void *context);

/*
 * Of more functions of the kernel than ATTACH_MOST_AT_ONCE: takes those off the list that cannot be
 * traced, and, with `force`, those that would be hit by tracing itself. Both get their error.
 */
void attach_leave_out(struct work *work);
/* 0, or -E2BIG where there are more than that and `force` was not asked for. */
int attach_check_count(struct work *work);

/* Without programs: those that are left, of one kind. */
int attach_instead_of_programs(struct work *work);

/* Is it this one place that is refused, and may the next do? */
bool attach_concerns_one_place(int error);

/* The two rooms' own files. */
int attach_functions(struct work *work);
int attach_user_places(struct work *work);

#endif
