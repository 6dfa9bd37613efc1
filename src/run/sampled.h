/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program that runs at the ticks of every CPU's clock, or at other events. It speaks to the user.
 */
#ifndef STACKBOX_RUN_SAMPLED_H
#define STACKBOX_RUN_SAMPLED_H

#include "collect/collector.h"
#include "insns/program.h"
#include "kernel/sampling.h"
#include "run/trace_options.h"

struct sampled {
    struct sampling_config config; /* its program is below 0: none yet */
    struct sampling sampling;
    bool said; /* it was said that a new CPU cannot be sampled */
};

/* Appends a sentence if -F asks for more samples than the kernel allows. */
void sampled_check_rate(uint64_t frequency, struct text *error);
/* Says so, and returns true, if -F asks for more than ptrace(2) can interrupt threads. */
bool sampled_is_too_often(uint64_t frequency);

/* Loads `program`, to sample with, and frees it. 0 or the exit status. */
int sampled_load(struct sampled *sampled, struct program *program,
                 const struct trace_options *options);
/* Says why there are no samples. Returns the exit status. */
int sampled_refuse(int error, const struct text *log);
void sampled_close(struct sampled *sampled);

/* For counting.tick: CPUs may have come online. */
void sampled_look(void *sampled);

/* The kernel throttles an event that overflows too often until the next tick. */
void sampled_add_stops(const struct sampled *sampled, const struct sampling_stops *stops,
                       struct losses *losses);

#endif
