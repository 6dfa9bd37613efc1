/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where the kernel keeps what its raw tracepoints do not pass as numbers. */
#ifndef STACKBOX_KERNEL_TASK_FIELDS_H
#define STACKBOX_KERNEL_TASK_FIELDS_H

#include "insns/task.h"
#include "insns/unwind.h"

/*
 * By BTF, which every user may read. 0, or a negative errno: -ENOENT if the kernel has none. The
 * first call reads it, which takes 4 MB or more: call this before maps are sized.
 */
int task_fields_find(struct task_fields *fields);

/* 0, or a negative errno: the kernel has no BTF, or no uprobes. */
int nesting_fields_find(struct nesting_fields *fields);

/*
 * How programs find a task's numbers in our pid namespace, even if the task is in one below it: the
 * kernel's helper knows only tasks of exactly our namespace. Reads BTF, and runs a program once to
 * check it on ourselves. `inode`: of our namespace. The result stays valid. NULL: the kernel has no
 * BTF, is 32-bit, or older than 5.10, or its structs differ.
 */
const struct pid_fields *pid_fields_find(uint64_t inode);

/* What unwinding by tables needs, except for registers. As task_fields_find(). */
int unwind_fields_find(struct unwind_fields *fields);

#endif
