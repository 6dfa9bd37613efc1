/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/task_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "kernel/cpus.h"
#include "kernel/perf.h"
#include "kernel/perf_ring.h"
#include "kernel/store.h"
#include "util.h"

/*
 * Of each ring: what thousands of short processes have to tell while a report is made, where a small
 * part of the free memory is enough for that.
 */
#define LEAST_BYTES 32768
#define MOST_BYTES 524288
#define MOST_SHARE 64

/* What was too young to be taken is old enough after this. */
#define LATER_NS 5000000

/* CPUs are looked at no more often: their events would seem to stand still. */
#define LOOK_NS 400000000

struct ring {
    struct perf_ring ring;
    unsigned cpu;
    bool dead;      /* its CPU went offline: there is nothing more to come */
    uint64_t armed; /* for how long (ns) it was so when last looked at */
    uint64_t taken, seen, head; /* positions: up to which records were handed out, and are there */
    uint64_t next;              /* the time of the record at `taken`; UINT64_MAX: there is none */
};

struct task_events {
    struct ring *rings;
    size_t count, room;
    size_t bytes; /* of the data of a ring, if there is room: a power of two */
    int epoll;
    int timer;     /* makes the other one readable for what was left to be taken later */
    bool is_timed;
    uint64_t looked; /* at the CPUs, when */
    char record[PERF_RING_MOST_RECORD_BYTES + 1];
};

/* ---- Records ---- */

struct fork_record {
    struct perf_event_header header;
    uint32_t pid, ppid, tid, ptid;
    uint64_t time;
};

struct comm_record {
    struct perf_event_header header;
    uint32_t pid, tid;
};

struct mmap2_record {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t start, length, offset;
    uint32_t major, minor;
    uint64_t inode, generation;
    uint32_t protection, flags;
};

struct lost_record {
    struct perf_event_header header;
    uint64_t id, lost;
};

static int parse_map(char *record, size_t size, struct task_event *event)
{
    struct mmap2_record map;

    memcpy(&map, record, sizeof(map));
    /* What a build id stands in has no device and inode; it is never asked for. */
    if (map.header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID || !(map.protection & PROT_EXEC) ||
        __builtin_add_overflow(map.start, map.length, &event->end) || !map.length)
        return -EINVAL;
    event->kind = TASK_MAP;
    event->pid = map.pid;
    event->tid = map.tid;
    event->start = map.start;
    event->offset = map.offset;
    event->device = makedev(map.major, map.minor);
    event->inode = map.inode;
    event->generation = map.generation;
    record[size] = '\0'; /* over the time, which was read */
    event->path = record + sizeof(map);
    return 0;
}

static void parse_fork(const char *record, enum task_event_kind kind, struct task_event *event)
{
    struct fork_record fork;

    memcpy(&fork, record, sizeof(fork));
    event->kind = kind;
    event->pid = fork.pid;
    event->tid = fork.tid;
    event->parent = fork.ppid;
}

/* The numbers of what is outside of our namespace, and of what has none any more. */
static bool is_ours(uint32_t pid)
{
    return pid && pid != UINT32_MAX;
}

int task_event_parse(char *record, size_t size, struct task_event *event)
{
    static const size_t least[] = {
        [PERF_RECORD_LOST] = sizeof(struct lost_record),
        [PERF_RECORD_COMM] = sizeof(struct comm_record),
        [PERF_RECORD_EXIT] = sizeof(struct fork_record),
        [PERF_RECORD_FORK] = sizeof(struct fork_record),
        [PERF_RECORD_MMAP2] = sizeof(struct mmap2_record),
    };
    struct perf_event_header header;
    struct comm_record comm;
    struct lost_record lost;

    *event = (struct task_event){.time = 0};
    if (size < sizeof(header))
        return -EINVAL;
    memcpy(&header, record, sizeof(header));
    if (header.type >= COUNT_OF(least) || !least[header.type] ||
        size < least[header.type] + sizeof(event->time))
        return -EINVAL;
    size -= sizeof(event->time);
    memcpy(&event->time, record + size, sizeof(event->time));
    switch (header.type) {
    case PERF_RECORD_LOST:
        memcpy(&lost, record, sizeof(lost));
        event->kind = TASK_LOST;
        event->lost = lost.lost;
        return 0;
    case PERF_RECORD_MMAP2:
        if (parse_map(record, size, event))
            return -EINVAL;
        break;
    case PERF_RECORD_COMM:
        memcpy(&comm, record, sizeof(comm));
        event->kind = header.misc & PERF_RECORD_MISC_COMM_EXEC ? TASK_EXEC : TASK_NAME;
        if (event->kind == TASK_NAME && comm.pid != comm.tid)
            return -EINVAL;
        event->pid = comm.pid;
        event->tid = comm.tid;
        record[size] = '\0'; /* over the time, which was read */
        event->path = record + sizeof(comm);
        break;
    default:
        parse_fork(record, header.type == PERF_RECORD_FORK ? TASK_FORK : TASK_EXIT, event);
    }
    return is_ours(event->pid) ? 0 : -EINVAL;
}

/* ---- Rings ---- */

/* The record at a position of a ring, in events->record. Its size, or 0: there is none. */
static size_t copy_record(struct task_events *events, const struct ring *ring, uint64_t at)
{
    return perf_ring_copy(&ring->ring, at, ring->head, events->record);
}

/* Hands what is new to `see`, and finds out what is to be taken first. */
static void see_ring(struct task_events *events, struct ring *ring, task_event_callback *see,
                     void *context)
{
    struct task_event event;
    size_t size;

    ring->head = perf_ring_head(&ring->ring);
    if (ring->head - ring->taken > ring->ring.bytes) /* nor that: begin anew */
        ring->taken = ring->seen = ring->head;
    for (; (size = copy_record(events, ring, ring->seen)); ring->seen += size)
        if (!task_event_parse(events->record, size, &event))
            see(context, &event);
    if (ring->seen != ring->head)
        ring->seen = ring->head;
}

/* Skips what does not matter. The time of the next record goes to ring->next. */
static void find_next(struct task_events *events, struct ring *ring)
{
    struct task_event event;
    size_t size;

    ring->next = UINT64_MAX;
    for (; (size = copy_record(events, ring, ring->taken)); ring->taken += size)
        if (!task_event_parse(events->record, size, &event)) {
            ring->next = event.time < UINT64_MAX ? event.time : UINT64_MAX - 1;
            return;
        }
    ring->taken = ring->head;
}

static void take_next(struct task_events *events, struct ring *ring, task_event_callback *take,
                      void *context)
{
    struct task_event event;
    size_t size = copy_record(events, ring, ring->taken);

    if (size && !task_event_parse(events->record, size, &event))
        take(context, &event);
    ring->taken += size;
    find_next(events, ring);
}

static struct ring *earliest(struct task_events *events)
{
    struct ring *first = &events->rings[0];

    for (size_t i = 1; i < events->count; i++)
        if (events->rings[i].next < first->next)
            first = &events->rings[i];
    return first;
}

/* What makes the descriptor readable is taken back by looking at it, once for each (EPOLLET). */
static void take_back_readable(struct task_events *events)
{
    struct epoll_event woken[16];
    int count;

    do {
        count = epoll_wait(events->epoll, woken, COUNT_OF(woken), 0);
        for (int i = 0; i < count; i++)
            events->is_timed = events->is_timed && woken[i].data.fd != events->timer;
    } while (count == COUNT_OF(woken));
}

static void call_later(struct task_events *events)
{
    static const struct itimerspec later = {.it_value = {.tv_nsec = LATER_NS}};

    if (!events->is_timed && earliest(events)->next < UINT64_MAX)
        events->is_timed = !timerfd_settime(events->timer, 0, &later, NULL);
}

void task_events_read(struct task_events *events, uint64_t until, task_event_callback *see,
                      task_event_callback *take, void *context)
{
    struct ring *ring;

    take_back_readable(events);
    for (size_t i = 0; i < events->count; i++)
        see_ring(events, &events->rings[i], see, context);
    for (size_t i = 0; i < events->count; i++)
        find_next(events, &events->rings[i]);
    while ((ring = earliest(events))->next <= until && ring->next < UINT64_MAX)
        take_next(events, ring, take, context);
    for (size_t i = 0; i < events->count; i++)
        perf_ring_release(&events->rings[i].ring, events->rings[i].taken);
    call_later(events);
}

int task_events_fd(const struct task_events *events)
{
    return events->epoll;
}

/* ---- Opening ---- */

static int watch(const struct task_events *events, int fd)
{
    struct epoll_event wanted = {.events = EPOLLIN | EPOLLET, .data.fd = fd};

    return epoll_ctl(events->epoll, EPOLL_CTL_ADD, fd, &wanted) ? -errno : 0;
}

static int add_ring(void *context, unsigned cpu)
{
    struct task_events *events = context;

    for (size_t i = 0; i < events->count; i++)
        if (events->rings[i].cpu == cpu && !events->rings[i].dead)
            return 0;
    int fd = perf_open_tasks(cpu);
    if (fd < 0)
        return fd;
    if (array_reserve(&events->rings, &events->room, events->count + 1, sizeof(*events->rings))) {
        close(fd);
        return -ENOMEM;
    }
    struct ring *ring = &events->rings[events->count];
    *ring = (struct ring){.cpu = cpu, .next = UINT64_MAX};
    size_t bytes = events->bytes;
    int result = perf_ring_open(&ring->ring, fd, bytes);
    /* Beyond a limit of locked memory it is -EPERM. */
    while ((result == -EPERM || result == -ENOMEM) && (bytes /= 2) >= LEAST_BYTES)
        result = perf_ring_open(&ring->ring, fd, bytes);
    if (!result)
        result = watch(events, fd);
    if (result)
        perf_ring_close(&ring->ring);
    else
        events->count++;
    return result;
}

static int open_rings(struct task_events *events)
{
    uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF), free_memory = store_free_memory();
    long page = sysconf(_SC_PAGESIZE);

    events->bytes = MOST_BYTES;
    while (events->bytes > LEAST_BYTES && events->bytes * cpus > free_memory / MOST_SHARE)
        events->bytes /= 2;
    if (events->bytes < (size_t)page)
        events->bytes = (size_t)page;
    events->looked = now_ns();
    int result = cpus_each_online(add_ring, events);
    return result ? result : events->count ? 0 : -ENODEV;
}

/* Has the CPU gone, and is all that it told taken? */
static bool is_over(struct ring *ring)
{
    uint64_t armed = 0;

    if (!ring->dead)
        ring->dead = perf_armed_ns(ring->ring.fd, &armed) || armed <= ring->armed;
    ring->armed = armed;
    return ring->dead && ring->taken == perf_ring_head(&ring->ring);
}

int task_events_look(struct task_events *events)
{
    uint64_t now = now_ns();

    if (now - events->looked < LOOK_NS)
        return 0;
    events->looked = now;
    /* One stays: there is always an earliest. */
    for (size_t i = events->count; i-- > 0;)
        if (is_over(&events->rings[i]) && events->count > 1) {
            perf_ring_close(&events->rings[i].ring);
            events->rings[i] = events->rings[--events->count];
        }
    return cpus_each_online(add_ring, events);
}

int task_events_open(struct task_events **made)
{
    struct task_events *events = calloc(1, sizeof(*events));

    *made = NULL;
    if (!events)
        return -ENOMEM;
    events->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    events->epoll = epoll_create1(EPOLL_CLOEXEC);
    int result = events->timer < 0 || events->epoll < 0 ? -errno : watch(events, events->timer);
    if (!result)
        result = open_rings(events);
    if (result) {
        task_events_close(events);
        return result;
    }
    *made = events;
    return 0;
}

void task_events_close(struct task_events *events)
{
    if (!events)
        return;
    for (size_t i = 0; i < events->count; i++)
        perf_ring_close(&events->rings[i].ring);
    if (events->epoll >= 0)
        close(events->epoll);
    if (events->timer >= 0)
        close(events->timer);
    free(events->rings);
    free(events);
}
