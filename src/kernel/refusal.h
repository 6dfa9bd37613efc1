/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Why the kernel refused, and what the user can do about it, in one plain sentence. */
#ifndef STACKBOX_KERNEL_REFUSAL_H
#define STACKBOX_KERNEL_REFUSAL_H

#include <stdint.h>

#include "base/text.h"

enum refused {
    REFUSED_MAPS,        /* bpf(2): the maps */
    REFUSED_PROBES,      /* bpf(2) for the program, perf_event_open(2), links */
    REFUSED_USER_PROBES, /* the same in programs and libraries */
    REFUSED_SAMPLING,    /* bpf(2) for the program, perf_event_open(2) for CPUs' events */
    REFUSED_TRACEFS,     /* finding or mounting tracefs */
};

/*
 * Appends the sentence for a negative errno: the reason and, after ": ", what to do; based on what
 * /proc and /sys say about rights, limits and lockdown. `map_bytes` is roughly what the maps need,
 * for a limit on locked memory (0: unknown).
 */
void refusal_explain(enum refused what, int error, uint64_t map_bytes, struct text *sentence);

/* The same after "cannot create maps: ". Returns the error. */
int refusal_of_maps(int error, uint64_t map_bytes, struct text *sentence);

/*
 * The same for a program. If `log` is not empty, the verifier rejected the program: the sentence
 * ends with the last words of the log.
 */
void refusal_explain_program(enum refused what, int error, const struct text *log,
                             struct text *sentence);

/* True, with a sentence, if the cause is that this kernel's interpreter cannot run all programs. */
bool refusal_explain_interpreter(int error, struct text *sentence);

/* The same if the cause is kernel.perf_event_paranoid. */
bool refusal_explain_paranoid(struct text *sentence);

#define NUMBER_CAP_PERFMON 38 /* 5.8 */
#define NUMBER_CAP_BPF 39     /* 5.8 */
/* Does this process have a capability (CAP_... number) in effect? */
bool refusal_has_capability(unsigned capability);

/* The sentences for hidden names of kernel functions; kernels that are too old; and stacks of 0. */
extern const char refusal_hidden_names[];
extern const char refusal_too_old[];
extern const char refusal_no_frames[];

/* The kernel's lockdown level, if it is locked down: "integrity" or "confidentiality". */
bool refusal_locked_down(struct text *level);

/* kernel.perf_event_paranoid; -1: unknown. */
long refusal_paranoid(void);

#endif
