/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parses a record of what processes do from its bytes in a ring. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "base/util.h"
#include "kernel/perf_records.h"
#include "kernel/task_events.h"

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

/* Processes outside our namespace have number 0, those that are gone have -1. */
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
        record[size] = '\0'; /* over the time, which has been read */
        event->path = record + sizeof(comm);
        break;
    default:
        parse_fork(record, header.type == PERF_RECORD_FORK ? TASK_FORK : TASK_EXIT, event);
    }
    return is_ours(event->pid) ? 0 : -EINVAL;
}
