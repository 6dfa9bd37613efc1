/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Events that the kernel kept from programs, as far as it tells. Each function tells of others: their
 * sum counts nothing twice. They are to be read before anything is detached.
 */
#ifndef STACKBOX_KERNEL_MISSES_H
#define STACKBOX_KERNEL_MISSES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Because a program ran on the CPU already. Told by programs on tracepoints (5.12 where they interrupt
 * themselves, 6.7 else), on kprobes and kprobe.multi (6.7). `program` may be below 0: none.
 */
uint64_t misses_of_program(int program);

/*
 * Because the probes themselves were at work there, or had no room for another return. Told by links
 * (6.7) among `fds`, which may hold others.
 */
uint64_t misses_of_links(const int *fds, size_t count);

/* The same of probes that are defined as text in tracefs, whose names begin with `prefix`. */
uint64_t misses_of_text(int tracefs, const char *prefix);

#endif
