/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What processes do: forks, execs, executable mappings and exits, on all CPUs that are online,
 * merged by time. Pids are those of our pid namespace; processes outside it are left out.
 */
#ifndef STACKBOX_KERNEL_TASK_EVENTS_H
#define STACKBOX_KERNEL_TASK_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum task_event_kind {
    TASK_FORK, /* of a process or of a thread, which has the pid of its parent */
    TASK_EXEC, /* after the old mappings went, before the new ones */
    TASK_NAME, /* a first thread, and so its process, is renamed */
    TASK_MAP,  /* executable memory */
    TASK_EXIT, /* of a thread */
    TASK_LOST, /* records that were lost for lack of room; of no process */
};

struct task_event {
    enum task_event_kind kind;
    uint64_t time; /* CLOCK_MONOTONIC, ns */
    uint32_t pid, tid;
    uint32_t parent, forker; /* fork: the process and the thread that forked */
    uint64_t start, end, offset;
    uint64_t device, inode, generation; /* inode 0: no file */
    const char *path; /* as its process sees it; "//anon" without a name; exec, name: the name */
    uint64_t lost;
};

/* `event` is valid during the call only. */
typedef void task_event_callback(void *context, const struct task_event *event);
/* True: the event is new to the caller, so the next ones may be, too: polls often for a while. */
typedef bool task_event_sight(void *context, const struct task_event *event);

struct task_events;

/*
 * For all processes, or, if `task` is not 0, for that one and all that it forks, which needs fewer
 * rights. 0, -ENOMEM, or why the kernel does not allow it: -EACCES, -EPERM, -ENOSYS, -ENOENT ...
 */
int task_events_open(struct task_events **made, uint32_t task);
void task_events_close(struct task_events *events);

/*
 * An epoll descriptor: readable within TASK_EVENTS_SOON_NS of a record, or if records are left for
 * later. If `see` found nothing new for TASK_EVENTS_CALM_NS: within TASK_EVENTS_LATER_NS.
 */
#define TASK_EVENTS_SOON_NS 4000000
#define TASK_EVENTS_LATER_NS 20000000
#define TASK_EVENTS_CALM_NS 2000000000
int task_events_fd(const struct task_events *events);

/*
 * `see` gets every new record, at once and unordered; `take` gets those not newer than `until`,
 * once each, by time. Newer ones wait for the next call: an earlier record may still be on its way
 * from another CPU.
 */
void task_events_read(struct task_events *events, uint64_t until, task_event_sight *see,
                      task_event_callback *take, void *context);

/*
 * Starts listening on CPUs that came online, or back online, since the last call; does nothing if
 * called too soon, unless `at_once`. What happens on such a CPU before that is missed. 0, or why
 * one of them cannot be listened to.
 */
int task_events_look(struct task_events *events, bool at_once);
/* How many CPUs came online. */
unsigned task_events_joined(const struct task_events *events);

/* ---- For tests ---- */

/*
 * Parses a record as in a ring, of `size` bytes, followed by one byte of room, which is written to.
 * 0, or -EINVAL: it is not a record, or not one of these kinds.
 */
int task_event_parse(char *record, size_t size, struct task_event *event);

#endif
