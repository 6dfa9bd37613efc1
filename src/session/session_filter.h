/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Whose events count, by the options, in the form that programs need. It speaks to the user. */
#ifndef STACKBOX_SESSION_SESSION_FILTER_H
#define STACKBOX_SESSION_SESSION_FILTER_H

#include "insns/filter.h"
#include "session/trace_options.h"

/* Everything that needs nothing opened. The pids are the options' own. */
void session_filter_init(struct event_filter *filter, const struct trace_options *options);

/* In a container pids are numbered differently: programs are told whose numbers to use. */
void session_filter_namespace(struct event_filter *filter);

/* The CPU and the cgroup. 0 or the exit status, with errors reported. */
int session_filter_open(struct event_filter *filter, const struct trace_options *options);

#endif
