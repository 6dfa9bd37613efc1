/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The one program that a run is about: the command's, or that of the single -p. */
#ifndef STACKBOX_SESSION_TRACED_PROGRAM_H
#define STACKBOX_SESSION_TRACED_PROGRAM_H

#include "session/trace_options.h"
#include "symbolize/mappings.h"

struct traced_program {
    char *path; /* as mappings have it; NULL: there is none, or it was not found */
    int fd;     /* or below 0 */
};

/* Looks for it now, while it is there. traced_program_close after it. */
void traced_program_open(struct traced_program *program, const struct trace_options *options);
void traced_program_close(struct traced_program *program);

#endif
