/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's version, its CPUs, and the limits that this machine and its cgroups set. */
#ifndef STACKBOX_KERNEL_LIMITS_H
#define STACKBOX_KERNEL_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/*
 * The running kernel's LINUX_VERSION_CODE, without which kernels before 5.0 load no kprobe program:
 * from the note in the vDSO, which the kernel maps into each process; 0: there is none. uname(2)
 * may differ: its third number goes beyond 255, and distributions change it.
 */
uint32_t own_version(void);

/*
 * Memory that may still be used, in bytes: what the machine has left, or less if limits of our
 * cgroups leave less. All sizes that depend on memory start from it. 0: unknown.
 */
uint64_t kernel_free_memory(void);

/* The number that such a file begins with, or `otherwise`. */
uint64_t kernel_number(const char *path, uint64_t otherwise);

/* How many threads there may be on the machine: kernel.threads-max. */
uint32_t kernel_most_threads(void);

/*
 * net.core.bpf_jit_enable: the user has switched the JIT off, or on. Both are false if the kernel
 * has no JIT, allows no choice, or /proc is missing.
 */
bool kernel_jit_is_off(void);
bool kernel_jit_is_on(void);

/* kernel.ftrace_enabled is 0: the kernel accepts whatever relies on ftrace, and never calls it. */
bool kernel_ftrace_is_off(void);

/* perf_event_max_stack: the frames of a stack; 0 is possible. */
uint64_t kernel_stack_depth(void);

/* Is our pid namespace the initial one, so that our pids are the host's? */
bool in_initial_pid_namespace(void);

/*
 * All pids and tids are below this number, the host's, too. It is kernel.pid_max, except in a pid
 * namespace, where that may be the namespace's own (6.14) and says nothing about other namespaces.
 */
uint32_t kernel_pid_limit(void);

/*
 * The memory limit that leaves the least, among those of our cgroups (v1 and v2) and their
 * ancestors, as far up as is visible from here.
 */
struct cgroup_memory {
    uint64_t left; /* bytes that may still be used; UINT64_MAX: there is no limit */
    uint64_t limit;
    struct text file; /* that holds the limit; the caller's to free */
};

void cgroup_memory_find(struct cgroup_memory *found);

/*
 * Calls `add` with each CPU that is online. A negative errno of `add` ends this and is returned,
 * except -ENODEV: the CPU went offline meanwhile, and is skipped. Without /sys it tries all
 * numbers; -EINVAL, unless it is the first answer, then means that there are no more. 0, -ENOMEM,
 * or the errno of `add`.
 */
typedef int cpus_add(void *context, unsigned cpu);
int cpus_each_online(cpus_add *add, void *context);
/* The same for each CPU that could be brought online. */
int cpus_each_present(cpus_add *add, void *context);
/* Can an event be opened on an online CPU? `open` returns a descriptor or a negative errno. */
int cpus_try(cpus_add *open, void *context);
/* How many CPUs `each` visits; 0: unknown. */
uint64_t cpus_count(int (*each)(cpus_add *add, void *context));

/* An upper bound of the number of CPUs: a per-CPU map has that many values per key. */
size_t cpus_possible(void);

/*
 * For tests: takes the next range from a list such as "0-3,6\n"; false at its end, or without one.
 */
bool cpus_next(const char **list, unsigned *first, unsigned *last);

#endif
