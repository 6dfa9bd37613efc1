/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The system calls of the machine that this program was built for. */
#ifndef STACKBOX_MACHINE_SYSTEM_CALLS_H
#define STACKBOX_MACHINE_SYSTEM_CALLS_H

#include <stddef.h>
#include <stdint.h>

struct system_call {
    const char *name; /* as the kernel's tracepoints have it, "newfstat"; NULL: there is none */
    uint32_t number;
};

/* Those that the C library's headers knew when this was built: the i-th, in no order. */
struct system_call system_calls_at(size_t i);
struct system_call system_calls_find(long number);

#endif
