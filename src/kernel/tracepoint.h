/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A program on one tracepoint known by name, for applets that watch the scheduler. */
#ifndef STACKBOX_KERNEL_TRACEPOINT_H
#define STACKBOX_KERNEL_TRACEPOINT_H

#include "base/text.h"
#include "insns/program.h"

struct tracepoint {
    int program, event; /* below 0: none */
};
#define TRACEPOINT_NONE {-1, -1}

struct tracepoint_wishes {
    int tracefs; /* an open directory */
    const char *category, *name;
    const char *program_name; /* shown by bpftool; up to 15 bytes */
};

/*
 * Links `program`, loads it and runs it at every hit, after programs attached to the same
 * tracepoint earlier. 0, or a negative errno with the verifier's or linker's message, if any,
 * appended to `log`. tracepoint_close after either.
 */
int tracepoint_open(struct tracepoint *tracepoint, const struct tracepoint_wishes *wishes,
                    struct program *program, struct text *log);
/*
 * The same on the raw tracepoint (4.17) of this name, which needs no tracefs: its program gets the
 * arguments of the kernel's call, and calls of bpf(2) never make it miss a hit.
 */
int tracepoint_open_raw(struct tracepoint *tracepoint, const char *name, const char *program_name,
                        struct program *program, struct text *log);
void tracepoint_close(struct tracepoint *tracepoint);

/* Hits that the kernel did not pass to the program (5.12). */
uint64_t tracepoint_missed(const struct tracepoint *tracepoint);

#endif
