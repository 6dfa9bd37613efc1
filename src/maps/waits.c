/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"

#define LEAST_ENTRIES 512
#define ENTRY_OVERHEAD 56 /* what a hash entry takes besides its key and value */
#define MOST_SHARE 8      /* of the free memory */

uint32_t waits_key_bytes(const struct waits *waits)
{
    return waits->view == VIEW_WALL ? sizeof(uint64_t) : sizeof(uint32_t);
}

uint32_t waits_value_bytes(const struct waits *waits)
{
    return (uint32_t)offwake_wait_bytes(waits->view);
}

uint64_t waits_bytes(const struct waits *waits)
{
    const unsigned maps = waits->view == VIEW_WALL ? 2 : 1;

    return (uint64_t)waits->entries * maps * (waits_value_bytes(waits) + waits_key_bytes(waits) + ENTRY_OVERHEAD);
}

static void shrink(struct waits *waits)
{
    waits->entries /= 2;
    waits->for_all = false;
}

static int open_map(struct waits *waits, const char *name)
{
    const struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_HASH,
        .name = name,
        .key_size = waits_key_bytes(waits),
        .value_size = waits_value_bytes(waits),
        .entries = waits->entries,
    };

    return bpf_create_map(&shape);
}

static void close_map(int *map)
{
    if (*map >= 0)
        close(*map);
    *map = -1;
}

static int open_maps(struct waits *waits)
{
    waits->map = open_map(waits, "waits");
    if (waits->map < 0 || waits->view != VIEW_WALL)
        return waits->map < 0 ? waits->map : 0;
    waits->rests = open_map(waits, "rests");
    return waits->rests < 0 ? waits->rests : 0;
}

int waits_open(struct waits *waits)
{
    uint64_t most = kernel_free_memory() / MOST_SHARE;

    waits->map = -1;
    /* There are no more threads on the machine. They take a hundred times as much memory as this map. */
    waits->entries = kernel_most_threads() + LEAST_ENTRIES;
    waits->for_all = true;
    while (most && waits_bytes(waits) > most && waits->entries > LEAST_ENTRIES)
        shrink(waits);
    for (;;) {
        int result = open_maps(waits);
        if (result != -ENOMEM || waits->entries <= LEAST_ENTRIES)
            return result ? result : waits->view == VIEW_WALL ? controls_open_cuts(&waits->store->controls) : 0;
        close_map(&waits->map);
        shrink(waits);
    }
}

void waits_close(struct waits *waits)
{
    close_map(&waits->map);
    close_map(&waits->rests);
    stack_table_free(&waits->stacks);
    free(waits->seen);
    waits->seen = NULL;
    waits->seen_count = waits->seen_room = 0;
}

bool waits_has_seen(const struct waits *waits, uint32_t tid)
{
    size_t at = first_not_below(waits->seen, waits->seen_count, tid);

    return at < waits->seen_count && waits->seen[at] == tid;
}
