/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Shared by the parts of the checks. For src/checks only. */
#ifndef STACKBOX_CHECKS_LOOK_H
#define STACKBOX_CHECKS_LOOK_H

#include "checks/checks.h"
#include "kernel/bpf.h"
#include "kernel/refusal.h"
#include "rings/ring_source.h"

/* Yes if `result` is not negative; otherwise no, with refusal_explain's sentence. */
void check_decide(struct check *check, enum refused what, int result, uint64_t map_bytes);
/* No, with this sentence. */
void check_refuse(struct check *check, const char *sentence);

/* A program that returns 0. */
extern const struct bpf_insn check_program[2];
/* Loads it: a descriptor or a negative errno. */
int check_load(uint32_t type);

/* Is there a limit on all maps together that cannot be raised? */
extern bool check_is_limited;

/*
 * If perf's rings collect instead of programs: the open rings to try things with; otherwise NULL.
 */
extern struct ring_source *check_rings;
/*
 * Tries rings, and opens them in that case; checks->found is known. Called before the others, which
 * then run one after another.
 */
void check_rings_open(struct checks *checks);
void check_rings_close(void);
/* Could such an event be opened? 0 or a negative errno. */
int check_ring_event(uint32_t type, uint64_t config);

/* Each of these fills in the checks of its part; they run in parallel. */
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
