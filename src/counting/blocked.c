/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "counting/blocked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "symbolize/stack_text.h"

static void judge(struct tally_party *waker, enum interrupt interrupt, bool bystanders)
{
    waker->interrupt = interrupt;
    waker->user = (struct stack){.state = STACK_NONE};
    waker->pid = waker->tid = 0;
    waker->born = 0;
    waker->foreign = false;
    if (!bystanders)
        memset(waker->comm, 0, sizeof(waker->comm));
}

void blocked_judge_wakers(const struct interrupts *interrupts, bool kernel, bool bystanders,
                          struct tally *tally)
{
    for (size_t i = 0; i < tally->count; i++) {
        struct tally_party *waker = &tally->entries[i].waker;
        const struct stack *stack = &waker->kernel;
        enum interrupt interrupt = INTERRUPT_NONE;
        if (tally->entries[i].has_waker && stack->state == STACK_KEPT)
            interrupt = interrupts_did(interrupts, tally->addresses + stack->first, stack->count);
        if (interrupt)
            judge(waker, interrupt, bystanders);
        if (!kernel)
            waker->kernel = (struct stack){.state = STACK_NONE};
    }
}

struct adding {
    const struct blocked_all_along *all_along;
    struct tally *tally;
    struct stack_texts texts;
    size_t first;   /* the first entry that is ours */
    size_t *frames; /* for each of ours, in `texts` */
    size_t room;
};

static int add_thread(void *context, const struct asleep *thread)
{
    struct adding *adding = context;
    size_t index = adding->tally->count - adding->first;

    if (waits_has_seen(adding->all_along->waits, thread->tid))
        return 0;
    if (array_reserve(&adding->frames, &adding->room, index + 1, sizeof(*adding->frames)))
        return -ENOMEM;
    struct tally_entry *entry = tally_add(adding->tally);
    if (!entry)
        return -ENOMEM;
    entry->value = entry->longest = adding->all_along->time;
    entry->events = 1;
    entry->mark = adding->all_along->mark;
    entry->task.pid = thread->pid;
    entry->task.tid = thread->tid;
    memcpy(entry->task.comm, thread->comm, sizeof(thread->comm));
    adding->frames[index] = 0;
    return adding->all_along->kernel && thread->stack
               ? stack_texts_add(&adding->texts, thread->stack, &adding->frames[index]) : 0;
}

static int add_stacks(const struct adding *adding)
{
    size_t frame = 0;
    int result = 0;

    for (size_t i = adding->first; i < adding->tally->count && !result; i++) {
        size_t count = adding->frames[i - adding->first];
        result = stack_texts_put(&adding->texts, frame, count, adding->tally,
                                 &adding->tally->entries[i].task.kernel);
        frame += count;
    }
    return result;
}

int blocked_add_all_along(const struct blocked_all_along *all_along, struct tally *tally)
{
    struct adding adding = {
        .all_along = all_along,
        .tally = tally,
        .first = tally->count,
    };

    int result = asleep_list(all_along->wishes, add_thread, &adding);
    if (!result)
        result = stack_texts_find(&adding.texts, all_along->kallsyms);
    if (!result)
        result = add_stacks(&adding);
    stack_texts_free(&adding.texts);
    free(adding.frames);
    return result;
}
