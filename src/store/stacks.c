/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "insns/layout.h"
#include "insns/unwind_layout.h"
#include "kernel/bpf.h"
#include "store/store.h"
#include "store/waits.h"

/* Waiting for programs holds up the tracer: do it rarely if there is always something new. */
#define LEAST_PAUSE_NS 10000000
#define MOST_PAUSE_NS 320000000

/* As the kernel does for the buckets of a stack map. */
static uint32_t power_of_two(uint32_t entries)
{
    uint32_t power = 1;

    while (power < entries)
        power *= 2;
    return power;
}

static int open_states(struct settled *settled, uint32_t buckets)
{
    const struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_ARRAY,
        .name = "settled",
        .key_size = sizeof(uint32_t),
        .value_size = buckets,
        .entries = 1,
        .flags = BPF_F_MMAPABLE,
    };

    settled->ids.settled = bpf_create_map(&shape);
    if (settled->ids.settled < 0)
        return settled->ids.settled;
    void *at = mmap(NULL, buckets, PROT_READ | PROT_WRITE, MAP_SHARED, settled->ids.settled, 0);
    if (at == MAP_FAILED)
        return -errno;
    settled->states = at;
    madvise(at, buckets, MADV_DONTFORK);
    return 0;
}

int settled_open(struct settled *settled, uint32_t stacks, uint32_t depth)
{
    *settled = (struct settled)SETTLED_NONE;
    int result = open_states(settled, power_of_two(stacks));
    if (result == -EINVAL)
        return 0;
    if (result)
        return result;
    settled->ids.buckets = power_of_two(stacks);
    return bpf_create_numbered(&settled->ids.map, BPF_MAP_TYPE_STACK_TRACE, "ids",
                               depth * sizeof(uint64_t), stacks);
}

void settled_close(struct settled *settled)
{
    if (settled->states)
        munmap((void *)settled->states, settled->ids.buckets);
    close_fd(settled->ids.settled);
    close_fd(settled->ids.map);
    *settled = (struct settled)SETTLED_NONE;
}

uint32_t settled_used(const struct settled *settled)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < settled->ids.buckets; i++)
        used += settled->states[i] != BUCKET_UNKNOWN;
    return used;
}

/* Turns all `from` into `to`. Returns how many. */
static uint32_t turn(struct settled *settled, enum bucket_state from, enum bucket_state to)
{
    uint32_t turned = 0;

    for (uint32_t i = 0; i < settled->ids.buckets; i++)
        if (settled->states[i] == from) {
            settled->states[i] = (uint8_t)to;
            turned++;
        }
    return turned;
}

static bool has_filled(const struct settled *settled)
{
    return settled->ids.buckets &&
           memchr((const void *)settled->states, BUCKET_FILLED, settled->ids.buckets);
}

int settled_advance(struct settled *settled, const struct grace *grace)
{
    if (now_ns() < settled->next)
        return 0;
    if (!has_filled(settled)) {
        settled->pause = 0;
        return 0;
    }
    turn(settled, BUCKET_FILLED, BUCKET_WATCHED);
    int result = grace_wait(grace);
    if (!result)
        turn(settled, BUCKET_WATCHED, BUCKET_SETTLED);
    settled->pause = settled->pause ? settled->pause * 2 : LEAST_PAUSE_NS;
    if (settled->pause > MOST_PAUSE_NS)
        settled->pause = MOST_PAUSE_NS;
    settled->next = now_ns() + settled->pause;
    return result;
}

static int clear_ids(const struct settled *settled)
{
    uint32_t id, next;
    int more = bpf_next_key(settled->ids.map, NULL, &id);

    while (!more) {
        /* Asks before the deletion: after a key that is gone, the kernel would start over. */
        more = bpf_next_key(settled->ids.map, &id, &next);
        int result = bpf_delete(settled->ids.map, &id);
        if (result && result != -ENOENT)
            return result;
        id = next;
    }
    return more == -ENOENT ? 0 : more;
}

int settled_clear(struct settled *settled)
{
    if (!settled->ids.buckets)
        return 0;
    memset((void *)settled->states, BUCKET_UNKNOWN, settled->ids.buckets);
    return clear_ids(settled);
}

#define FIRST_SIZE 256 /* a power of two, as all sizes are */
#define MIX 0x9e3779b97f4a7c15

struct kept_stack {
    int64_t word;
    uint32_t used;     /* the last report in which it was added or kept */
    uint32_t count;
    uint64_t frames[];
};

void stack_table_free(struct stack_table *table)
{
    for (size_t i = 0; i < table->size; i++)
        free(table->places[i]);
    free(table->places);
    *table = (struct stack_table){0};
}

void stack_table_begin(struct stack_table *table)
{
    table->round++;
}

/* Where the word is, or would go. */
static struct kept_stack **place_of(const struct stack_table *table, int64_t word)
{
    size_t at = (size_t)((uint64_t)word * MIX >> 32) & (table->size - 1);

    while (table->places[at] && table->places[at]->word != word)
        at = (at + 1) & (table->size - 1);
    return &table->places[at];
}

static struct kept_stack *find(const struct stack_table *table, int64_t word)
{
    return table->size ? *place_of(table, word) : NULL;
}

/* Rehashes those that stay into a table of `size`; frees the others. */
static int rebuild(struct stack_table *table, size_t size, uint32_t least_used)
{
    struct stack_table next = {.size = size, .round = table->round};

    next.places = calloc(size, sizeof(struct kept_stack *));
    if (!next.places)
        return -ENOMEM;
    for (size_t i = 0; i < table->size; i++) {
        struct kept_stack *kept = table->places[i];
        if (kept && kept->used >= least_used) {
            *place_of(&next, kept->word) = kept;
            next.count++;
        } else {
            free(kept);
        }
    }
    free(table->places);
    *table = next;
    return 0;
}

int stack_table_add(struct stack_table *table, int64_t word, const struct spilled_stack *stack,
                    uint32_t depth)
{
    struct kept_stack *kept = find(table, word);
    uint64_t frames = stack->bytes / sizeof(uint64_t);
    bool by_tables;
    size_t count = unwind_count_frames(stack->frames, frames < depth ? (size_t)frames : depth,
                                       &by_tables);

    if (kept) {
        kept->used = table->round;
        return 0;
    }
    if (table->count * 2 >= table->size &&
        rebuild(table, table->size ? table->size * 2 : FIRST_SIZE, 0))
        return -ENOMEM;
    kept = malloc(sizeof(*kept) + count * sizeof(uint64_t));
    if (!kept)
        return -ENOMEM;
    *kept = (struct kept_stack){.word = word, .used = table->round, .count = (uint32_t)count};
    memcpy(kept->frames, stack->frames, count * sizeof(uint64_t));
    *place_of(table, word) = kept;
    table->count++;
    return 0;
}

void stack_table_keep(struct stack_table *table, int64_t word)
{
    struct kept_stack *kept = find(table, word);

    if (kept)
        kept->used = table->round;
}

void stack_table_drop(struct stack_table *table)
{
    /* Without memory to rebuild it, all stacks stay for another round. */
    if (table->size && table->round > 1)
        (void)rebuild(table, table->size, table->round - 1);
}

int stack_table_find(struct stack_table *table, int64_t word, struct tally *tally,
                     struct stack *stack)
{
    struct kept_stack *kept = NULL;

    *stack = (struct stack){.state = STACK_NONE};
    if (word > 0)
        kept = find(table, word);
    if (word == -ENOMEM || (word > 0 && !kept))
        stack->state = STACK_FULL;
    return kept ? tally_add_stack(tally, stack, kept->frames, kept->count) : 0;
}
