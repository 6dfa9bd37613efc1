/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Events that the kernel did not pass to programs, as far as it reports them. Each function counts
 * different ones: their sum counts nothing twice. To be read before anything is detached.
 */
#ifndef STACKBOX_KERNEL_MISSES_H
#define STACKBOX_KERNEL_MISSES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Missed because a program was running on that CPU. Reported for programs on tracepoints (5.12 if
 * they interrupt themselves, 6.7 otherwise), on kprobes and kprobe.multi (6.7). `program` may be
 * below 0: none.
 */
uint64_t misses_of_program(int program);

/*
 * Missed because the probes themselves were running there, or had no room for another return.
 * Reported for links (6.7) among `fds`, which may hold others.
 */
uint64_t misses_of_links(const int *fds, size_t count);

/* The same for probes defined as text in tracefs, whose names begin with `prefix`. */
uint64_t misses_of_text(int tracefs, const char *prefix);

#endif
