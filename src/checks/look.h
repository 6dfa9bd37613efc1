/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the parts of the checks share. Of src/checks alone. */
#ifndef STACKBOX_CHECKS_LOOK_H
#define STACKBOX_CHECKS_LOOK_H

#include "checks/checks.h"
#include "kernel/bpf.h"
#include "kernel/refusal.h"
#include "rings/ring_source.h"

/* Yes where `result` is not negative; else no, with the sentence of refusal_explain. */
void check_decide(struct check *check, enum refused what, int result, uint64_t map_bytes);
/* No, with a sentence of its own. */
void check_refuse(struct check *check, const char *sentence);

/* A program that returns 0. */
extern const struct bpf_insn check_program[2];
/* Loads it: a descriptor or a negative errno. */
int check_load(uint32_t type);

/* Is there a limit on what all maps take together, which cannot be raised? */
extern bool check_is_limited;

/* Where perf's rings collect, and not programs: those that are open for what is to be tried; else NULL. */
extern struct ring_source *check_rings;
/* Tries them, and opens them where that is so; checks->ways is known. Before the others, which are one by one then. */
void check_rings_open(struct checks *checks);
void check_rings_close(void);
/* Would an event be had by these? 0 or a negative errno. */
int check_ring_event(uint32_t type, uint64_t config);

/* Each of these fills in checks of its part, beside the others and at the same time. */
void check_maps(struct checks *checks);
void check_kernel_functions(struct checks *checks);
void check_user_functions(struct checks *checks);
void check_tracepoints(struct checks *checks);
void check_commands(struct checks *checks);
void check_lives(struct checks *checks);
void check_events(struct checks *checks);
void check_rights(struct checks *checks);
void check_unwinding(struct checks *checks);

#endif
