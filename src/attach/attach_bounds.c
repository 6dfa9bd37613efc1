/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How many places at once are what anybody wants, and what is left out of very many. */
#include <errno.h>
#include <string.h>

#include "attach/attach_work.h"
#include "base/util.h"
#include "find/kernel_functions.h"

/*
 * What a program, the probe before it and its stack walks run through themselves. Each call of these
 * from there is a hit that the kernel takes and drops: tens of them for every hit that counts. With all
 * of them probed a tick of the timer can come to take longer than until the next, and nothing else
 * runs any more. Words anywhere in a name; with a ^ at its begin.
 */
static const char *const own_path[] = {
    "bpf", "htab", "array_map", "stack_map", "_map_", "lookup_nulls", "pcpu_free", "jhash",
    "unwind", "orc_", "callchain", "get_perf", "^stack_", "stack_info", "in_task_stack",
    "in_irq_stack", "text_address", "module_address", "is_module", "search_ex", "kallsyms",
    "kprobe", "fprobe", "rethook", "ftrace", "fgraph", "trace_", "static_call", "preempt", "migrate",
    "irq_work", "rcu", "raw_spin", "resilient", "rqspin", "clock", "ktime", "memcpy", "memset",
};

static bool is_on_own_path(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(own_path); i++)
        if (own_path[i][0] == '^' ? !strncmp(name, own_path[i] + 1, strlen(own_path[i]) - 1)
                                  : strstr(name, own_path[i]) != NULL)
            return true;
    return false;
}

static void drop_failed(struct work *work)
{
    size_t left = 0;

    for (size_t i = 0; i < work->count; i++)
        if (!work->places[i]->error)
            work->places[left++] = work->places[i];
    work->count = left;
}

static bool is_by_name(const struct place *place)
{
    return place->named || place->offset;
}

/* What ftrace does not list is not told by trying, where there are so many. */
static void sift(struct work *work)
{
    if (work->request->tracefs < 0)
        return;
    (void)kernel_functions_sift(work->request->tracefs, work->places, work->count);
    for (size_t i = 0; i < work->count; i++)
        if (is_by_name(work->places[i]))
            work->places[i]->error = 0;
    drop_failed(work);
}

void attach_leave_out(struct work *work)
{
    if (work->count <= ATTACH_MOST_AT_ONCE)
        return;
    sift(work);
    if (work->count <= ATTACH_MOST_AT_ONCE || !work->request->force)
        return;
    for (size_t i = 0; i < work->count; i++)
        if (!is_by_name(work->places[i]) && is_on_own_path(work->places[i]->name)) {
            work->places[i]->error = ATTACH_LEFT_OUT;
            work->attachment->left_out++;
        }
    drop_failed(work);
}

int attach_check_count(struct work *work)
{
    if (work->count <= ATTACH_MOST_AT_ONCE || work->request->force)
        return 0;
    work->attachment->too_many = work->count;
    return -E2BIG;
}
