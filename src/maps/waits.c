/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/waits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"

/* In addition to twice the present number of tasks. */
#define MORE_ENTRIES 8192
#define LEAST_ENTRIES 512
#define ENTRY_OVERHEAD 56 /* what a hash entry takes besides its key and value */
#define MOST_SHARE 8      /* of the free memory */

uint32_t waits_value_bytes(const struct waits *waits)
{
    return (uint32_t)offwake_wait_bytes(waits->view);
}

uint64_t waits_bytes(const struct waits *waits)
{
    return (uint64_t)waits->entries * (waits_value_bytes(waits) + sizeof(uint32_t) + ENTRY_OVERHEAD);
}

/* "0.20 0.18 0.12 1/80 11206": 80 of them. */
static uint64_t count_tasks(void)
{
    struct text content = {0};
    uint64_t tasks = 0;

    if (!read_file(AT_FDCWD, "/proc/loadavg", 256, &content) && content.data) {
        char *at = strchr(content.data, '/');
        if (at) {
            at[1 + strspn(at + 1, "0123456789")] = '\0';
            if (parse_number(at + 1, 0, UINT32_MAX / 4, &tasks))
                tasks = 0;
        }
    }
    text_free(&content);
    return tasks;
}

int waits_open(struct waits *waits)
{
    uint64_t most = kernel_free_memory() / MOST_SHARE;

    waits->map = -1;
    waits->entries = (uint32_t)(count_tasks() * 2 + MORE_ENTRIES);
    while (most && waits_bytes(waits) > most && waits->entries > LEAST_ENTRIES)
        waits->entries /= 2;
    for (;;) {
        const struct bpf_map_shape shape = {
            .type = BPF_MAP_TYPE_HASH,
            .name = "waits",
            .key_size = sizeof(uint32_t),
            .value_size = waits_value_bytes(waits),
            .entries = waits->entries,
        };
        waits->map = bpf_create_map(&shape);
        if (waits->map != -ENOMEM || waits->entries <= LEAST_ENTRIES)
            return waits->map < 0 ? waits->map : 0;
        waits->entries /= 2;
    }
}

void waits_close(struct waits *waits)
{
    if (waits->map >= 0)
        close(waits->map);
    waits->map = -1;
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
