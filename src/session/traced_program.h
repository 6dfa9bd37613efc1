/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The one program that a run is about: the command's, or the one of a single -p. */
#ifndef STACKBOX_SESSION_TRACED_PROGRAM_H
#define STACKBOX_SESSION_TRACED_PROGRAM_H

#include "session/trace_options.h"
#include "symbolize/mappings.h"

struct traced_program {
    char *path; /* as in mappings; NULL: there is none, or it was not found */
    int fd;     /* or below 0 */
};

/* Looks for it now, while it exists. traced_program_close afterwards. */
void traced_program_open(struct traced_program *program, const struct trace_options *options);
void traced_program_close(struct traced_program *program);

#endif
