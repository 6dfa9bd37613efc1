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
 * Memory that may still be used, in bytes: of the machine, or less if limits of our cgroups leave
 * less. Whatever has its size from memory asks here. 0: unknown.
 */
uint64_t kernel_free_memory(void);

/* The number that such a file begins with, or `otherwise`. */
uint64_t kernel_number(const char *path, uint64_t otherwise);

/* How many threads there may be on the machine: kernel.threads-max. */
uint32_t kernel_most_threads(void);

/*
 * net.core.bpf_jit_enable: the user has switched the JIT off, or on. Neither: there is no JIT, or
 * no other way (or no /proc).
 */
bool kernel_jit_is_off(void);
bool kernel_jit_is_on(void);

/* perf_event_max_stack: the frames of a stack. */
uint64_t kernel_stack_depth(void);

/* Are pids here the host's own? */
bool in_initial_pid_namespace(void);

/*
 * Every number of a process or thread is below this, the host's own, too. kernel.pid_max, but in a
 * PID namespace that may be the namespace's (6.14), and says nothing about the numbers of others.
 */
uint32_t kernel_pid_limit(void);

/*
 * Of the memory limits of the cgroups that we are in, v1 and v2, as far up as can be seen from
 * here, the one that leaves the least.
 */
struct cgroup_memory {
    uint64_t left; /* bytes that may still be used; UINT64_MAX: there is no limit */
    uint64_t limit;
    struct text file; /* which says so; the caller's to free */
};

void cgroup_memory_find(struct cgroup_memory *found);

/*
 * Calls `add` with each CPU that is online: 0, or a negative errno, which ends this and is
 * returned. But -ENODEV is a CPU that went offline meanwhile, and is skipped. Without /sys all
 * numbers are tried, and -EINVAL, unless it is the first answer, means there are no more. Returns 0
 * or -ENOMEM, too.
 */
typedef int cpus_add(void *context, unsigned cpu);
int cpus_each_online(cpus_add *add, void *context);
/* The same for each CPU that could be brought online. */
int cpus_each_present(cpus_add *add, void *context);
/* Can it be opened on one that is online? `open` returns a descriptor or a negative errno. */
int cpus_try(cpus_add *open, void *context);
/* How many either has; 0: unknown. */
uint64_t cpus_count(int (*each)(cpus_add *add, void *context));

/* An upper bound of how many CPUs there may ever be: per-CPU maps have that many values. */
size_t cpus_possible(void);

/*
 * For tests: takes the next range from a list such as "0-3,6\n"; false at its end, or without one.
 */
bool cpus_next(const char **list, unsigned *first, unsigned *last);

#endif
