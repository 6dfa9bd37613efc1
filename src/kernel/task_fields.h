/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where the kernel keeps what its raw tracepoints do not pass as numbers. */
#ifndef STACKBOX_KERNEL_TASK_FIELDS_H
#define STACKBOX_KERNEL_TASK_FIELDS_H

#include "insns/task.h"
#include "insns/unwind.h"

/*
 * By the kernel's types, which every user may read. 0, or a negative errno: -ENOENT if it has none.
 * They are read once, and take 4 MB or more meanwhile: find them before maps are sized.
 */
int task_fields_find(struct task_fields *fields);

/* 0, or a negative errno: the kernel has no types, or none of user probes. */
int nesting_fields_find(struct nesting_fields *fields);

/*
 * How programs find a task's numbers in our pid namespace, even if the task is in one below it: the
 * kernel's helper only knows tasks of exactly ours. By the kernel's types, and by a program that
 * runs once and looks at us. `inode`: of our namespace. The fields, which stay, or NULL: the kernel
 * has no types, is 32-bit, or older than 5.10, or its structs are others.
 */
const struct pid_fields *pid_fields_find(uint64_t inode);

/* What unwinding by tables needs, but for registers. As task_fields_find(). */
int unwind_fields_find(struct unwind_fields *fields);

#endif
