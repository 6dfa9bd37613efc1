/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "kernel/perf.h"
#include "kernel/ring_buffers.h"
#include "machine/machine.h"

#define HEADER_BYTES 8 /* BPF_RINGBUF_HDR_SZ: u32 length with two flags, u32 of the kernel's own */
#define BUSY (1u << 31)
#define DISCARDED (1u << 30)
/* Read records are released after this many, not one by one. */
#define RECORDS_AT_A_TIME 32
#define BIG_ENDIAN_HERE (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* 32 bits of a 64-bit number. */
typedef uint32_t __attribute__((may_alias)) half;

/*
 * Positions only grow, and we count them in 64 bits. Not every 32-bit machine reads or writes 64
 * bits at once, and 32-bit kernels wrap theirs. The kernel's position is never further from ours
 * than the ring's size, so its lower half suffices.
 */
static uint64_t read_position(const void *low, uint64_t ours, int order)
{
    const uint32_t theirs = __atomic_load_n((const half *)low, order);

    return ours + (uint32_t)(theirs - (uint32_t)ours);
}

/*
 * If this takes two stores and the upper half changes (every 4 GB), the kernel finds the ring full
 * in between: it drops a record, and counts it.
 */
static void write_position(void *to, uint64_t position, int order)
{
    half *const halves = to;

    if (__atomic_always_lock_free(sizeof(position), NULL)) {
        __atomic_store_n((uint64_t *)to, position, order);
        return;
    }
    __atomic_store_n(&halves[!BIG_ENDIAN_HERE], (uint32_t)(position >> 32), __ATOMIC_RELAXED);
    __atomic_store_n(&halves[BIG_ENDIAN_HERE], (uint32_t)position, order);
}

static int map_part(const struct bpf_ring *ring, char **part, size_t bytes, int rights, size_t from)
{
    void *at = mmap(NULL, bytes, rights, MAP_SHARED, ring->map, (off_t)from);

    if (at == MAP_FAILED)
        return -errno;
    *part = at;
    madvise(at, bytes, MADV_DONTFORK); /* perf's rings are not inherited, either */
    return 0;
}

int bpf_ring_open(struct bpf_ring *ring, size_t bytes)
{
    const struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_RINGBUF,
        .name = "ring",
        .entries = (uint32_t)bytes,
    };
    size_t page = page_bytes();

    *ring = (struct bpf_ring){.map = -1, .bytes = bytes};
    ring->is_narrow = sizeof(long) == 4 && machine_of_kernel()->bits != 64;
    ring->map = bpf_create_map(&shape);
    if (ring->map < 0)
        return ring->map;
    int result = map_part(ring, &ring->consumer, page, PROT_READ | PROT_WRITE, 0);
    return result ? result : map_part(ring, &ring->producer, page, PROT_READ, page);
}

void bpf_ring_close(struct bpf_ring *ring)
{
    size_t page = page_bytes();

    if (ring->consumer)
        munmap(ring->consumer, page);
    if (ring->producer)
        munmap(ring->producer, page);
    if (ring->data)
        munmap(ring->data, 2 * ring->bytes);
    close_fd(ring->map);
    *ring = (struct bpf_ring){.map = -1};
}

/*
 * The kernel's unsigned long, the type of positions, may be twice as wide as ours. A 32-bit kernel
 * has other data behind its own position, and nothing behind ours: this matters in big endian only.
 */
static size_t low_half(const struct bpf_ring *ring)
{
    return BIG_ENDIAN_HERE && !ring->is_narrow ? sizeof(half) : 0;
}

static uint64_t programs_position(const struct bpf_ring *ring, int order)
{
    return read_position(ring->producer + low_half(ring), ring->position, order);
}

static void move_on(struct bpf_ring *ring, uint64_t position, int order)
{
    ring->position = position;
    if (BIG_ENDIAN_HERE && ring->is_narrow)
        __atomic_store_n((half *)(void *)ring->consumer, (uint32_t)position, order);
    else
        write_position(ring->consumer, position, order);
}

/* The size in the ring of the record at a position; 0: it is not submitted yet. */
static size_t record_at(const struct bpf_ring *ring, uint64_t at, uint32_t *length)
{
    const uint32_t *header = (const void *)(ring->data + ((size_t)at & (ring->bytes - 1)));

    *length = __atomic_load_n(header, __ATOMIC_ACQUIRE);
    uint32_t size = *length & ~(BUSY | DISCARDED);
    if (*length & BUSY || size > ring->bytes - HEADER_BYTES)
        return 0; /* no kernel writes such a length */
    return HEADER_BYTES + ((size + 7) & ~(size_t)7);
}

/*
 * Reads the clock before the position: records reserved after that take their time later. Once
 * all records reserved by then have been read, no earlier one is missing.
 */
static void set_mark(struct bpf_ring *ring)
{
    if (ring->is_marked)
        return;
    ring->mark_time = now_ns();
    ring->mark = programs_position(ring, __ATOMIC_SEQ_CST);
    ring->is_marked = true;
}

static void look_at_mark(struct bpf_ring *ring, uint64_t position)
{
    if (!ring->is_marked || position < ring->mark)
        return;
    ring->settled = ring->mark_time;
    ring->is_marked = false;
}

int bpf_ring_read(struct bpf_ring *ring, ring_take *take, void *context)
{
    const size_t page = page_bytes();
    uint64_t position = ring->position;
    int count = 0, result = 0;
    uint32_t length;
    size_t size;

    set_mark(ring);
    /* Up to where it is now: programs could otherwise keep us here for ever. */
    const uint64_t end = programs_position(ring, __ATOMIC_ACQUIRE);
    /* The kernel maps the data twice in a row, so no record is split. */
    if (end > position && !ring->data)
        result = map_part(ring, &ring->data, 2 * ring->bytes, PROT_READ, 2 * page);
    while (!result && end > position && (size = record_at(ring, position, &length))) {
        if (!(length & DISCARDED)) {
            const char *record = ring->data + ((size_t)position & (ring->bytes - 1)) + HEADER_BYTES;
            result = take(context, record, length);
            count++;
        }
        position += size;
        if (count % RECORDS_AT_A_TIME == 0)
            move_on(ring, position, __ATOMIC_RELEASE);
    }
    /* Sequentially consistent: else the kernel may submit the next record without a wakeup. */
    move_on(ring, position, __ATOMIC_SEQ_CST);
    look_at_mark(ring, position);
    return result ? result : count;
}

int perf_ring_open(struct perf_ring *ring, int fd, size_t bytes)
{
    size_t page = page_bytes();

    *ring = (struct perf_ring){.fd = fd, .bytes = bytes};
    void *at = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return -errno;
    ring->page = at;
    ring->data = (char *)at + page;
    return 0;
}

void perf_ring_close(struct perf_ring *ring)
{
    if (ring->page)
        munmap(ring->page, page_bytes() + ring->bytes);
    close_fd(ring->fd);
    *ring = (struct perf_ring){.fd = -1};
}

uint64_t perf_ring_head(const struct perf_ring *ring)
{
    return read_position((const half *)(const void *)&ring->page->data_head + BIG_ENDIAN_HERE,
                         ring->page->data_tail, __ATOMIC_ACQUIRE);
}

bool perf_ring_has_any(const struct perf_ring *ring)
{
    return perf_ring_head(ring) != ring->page->data_tail;
}

static void copy_out(const struct perf_ring *ring, uint64_t at, void *to, size_t size)
{
    size_t begin = (size_t)at & (ring->bytes - 1), whole = ring->bytes - begin;

    if (whole > size)
        whole = size;
    memcpy(to, ring->data + begin, whole);
    memcpy((char *)to + whole, ring->data, size - whole);
}

size_t perf_ring_find(const struct perf_ring *ring, uint64_t at, uint64_t head, char *room,
                      char **record)
{
    const size_t begin = (size_t)at & (ring->bytes - 1);
    struct perf_event_header header;
    uint64_t left = head - at;

    if (left < sizeof(header))
        return 0;
    copy_out(ring, at, &header, sizeof(header));
    if (header.size < sizeof(header) || header.size > left)
        return 0; /* no kernel writes that */
    *record = room;
    if (header.type == PERF_RECORD_SAMPLE && !(begin & 7) && header.size <= ring->bytes - begin)
        *record = ring->data + begin;
    else
        copy_out(ring, at, room, header.size);
    return header.size;
}

size_t perf_ring_copy(const struct perf_ring *ring, uint64_t at, uint64_t head, char *record)
{
    char *found = record;
    size_t size = perf_ring_find(ring, at, head, record, &found);

    if (found != record)
        memcpy(record, found, size);
    return size;
}

void perf_ring_release(const struct perf_ring *ring, uint64_t position)
{
    write_position(&ring->page->data_tail, position, __ATOMIC_RELEASE);
}

const void *perf_rings_parse(const char *record, size_t size, size_t *found, uint64_t *lost)
{
    struct perf_event_header header;
    struct lost_record said;
    uint32_t bytes;

    if (size < sizeof(header))
        return NULL;
    memcpy(&header, record, sizeof(header));
    if (header.type == PERF_RECORD_LOST && size >= sizeof(said)) {
        memcpy(&said, record, sizeof(said));
        *lost += said.lost;
    }
    if (header.type != PERF_RECORD_SAMPLE || size < sizeof(header) + sizeof(bytes))
        return NULL;
    memcpy(&bytes, record + sizeof(header), sizeof(bytes));
    if (bytes > size - sizeof(header) - sizeof(bytes))
        return NULL;
    *found = bytes;
    return record + sizeof(header) + sizeof(bytes);
}

struct opening {
    struct perf_rings *rings;
    size_t bytes; /* of each */
};

static int add_ring(void *context, unsigned cpu)
{
    const struct opening *opening = context;
    struct perf_rings *rings = opening->rings;
    int fd = perf_open_output(cpu, (uint32_t)opening->bytes / 2);

    if (fd < 0)
        return fd;
    if (ARRAY_RESERVE(rings->rings, rings->room, rings->count + 1)) {
        close(fd);
        return -ENOMEM;
    }
    int result = perf_ring_open(&rings->rings[rings->count++], fd, opening->bytes);
    if (!result)
        result = bpf_update(rings->map, &cpu, &(uint32_t){(uint32_t)fd}, BPF_ANY);
    return result ? result : perf_enable(fd);
}

int perf_rings_open(struct perf_rings *rings, size_t bytes)
{
    *rings = (struct perf_rings){.map = -1, .record = malloc(PERF_RING_MOST_RECORD_BYTES)};
    if (!rings->record)
        return -ENOMEM;
    int result = bpf_create_numbered(&rings->map, BPF_MAP_TYPE_PERF_EVENT_ARRAY, "buffers",
                                     sizeof(uint32_t), (uint32_t)cpus_possible());
    if (!result)
        result = cpus_each_online(add_ring, &(struct opening){rings, bytes});
    return result ? result : rings->count ? 0 : -ENODEV;
}

void perf_rings_close(struct perf_rings *rings)
{
    for (size_t i = 0; i < rings->count; i++)
        perf_ring_close(&rings->rings[i]);
    close_fd(rings->map);
    free(rings->rings);
    free(rings->record);
    *rings = (struct perf_rings){.map = -1};
}

/* What was released is where reading goes on. */
static int read_ring(struct perf_rings *rings, const struct perf_ring *ring, ring_take *take,
                     void *context)
{
    const uint64_t head = perf_ring_head(ring);
    uint64_t at = ring->page->data_tail;
    size_t size, found;
    int count = 0, result = 0;

    while (!result && (size = perf_ring_copy(ring, at, head, rings->record))) {
        const void *bytes = perf_rings_parse(rings->record, size, &found, &rings->lost);
        if (bytes) {
            result = take(context, bytes, found);
            count++;
        }
        at += size;
        perf_ring_release(ring, at);
    }
    return result ? result : count;
}

int perf_rings_read(struct perf_rings *rings, ring_take *take, void *context)
{
    int count = 0;

    for (size_t i = 0; i < rings->count; i++) {
        int more = read_ring(rings, &rings->rings[i], take, context);
        if (more < 0)
            return more;
        count += more;
    }
    return count;
}

/* What both records begin with. */
struct throttle_record {
    struct perf_event_header header;
    uint64_t time;
};

void throttle_open(struct throttle *throttle, int fd)
{
    *throttle = (struct throttle){.ring.fd = -1};
    (void)perf_ring_open(&throttle->ring, fd, THROTTLE_RING_BYTES);
}

/* If a record between two was lost, the time counts as not throttled. */
void throttle_take(struct throttle *throttle, const char *record, size_t size)
{
    struct throttle_record begin;

    if (size < sizeof(begin))
        return;
    memcpy(&begin, record, sizeof(begin));
    if (begin.header.type == PERF_RECORD_THROTTLE) {
        throttle->since = begin.time;
        throttle->times++;
    } else if (begin.header.type == PERF_RECORD_UNTHROTTLE) {
        if (throttle->since && begin.time > throttle->since)
            throttle->stopped += begin.time - throttle->since;
        throttle->since = 0;
    }
}

void throttle_read(struct throttle *throttle)
{
    const struct perf_ring *ring = &throttle->ring;

    if (!ring->page || !perf_ring_has_any(ring))
        return;
    const uint64_t head = perf_ring_head(ring);
    uint64_t at = ring->page->data_tail;
    char *record = malloc(PERF_RING_MOST_RECORD_BYTES);
    for (size_t size; record && (size = perf_ring_copy(ring, at, head, record)); at += size)
        throttle_take(throttle, record, size);
    free(record);
    perf_ring_release(ring, at);
}

uint64_t throttle_stopped(const struct throttle *throttle)
{
    uint64_t now = throttle->since ? now_ns() : 0;

    return throttle->stopped + (now > throttle->since ? now - throttle->since : 0);
}
