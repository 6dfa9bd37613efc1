/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "counting/first_waits.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "insns/layout.h"
#include "kernel/bpf.h"

struct noting {
    struct first_waits *to;
    int map;
};

/* The map is asked after the stack was read: a wait that it does not know then had not ended. */
static int note(void *context, const struct asleep *thread)
{
    const struct noting *noting = context;
    struct first_waits *to = noting->to;
    struct wall wall;

    if (!thread->stack || !bpf_lookup(noting->map, &thread->tid, &wall))
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

int first_waits_note(struct first_waits *first, const struct asleep_wishes *wishes, int map)
{
    int result = asleep_list(wishes, note, &(struct noting){first, map});

    if (first->count)
        qsort(first->waits, first->count, sizeof(*first->waits), compare);
    return result;
}

static int give(const struct first_waits *first, struct tally *tally, struct tally_entry *entry)
{
    const struct first_wait key = {.tid = entry->task.tid};
    const struct first_wait *wait = bsearch(&key, first->waits, first->count, sizeof(key), compare);

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
