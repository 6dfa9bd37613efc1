/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/bpf.h"
#include "kernel/drain.h"

/* Enough for most runs, and set up in a few milliseconds: more is a matter of an option. */
#define DEFAULT_STACKS 4096
#define LEAST_STACKS 64
#define DEFAULT_DEPTH 127
/* A kernel stack goes with several user stacks, and these with several processes. */
#define COUNTS_PER_STACK 2
/* Of so many stacks one is expected to be spilled when the map of ids is nearly full. */
#define STACKS_PER_SPILLED 4
/* What an entry of a hash costs besides its key and value. */
#define ENTRY_OVERHEAD 56

/* ---- Sizes ---- */

/* The number behind `after` in a small file (NULL: at its start), or `otherwise`. */
static uint64_t number_in(const char *path, const char *after, uint64_t otherwise)
{
    struct text content = {0};
    uint64_t number = otherwise;

    if (!read_file(AT_FDCWD, path, 65536, &content) && content.data) {
        char *at = after ? strstr(content.data, after) : content.data;
        if (at) {
            at += after ? strlen(after) : 0;
            at += strspn(at, " \t");
            at[strspn(at, "0123456789")] = '\0';
            if (parse_number(at, 0, UINT64_MAX, &number))
                number = otherwise;
        }
    }
    text_free(&content);
    return number;
}

uint64_t store_depth_limit(void)
{
    return number_in("/proc/sys/kernel/perf_event_max_stack", NULL, DEFAULT_DEPTH);
}

static struct bank bank_of(uint64_t stacks, const struct store_wishes *wishes)
{
    uint32_t entries = (uint32_t)(stacks < LEAST_STACKS ? LEAST_STACKS : stacks);

    return (struct bank){
        .counts = -1,
        .stacks = -1,
        .spilled = -1,
        .count_entries = entries * COUNTS_PER_STACK,
        .stack_entries = wishes->by_id ? (uint32_t)stacks : 1,
        .spilled_entries = wishes->by_hash ? (uint32_t)stacks : entries / STACKS_PER_SPILLED,
    };
}

static uint64_t bank_bytes(const struct store *store, const struct bank *bank)
{
    uint64_t spilled = SPILLED_STACK_BYTES(store->depth) + sizeof(int64_t) + ENTRY_OVERHEAD;
    uint64_t count = store->key_bytes + store->value_bytes + ENTRY_OVERHEAD;

    return bank->stack_entries * store->depth * sizeof(uint64_t) +
           bank->spilled_entries * spilled + bank->count_entries * count;
}

uint64_t store_bytes(const struct store *store)
{
    return bank_bytes(store, &store->main) + bank_bytes(store, &store->stand_in);
}

uint64_t store_free_memory(void)
{
    return number_in("/proc/meminfo", "MemAvailable:", 0) * 1024;
}

static void set_sizes(struct store *store, uint64_t stacks, const struct store_wishes *wishes)
{
    store->stacks = (uint32_t)stacks;
    store->main = bank_of(stacks, wishes);
    /* To an empty bank all stacks are new: it must have room for as many. */
    store->stand_in = store->main;
}

/* As was wished, else as a quarter of the free memory allows. */
static uint64_t first_size(struct store *store, const struct store_wishes *wishes)
{
    uint64_t available = store_free_memory();
    uint64_t usual = wishes->usual_stacks ? wishes->usual_stacks : DEFAULT_STACKS;
    uint64_t stacks = wishes->stacks ? wishes->stacks : usual;

    set_sizes(store, stacks, wishes);
    while (!wishes->stacks && available && store_bytes(store) > available / 4 &&
           stacks > LEAST_STACKS)
        set_sizes(store, stacks /= 2, wishes);
    return stacks;
}

/* ---- Maps ---- */

static int create(int *fd, uint32_t type, const char *name, size_t key_size, size_t value_size,
                  uint32_t entries)
{
    const struct bpf_map_shape shape = {
        .type = type,
        .name = name,
        .key_size = (uint32_t)key_size,
        .value_size = (uint32_t)value_size,
        .entries = entries,
    };

    *fd = bpf_create_map(&shape);
    return *fd < 0 ? *fd : 0;
}

static int open_bank(const struct store *store, struct bank *bank)
{
    size_t stack = store->depth * sizeof(uint64_t);
    int result = create(&bank->counts, BPF_MAP_TYPE_HASH, "counts", store->key_bytes,
                        store->value_bytes, bank->count_entries);

    if (!result)
        result = create(&bank->stacks, BPF_MAP_TYPE_STACK_TRACE, "stacks", sizeof(uint32_t), stack,
                        bank->stack_entries);
    if (!result)
        result = create(&bank->spilled, BPF_MAP_TYPE_HASH, "spilled", sizeof(int64_t),
                        SPILLED_STACK_BYTES(store->depth), bank->spilled_entries);
    return result;
}

static void close_map(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_bank(struct bank *bank)
{
    close_map(&bank->counts);
    close_map(&bank->stacks);
    close_map(&bank->spilled);
}

static int open_banks(struct store *store)
{
    int result = open_bank(store, &store->main);

    if (!result)
        result = open_bank(store, &store->stand_in);
    if (result) {
        close_bank(&store->main);
        close_bank(&store->stand_in);
    }
    return result;
}

static int open_controls(struct store *store)
{
    int result = create(&store->control, BPF_MAP_TYPE_ARRAY, "control", sizeof(uint32_t),
                        sizeof(uint32_t), 1);

    if (!result)
        result = create(&store->account, BPF_MAP_TYPE_PERCPU_ARRAY, "account", sizeof(uint32_t),
                        sizeof(uint64_t), ACCOUNT_ENTRIES);
    if (!result)
        result = create(&store->slots, BPF_MAP_TYPE_PERCPU_ARRAY, "slots", sizeof(uint32_t),
                        SLOT_BYTES(store->depth), SLOTS_PER_CPU);
    return result ? result : grace_open(&store->grace);
}

int store_open_cgroup(const char *path)
{
    uint32_t zero = 0;
    int map, directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (directory < 0)
        return -errno;
    int result = create(&map, BPF_MAP_TYPE_CGROUP_ARRAY, "cgroup", sizeof(uint32_t),
                        sizeof(uint32_t), 1);
    if (!result)
        result = bpf_update(map, &zero, &(uint32_t){(uint32_t)directory}, BPF_ANY);
    close(directory);
    if (result && map >= 0)
        close(map);
    return result ? result : map;
}

void store_init(struct store *store)
{
    *store = (struct store){
        .main = {-1, -1, -1, 0, 0, 0},
        .stand_in = {-1, -1, -1, 0, 0, 0},
        .control = -1,
        .account = -1,
        .slots = -1,
        .grace = GRACE_NONE,
    };
}

int store_open(struct store *store, const struct store_wishes *wishes)
{
    store_init(store);
    store->depth = (uint32_t)(wishes->depth ? wishes->depth : store_depth_limit());
    store->key_bytes = wishes->key_bytes ? wishes->key_bytes : sizeof(struct count_key);
    store->value_bytes = wishes->value_bytes ? wishes->value_bytes : sizeof(uint64_t);
    uint64_t stacks = first_size(store, wishes);
    int result = open_controls(store);

    if (!result)
        result = open_banks(store);
    while (result == -ENOMEM && !wishes->stacks && stacks > LEAST_STACKS) {
        set_sizes(store, stacks /= 2, wishes);
        result = open_banks(store);
    }
    return result;
}

void store_close(struct store *store)
{
    close_bank(&store->main);
    close_bank(&store->stand_in);
    close_map(&store->control);
    close_map(&store->account);
    close_map(&store->slots);
    grace_close(&store->grace);
}

/* ---- Reports ---- */

/* Sets the word, and returns when every program that may have seen the old one has ended. */
static int set_mode(struct store *store, uint32_t mode)
{
    uint32_t zero = 0;
    int result = bpf_update(store->control, &zero, &mode, BPF_ANY);

    return result ? result : grace_wait(&store->grace);
}

int store_start(struct store *store)
{
    return set_mode(store, CONTROL_MAIN);
}

int store_read_account(const struct store *store, enum account_index index, uint64_t *number)
{
    return bpf_sum_of_cpus(store->account, index, number);
}

int store_take_account(struct store *store, enum account_index index, uint64_t *lost)
{
    uint64_t sum;
    int result = store_read_account(store, index, &sum);

    if (result)
        return result;
    *lost += sum - store->account_before[index];
    store->account_before[index] = sum;
    return 0;
}

static int collect(struct store *store, bool again, store_drain *drain, void *context)
{
    /* What came while the last report was drained: nobody writes there now. */
    int result = drain(context, &store->stand_in, again);

    if (!result)
        result = set_mode(store, again ? CONTROL_STAND_IN : CONTROL_PAUSED);
    if (!result)
        result = drain(context, &store->main, again);
    if (!result && again)
        result = set_mode(store, CONTROL_MAIN);
    return result;
}

int store_collect_by(struct store *store, bool again, store_drain *drain, void *context,
                     struct losses *losses)
{
    bpf_begin_unpreempted();
    int result = collect(store, again, drain, context);
    if (!result)
        result = store_take_account(store, ACCOUNT_TABLE_FULL, &losses->table_full);
    if (!result)
        result = store_take_account(store, ACCOUNT_SLOTS_TAKEN, &losses->slots_taken);
    bpf_end_unpreempted();
    return result;
}

struct collecting {
    struct store *store;
    struct tally *tally;
    struct losses *losses;
};

static int drain_counts(void *context, const struct bank *bank, bool again)
{
    struct collecting *collecting = context;
    struct store *store = collecting->store;
    int result = drain_bank(store, bank, collecting->tally, collecting->losses);

    return result || !again ? result : drain_clear_stacks(store, bank);
}

int store_collect(struct store *store, bool again, struct tally *tally, struct losses *losses)
{
    struct collecting collecting = {store, tally, losses};

    return store_collect_by(store, again, drain_counts, &collecting, losses);
}
