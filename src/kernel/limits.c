/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/limits.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"
#include "kernel/cgroup_memory.h"

#define DEFAULT_DEPTH 127

/* The number after `after` in a small file (NULL: at its start), or `otherwise`. */
static uint64_t number_in(const char *path, const char *after, uint64_t otherwise)
{
    struct text content = {0};
    uint64_t number = otherwise;

    if (!read_file(AT_FDCWD, path, 65536, &content) && content.data) {
        char *at = after ? strstr(content.data, after) : content.data;
        if (at) {
            at += after ? strlen(after) : 0;
            at += strspn(at, " \t");
            at[strspn(at, "0123456789")] = '\0';
            if (parse_number(at, 0, UINT64_MAX, &number))
                number = otherwise;
        }
    }
    text_free(&content);
    return number;
}

uint64_t kernel_free_memory(void)
{
    const uint64_t machine = number_in("/proc/meminfo", "MemAvailable:", 0) * 1024;
    struct cgroup_memory cgroup;

    cgroup_memory_find(&cgroup);
    text_free(&cgroup.file);
    if (cgroup.left == UINT64_MAX)
        return machine;
    const uint64_t left = machine && machine < cgroup.left ? machine : cgroup.left;
    return left ? left : 1;
}

uint32_t kernel_most_threads(void)
{
    const uint64_t most = number_in("/proc/sys/kernel/threads-max", NULL, MOST_PID);

    return most < MOST_PID ? (uint32_t)most : MOST_PID;
}

uint64_t kernel_stack_depth(void)
{
    return number_in("/proc/sys/kernel/perf_event_max_stack", NULL, DEFAULT_DEPTH);
}

uint32_t kernel_pid_limit(void)
{
    struct stat own;
    const bool is_initial = !stat("/proc/self/ns/pid", &own) && own.st_ino == INITIAL_PID_NAMESPACE;
    const uint64_t limit = is_initial ? number_in("/proc/sys/kernel/pid_max", NULL, MOST_PID) : MOST_PID;

    return limit && limit <= MOST_PID ? (uint32_t)limit : MOST_PID;
}

static const char jit_enable[] = "/proc/sys/net/core/bpf_jit_enable";

bool kernel_jit_is_off(void)
{
    return !number_in(jit_enable, NULL, 1);
}

bool kernel_jit_is_on(void)
{
    return number_in(jit_enable, NULL, 0);
}
