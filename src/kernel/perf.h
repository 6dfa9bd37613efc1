/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The only caller of perf_event_open(2). The caller closes descriptors. */
#ifndef STACKBOX_KERNEL_PERF_H
#define STACKBOX_KERNEL_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel's probes as perf event types (4.17): a type to open events with; -ENOENT: none. */
struct perf_probe_type {
    uint32_t type;
    uint64_t return_bit; /* the bit in `config` for a return probe */
    bool counts; /* it can use a probe's semaphore (4.20) */
};
int perf_probe_type(const char *name, struct perf_probe_type *type);

/*
 * A probe on a kernel function: at `address` unless that is 0, else at `function` + `offset`. The
 * kernel arms it only once perf_attach attaches a program.
 */
int perf_open_kprobe(const struct perf_probe_type *type, bool at_return, const char *function,
                     uint64_t offset, uint64_t address);

/* A probe on an instruction of a file, wherever it is mapped. -EOVERFLOW: see `semaphore`. */
struct perf_uprobe {
    const char *path;
    bool at_return;
    uint64_t offset;    /* in the file */
    uint64_t semaphore; /* offset of a USDT semaphore (4.20), 0: none; 32 bits */
    uint32_t pid;       /* in this process only; 0: in all */
};
int perf_open_uprobe(const struct perf_probe_type *type, const struct perf_uprobe *probe);

int perf_open_tracepoint(uint32_t id);

/*
 * What tasks do on one CPU (fork, exec, executable mappings, exit), read from a ring that the
 * caller maps; records end with their CLOCK_MONOTONIC time. The descriptor becomes readable once
 * `wakeup_bytes` more have come. -ENODEV: the CPU is offline; -EINVAL: there is no such CPU. Of all
 * tasks, or, if `task` is not 0, of that one and all that it forks.
 */
int perf_open_tasks(unsigned cpu, uint32_t wakeup_bytes, uint32_t task);

/*
 * Runs `program` at every hit of the event, on all CPUs and in every process. A tracepoint's event
 * stays disabled: for an enabled one the kernel would prepare a sample of each hit on the event's
 * CPU, and discard it.
 */
int perf_attach(int event, int program);

/* A sampling event on one CPU, not armed yet: perf_enable arms it. */
struct perf_sampled {
    uint32_t type; /* PERF_TYPE_* */
    uint64_t config;
    bool by_frequency;      /* the kernel adjusts the period to this many a second */
    uint64_t period;        /* events between samples; or the frequency */
    bool leaves_idle_out;   /* for software clocks only: others refuse it */
    unsigned cpu;
};
/* As perf_open_tasks; also -ENOENT and -EOPNOTSUPP: this machine has no such event. */
int perf_open_sampled(const struct perf_sampled *sampled);

/*
 * For how long (ns) an event of these two kinds was armed. The count stops when the event's CPU
 * goes offline, and does not resume when the CPU comes back. 0 or a negative errno.
 */
int perf_armed_ns(int event, uint64_t *armed);

/*
 * How many records of an event, and of the events that inherited it, found no room in the ring:
 * only with PERF_FORMAT_LOST, which kernels accept from 6.0 on. 0 or a negative errno.
 */
bool perf_counts_lost(void);
int perf_lost(int event, uint64_t *lost);

/*
 * What programs on one CPU output (perf_event_output), read from a ring that the caller maps. The
 * descriptor becomes readable at `wakeup_bytes`. Errors as above; perf_enable starts it.
 */
int perf_open_output(unsigned cpu, uint32_t wakeup_bytes);
/*
 * Any event, of a task (`pid`; 0: the caller, -1: all), on a CPU; `flags` in addition to
 * close-on-exec. A descriptor or a negative errno.
 */
struct perf_event_attr;
int perf_open(struct perf_event_attr *attributes, int pid, unsigned cpu, unsigned long flags);
/* Makes the event write into the ring of another event on the same CPU. */
int perf_redirect(int event, int ring);
/* The id that its samples carry. */
int perf_id(int event, uint64_t *id);

int perf_enable(int event);
/* Stops recording until perf_enable(). */
int perf_disable(int event);

/* Does this kernel save the frame pointer, as all registers, on every entry to a system call? */
bool kernel_saves_frames(void);

/*
 * Events that the kernel did not pass to programs, as far as it reports them. Each of these
 * functions counts other events, so their sum counts none twice. Read them before detaching.
 *
 * Missed because a program was running on that CPU. The kernel reports them for programs on
 * tracepoints (5.12 if they interrupt themselves, 6.7 otherwise), on kprobes and on kprobe.multi
 * links (6.7). `program` may be below 0: none.
 */
uint64_t misses_of_program(int program);

/*
 * Missed because the probe itself was running on that CPU, or had no room for another return. The
 * kernel reports them for links (6.7); `fds` may hold other descriptors, too.
 */
uint64_t misses_of_links(const int *fds, size_t count);

/* The same for probes defined as text in tracefs, whose names begin with `prefix`. */
uint64_t misses_of_text(int tracefs, const char *prefix);

#endif
