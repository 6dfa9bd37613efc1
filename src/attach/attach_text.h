/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Probes as text in tracefs' kprobe_events and uprobe_events: the way of old kernels. Unlike all others they
 * outlive their maker when that is killed, so they carry a name of its own (maker.h), and whoever comes next removes
 * what dead makers left.
 */
#ifndef STACKBOX_ATTACH_ATTACH_TEXT_H
#define STACKBOX_ATTACH_ATTACH_TEXT_H

#include <stdbool.h>

#include "attach/maker.h"
#include "find/place.h"
#include "kernel/tracefs.h"

/* Removes the probes of makers that are no more. */
void attach_text_sweep(int tracefs);

/*
 * Can an event have several places (5.4)? Before, one that is defined once more is another from then on, of
 * one place, and nothing says so.
 */
bool attach_text_adds(int tracefs, struct maker *maker, const struct place *place);

/*
 * Defines the probes of all `places` (`count` pointers: all entries or all returns, all of the kernel
 * or all of user programs) as one event, and gives its id, to be opened as a tracepoint.
 * `caller`, which is not NULL where that is wanted, is the argument that tells it (struct machine).
 * A place that is refused gets its `error`. 0, or a negative errno when no place is left
 * (-EOPNOTSUPP: this kernel has no such file); attach_text_remove is needed after either.
 */
int attach_text_define(int tracefs, struct maker *maker, struct place *const *places, size_t count,
                       const char *caller, uint32_t *id);
/* Where among the fields of the event that was defined last it is. 0 or a negative errno. */
int attach_text_find_caller(int tracefs, struct maker *maker, struct tracefs_field *field);

/* Hits of the maker's probes of the kernel that were missed, until now. */
uint64_t attach_text_missed(int tracefs, const struct maker *maker);

/*
 * Removes the maker's probes, and ends it; events opened on them must be closed before. 0 or a negative
 * errno: some are left.
 */
int attach_text_remove(int tracefs, struct maker *maker);

#endif
