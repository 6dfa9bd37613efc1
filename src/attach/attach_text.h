/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Probes as text in tracefs' kprobe_events and uprobe_events: for old kernels. Unlike all others
 * they outlive their maker if it is killed, so they carry its name (maker.h), and the next run
 * removes what dead makers left.
 */
#ifndef STACKBOX_ATTACH_ATTACH_TEXT_H
#define STACKBOX_ATTACH_ATTACH_TEXT_H

#include <stdbool.h>

#include "attach/maker.h"
#include "find/place.h"
#include "kernel/tracefs.h"

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
