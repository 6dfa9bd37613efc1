/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/store_sizes.h"

#include <fcntl.h>
#include <string.h>

#include "kernel/cpus.h"

/* Enough for most runs, and set up in a few milliseconds: more is a matter of an option. */
#define DEFAULT_STACKS 4096
/* Of larger machines: more run, and more is new, between two looks at what fills. */
#define STACKS_PER_CPU 512
#define MOST_STACKS 65536
#define DEFAULT_DEPTH 127
/* A kernel stack goes with several user stacks, and these with several processes. */
#define COUNTS_PER_STACK 2
/* What an entry of a hash costs besides its key and value. */
#define ENTRY_OVERHEAD 56
#define MOST_SHARE 4 /* of the free memory */

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
    uint64_t limit = number_in("/proc/sys/kernel/perf_event_max_stack", NULL, DEFAULT_DEPTH);

    return limit < MOST_DEPTH ? limit : MOST_DEPTH;
}

uint64_t store_free_memory(void)
{
    return number_in("/proc/meminfo", "MemAvailable:", 0) * 1024;
}

static void set_bank(struct bank *bank, uint64_t stacks)
{
    bank->spilled_entries = (uint32_t)stacks;
    bank->count_entries =
        (uint32_t)(stacks < LEAST_STACKS ? LEAST_STACKS : stacks) * COUNTS_PER_STACK;
}

void store_set_sizes(struct store *store, uint64_t stacks, const struct store_wishes *wishes)
{
    store->stacks = (uint32_t)stacks;
    store->id_entries = wishes->by_id ? (uint32_t)stacks : 0;
    set_bank(&store->main, stacks);
    /* To an empty bank all stacks are new: it must have room for as many. */
    set_bank(&store->stand_in, stacks);
}

static uint64_t bank_bytes(const struct store *store, const struct bank *bank)
{
    uint64_t spilled = SPILLED_STACK_BYTES(store->depth) + sizeof(int64_t) + ENTRY_OVERHEAD;
    uint64_t count = store->key_bytes + store->value_bytes + ENTRY_OVERHEAD;

    return bank->spilled_entries * spilled + bank->count_entries * count;
}

uint64_t store_bytes(const struct store *store)
{
    return bank_bytes(store, &store->main) + bank_bytes(store, &store->stand_in) +
           store->id_entries * store->depth * sizeof(uint64_t);
}

static int count_cpu(void *context, unsigned cpu)
{
    uint64_t *count = context;

    (void)cpu;
    ++*count;
    return 0;
}

/* As many as this machine makes new ones of in a moment. */
static uint64_t usual_stacks(const struct store_wishes *wishes)
{
    uint64_t cpus = 0, stacks = wishes->usual_stacks ? wishes->usual_stacks : DEFAULT_STACKS;

    if (cpus_each_online(count_cpu, &cpus) || cpus * STACKS_PER_CPU > MOST_STACKS)
        cpus = MOST_STACKS / STACKS_PER_CPU;
    while (stacks < cpus * STACKS_PER_CPU)
        stacks *= 2;
    return stacks;
}

uint64_t store_first_sizes(struct store *store, const struct store_wishes *wishes)
{
    uint64_t available = store_free_memory();
    uint64_t stacks = wishes->stacks ? wishes->stacks : usual_stacks(wishes);

    store_set_sizes(store, stacks, wishes);
    while (!wishes->stacks && available && store_bytes(store) > available / MOST_SHARE &&
           stacks > LEAST_STACKS)
        store_set_sizes(store, stacks /= 2, wishes);
    return stacks;
}
