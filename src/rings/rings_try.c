/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/rings_try.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include "kernel/cpus.h"
#include "kernel/perf.h"

struct trial {
    bool own, kernel;
};

/* -ECANCELED: it can be opened, which is all we need to know. */
static int try_one(void *context, unsigned cpu)
{
    const struct trial *trial = context;
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .size = PERF_ATTR_SIZE_VER3,
        .exclude_kernel = !trial->kernel,
        .exclude_hv = 1,
    };
    int fd = perf_open(&attributes, trial->own ? 0 : -1, cpu, 0);

    if (fd < 0)
        return fd;
    close(fd);
    return -ECANCELED;
}

int rings_try(bool own, bool kernel)
{
    struct trial trial = {own, kernel};
    int result = cpus_each_online(try_one, &trial);

    return result == -ECANCELED ? 0 : result ? result : -ENODEV;
}
