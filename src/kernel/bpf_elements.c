/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The elements of maps: lookups, updates, removals. */
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/bpf.h"
#include "kernel/bpf_call.h"
#include "kernel/cpus.h"

#define BATCH_ENTRIES 1024

static _Thread_local struct {
    unsigned depth;
    int policy;
    struct sched_param parameters;
    bool raised;
} before;

bool bpf_begin_unpreempted(void)
{
    struct sched_param first_in_line = {.sched_priority = 1};

    if (before.depth++)
        return before.raised;
    before.policy = (int)syscall(SYS_sched_getscheduler, 0);
    before.raised = false;
    /* Already real-time, by the user's choice: leave it. */
    if (before.policy == SCHED_FIFO || before.policy == SCHED_RR || before.policy == SCHED_DEADLINE)
        return true;
    if (before.policy < 0 || syscall(SYS_sched_getparam, 0, &before.parameters))
        return false;
    before.raised = !syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &first_in_line);
    return before.raised;
}

void bpf_end_unpreempted(void)
{
    if (--before.depth || !before.raised)
        return;
    syscall(SYS_sched_setscheduler, 0, before.policy, &before.parameters);
    before.raised = false;
}

/* For calls about the elements of a map. */
static int map_call(enum bpf_abi_command command, void *attributes, unsigned size)
{
    bpf_begin_unpreempted();
    int result = bpf_call(command, attributes, size);
    bpf_end_unpreempted();
    return result;
}

int bpf_lookup(int map, const void *key, void *value)
{
    struct bpf_abi_map_elem elem = {(uint32_t)map, 0, pointer(key), pointer(value), 0};

    return map_call(BPF_ABI_MAP_LOOKUP_ELEM, &elem, sizeof(elem));
}

int bpf_sum_of_cpus(int map, uint32_t index, uint64_t *sums, size_t words)
{
    /* The kernel fills in a value per possible CPU. */
    size_t cpus = cpus_possible();
    uint64_t *values = calloc(cpus, words * sizeof(*values));

    if (!values)
        return -ENOMEM;
    int result = bpf_lookup(map, &index, values);
    memset(sums, 0, words * sizeof(*sums));
    for (size_t i = 0; !result && i < cpus * words; i++)
        sums[i % words] += values[i];
    free(values);
    return result;
}

int bpf_update(int map, const void *key, const void *value, uint64_t flags)
{
    struct bpf_abi_map_elem elem = {(uint32_t)map, 0, pointer(key), pointer(value), flags};

    return map_call(BPF_ABI_MAP_UPDATE_ELEM, &elem, sizeof(elem));
}

int bpf_delete(int map, const void *key)
{
    struct bpf_abi_map_elem elem = {.map_fd = (uint32_t)map, .key = pointer(key)};

    return map_call(BPF_ABI_MAP_DELETE_ELEM, &elem, sizeof(elem));
}

int bpf_next_key(int map, const void *key, void *next)
{
    struct bpf_abi_map_elem elem = {(uint32_t)map, 0, pointer(key), pointer(next), 0};

    return map_call(BPF_ABI_MAP_GET_NEXT_KEY, &elem, sizeof(elem));
}

/*
 * `command` is a lookup, or a lookup with deletion. `any` is set once a batch was answered: an
 * error before that means that the kernel has no batches, and nothing was taken yet.
 */
static int take_batches(enum bpf_abi_command command, int map, uint32_t key_size,
                        uint32_t value_size, bpf_take *take, void *context, bool *any)
{
    uint32_t room = BATCH_ENTRIES;
    char *keys = malloc((size_t)room * key_size), *values = malloc((size_t)room * value_size);
    /* The kernel's position: at most as large as a key. */
    char *place = calloc(1, key_size > 8 ? key_size : 8);
    bool first = true;
    int result = keys && values && place ? 0 : -ENOMEM;

    while (!result) {
        struct bpf_abi_map_batch batch = {
            .in_batch = first ? 0 : pointer(place),
            .out_batch = pointer(place),
            .keys = pointer(keys),
            .values = pointer(values),
            .count = room,
            .map_fd = (uint32_t)map,
        };
        int got = map_call(command, &batch, sizeof(batch));
        if (got == -ENOSPC) { /* a hash bucket holds more than there is room for */
            char *more_keys = realloc(keys, (size_t)room * 2 * key_size);
            keys = more_keys ? more_keys : keys;
            char *more_values = realloc(values, (size_t)room * 2 * value_size);
            values = more_values ? more_values : values;
            if (!more_keys || !more_values)
                result = -ENOMEM;
            room *= 2;
            continue;
        }
        if (got && got != -ENOENT) {
            result = got;
            break;
        }
        *any = true;
        first = false;
        for (uint32_t i = 0; i < batch.count && !result; i++)
            result = take(context, keys + (size_t)i * key_size, values + (size_t)i * value_size);
        if (got == -ENOENT)
            break;
    }
    free(keys);
    free(values);
    free(place);
    return result;
}

bool bpf_has_batches(int map)
{
    uint64_t key = 0, value = 0, place = 0;
    struct bpf_abi_map_batch batch = {
        .out_batch = pointer(&place),
        .keys = pointer(&key),
        .values = pointer(&value),
        .count = 1,
        .map_fd = (uint32_t)map,
    };
    int result = map_call(BPF_ABI_MAP_LOOKUP_AND_DELETE_BATCH, &batch, sizeof(batch));

    return !result || result == -ENOENT;
}

static int drain_singly(int map, uint32_t key_size, uint32_t value_size, bpf_take *take,
                        void *context)
{
    char *key = malloc(key_size), *value = malloc(value_size);
    int result = key && value ? 0 : -ENOMEM;

    while (!result) {
        result = bpf_next_key(map, NULL, key);
        if (!result)
            result = bpf_lookup(map, key, value);
        if (!result)
            result = bpf_delete(map, key);
        if (!result)
            result = take(context, key, value);
    }
    free(key);
    free(value);
    return result == -ENOENT ? 0 : result;
}

int bpf_drain(int map, uint32_t key_size, uint32_t value_size, bpf_take *take, void *context)
{
    bool any = false;
    int result = take_batches(BPF_ABI_MAP_LOOKUP_AND_DELETE_BATCH, map, key_size, value_size, take,
                              context, &any);

    if (result && !any && result != -ENOMEM)
        result = drain_singly(map, key_size, value_size, take, context);
    return result;
}

/* If the previous entry was deleted meanwhile, the kernel starts over: entries are listed again. */
static int list_singly(int map, uint32_t key_size, uint32_t value_size, bpf_take *take,
                       void *context)
{
    char *keys = malloc((size_t)key_size * 2), *value = malloc(value_size);
    int result = keys && value ? bpf_next_key(map, NULL, keys) : -ENOMEM;

    while (!result) {
        result = bpf_lookup(map, keys, value);
        if (!result)
            result = take(context, keys, value);
        if (!result || result == -ENOENT)
            result = bpf_next_key(map, keys, keys + key_size);
        if (!result)
            memcpy(keys, keys + key_size, key_size);
    }
    free(keys);
    free(value);
    return result == -ENOENT ? 0 : result;
}

int bpf_list(int map, uint32_t key_size, uint32_t value_size, bpf_take *take, void *context)
{
    bool any = false;
    int result = take_batches(BPF_ABI_MAP_LOOKUP_BATCH, map, key_size, value_size, take, context,
                              &any);

    if (result && !any && result != -ENOMEM)
        result = list_singly(map, key_size, value_size, take, context);
    return result;
}
