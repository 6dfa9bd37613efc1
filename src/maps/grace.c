/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/grace.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/bpf.h"
#include "kernel/cpus.h"

#define MEMBARRIER_SHARED 1 /* MEMBARRIER_CMD_GLOBAL's name in kernels before 4.16 */

int grace_open(struct grace *grace)
{
    const struct bpf_map_shape inner = {
        .type = BPF_MAP_TYPE_ARRAY,
        .name = "grace_inner",
        .key_size = sizeof(uint32_t),
        .value_size = sizeof(uint32_t),
        .entries = 1,
    };

    *grace = (struct grace)GRACE_NONE;
    grace->inner = bpf_create_map(&inner);
    const struct bpf_map_shape outer = {
        .type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
        .name = "grace",
        .key_size = sizeof(uint32_t),
        .value_size = sizeof(uint32_t),
        .entries = 1,
        .inner = grace->inner,
    };
    if (grace->inner < 0)
        return grace->inner;
    grace->outer = bpf_create_map(&outer);
    return grace->outer < 0 && grace->outer != -EINVAL ? grace->outer : 0;
}

void grace_close(struct grace *grace)
{
    if (grace->outer >= 0)
        close(grace->outer);
    if (grace->inner >= 0)
        close(grace->inner);
    *grace = (struct grace)GRACE_NONE;
}

static int run_on(void *context, unsigned cpu)
{
    cpu_set_t one;

    (void)context;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof(one), &one) ? -errno : 0;
}

/*
 * For kernels without such maps (before 4.12), whose programs cannot be preempted: once something
 * else has run on a CPU, its programs have ended. membarrier(2) waits for just that, but not if
 * some CPUs have no ticks.
 */
static int wait_for_cpus(void)
{
    cpu_set_t all;

    if (!syscall(SYS_membarrier, MEMBARRIER_SHARED, 0))
        return 0;
    if (sched_getaffinity(0, sizeof(all), &all))
        return -errno;
    int result = cpus_each_online(run_on, NULL);
    return sched_setaffinity(0, sizeof(all), &all) && !result ? -errno : result;
}

/*
 * The kernel waits before an update of a map of maps returns, as programs may be using the old
 * inner map. (membarrier(2) waits likewise, but does nothing at all on a machine with one CPU.)
 */
int grace_wait(const struct grace *grace)
{
    uint32_t zero = 0, inner = (uint32_t)grace->inner;

    if (grace->outer < 0)
        return wait_for_cpus();
    int result = bpf_update(grace->outer, &zero, &inner, BPF_ANY);
    return result;
}
