/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * How programs find a task's numbers in our pid namespace, even if the task is in one below it: the
 * kernel's helper only knows tasks of exactly ours.
 */
#ifndef STACKBOX_KERNEL_PID_FIELDS_H
#define STACKBOX_KERNEL_PID_FIELDS_H

#include "insns/task.h"

/*
 * By the kernel's types, and by a program that runs once and looks at us. `inode`: of our namespace.
 * The fields, which stay, or NULL: the kernel has no types, is 32-bit, or older than 5.10, or its
 * structs are others.
 */
const struct pid_fields *pid_fields_find(uint64_t inode);

#endif
