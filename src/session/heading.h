/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parts of the line that says what is traced, for applets that take a duration. */
#ifndef STACKBOX_SESSION_HEADING_H
#define STACKBOX_SESSION_HEADING_H

#include "session/trace_options.h"

/* "PID 1", "PIDs 1,2", "TID 3", "PID 1, TID 3"; `everybody` if nobody was picked. */
void heading_add_whose(struct text *line, const struct trace_options *options,
                       const char *everybody);

/* "user + kernel", "user" or "kernel". */
const char *heading_stacks(const struct trace_options *options);

/* " on CPU#3", or nothing. */
void heading_add_cpu(struct text *line, const struct trace_options *options);

/* How it ends: " for 5 secs.", or without a duration "... Hit Ctrl-C to end." */
void heading_add_end(struct text *line, uint64_t duration, bool by_enter);

#endif
