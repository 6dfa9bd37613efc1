/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where the kernel keeps what its raw tracepoints do not pass as numbers. */
#ifndef STACKBOX_KERNEL_TASK_FIELDS_H
#define STACKBOX_KERNEL_TASK_FIELDS_H

#include "insns/task.h"

/*
 * By the kernel's types, which everybody may read. 0, or a negative errno: -ENOENT if it has none. They are
 * read once, and take 4 MB or more meanwhile: find them before maps are sized.
 */
int task_fields_find(struct task_fields *fields);

/* 0, or a negative errno: the kernel has no types, or none of user probes. */
int nesting_fields_find(struct nesting_fields *fields);

#endif
