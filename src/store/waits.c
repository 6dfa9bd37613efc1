/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "store/store.h"
#include "store/waits.h"

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

    return (uint64_t)waits->entries * maps *
           (waits_value_bytes(waits) + waits_key_bytes(waits) + ENTRY_OVERHEAD);
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
    /* The machine has no more threads, which take a hundred times as much memory as this map. */
    waits->entries = kernel_most_threads() + LEAST_ENTRIES;
    waits->for_all = true;
    while (most && waits_bytes(waits) > most && waits->entries > LEAST_ENTRIES)
        shrink(waits);
    for (;;) {
        int result = open_maps(waits);
        if (result != -ENOMEM || waits->entries <= LEAST_ENTRIES)
            return result ? result : waits->view == VIEW_WALL
                ? controls_open_cuts(&waits->store->controls) : 0;
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

int waits_take_task(const struct waits_taking *taking, const struct task_stacks *task,
                    uint64_t events, struct tally_task *to)
{
    struct stack_table *stacks = &taking->waits->stacks;

    to->pid = task->pid;
    to->tid = task->tid;
    to->generation = task->generation;
    to->foreign = task->flags & KEY_FOREIGN;
    memcpy(to->comm, task->comm, sizeof(task->comm));
    int result = stack_table_find(stacks, task->kernel_stack, taking->tally, &to->kernel);
    if (!result)
        callers_drop_twice(taking->tally, &to->kernel); /* all come from tracepoints */
    if (!result)
        result = stack_table_find(stacks, task->user_stack, taking->tally, &to->user);
    if (to->kernel.state == STACK_FULL || to->user.state == STACK_FULL)
        taking->losses->stacks_lost += events;
    if (task->kernel_stack == -EFAULT && task->user_stack == -EFAULT)
        taking->losses->walks_failed += events;
    return result;
}

static int add_entry(const struct waits_taking *taking, const struct wait *wait,
                     const struct blocked *blocked, enum tally_mark mark)
{
    struct tally_entry *entry = tally_add(taking->tally);

    if (!entry)
        return -ENOMEM;
    entry->value = blocked->nanoseconds;
    entry->events = blocked->waits;
    entry->longest = blocked->longest;
    entry->mark = mark;
    entry->has_waker = wait->waker.flags & TASK_SEEN;
    int result = waits_take_task(taking, &wait->target, blocked->waits, &entry->task);
    return result ? result : waits_take_task(taking, &wait->waker, blocked->waits, &entry->waker);
}

static int take_count(void *context, const void *key, const void *value)
{
    const struct waits_taking *taking = context;
    struct wait wait = {.waker = {.kernel_stack = NO_STACK, .user_stack = NO_STACK}};
    struct blocked blocked = {0};

    memcpy(&wait.target, key, offwake_key_bytes(taking->waits->view));
    memcpy(&blocked, value, taking->waits->store->value_bytes);
    taking->waits->store->counted += blocked.waits;
    /* A count created on one CPU to which nothing was added yet. */
    return blocked.waits ? add_entry(taking, &wait, &blocked, MARK_NONE) : 0;
}

static int take_stack(void *context, const void *key, const void *value)
{
    const struct waits_taking *taking = context;
    int64_t word;

    memcpy(&word, key, sizeof(word));
    return stack_table_add(&taking->waits->stacks, word, value, taking->waits->store->depth);
}

int waits_take_bank(void *context, struct bank *bank, bpf_take *take)
{
    const struct waits_taking *taking = context;
    const struct store *store = taking->waits->store;
    int result = drain_stacks(store, bank, take_stack, context);

    bank->kept[BANK_SHALLOW] = bank->kept[BANK_DEEP] = 0;
    return result ? result
                  : bpf_drain(bank->maps[BANK_COUNTS], store->key_bytes, store->value_bytes, take,
                              context);
}

static int drain(void *context, struct bank *bank, bool again)
{
    (void)again;
    return waits_take_bank(context, bank, take_count);
}

static void read_wait(const struct waits_taking *taking, const void *value, struct wait *wait)
{
    *wait = (struct wait){.waker = {.kernel_stack = NO_STACK, .user_stack = NO_STACK}};
    memcpy(wait, value, waits_value_bytes(taking->waits));
}

/* What programs write meanwhile goes into a bank that is drained later. */
static int keep_stacks(void *context, const void *key, const void *value)
{
    const struct waits_taking *taking = context;
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

/* ---- Threads that still wait ---- */

int waits_note_seen(struct waits *waits, uint32_t tid)
{
    if (ARRAY_RESERVE(waits->seen, waits->seen_room, waits->seen_count + 1))
        return -ENOMEM;
    waits->seen[waits->seen_count++] = tid;
    return 0;
}

static int take_waiting(void *context, const void *key, const void *value)
{
    struct waits_taking *taking = context;
    struct waits *waits = taking->waits;
    struct wait wait;

    (void)key;
    read_wait(taking, value, &wait);
    bool is_ours = wait.tid && !(wait.target.flags & KEY_FOREIGN);
    int result = is_ours ? waits_note_seen(waits, wait.tid) : 0;
    waits->open += wait.since != 0;
    uint64_t time = taking->now - wait.since;
    struct blocked blocked = {time, 1, time};
    if (result || !wait.since || wait.since > taking->now ||
        blocked.nanoseconds < waits->least || blocked.nanoseconds > waits->most)
        return result;
    if (!wait.woken)
        wait.waker = (struct task_stacks){.kernel_stack = NO_STACK, .user_stack = NO_STACK};
    waits->waiting++;
    waits->waited += blocked.nanoseconds;
    return waits->unfinished ? add_entry(taking, &wait, &blocked, MARK_UNFINISHED) : 0;
}

static int list_waiting(struct waits_taking *taking)
{
    struct waits *waits = taking->waits;

    taking->now = now_ns();
    waits->seen_count = 0;
    waits->open = 0;
    int result = bpf_list(waits->map, sizeof(uint32_t), waits_value_bytes(waits), take_waiting,
                          taking);
    waits->seen_count = sort_numbers(waits->seen, waits->seen_count);
    return result;
}

static int collect(struct waits_taking *taking, bool again)
{
    struct waits *waits = taking->waits;

    stack_table_begin(&waits->stacks);
    int result = store_drain_by(waits->store, again, drain, taking, taking->tally);
    if (result)
        return result;
    if (!again)
        return list_waiting(taking);
    result = bpf_list(waits->map, sizeof(uint32_t), waits_value_bytes(waits), keep_stacks, taking);
    if (!result)
        stack_table_drop(&waits->stacks);
    return result;
}

int drain_waits(struct waits *waits, bool again, struct tally *tally, struct drain_losses *losses)
{
    struct waits_taking taking = {.waits = waits, .tally = tally, .losses = losses};

    bpf_begin_unpreempted();
    int result = collect(&taking, again);
    bpf_end_unpreempted();
    return result;
}
