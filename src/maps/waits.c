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
#include "drain/drain.h"
#include "kernel/bpf.h"

/* Beside twice the tasks that there are now. */
#define MORE_ENTRIES 8192
#define LEAST_ENTRIES 512
#define ENTRY_OVERHEAD 56 /* what an entry of a hash costs besides its key and value */
#define MOST_SHARE 8      /* of the free memory */

static uint32_t wait_bytes(const struct waits *waits)
{
    return (uint32_t)offwake_wait_bytes(waits->view);
}

uint64_t waits_bytes(const struct waits *waits)
{
    return (uint64_t)waits->entries * (wait_bytes(waits) + sizeof(uint32_t) + ENTRY_OVERHEAD);
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
    uint64_t most = store_free_memory() / MOST_SHARE;

    waits->map = -1;
    waits->entries = (uint32_t)(count_tasks() * 2 + MORE_ENTRIES);
    while (most && waits_bytes(waits) > most && waits->entries > LEAST_ENTRIES)
        waits->entries /= 2;
    for (;;) {
        const struct bpf_map_shape shape = {
            .type = BPF_MAP_TYPE_HASH,
            .name = "waits",
            .key_size = sizeof(uint32_t),
            .value_size = wait_bytes(waits),
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

/* ---- From the maps to a tally ---- */

struct taking {
    struct waits *waits;
    struct tally *tally;
    struct losses *losses;
    uint64_t now;
};

static int take_party(const struct taking *taking, const struct party *party, uint64_t events,
                      struct tally_party *to)
{
    struct stack_table *stacks = &taking->waits->stacks;

    to->pid = party->pid;
    to->tid = party->tid;
    to->born = party->born;
    to->foreign = party->flags & KEY_FOREIGN;
    memcpy(to->comm, party->comm, sizeof(party->comm));
    int result = stack_table_find(stacks, party->kernel_stack, taking->tally, &to->kernel);
    if (!result)
        result = stack_table_find(stacks, party->user_stack, taking->tally, &to->user);
    if (to->kernel.state == STACK_FULL || to->user.state == STACK_FULL)
        taking->losses->stacks_lost += events;
    if (party->kernel_stack == -EFAULT && party->user_stack == -EFAULT)
        taking->losses->walks_failed += events;
    return result;
}

static int add_entry(const struct taking *taking, const struct wait *wait,
                     const struct blocked *blocked, enum tally_mark mark)
{
    struct tally_entry *entry = tally_add(taking->tally);

    if (!entry)
        return -ENOMEM;
    entry->value = blocked->nanoseconds;
    entry->events = blocked->waits;
    entry->longest = blocked->longest;
    entry->mark = mark;
    entry->has_waker = wait->waker.flags & PARTY_SEEN;
    int result = take_party(taking, &wait->target, blocked->waits, &entry->task);
    return result ? result : take_party(taking, &wait->waker, blocked->waits, &entry->waker);
}

static int take_count(void *context, const void *key, const void *value)
{
    const struct taking *taking = context;
    struct wait wait = {.waker = {.kernel_stack = NO_STACK, .user_stack = NO_STACK}};
    struct blocked blocked = {0};

    memcpy(&wait.target, key, offwake_key_bytes(taking->waits->view));
    memcpy(&blocked, value, taking->waits->store->value_bytes);
    taking->waits->store->counted += blocked.waits;
    /* A count that was made by one CPU, and to which nobody came to add. */
    return blocked.waits ? add_entry(taking, &wait, &blocked, MARK_NONE) : 0;
}

static int take_stack(void *context, const void *key, const void *value)
{
    const struct taking *taking = context;
    int64_t word;

    memcpy(&word, key, sizeof(word));
    return stack_table_add(&taking->waits->stacks, word, value, taking->waits->store->depth);
}

/* Stacks first: the counts of any bank may be of those of either. */
static int drain(void *context, struct bank *bank, bool again)
{
    struct taking *taking = context;
    struct store *store = taking->waits->store;
    int result = drain_stacks(store, bank, take_stack, taking);

    (void)again;
    bank->kept[BANK_SHALLOW] = bank->kept[BANK_DEEP] = 0;
    return result ? result
                  : bpf_drain(bank->maps[BANK_COUNTS], store->key_bytes, store->value_bytes,
                              take_count, taking);
}

static void read_wait(const struct taking *taking, const void *value, struct wait *wait)
{
    *wait = (struct wait){.waker = {.kernel_stack = NO_STACK, .user_stack = NO_STACK}};
    memcpy(wait, value, wait_bytes(taking->waits));
}

/* What programs write meanwhile they have put into a bank that is drained later. */
static int keep_stacks(void *context, const void *key, const void *value)
{
    const struct taking *taking = context;
    struct stack_table *stacks = &taking->waits->stacks;
    struct wait wait;

    (void)key;
    read_wait(taking, value, &wait);
    if (wait.since) {
        stack_table_keep(stacks, wait.target.kernel_stack);
        stack_table_keep(stacks, wait.target.user_stack);
    }
    stack_table_keep(stacks, wait.waker.kernel_stack);
    stack_table_keep(stacks, wait.waker.user_stack);
    return 0;
}

/* ---- Those that still wait ---- */

static int note_seen(struct waits *waits, const struct wait *wait)
{
    if (!wait->tid || wait->target.flags & KEY_FOREIGN)
        return 0;
    if (array_reserve(&waits->seen, &waits->seen_room, waits->seen_count + 1,
                      sizeof(*waits->seen)))
        return -ENOMEM;
    waits->seen[waits->seen_count++] = wait->tid;
    return 0;
}

static int take_waiting(void *context, const void *key, const void *value)
{
    struct taking *taking = context;
    struct waits *waits = taking->waits;
    struct wait wait;

    (void)key;
    read_wait(taking, value, &wait);
    int result = note_seen(waits, &wait);
    waits->open += wait.since != 0;
    uint64_t time = taking->now - wait.since;
    struct blocked blocked = {time, 1, time};
    if (result || !wait.since || wait.since > taking->now ||
        blocked.nanoseconds < waits->least || blocked.nanoseconds > waits->most)
        return result;
    if (!wait.woken)
        wait.waker = (struct party){.kernel_stack = NO_STACK, .user_stack = NO_STACK};
    waits->waiting++;
    waits->waited += blocked.nanoseconds;
    return waits->unfinished ? add_entry(taking, &wait, &blocked, MARK_UNFINISHED) : 0;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

bool waits_has_seen(const struct waits *waits, uint32_t tid)
{
    size_t at = first_not_below(waits->seen, waits->seen_count, tid);

    return at < waits->seen_count && waits->seen[at] == tid;
}

static int list_waiting(struct taking *taking)
{
    struct waits *waits = taking->waits;

    taking->now = now_ns();
    waits->seen_count = 0;
    waits->open = 0;
    int result = bpf_list(waits->map, sizeof(uint32_t), wait_bytes(waits), take_waiting, taking);
    if (waits->seen_count)
        qsort(waits->seen, waits->seen_count, sizeof(*waits->seen), compare_numbers);
    return result;
}

static int collect(struct taking *taking, bool again)
{
    struct waits *waits = taking->waits;

    const struct account *sum = &waits->store->sum;
    uint64_t full = sum->table_full, full_ns = sum->table_full_ns;

    stack_table_begin(&waits->stacks);
    int result = store_collect_by(waits->store, again, drain, taking);
    if (!result)
        result = store_add_uncounted(taking->tally, sum->table_full - full,
                                     sum->table_full_ns - full_ns);
    if (result)
        return result;
    if (!again)
        return list_waiting(taking);
    result = bpf_list(waits->map, sizeof(uint32_t), wait_bytes(waits), keep_stacks, taking);
    if (!result)
        stack_table_drop(&waits->stacks);
    return result;
}

int waits_collect(struct waits *waits, bool again, struct tally *tally, struct losses *losses)
{
    struct taking taking = {.waits = waits, .tally = tally, .losses = losses};

    bpf_begin_unpreempted();
    int result = collect(&taking, again);
    bpf_end_unpreempted();
    return result;
}
