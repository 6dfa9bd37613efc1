/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is counted by programs that walk the kernel's stacks themselves (collect/walk_counts.h). */
#ifndef STACKBOX_SESSION_WALKING_H
#define STACKBOX_SESSION_WALKING_H

#include "attach/attach.h"
#include "collect/scope.h"
#include "collect/walk_counts.h"
#include "find/find.h"
#include "session/trace_options.h"

/* Can those patterns be counted so? They are all of functions of the kernel, whose programs get registers. */
bool walking_can(const struct find *find, const struct trace_options *options);

/* Once places were found: which of them are at a function's start, and tracefs for probes that are text. */
void walking_tell_starts(struct find *find);

/* The program of those places. */
void walking_build(const struct walk_counts *walk, const struct scope *scope, enum attach_program which,
                   struct program *program);

#endif
