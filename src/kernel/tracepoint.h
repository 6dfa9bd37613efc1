/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A program on one tracepoint that is known by its name, as applets have that look at the scheduler. */
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
 * Links `program`, loads it and runs it at every hit, after those programs that were attached to the
 * same tracepoint before. 0, or a negative errno with the verifier's or the linker's words, if there
 * are any, appended to `log`. tracepoint_close after either.
 */
int tracepoint_open(struct tracepoint *tracepoint, const struct tracepoint_wishes *wishes,
                    struct program *program, struct text *log);
/*
 * The same by the raw tracepoint (4.17) of this name, which needs no tracefs: its program gets what the
 * kernel calls it with, and the kernel's bpf(2) never keeps it from a hit.
 */
int tracepoint_open_raw(struct tracepoint *tracepoint, const char *name, const char *program_name,
                        struct program *program, struct text *log);
void tracepoint_close(struct tracepoint *tracepoint);

/* Hits that the kernel kept from the program (5.12). */
uint64_t tracepoint_missed(const struct tracepoint *tracepoint);

#endif
