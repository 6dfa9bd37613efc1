/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/bpf.h"

#define DEFAULT_STACKS 16384
#define LEAST_STACKS 64
#define DEFAULT_DEPTH 127
/* A kernel stack goes with several user stacks, and these with several processes. */
#define COUNTS_PER_STACK 2
/* What a hash entry costs besides its key and value. */
#define ENTRY_OVERHEAD 56
#define MOST_CPUS 8192 /* more than any kernel is built for */

/* The first number of a small file, or `otherwise`. */
static uint64_t number_in(const char *path, const char *after, uint64_t otherwise)
{
    struct text content = {0};
    uint64_t number = otherwise;

    if (!read_file(AT_FDCWD, path, 65536, &content) && content.data) {
        char *at = after ? strstr(content.data, after) : content.data;
        if (at) {
            at += after ? strlen(after) : 0;
            at += strspn(at, " \t");
            at[strcspn(at, " \t\n-,")] = '\0';
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

/* A stack and its counts, in both banks. */
static uint64_t bytes_per_stack(uint64_t depth)
{
    uint64_t count = sizeof(struct count_key) + sizeof(uint64_t) + ENTRY_OVERHEAD;

    return 2 * (depth * sizeof(uint64_t) + COUNTS_PER_STACK * count);
}

uint64_t store_bytes(const struct store *store)
{
    return store->stack_entries * bytes_per_stack(store->depth);
}

/* As many stacks as a quarter of the free memory holds in both banks, and not more than default. */
static uint64_t stacks_by_memory(uint64_t depth)
{
    uint64_t available = number_in("/proc/meminfo", "MemAvailable:", 0) * 1024;
    uint64_t fit = available / 4 / bytes_per_stack(depth), stacks = DEFAULT_STACKS;

    while (available && stacks > fit && stacks > LEAST_STACKS)
        stacks /= 2;
    return stacks;
}

static int open_bank(struct bank *bank, const struct store *store, bool first)
{
    struct bpf_map_shape counts = {
        .type = BPF_MAP_TYPE_HASH,
        .name = first ? "counts_a" : "counts_b",
        .key_size = sizeof(struct count_key),
        .value_size = sizeof(uint64_t),
        .entries = store->count_entries,
    };
    struct bpf_map_shape stacks = {
        .type = BPF_MAP_TYPE_STACK_TRACE,
        .name = first ? "stacks_a" : "stacks_b",
        .key_size = sizeof(uint32_t),
        .value_size = store->depth * (uint32_t)sizeof(uint64_t),
        .entries = store->stack_entries,
    };

    bank->counts = bpf_create_map(&counts);
    if (bank->counts < 0)
        return bank->counts;
    bank->stacks = bpf_create_map(&stacks);
    return bank->stacks < 0 ? bank->stacks : 0;
}

static void close_map(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_banks(struct store *store)
{
    for (int i = 0; i < 2; i++) {
        close_map(&store->banks[i].counts);
        close_map(&store->banks[i].stacks);
    }
}

static int open_banks(struct store *store)
{
    int result = open_bank(&store->banks[0], store, true);

    if (!result)
        result = open_bank(&store->banks[1], store, false);
    if (result)
        close_banks(store);
    return result;
}

/* The small maps: the control word, the account, and the pair that gives the grace period. */
static int open_controls(struct store *store)
{
    const struct bpf_map_shape control = {
        BPF_MAP_TYPE_ARRAY, "control", sizeof(uint32_t), sizeof(uint32_t), 1, 0};
    const struct bpf_map_shape account = {
        BPF_MAP_TYPE_PERCPU_ARRAY, "account", sizeof(uint32_t), sizeof(uint64_t), ACCOUNT_ENTRIES, 0};
    const struct bpf_map_shape inner = {
        BPF_MAP_TYPE_ARRAY, "grace_inner", sizeof(uint32_t), sizeof(uint32_t), 1, 0};

    if ((store->control = bpf_create_map(&control)) < 0)
        return store->control;
    if ((store->account = bpf_create_map(&account)) < 0)
        return store->account;
    if ((store->grace_inner = bpf_create_map(&inner)) < 0)
        return store->grace_inner;

    const struct bpf_map_shape outer = {
        BPF_MAP_TYPE_ARRAY_OF_MAPS, "grace", sizeof(uint32_t), sizeof(uint32_t), 1, store->grace_inner};
    store->grace_outer = bpf_create_map(&outer);
    return store->grace_outer < 0 ? store->grace_outer : 0;
}

void store_init(struct store *store)
{
    *store = (struct store){
        .banks = {{-1, -1}, {-1, -1}},
        .control = -1,
        .account = -1,
        .grace_outer = -1,
        .grace_inner = -1,
    };
}

int store_open(struct store *store, const struct store_wishes *wishes)
{
    store_init(store);
    store->depth = (uint32_t)(wishes->depth ? wishes->depth : store_depth_limit());
    uint64_t stacks = wishes->stacks ? wishes->stacks : stacks_by_memory(store->depth);
    int result = open_controls(store);

    while (!result) {
        store->stack_entries = (uint32_t)stacks;
        store->count_entries = store->stack_entries * COUNTS_PER_STACK;
        result = open_banks(store);
        if (result != -ENOMEM || wishes->stacks || stacks <= LEAST_STACKS)
            break;
        stacks /= 2;
        result = 0;
    }
    return result;
}

void store_close(struct store *store)
{
    close_banks(store);
    close_map(&store->control);
    close_map(&store->account);
    close_map(&store->grace_outer);
    close_map(&store->grace_inner);
}

static int set_mode(struct store *store, uint32_t mode)
{
    uint32_t zero = 0;
    int result = bpf_update(store->control, &zero, &mode, BPF_ANY);

    if (!result)
        store->mode = mode;
    return result;
}

int store_start(struct store *store)
{
    return set_mode(store, CONTROL_BANK_A);
}

/*
 * Returns when every program that may have seen the old mode has ended: the kernel waits for that
 * before an update of a map of maps returns, since they may use the old inner map. (membarrier(2)
 * waits likewise, but does nothing at all on a machine of one CPU.)
 */
static int wait_for_programs(struct store *store)
{
    uint32_t zero = 0, inner = (uint32_t)store->grace_inner;

    return bpf_update(store->grace_outer, &zero, &inner, BPF_ANY);
}

struct drain {
    const struct bank *bank;
    struct tally *tally;
    struct losses *losses;
    uint32_t depth;
    uint64_t *addresses;  /* room for one stack */
    struct stack *known;  /* by stack id: what was read already */
    uint32_t known_count;
};

static int read_stack(struct drain *drain, uint32_t id, struct stack *stack)
{
    int result = bpf_lookup(drain->bank->stacks, &id, drain->addresses);
    size_t count = 0;

    if (result)
        return result;
    while (count < drain->depth && drain->addresses[count])
        count++;
    return tally_add_stack(drain->tally, stack, drain->addresses, count);
}

static int take_stack(struct drain *drain, int64_t word, uint64_t events, struct stack *stack)
{
    *stack = (struct stack){.state = STACK_NONE};
    if (word >= 0 && (uint64_t)word < drain->known_count) {
        struct stack *known = &drain->known[word];
        int result = known->state == STACK_NONE ? read_stack(drain, (uint32_t)word, known) : 0;
        *stack = *known;
        return result;
    }
    if (word == -EEXIST) {
        stack->state = STACK_COLLIDED;
        drain->losses->stacks_collided += events;
    } else if (word == -ENOMEM) {
        stack->state = STACK_FULL;
        drain->losses->stacks_full += events;
    }
    return 0;
}

static int take_count(void *context, const void *key_bytes, const void *value_bytes)
{
    struct drain *drain = context;
    struct count_key key;
    uint64_t value;

    memcpy(&key, key_bytes, sizeof(key));
    memcpy(&value, value_bytes, sizeof(value));
    /* Made by a program that was stopped before it added: no event stands behind it. */
    if (!value)
        return 0;
    struct tally_entry *entry = tally_add(drain->tally);
    if (!entry)
        return -ENOMEM;
    entry->value = value;
    entry->pid = key.pid;
    entry->foreign = key.foreign;
    memcpy(entry->comm, key.comm, sizeof(key.comm));
    int result = take_stack(drain, key.kernel_stack, value, &entry->kernel);
    return result ? result : take_stack(drain, key.user_stack, value, &entry->user);
}

/* A bank that is used again must not hold the stacks of the report before. */
static int clear_stacks(int stacks)
{
    uint32_t id, next;
    int more = bpf_next_key(stacks, NULL, &id);

    while (!more) {
        /* Asked before the delete: from a stack that is gone, the search would begin anew. */
        more = bpf_next_key(stacks, &id, &next);
        int result = bpf_delete(stacks, &id);
        if (result && result != -ENOENT)
            return result;
        id = next;
    }
    return more == -ENOENT ? 0 : more;
}

/* Adds what the programs could not count since the last time. */
static int take_account(struct store *store, struct losses *losses)
{
    uint32_t index = ACCOUNT_TABLE_FULL;
    uint64_t sum = 0;

    /* The kernel fills in a word for each possible CPU, however many those are. */
    uint64_t *words = calloc(MOST_CPUS, sizeof(*words));
    if (!words)
        return -ENOMEM;
    int result = bpf_lookup(store->account, &index, words);
    for (size_t i = 0; !result && i < MOST_CPUS; i++)
        sum += words[i];
    free(words);
    if (result)
        return result;
    losses->table_full += sum - store->account_before[index];
    store->account_before[index] = sum;
    return 0;
}

static int drain_bank(struct store *store, const struct bank *bank, struct tally *tally,
                      struct losses *losses)
{
    struct drain drain = {
        .bank = bank,
        .tally = tally,
        .losses = losses,
        .depth = store->depth,
        .addresses = calloc(store->depth, sizeof(uint64_t)),
        .known = calloc(store->stack_entries, sizeof(struct stack)),
        .known_count = store->stack_entries,
    };
    int result = drain.addresses && drain.known ? 0 : -ENOMEM;

    if (!result)
        result = bpf_drain(bank->counts, sizeof(struct count_key), sizeof(uint64_t), take_count,
                           &drain);
    free(drain.addresses);
    free(drain.known);
    return result;
}

int store_collect(struct store *store, bool again, struct tally *tally, struct losses *losses)
{
    uint32_t old = store->mode;
    const struct bank *bank = &store->banks[old == CONTROL_BANK_B];
    uint32_t next = old == CONTROL_BANK_A ? CONTROL_BANK_B : CONTROL_BANK_A;

    bpf_begin_unpreempted();
    int result = set_mode(store, again ? next : CONTROL_PAUSED);
    if (!result)
        result = wait_for_programs(store);
    if (!result)
        result = drain_bank(store, bank, tally, losses);
    if (!result && again)
        result = clear_stacks(bank->stacks);
    if (!result)
        result = take_account(store, losses);
    bpf_end_unpreempted();
    return result;
}
