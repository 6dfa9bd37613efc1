/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/perf_rings.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/cpus.h"
#include "kernel/perf.h"

struct lost_record {
    struct perf_event_header header;
    uint64_t id, lost;
};

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
    size_t count = rings->count + 1;
    int fd = perf_open_output(cpu, (uint32_t)opening->bytes / 2);

    if (fd < 0)
        return fd;
    if (array_reserve(&rings->rings, &rings->room, count, sizeof(*rings->rings)) ||
        array_reserve(&rings->taken, &rings->taken_room, count, sizeof(*rings->taken))) {
        close(fd);
        return -ENOMEM;
    }
    rings->taken[rings->count] = 0;
    int result = perf_ring_open(&rings->rings[rings->count++], fd, opening->bytes);
    if (!result)
        result = bpf_update(rings->map, &cpu, &(uint32_t){(uint32_t)fd}, BPF_ANY);
    return result ? result : perf_enable(fd);
}

static int open_rings(struct perf_rings *rings, size_t bytes)
{
    int result = cpus_each_online(add_ring, &(struct opening){rings, bytes});

    return result ? result : rings->count ? 0 : -ENODEV;
}

/* Possible CPUs: by the highest number, not by how many are configured now. */
static uint32_t possible_cpus(void)
{
    struct text list = {0};
    uint64_t last = 0;

    if (!read_file(AT_FDCWD, "/sys/devices/system/cpu/possible", 4096, &list) && list.data) {
        list.data[strcspn(list.data, "\n")] = '\0';
        const char *dash = strrchr(list.data, '-'), *comma = strrchr(list.data, ',');
        const char *number = dash > comma ? dash + 1 : comma ? comma + 1 : list.data;
        (void)parse_number(number, 0, 65535, &last);
    }
    text_free(&list);
    long configured = sysconf(_SC_NPROCESSORS_CONF);
    return configured > (long)last ? (uint32_t)configured : (uint32_t)last + 1;
}

int perf_rings_open(struct perf_rings *rings, size_t bytes)
{
    const struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
        .name = "buffers",
        .key_size = sizeof(uint32_t),
        .value_size = sizeof(uint32_t),
        .entries = possible_cpus(),
    };

    *rings = (struct perf_rings){.map = -1, .record = malloc(PERF_RING_MOST_RECORD_BYTES)};
    if (!rings->record)
        return -ENOMEM;
    rings->map = bpf_create_map(&shape);
    return rings->map < 0 ? rings->map : open_rings(rings, bytes);
}

void perf_rings_close(struct perf_rings *rings)
{
    for (size_t i = 0; i < rings->count; i++)
        perf_ring_close(&rings->rings[i]);
    if (rings->map >= 0)
        close(rings->map);
    free(rings->rings);
    free(rings->taken);
    free(rings->record);
    *rings = (struct perf_rings){.map = -1};
}

static int read_ring(struct perf_rings *rings, size_t which, ring_take *take, void *context)
{
    const struct perf_ring *ring = &rings->rings[which];
    uint64_t *taken = &rings->taken[which], head = perf_ring_head(ring);
    size_t size, found;
    int count = 0, result = 0;

    while (!result && (size = perf_ring_copy(ring, *taken, head, rings->record))) {
        const void *bytes = perf_rings_parse(rings->record, size, &found, &rings->lost);
        if (bytes) {
            result = take(context, bytes, found);
            count++;
        }
        *taken += size;
        perf_ring_release(ring, *taken);
    }
    return result ? result : count;
}

int perf_rings_read(struct perf_rings *rings, ring_take *take, void *context)
{
    int count = 0;

    for (size_t i = 0; i < rings->count; i++) {
        int more = read_ring(rings, i, take, context);
        if (more < 0)
            return more;
        count += more;
    }
    return count;
}
