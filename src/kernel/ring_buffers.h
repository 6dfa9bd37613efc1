/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reading the kernel's ring buffers: perf's, and BPF's; and how often an event was throttled. */
#ifndef STACKBOX_KERNEL_RING_BUFFERS_H
#define STACKBOX_KERNEL_RING_BUFFERS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Records in perf's rings: what follows these fields depends on what was asked for. */

struct fork_record { /* and of an exit */
    struct perf_event_header header;
    uint32_t pid, ppid, tid, ptid;
    uint64_t time;
};

struct comm_record { /* the name follows */
    struct perf_event_header header;
    uint32_t pid, tid;
};

struct lost_record {
    struct perf_event_header header;
    uint64_t id, lost;
};

/*
 * Reads a BPF_MAP_TYPE_RINGBUF (5.8), one ring for all CPUs. Programs reserve a record, fill it and
 * submit it; records are read in the order in which they were reserved.
 */

struct bpf_ring {
    int map; /* owned */
    size_t bytes;
    char *consumer, *producer; /* pages with our position and with the programs' */
    char *data;                /* mapped at the first record: many rings stay empty */
    bool is_narrow;            /* the kernel's unsigned long has 32 bits */
    uint64_t position;         /* ours */
    uint64_t mark; /* how far records were reserved at mark_time */
    uint64_t mark_time;
    bool is_marked;
    uint64_t settled;
};

/* `bytes` is a power of two, of pages. 0 or a negative errno; bpf_ring_close after either. */
int bpf_ring_open(struct bpf_ring *ring, size_t bytes);
void bpf_ring_close(struct bpf_ring *ring);

/* `record` is valid during the call. 0, or a negative errno, which ends reading. */
typedef int ring_take(void *context, const void *record, size_t size);

/*
 * Hands out records up to the first that is not submitted yet. Returns how many, or a negative
 * errno. If programs read the clock after reserving, no later record has a time before
 * ring->settled (CLOCK_MONOTONIC).
 */
int bpf_ring_read(struct bpf_ring *ring, ring_take *take, void *context);

/* A record's length is a 16-bit number. */
#define PERF_RING_MOST_RECORD_BYTES 65536

/* The ring of one perf event, as the kernel fills it and we read it. */
struct perf_ring {
    int fd; /* the event, owned by the ring */
    struct perf_event_mmap_page *page;
    char *data;
    size_t bytes; /* of the data: a power of two */
};

/*
 * Maps the ring of event `fd`, and takes `fd` over, even if this fails. 0 or a negative errno;
 * perf_ring_close after either.
 */
int perf_ring_open(struct perf_ring *ring, int fd, size_t bytes);
void perf_ring_close(struct perf_ring *ring);

/* The position up to which the kernel has written records. */
uint64_t perf_ring_head(const struct perf_ring *ring);

/* Are there records that were not released? */
bool perf_ring_has_any(const struct perf_ring *ring);

/*
 * Copies the record at position `at`, before `head`, to `record`, which has room for
 * PERF_RING_MOST_RECORD_BYTES. Returns its size, or 0: there is no whole record.
 */
size_t perf_ring_copy(const struct perf_ring *ring, uint64_t at, uint64_t head, char *record);

/*
 * The same, but leaves a contiguous sample in the ring, as samples are large: *record is then valid
 * until that position is released. Otherwise *record is `room`.
 */
size_t perf_ring_find(const struct perf_ring *ring, uint64_t at, uint64_t head, char *room,
                      char **record);

/* Lets the kernel overwrite everything before this position. */
void perf_ring_release(const struct perf_ring *ring, uint64_t position);

/* One ring per CPU that programs write to by perf_event_output: for kernels before 5.8. */

struct perf_rings {
    int map;
    struct perf_ring *rings; /* of the CPUs that were online */
    size_t count, room;
    uint64_t lost;           /* records, as the kernel reports in the rings */
    char *record;
};

/* `bytes` per CPU: a power of two, of pages. As bpf_ring_open. */
int perf_rings_open(struct perf_rings *rings, size_t bytes);
void perf_rings_close(struct perf_rings *rings);

/* Hands out what is there, CPU by CPU. Returns how many, or a negative errno. */
int perf_rings_read(struct perf_rings *rings, ring_take *take, void *context);

/*
 * For tests: finds a program's data in a record of `size` bytes, and their length. NULL: it is not
 * a program's record; if it reports lost records, *lost grows by their number.
 */
const void *perf_rings_parse(const char *record, size_t size, size_t *found, uint64_t *lost);

/*
 * For how long the kernel throttled an event because it overflowed more often in a tick than
 * kernel.perf_event_max_sample_rate allows. The event's ring holds only the records that say so.
 */

/* Enough for half a second at 1,000 ticks a second. */
#define THROTTLE_RING_BYTES 32768

struct throttle {
    struct perf_ring ring; /* the caller closes it; .fd is the event, below 0: there is none */
    uint64_t since;   /* CLOCK_MONOTONIC; 0: not throttled now */
    uint64_t stopped; /* ns, up to then */
    uint64_t times;   /* how often */
};

/* Takes over event `fd`. If there is no memory for a ring, throttling goes unnoticed. */
void throttle_open(struct throttle *throttle, int fd);

/* Reads new records in the ring: twice a second is often enough. */
void throttle_read(struct throttle *throttle);

/* For how long (ns) it was throttled in total, as far as the ring was read. */
uint64_t throttle_stopped(const struct throttle *throttle);

/* Takes in a record of the ring. */
void throttle_take(struct throttle *throttle, const char *record, size_t size);

#endif
