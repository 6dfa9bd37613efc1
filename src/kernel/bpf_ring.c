/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/bpf_ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/bpf.h"

#define HEADER_BYTES 8 /* BPF_RINGBUF_HDR_SZ: u32 length with two flags, u32 of the kernel's own */
#define BUSY (1u << 31)
#define DISCARDED (1u << 30)
/* Read records are released after this many, not one by one. */
#define RECORDS_AT_A_TIME 32
/* Where the lower 32 bits of an unsigned long are. */
#define LOW_HALF (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && sizeof(long) == 8 ? 4 : 0)

int bpf_ring_open(struct bpf_ring *ring, size_t bytes)
{
    const struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_RINGBUF,
        .name = "ring",
        .entries = (uint32_t)bytes,
    };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *at;

    *ring = (struct bpf_ring){.map = -1, .bytes = bytes};
    ring->map = bpf_create_map(&shape);
    if (ring->map < 0)
        return ring->map;
    at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, ring->map, 0);
    if (at == MAP_FAILED)
        return -errno;
    ring->consumer = at;
    madvise(at, page, MADV_DONTFORK); /* as perf's rings are anyway: it is only ours */
    /* The data are mapped twice in a row: no record is split. */
    at = mmap(NULL, page + 2 * bytes, PROT_READ, MAP_SHARED, ring->map, (off_t)page);
    if (at == MAP_FAILED)
        return -errno;
    ring->producer = at;
    madvise(at, page + 2 * bytes, MADV_DONTFORK);
    return 0;
}

void bpf_ring_close(struct bpf_ring *ring)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (ring->consumer)
        munmap(ring->consumer, page);
    if (ring->producer)
        munmap(ring->producer, page + 2 * ring->bytes);
    if (ring->map >= 0)
        close(ring->map);
    *ring = (struct bpf_ring){.map = -1};
}

/*
 * Positions only grow. They are the kernel's unsigned long, which may be twice as wide as ours: we
 * count in 64 bits. A 32-bit kernel has something else after its own position, and nothing after
 * ours.
 */
static uint64_t *our_position(const struct bpf_ring *ring)
{
    return (uint64_t *)(void *)ring->consumer;
}

/*
 * The programs' position is never further from ours than the ring's size: its lower half suffices.
 */
static uint64_t programs_position(const struct bpf_ring *ring, int order)
{
    const uint32_t *low = (const void *)(ring->producer + LOW_HALF);
    uint64_t ours = *our_position(ring);

    return ours + (uint32_t)(__atomic_load_n(low, order) - (uint32_t)ours);
}

/* The record at a position, if it was submitted: its size in the ring, or 0. */
static size_t record_at(const struct bpf_ring *ring, uint64_t at, uint32_t *length)
{
    const char *data = ring->producer + sysconf(_SC_PAGESIZE);
    const uint32_t *header = (const void *)(data + ((size_t)at & (ring->bytes - 1)));

    *length = __atomic_load_n(header, __ATOMIC_ACQUIRE);
    uint32_t size = *length & ~(BUSY | DISCARDED);
    if (*length & BUSY || size > ring->bytes - HEADER_BYTES)
        return 0; /* no kernel writes such a length */
    return HEADER_BYTES + ((size + 7) & ~(size_t)7);
}

/*
 * The clock is read before the position: what was not reserved by then takes its time later. Once
 * everything reserved has been read, all earlier records are here.
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
    const char *data = ring->producer + sysconf(_SC_PAGESIZE);
    uint64_t *ours = our_position(ring), position = *ours;
    int count = 0, result = 0;
    uint32_t length;
    size_t size;

    set_mark(ring);
    /* No further than now: programs could keep us here for ever. */
    const uint64_t end = programs_position(ring, __ATOMIC_ACQUIRE);
    while (!result && end > position && (size = record_at(ring, position, &length))) {
        if (!(length & DISCARDED)) {
            const char *record = data + ((size_t)position & (ring->bytes - 1)) + HEADER_BYTES;
            result = take(context, record, length);
            count++;
        }
        position += size;
        if (count % RECORDS_AT_A_TIME == 0)
            __atomic_store_n(ours, position, __ATOMIC_RELEASE);
    }
    /* Sequentially consistent, or the kernel may not see that we sleep when it submits the next. */
    __atomic_store_n(ours, position, __ATOMIC_SEQ_CST);
    look_at_mark(ring, position);
    return result ? result : count;
}
