/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The only caller of perf_event_open(2). Descriptors are the caller's to close. */
#ifndef STACKBOX_KERNEL_PERF_H
#define STACKBOX_KERNEL_PERF_H

#include <stdbool.h>
#include <stdint.h>


/* The kernel's probes as perf knows them (4.17): a type to open events with, -ENOENT without. */
struct perf_probe_type {
    uint32_t type;
    uint64_t return_bit; /* what in `config` asks for a probe at the return */
    bool counts; /* how many listen to a probe, where it has a counter of that (4.20) */
};
int perf_probe_type(const char *name, struct perf_probe_type *type);

/*
 * A probe on a kernel function: at `address` when that is not 0, else at `function` + `offset`. Not
 * armed for anybody but the program that perf_attach gives it.
 */
int perf_open_kprobe(const struct perf_probe_type *type, bool at_return, const char *function,
                     uint64_t offset, uint64_t address);

/* A probe on an instruction of a file, wherever that is mapped. -EOVERFLOW: see `semaphore`. */
struct perf_uprobe {
    const char *path;
    bool at_return;
    uint64_t offset;    /* in the file */
    uint64_t semaphore; /* offset of a counter of who listens (4.20), 0: none; of 32 bits */
    uint32_t pid;       /* in this process alone; 0: in all */
};
int perf_open_uprobe(const struct perf_probe_type *type, const struct perf_uprobe *probe);

int perf_open_tracepoint(uint32_t id);

/*
 * What processes do on one CPU (fork, exec, executable mappings, exit), to be read from a ring that
 * the caller maps; records end with their time of CLOCK_MONOTONIC. It is readable each time that so
 * many bytes of them came. -ENODEV: that CPU is offline; -EINVAL: there is no such CPU.
 * Of all, or, where `task` is not 0, of that one and of all that it forks.
 */
int perf_open_tasks(unsigned cpu, uint32_t wakeup_bytes, uint32_t task);

/* Runs `program` at every hit of the event, on all CPUs and whoever hits it. */
int perf_attach(int event, int program);

/* An event of one CPU that overflows again and again, not yet armed: perf_attach does that. */
struct perf_sampled {
    uint32_t type; /* PERF_TYPE_* */
    uint64_t config;
    bool by_frequency;      /* the kernel seeks the period that gives so many a second */
    uint64_t period;        /* of the overflow; or the frequency */
    bool leaves_idle_out;   /* for software clocks alone: others refuse it */
    unsigned cpu;
};
/* As perf_open_tasks; also -ENOENT and -EOPNOTSUPP: this machine has no such event. */
int perf_open_sampled(const struct perf_sampled *sampled);

/*
 * For how long (ns) an event of these two kinds was armed. It stands still once its CPU went offline,
 * also when that came back. 0 or a negative errno.
 */
int perf_armed_ns(int event, uint64_t *armed);

/*
 * What programs on one CPU hand over (perf_event_output), to be read from a ring that the caller maps.
 * It becomes readable when so many bytes are there. Errors as above; perf_enable lets records in.
 */
int perf_open_output(unsigned cpu, uint32_t wakeup_bytes);
/*
 * An event of anybody's making, of a task (`pid`; 0: the caller, -1: all), on a CPU; `flags` beside that it is
 * closed by exec. A descriptor or a negative errno.
 */
struct perf_event_attr;
int perf_open(struct perf_event_attr *attributes, int pid, unsigned cpu, unsigned long flags);
/* What the event tells goes into the ring of that other one, of the same CPU. */
int perf_redirect(int event, int ring);
/* By which number its samples name it. */
int perf_id(int event, uint64_t *id);

int perf_enable(int event);
/* What happens until it is enabled again is not told. */
int perf_disable(int event);

#endif
