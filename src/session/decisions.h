/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What a run decides, reported with --debug; and the listings of --dump-program. */
#ifndef STACKBOX_SESSION_DECISIONS_H
#define STACKBOX_SESSION_DECISIONS_H

#include "insns/program.h"
#include "session/trace_options.h"

/* With --debug: the machine and our rights. */
void decisions_say_machine(const struct trace_options *options);

/*
 * A program about to be loaded, "the program of user programs' events": mentioned with --debug, and
 * with --dump-program listed, too.
 */
void decisions_say_program(const char *what, const struct program *program,
                           const struct linked *linked, bool listing);

#endif
