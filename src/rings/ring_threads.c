/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_threads.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#include "base/util.h"

int ring_threads_add(struct ring_threads *threads, uint32_t tid)
{
    if (array_reserve(&threads->tids, &threads->room, threads->count + 1, sizeof(*threads->tids)))
        return -ENOMEM;
    threads->tids[threads->count++] = tid;
    return 0;
}

static int add_process(struct ring_threads *threads, uint32_t pid)
{
    char path[64];
    struct dirent *entry;
    uint64_t tid;
    int result = 0;

    snprintf(path, sizeof(path), "/proc/%u/task", pid);
    DIR *directory = opendir(path);
    if (!directory)
        return ring_threads_add(threads, pid);
    while (!result && (entry = readdir(directory)))
        if (!parse_number(entry->d_name, 1, UINT32_MAX, &tid))
            result = ring_threads_add(threads, (uint32_t)tid);
    closedir(directory);
    return result;
}

int ring_threads_list(struct ring_threads *threads, const struct event_filter *filter)
{
    int result = 0;

    for (size_t i = 0; i < filter->pid_count && !result; i++)
        result = add_process(threads, filter->pids[i]);
    for (size_t i = 0; i < filter->tid_count && !filter->pid_count && !result; i++)
        result = ring_threads_add(threads, filter->tids[i]);
    return result ? result : threads->count ? 0 : -ESRCH;
}
