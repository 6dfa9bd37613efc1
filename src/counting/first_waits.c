/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "counting/first_waits.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "insns/layout.h"
#include "kernel/bpf.h"

static int note(void *context, const struct asleep *thread)
{
    struct first_waits *to = context;

    if (!thread->stack)
        return 0;
    if (array_reserve(&to->waits, &to->room, to->count + 1, sizeof(*to->waits)))
        return -ENOMEM;
    struct first_wait *wait = &to->waits[to->count++];
    *wait = (struct first_wait){thread->tid, to->texts.count, 0};
    return stack_texts_add(&to->texts, thread->stack, &wait->frames);
}

static int compare(const void *one, const void *other)
{
    const struct first_wait *a = one, *b = other;

    return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static struct first_wait *find(const struct first_waits *first, uint32_t tid)
{
    const struct first_wait key = {.tid = tid};

    return first->count ? bsearch(&key, first->waits, first->count, sizeof(key), compare) : NULL;
}

static int drop(void *context, const void *key, const void *value)
{
    const struct wall *wall = value;
    struct first_wait *wait = find(context, wall->tid);

    (void)key;
    if (wait)
        wait->frames = 0;
    return 0;
}

/* The map is asked after all stacks were read: a wait that it does not know then had not ended. */
int first_waits_note(struct first_waits *first, const struct asleep_wishes *wishes, int map)
{
    int result = asleep_list(wishes, note, first);

    if (first->count)
        qsort(first->waits, first->count, sizeof(*first->waits), compare);
    const int listed = first->count ? bpf_list(map, sizeof(uint64_t), sizeof(struct wall), drop, first) : 0;
    return result ? result : listed;
}

static int give(const struct first_waits *first, struct tally *tally, struct tally_entry *entry)
{
    const struct first_wait *wait = find(first, entry->task.tid);

    if (!wait)
        return 0;
    return stack_texts_put(&first->texts, wait->first, wait->frames, tally, &entry->task.kernel);
}

int first_waits_give(struct first_waits *first, int kallsyms, struct tally *tally)
{
    int result = 0;

    if (!first->count)
        return 0;
    if (!first->are_found)
        result = stack_texts_find(&first->texts, kallsyms);
    first->are_found = true;
    for (size_t i = 0; i < tally->count && !result; i++) {
        struct tally_entry *entry = &tally->entries[i];
        if (entry->mark == MARK_BLOCKED && entry->task.kernel.state == STACK_NONE &&
            entry->task.user.state == STACK_NONE)
            result = give(first, tally, entry);
    }
    return result;
}

void first_waits_free(struct first_waits *first)
{
    stack_texts_free(&first->texts);
    free(first->waits);
}
