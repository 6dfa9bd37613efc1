/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int perf_ring_open(struct perf_ring *ring, int fd, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

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
        munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + ring->bytes);
    if (ring->fd >= 0)
        close(ring->fd);
    *ring = (struct perf_ring){.fd = -1};
}

uint64_t perf_ring_head(const struct perf_ring *ring)
{
    return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
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

size_t perf_ring_find(const struct perf_ring *ring, uint64_t at, uint64_t head, char *room, char **record)
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
    __atomic_store_n(&ring->page->data_tail, position, __ATOMIC_RELEASE);
}
