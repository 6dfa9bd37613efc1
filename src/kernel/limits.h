/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the kernel has, and how far it goes, as its files tell. */
#ifndef STACKBOX_KERNEL_LIMITS_H
#define STACKBOX_KERNEL_LIMITS_H

#include <stdint.h>

/* Free memory in bytes, or 0 where nobody tells. */
uint64_t kernel_free_memory(void);

/* perf_event_max_stack: the frames of a stack. */
uint64_t kernel_stack_depth(void);

#endif
