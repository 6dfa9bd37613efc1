/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How many places at once make sense, and what is left out of very many. */
#include <errno.h>
#include <string.h>

#include "attach/attach_work.h"
#include "base/util.h"
#include "find/kernel_functions.h"

/*
 * What a program, the probe before it and its stack walks call themselves. Each such call is a hit
 * that the kernel takes and drops: tens of them for every hit that counts. With all of them probed,
 * a timer tick can come to take longer than the time to the next, and nothing else runs. Words
 * anywhere in a name; with a ^ at its beginning.
 */
static const char own_path[] =
    "bpf\0" "htab\0" "array_map\0" "stack_map\0" "_map_\0" "lookup_nulls\0" "pcpu_free\0" "jhash\0"
    "unwind\0" "orc_\0" "callchain\0" "get_perf\0" "^stack_\0" "stack_info\0" "in_task_stack\0"
    "in_irq_stack\0" "text_address\0" "module_address\0" "is_module\0" "search_ex\0" "kallsyms\0"
    "kprobe\0" "fprobe\0" "rethook\0" "ftrace\0" "fgraph\0" "trace_\0" "static_call\0" "preempt\0"
    "migrate\0" "irq_work\0" "rcu\0" "raw_spin\0" "resilient\0" "rqspin\0" "clock\0" "ktime\0"
    "memcpy\0" "memset\0";

static bool is_on_own_path(const char *name)
{
    for (const char *word = own_path; *word; word += strlen(word) + 1)
        if (*word == '^' ? !strncmp(name, word + 1, strlen(word) - 1) : strstr(name, word) != NULL)
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

/* With this many, ftrace's list is used instead of trying. */
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
    const bool of_all = work->request->of_all && work->count && work->places[0]->kind == PLACE_USER;

    if (work->count <= (of_all ? ATTACH_MOST_OF_ALL : ATTACH_MOST_AT_ONCE) || work->request->force)
        return 0;
    work->attachment->too_many = work->count;
    return -E2BIG;
}
