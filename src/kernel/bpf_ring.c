/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/bpf_ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/bpf.h"
#include "util.h"

#define HEADER_BYTES 8 /* BPF_RINGBUF_HDR_SZ: u32 length with two flags, u32 of the kernel's own */
#define BUSY (1u << 31)
#define DISCARDED (1u << 30)
/* The place of what was read is given back after so many records, not for each. */
#define RECORDS_AT_A_TIME 32

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
    /* The data is there twice, one after the other: no record is in two parts. */
    at = mmap(NULL, page + 2 * bytes, PROT_READ, MAP_SHARED, ring->map, (off_t)page);
    if (at == MAP_FAILED)
        return -errno;
    ring->producer = at;
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

/* Positions only grow, and are of the kernel's unsigned long. */
static unsigned long *position_in(char *page)
{
    return (unsigned long *)(void *)page;
}

/* The record at a position, if it was submitted: the size of its place, or 0. */
static size_t record_at(const struct bpf_ring *ring, unsigned long at, uint32_t *length)
{
    const char *data = ring->producer + sysconf(_SC_PAGESIZE);
    const uint32_t *header = (const void *)(data + (at & (ring->bytes - 1)));

    *length = __atomic_load_n(header, __ATOMIC_ACQUIRE);
    uint32_t size = *length & ~(BUSY | DISCARDED);
    if (*length & BUSY || size > ring->bytes - HEADER_BYTES)
        return 0; /* no kernel writes such a length */
    return HEADER_BYTES + ((size + 7) & ~(size_t)7);
}

/*
 * The clock is read before the position: whatever was not reserved by then takes its time later. Once
 * all that was reserved has been read, every earlier record is here.
 */
static void set_mark(struct bpf_ring *ring)
{
    if (ring->is_marked)
        return;
    ring->mark_time = now_ns();
    ring->mark = __atomic_load_n(position_in(ring->producer), __ATOMIC_SEQ_CST);
    ring->is_marked = true;
}

static void look_at_mark(struct bpf_ring *ring, unsigned long position)
{
    if (!ring->is_marked || (long)(position - (unsigned long)ring->mark) < 0)
        return;
    ring->settled = ring->mark_time;
    ring->is_marked = false;
}

int bpf_ring_read(struct bpf_ring *ring, ring_take *take, void *context)
{
    const char *data = ring->producer + sysconf(_SC_PAGESIZE);
    unsigned long *consumer = position_in(ring->consumer), position = *consumer;
    int count = 0, result = 0;
    uint32_t length;
    size_t size;

    set_mark(ring);
    /* No further than it is now: programs could keep us here for ever. */
    unsigned long end = __atomic_load_n(position_in(ring->producer), __ATOMIC_ACQUIRE);
    while (!result && (long)(end - position) > 0 && (size = record_at(ring, position, &length))) {
        if (!(length & DISCARDED)) {
            result = take(context, data + (position & (ring->bytes - 1)) + HEADER_BYTES, length);
            count++;
        }
        position += size;
        if (count % RECORDS_AT_A_TIME == 0)
            __atomic_store_n(consumer, position, __ATOMIC_RELEASE);
    }
    /* As strict as this, or the kernel may not see that we sleep when it submits the next. */
    __atomic_store_n(consumer, position, __ATOMIC_SEQ_CST);
    look_at_mark(ring, position);
    return result ? result : count;
}
