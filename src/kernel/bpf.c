/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/bpf.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "kernel/bpf_call.h"
#include "kernel/cpus.h"

#define FIRST_LOG_BYTES 65536
#define LAST_LOG_BYTES (16 << 20)
#define BATCH_ENTRIES 1024
#define MOST_LOADS 8

int bpf_call(enum bpf_abi_command command, void *attributes, unsigned size)
{
    long result;
    int tries = MOST_LOADS;

    /* -EAGAIN: a signal came while the kernel looked at a program. */
    do
        result = syscall(SYS_bpf, command, attributes, size);
    while (result < 0 && errno == EAGAIN && command == BPF_ABI_PROG_LOAD && --tries);
    return result < 0 ? -errno : (int)result;
}

static void copy_name(char *to, const char *name)
{
    snprintf(to, BPF_ABI_OBJ_NAME_BYTES, "%s", name);
}

/* True where the limit was below and now is not, so that another try is worth it. */
static bool raise_locked_memory(void)
{
    struct rlimit limit, most = {RLIM_INFINITY, RLIM_INFINITY};

    if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return false;
    if (!setrlimit(RLIMIT_MEMLOCK, &most))
        return true;
    if (limit.rlim_cur == limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return !setrlimit(RLIMIT_MEMLOCK, &limit);
}

int bpf_create_map(const struct bpf_map_shape *shape)
{
    struct bpf_abi_map_create create = {
        .map_type = shape->type,
        .key_size = shape->key_size,
        .value_size = shape->value_size,
        .max_entries = shape->entries,
        .map_flags = shape->flags,
        .inner_map_fd = (uint32_t)shape->inner,
    };

    copy_name(create.map_name, shape->name);
    int fd = bpf_call(BPF_ABI_MAP_CREATE, &create, sizeof(create));
    if (fd == -EPERM && raise_locked_memory())
        fd = bpf_call(BPF_ABI_MAP_CREATE, &create, sizeof(create));
    return fd;
}

int bpf_create_numbered(int *map, uint32_t type, const char *name, size_t value_size,
                        uint32_t entries)
{
    const struct bpf_map_shape shape = {
        .type = type,
        .name = name,
        .key_size = sizeof(uint32_t),
        .value_size = (uint32_t)value_size,
        .entries = entries,
    };

    *map = bpf_create_map(&shape);
    return *map < 0 ? *map : 0;
}

int bpf_lookup(int map, const void *key, void *value)
{
    struct bpf_abi_map_elem elem = {(uint32_t)map, 0, pointer(key), pointer(value), 0};

    return bpf_call(BPF_ABI_MAP_LOOKUP_ELEM, &elem, sizeof(elem));
}

int bpf_sum_of_cpus(int map, uint32_t index, uint64_t *sums, size_t words)
{
    /* The kernel fills in a value for each possible CPU. */
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

    return bpf_call(BPF_ABI_MAP_UPDATE_ELEM, &elem, sizeof(elem));
}

int bpf_delete(int map, const void *key)
{
    struct bpf_abi_map_elem elem = {.map_fd = (uint32_t)map, .key = pointer(key)};

    return bpf_call(BPF_ABI_MAP_DELETE_ELEM, &elem, sizeof(elem));
}

int bpf_next_key(int map, const void *key, void *next)
{
    struct bpf_abi_map_elem elem = {(uint32_t)map, 0, pointer(key), pointer(next), 0};

    return bpf_call(BPF_ABI_MAP_GET_NEXT_KEY, &elem, sizeof(elem));
}

/*
 * `command` is to look up, or to look up and delete. `any` is set once a batch was answered: an
 * error before that means that the kernel has no batches, and nothing was taken yet.
 */
static int take_batches(enum bpf_abi_command command, int map, uint32_t key_size,
                        uint32_t value_size, bpf_take *take, void *context, bool *any)
{
    uint32_t room = BATCH_ENTRIES;
    char *keys = malloc((size_t)room * key_size), *values = malloc((size_t)room * value_size);
    /* What the kernel keeps its place with: up to a key's size. */
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
        int got = bpf_call(command, &batch, sizeof(batch));
        if (got == -ENOSPC) { /* one bucket of the hash holds more than the room */
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
    uint64_t key, value, place;
    struct bpf_abi_map_batch batch = {
        .out_batch = pointer(&place),
        .keys = pointer(&key),
        .values = pointer(&value),
        .count = 1,
        .map_fd = (uint32_t)map,
    };
    int result = bpf_call(BPF_ABI_MAP_LOOKUP_AND_DELETE_BATCH, &batch, sizeof(batch));

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

/* From an entry that was deleted meanwhile the search begins anew: what was listed is again. */
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

/* The verifier's words on a program that the kernel has just refused. */
static void load_with_log(struct bpf_abi_prog_load *attributes, struct text *log)
{
    for (uint32_t size = FIRST_LOG_BYTES; size <= LAST_LOG_BYTES; size *= 4) {
        char *buffer = malloc(size);
        if (!buffer)
            return;
        buffer[0] = '\0';
        attributes->log_level = 1;
        attributes->log_size = size;
        attributes->log_buf = pointer(buffer);
        int fd = bpf_call(BPF_ABI_PROG_LOAD, attributes, sizeof(*attributes));
        if (fd >= 0)
            close(fd); /* not what was asked: the first answer stands */
        if (fd != -ENOSPC || size * 4 > LAST_LOG_BYTES) {
            text_append(log, buffer, strnlen(buffer, size));
            free(buffer);
            return;
        }
        free(buffer);
    }
}

int bpf_load_program(const struct bpf_load *load, struct text *log)
{
    struct bpf_abi_prog_load attributes = {
        .prog_type = load->type,
        .insn_cnt = (uint32_t)load->count,
        .insns = pointer(load->insns),
        .license = pointer("Dual MIT/GPL"),
        .expected_attach_type = load->attach_type,
    };

    copy_name(attributes.prog_name, load->name);
    int fd = bpf_call(BPF_ABI_PROG_LOAD, &attributes, sizeof(attributes));
    if (fd == -EPERM && raise_locked_memory())
        fd = bpf_call(BPF_ABI_PROG_LOAD, &attributes, sizeof(attributes));
    if (fd < 0 && fd != -EPERM && fd != -ENOSYS)
        load_with_log(&attributes, log);
    return fd;
}

int bpf_program_info(int program, struct bpf_program_info *info)
{
    struct bpf_abi_prog_info answer = {0};
    struct bpf_abi_info_by_fd ask = {
        .bpf_fd = (uint32_t)program,
        .info_len = sizeof(answer),
        .info = pointer(&answer),
    };
    int result = bpf_call(BPF_ABI_OBJ_GET_INFO_BY_FD, &ask, sizeof(ask));

    *info = (struct bpf_program_info){
        .id = answer.id,
        .jited_bytes = answer.jited_prog_len,
        .translated_bytes = answer.xlated_prog_len,
        .run_time_ns = answer.run_time_ns,
        .run_count = answer.run_cnt,
        .recursion_misses = answer.recursion_misses,
    };
    return result;
}

static struct {
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
    /* Already real-time, by the user's choice: leave it so. */
    if (before.policy == SCHED_FIFO || before.policy == SCHED_RR)
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
