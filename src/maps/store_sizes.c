/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/store_sizes.h"

#include <string.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/cpus.h"
#include "kernel/limits.h"

/*
 * What may be new within a fifth of a second, when a program does everything for the first time,
 * and several at once. Preallocated memory costs something even if it is not used: setup takes some
 * milliseconds.
 */
#define DEFAULT_STACKS 20480
#define STACKS_PER_DEEP 5
#define COUNTS_PER_FIVE 6 /* per five stacks, as they come in pairs, and with processes */
/* On larger machines more runs, and more is new between two looks. */
#define STACKS_PER_CPU 512
#define MOST_STACKS 65536
#define MOST_IDS 4096 /* that map never grows; stacks that do not fit are kept by our own hash */
/* With a size asked for: a stack occurs with several others, and these with several processes. */
#define COUNTS_PER_STACK 2
/* What a hash entry takes besides its key and value. */
#define ENTRY_OVERHEAD 56
#define MOST_SHARE 4 /* of the free memory */
#define MOST_MAP_BYTES (128u << 20) /* a single map does not grow beyond this */
/* More than half of a map at once: then it should be at most a quarter. */
#define GROWS_FROM 2
#define GROWS_TO 4

uint64_t store_depth_limit(void)
{
    const uint64_t limit = kernel_stack_depth(), most = bpf_has_loops() ? MOST_DEPTH : UNROLLED_DEPTH;

    return limit < most ? limit : most;
}

void store_set_sizes(struct store *store, uint64_t stacks, const struct store_wishes *wishes)
{
    uint64_t ids = stacks;

    store->stacks = (uint32_t)stacks;
    if (wishes->stacks) {
        store->wanted[BANK_DEEP] = (uint32_t)stacks;
        store->wanted[BANK_COUNTS] =
            (uint32_t)(stacks < LEAST_STACKS ? LEAST_STACKS : stacks) * COUNTS_PER_STACK;
    } else {
        bool has_shallow = store->depth > SHALLOW_DEPTH;
        store->banks.shallow_depth = has_shallow ? SHALLOW_DEPTH : 0;
        store->wanted[BANK_SHALLOW] = has_shallow ? (uint32_t)stacks : 0;
        store->wanted[BANK_DEEP] = (uint32_t)(has_shallow ? stacks / STACKS_PER_DEEP : stacks);
        store->wanted[BANK_COUNTS] = (uint32_t)(stacks / 5 * COUNTS_PER_FIVE);
        ids = stacks < MOST_IDS ? stacks : MOST_IDS;
    }
    store->id_entries = wishes->by_id ? (uint32_t)ids : 0;
}

struct bpf_map_shape store_map_shape(const struct store *store, enum bank_map map,
                                     uint32_t entries)
{
    static const char *const names[] = {
        [BANK_COUNTS] = "counts",
        [BANK_SHALLOW] = "shallow",
        [BANK_DEEP] = "deep",
    };
    uint32_t depth = map == BANK_SHALLOW ? SHALLOW_DEPTH : store->depth;

    return (struct bpf_map_shape){
        .type = BPF_MAP_TYPE_HASH,
        .name = names[map],
        .key_size = map == BANK_COUNTS ? store->key_bytes : (uint32_t)sizeof(int64_t),
        .value_size = map == BANK_COUNTS ? store->value_bytes
                                         : (uint32_t)SPILLED_STACK_BYTES(depth),
        .entries = entries,
    };
}

static uint64_t map_bytes(const struct store *store, enum bank_map map, uint64_t entries)
{
    struct bpf_map_shape shape = store_map_shape(store, map, 0);

    return entries * (shape.key_size + shape.value_size + ENTRY_OVERHEAD);
}

uint64_t store_bytes(const struct store *store)
{
    uint64_t bytes = (uint64_t)store->id_entries * store->depth * sizeof(uint64_t);

    for (int map = 0; map < BANK_MAPS; map++)
        bytes += 2 * map_bytes(store, (enum bank_map)map, store->wanted[map]);
    return bytes;
}

/* ---- Growth ---- */

void store_new_entries(const struct account *now, const struct account *before,
                       uint64_t entries[BANK_MAPS])
{
    uint64_t deep = now->deep_kept - before->deep_kept;

    entries[BANK_COUNTS] = now->inserted - before->inserted;
    entries[BANK_SHALLOW] = now->stacks_kept - before->stacks_kept - deep;
    entries[BANK_DEEP] = deep;
}

static bool may_double(const struct store *store, enum bank_map map)
{
    uint64_t more = map_bytes(store, map, store->wanted[map]), has = store_bytes(store);

    return more * 2 <= MOST_MAP_BYTES &&
           has + more * 2 <= (has + kernel_free_memory()) / MOST_SHARE;
}

void store_want(struct store *store, const uint64_t entries[BANK_MAPS])
{
    for (int map = 0; map < BANK_MAPS && store->grows; map++) {
        uint32_t *wanted = &store->wanted[map];
        if (entries[map] <= *wanted / GROWS_FROM)
            continue;
        while (entries[map] > *wanted / GROWS_TO && may_double(store, (enum bank_map)map))
            *wanted *= 2;
    }
    store->stacks = store->wanted[store->banks.shallow_depth ? BANK_SHALLOW : BANK_DEEP];
}

/* ---- The beginning ---- */

static int count_cpu(void *context, unsigned cpu)
{
    uint64_t *count = context;

    (void)cpu;
    ++*count;
    return 0;
}

/* As many new ones as this machine makes in a moment. */
static uint64_t usual_stacks(void)
{
    uint64_t cpus = 0, stacks = DEFAULT_STACKS;

    if (cpus_each_online(count_cpu, &cpus) || cpus * STACKS_PER_CPU > MOST_STACKS)
        cpus = MOST_STACKS / STACKS_PER_CPU;
    while (stacks < cpus * STACKS_PER_CPU)
        stacks *= 2;
    return stacks;
}

uint64_t store_first_sizes(struct store *store, const struct store_wishes *wishes)
{
    uint64_t available = kernel_free_memory();
    uint64_t stacks = wishes->stacks ? wishes->stacks : usual_stacks();

    store->grows = !wishes->stacks;
    store_set_sizes(store, stacks, wishes);
    while (!wishes->stacks && available && store_bytes(store) > available / MOST_SHARE &&
           stacks > LEAST_STACKS)
        store_set_sizes(store, stacks /= 2, wishes);
    return stacks;
}
