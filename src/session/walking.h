/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counting by programs that walk the kernel's stacks themselves (collect/walk_counts.h). */
#ifndef STACKBOX_SESSION_WALKING_H
#define STACKBOX_SESSION_WALKING_H

#include "attach/attach.h"
#include "collect/scope.h"
#include "collect/walk_counts.h"
#include "find/find.h"
#include "session/trace_options.h"

/* Can these patterns be counted so? All must be kernel functions, whose programs get registers. */
bool walking_can(const struct find *find, const struct trace_options *options);

/*
 * After places were found: sets which are at a function's start, and opens tracefs for text probes.
 */
void walking_tell_starts(struct find *find);

/* Builds the program for those places. */
void walking_build(const struct walk_counts *walk, const struct scope *scope, enum attach_program which,
                   struct program *program);

#endif
