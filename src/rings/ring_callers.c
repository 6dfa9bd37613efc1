/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "insns/layout.h"

static int insert(struct tally *tally, struct stack *stack, uint64_t caller, uint32_t depth)
{
    const uint32_t kept = stack->count < depth ? stack->count : depth - 1;
    uint64_t *frames = malloc((kept + 1) * sizeof(*frames));

    if (!frames)
        return -ENOMEM;
    frames[0] = tally->addresses[stack->first];
    frames[1] = caller;
    memcpy(frames + 2, tally->addresses + stack->first + 1, (kept - 1) * sizeof(*frames));
    int result = tally_add_stack(tally, stack, frames, kept + 1);
    free(frames);
    return result;
}

static enum caller_seen see_kernel(struct ring_callers *callers, uint64_t caller, const uint64_t *frames,
                                   size_t count)
{
    if (count > 1 && frames[1] == caller)
        callers->kernel_finds = true;
    return count && (count < 2 || frames[1] != caller) ? CALLER_IS_MISSING : CALLER_IS_THERE;
}

static enum caller_seen see(struct ring_callers *callers, struct ring_table *table, size_t i)
{
    struct tally *tally = &table->tally;
    const bool kernel = table->flags[i] & KEY_KERNEL_START;
    const struct tally_party *task = &tally->entries[i].task;
    const struct stack *stack = kernel ? &task->kernel : &task->user;
    const uint64_t *frames = tally->addresses + stack->first, caller = table->callers[i];

    return kernel ? see_kernel(callers, caller, frames, stack->count)
                  : callers_see(&callers->of_users, caller, table->flags[i], frames, stack->count);
}

/*
 * One stack settles others, so all are looked at first. If the kernel's own walk finds callers,
 * whatever else follows a function is not its fault: a trampoline's doing, for one.
 */
int ring_callers_complete(struct ring_callers *callers, struct ring_table *table, uint32_t depth)
{
    struct tally *tally = &table->tally;
    int result = 0;

    for (size_t i = 0; i < tally->count; i++)
        if (table->callers[i])
            (void)see(callers, table, i);
    for (size_t i = 0; i < tally->count && !result && depth > 1; i++) {
        const uint64_t flags = table->flags[i];
        const bool kernel = flags & KEY_KERNEL_START;
        struct tally_party *task = &tally->entries[i].task;
        const enum caller_seen seen = table->callers[i] ? see(callers, table, i) : CALLER_IS_THERE;
        if ((seen == CALLER_IS_MISSING && !(kernel && callers->kernel_finds)) ||
            (seen == CALLER_IN_DOUBT && callers_are_left_out(&callers->of_users, flags)))
            result = insert(tally, kernel ? &task->kernel : &task->user, table->callers[i], depth);
    }
    return result;
}
