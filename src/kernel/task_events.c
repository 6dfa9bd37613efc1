/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/limits.h"
#include "kernel/perf.h"
#include "kernel/ring_buffers.h"
#include "kernel/task_events.h"

/*
 * The size of a ring's data: it holds what thousands of short processes report while a report is
 * made, if MOST_SHARE of the free memory is enough for that.
 */
#define LEAST_BYTES 32768
#define MOST_BYTES 524288
#define MOST_SHARE 64

/*
 * A wakeup per record costs the traced processes more than everything else. So the kernel wakes us
 * only when a ring is half full, and otherwise we poll: often while unknown files are mapped, which
 * we must open before they are gone; a fifth as often while only known programs come and go.
 */
#define WAKEUP_BYTES 16384 /* half of the least */

/*
 * If nothing came for REST_NS, we stop polling, too: each CPU has a bell, an event that wakes us at
 * its next record; we then disable it, as more records soon follow.
 */
#define REST_NS 100000000
#define FOLLOWS_NS 20000000

/* CPUs are checked at most this often, as a check interrupts each CPU twice. */
#define LOOK_NS 200000000
/* A clock that seems to stand still is read again after this time. */
#define SLOW_CLOCK_MS 20

struct ring {
    struct perf_ring ring;
    unsigned cpu;
    bool dead;      /* its CPU went offline: nothing more will come */
    uint64_t taken, seen, head; /* positions: handed out, seen, and the end of what is there */
    uint64_t next;              /* the time of the record at `taken`; UINT64_MAX: none */
    struct perf_ring bell;      /* without a page: none */
    bool bell_rings;            /* at the next record */
};

struct task_events {
    struct ring *rings;
    size_t count, room;
    uint32_t task; /* 0: all */
    size_t bytes; /* of data in each ring, if there is memory: a power of two */
    int epoll;
    int timer;     /* makes the other descriptor readable when it is time to look */
    bool is_timed;
    uint64_t came; /* when a reading last found something, or left something for later */
    uint64_t hurries; /* we poll often until then */
    uint64_t looked; /* at CPUs, when */
    unsigned joined; /* CPUs, since it was opened */
    char record[PERF_RING_MOST_RECORD_BYTES + 1];
};

/* ---- Rings ---- */

/* Copies the record at a position to events->record. Returns its size; 0: there is none. */
static size_t copy_record(struct task_events *events, const struct ring *ring, uint64_t at)
{
    return perf_ring_copy(&ring->ring, at, ring->head, events->record);
}

/* Polls often for at least this long. */
static void hurry(struct task_events *events, uint64_t most)
{
    const uint64_t until = now_ns() + most;

    if (events->hurries < until)
        events->hurries = until;
}

/* Passes new records to `see`. Were there any? */
static bool see_ring(struct task_events *events, struct ring *ring, task_event_sight *see,
                     void *context)
{
    struct task_event event;
    size_t size;

    ring->head = perf_ring_head(&ring->ring);
    if (ring->head - ring->taken > ring->ring.bytes) /* inconsistent: start over */
        ring->taken = ring->seen = ring->head;
    bool any = ring->seen != ring->head;
    for (; (size = copy_record(events, ring, ring->seen)); ring->seen += size)
        if (!task_event_parse(events->record, size, &event) && see(context, &event))
            hurry(events, TASK_EVENTS_CALM_NS);
    ring->seen = ring->head;
    return any;
}

/* Skips records that do not matter. Sets ring->next to the time of the next one. */
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

/* epoll_wait() resets the descriptor's readability, once for each event (EPOLLET). */
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

/*
 * A bell that rang has a record. (epoll_wait() does not tell which ones rang: poll() on a perf
 * event resets that. A bell that stays enabled fills up, and a full ring does not wake us.)
 */
static void silence_bells(struct task_events *events)
{
    for (size_t i = 0; i < events->count; i++) {
        struct ring *ring = &events->rings[i];
        if (ring->bell_rings && perf_ring_has_any(&ring->bell)) {
            ring->bell_rings = perf_disable(ring->bell.fd) != 0;
            hurry(events, FOLLOWS_NS);
        }
    }
}

/* Enables all bells. True: from now on every record wakes us, without polling. */
static bool set_bells(struct task_events *events)
{
    bool rings = true;

    for (size_t i = 0; i < events->count; i++) {
        struct ring *ring = &events->rings[i];
        if (!ring->bell_rings && ring->bell.page) {
            perf_ring_release(&ring->bell, perf_ring_head(&ring->bell));
            ring->bell_rings = !perf_enable(ring->bell.fd);
        }
        rings = rings && ring->bell_rings;
    }
    for (size_t i = 0; i < events->count; i++)
        rings = rings && perf_ring_head(&events->rings[i].ring) == events->rings[i].seen;
    return rings;
}

static void call_later(struct task_events *events, bool any)
{
    uint64_t now = now_ns();
    const struct itimerspec later = {
        .it_value.tv_nsec = now < events->hurries ? TASK_EVENTS_SOON_NS : TASK_EVENTS_LATER_NS,
    };

    if (any || earliest(events)->next < UINT64_MAX)
        events->came = now;
    else if (now - events->came >= REST_NS && set_bells(events))
        return;
    if (!events->is_timed)
        events->is_timed = !timerfd_settime(events->timer, 0, &later, NULL);
}

void task_events_read(struct task_events *events, uint64_t until, task_event_sight *see,
                      task_event_callback *take, void *context)
{
    struct ring *ring;
    bool any = false;

    take_back_readable(events);
    silence_bells(events);
    for (size_t i = 0; i < events->count; i++)
        any = see_ring(events, &events->rings[i], see, context) || any;
    for (size_t i = 0; i < events->count; i++)
        find_next(events, &events->rings[i]);
    while ((ring = earliest(events))->next <= until && ring->next < UINT64_MAX)
        take_next(events, ring, take, context);
    for (size_t i = 0; i < events->count; i++)
        perf_ring_release(&events->rings[i].ring, events->rings[i].taken);
    call_later(events, any);
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

/* If a ring lacks its bell, polling never stops. */
static void add_bell(const struct task_events *events, struct ring *ring)
{
    int fd = perf_open_tasks(ring->cpu, 1, events->task);

    ring->bell = (struct perf_ring){.fd = -1};
    if (fd >= 0 && (perf_ring_open(&ring->bell, fd, page_bytes()) || watch(events, fd)))
        perf_ring_close(&ring->bell);
    ring->bell_rings = ring->bell.page;
}

static void close_ring(struct ring *ring)
{
    perf_ring_close(&ring->ring);
    perf_ring_close(&ring->bell);
}

static int add_ring(void *context, unsigned cpu)
{
    struct task_events *events = context;

    for (size_t i = 0; i < events->count; i++)
        if (events->rings[i].cpu == cpu && !events->rings[i].dead)
            return 0;
    int fd = perf_open_tasks(cpu, WAKEUP_BYTES, events->task);
    if (fd < 0)
        return fd;
    if (ARRAY_RESERVE(events->rings, events->room, events->count + 1)) {
        close(fd);
        return -ENOMEM;
    }
    struct ring *ring = &events->rings[events->count];
    *ring = (struct ring){.cpu = cpu, .next = UINT64_MAX};
    int result = perf_ring_open(&ring->ring, fd, events->bytes);
    if (!result)
        result = watch(events, fd);
    if (result) {
        perf_ring_close(&ring->ring);
        return result;
    }
    add_bell(events, ring);
    events->count++;
    return 0;
}

static void close_rings(struct task_events *events)
{
    for (size_t i = 0; i < events->count; i++)
        close_ring(&events->rings[i]);
    events->count = 0;
}

/* RLIMIT_MEMLOCK (-EPERM) covers all rings together: they are halved until they fit. */
static int open_rings(struct task_events *events)
{
    uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF), free_memory = kernel_free_memory();
    const size_t page = page_bytes(), least = page > LEAST_BYTES ? page : LEAST_BYTES;
    int result;

    events->bytes = MOST_BYTES;
    while (events->bytes > least && events->bytes * cpus > free_memory / MOST_SHARE)
        events->bytes /= 2;
    events->looked = now_ns();
    while ((result = cpus_each_online(add_ring, events)) == -EPERM || result == -ENOMEM) {
        if (events->bytes / 2 < least)
            break;
        close_rings(events);
        events->bytes /= 2;
    }
    return result ? result : events->count ? 0 : -ENODEV;
}

/* Was its CPU offline? Then the event is dead, even if the CPU is back. */
static bool stands_still(int event)
{
    uint64_t armed = 0, later = 0;

    if (perf_armed_ns(event, &armed) || perf_armed_ns(event, &later))
        return true;
    if (later != armed)
        return false;
    (void)poll(NULL, 0, SLOW_CLOCK_MS);
    return perf_armed_ns(event, &later) || later == armed;
}

/* Is the CPU gone, and everything it reported taken? */
static bool is_over(struct ring *ring)
{
    ring->dead = ring->dead || stands_still(ring->ring.fd);
    return ring->dead && ring->taken == perf_ring_head(&ring->ring);
}

static int join(void *context, unsigned cpu)
{
    struct task_events *events = context;
    const size_t before = events->count;
    int result = add_ring(events, cpu);

    events->joined += events->count > before;
    return result;
}

int task_events_look(struct task_events *events, bool at_once)
{
    uint64_t now = now_ns();

    if (!at_once && now - events->looked < LOOK_NS)
        return 0;
    events->looked = now;
    /* One ring stays, for earliest(). A task's events are only armed while the task runs. */
    for (size_t i = events->task ? 0 : events->count; i-- > 0;)
        if (is_over(&events->rings[i]) && events->count > 1) {
            close_ring(&events->rings[i]);
            events->rings[i] = events->rings[--events->count];
        }
    return cpus_each_online(join, events);
}

unsigned task_events_joined(const struct task_events *events)
{
    return events->joined;
}

int task_events_open(struct task_events **made, uint32_t task)
{
    struct task_events *events = calloc(1, sizeof(*events));

    *made = NULL;
    if (!events)
        return -ENOMEM;
    events->task = task;
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
    close_rings(events);
    close_fd(events->epoll);
    close_fd(events->timer);
    free(events->rings);
    free(events);
}

/* Parses a record of what processes do from its bytes in a ring. */

struct mmap2_record {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t start, length, offset;
    uint32_t major, minor;
    uint64_t inode, generation;
    uint32_t protection, flags;
};

static int parse_map(char *record, size_t size, struct task_event *event)
{
    struct mmap2_record map;

    memcpy(&map, record, sizeof(map));
    /* A record with a build id has no device and inode; we never ask for one. */
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
    record[size] = '\0'; /* over the time, which has been read */
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
    event->forker = fork.ptid;
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
        record[size] = '\0'; /* over the time, which has been read */
        event->path = record + sizeof(comm);
        break;
    default:
        parse_fork(record, header.type == PERF_RECORD_FORK ? TASK_FORK : TASK_EXIT, event);
    }
    /* 0: a process outside our namespace; -1: one that is gone. */
    return event->pid && event->pid != UINT32_MAX ? 0 : -EINVAL;
}
