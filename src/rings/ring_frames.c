/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_frames.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kallsyms.h"
#include "kernel/own_version.h"
#include "kernel/perf.h"
#include "kernel/tracefs.h"
#include "machine/machine.h"

#define SAVES_ALL 0x041000 /* Linux 4.16, and what stable series took from it */

static int is_way(void *way, const struct kallsyms_symbol *symbol)
{
    return strcmp(symbol->name, way) ? 0 : -EEXIST;
}

static bool saves_frames(void)
{
    const char *way = machine_of_kernel()->unsaved;
    int kallsyms = way && own_version() < SAVES_ALL ? open("/proc/kallsyms", O_RDONLY | O_CLOEXEC) : -1;
    int result = kallsyms < 0 ? 0 : kallsyms_each(kallsyms, is_way, (void *)(uintptr_t)way);

    if (kallsyms >= 0)
        close(kallsyms);
    return !result;
}

int rings_have_frames_saved(void)
{
    int tracefs, fd = -1;
    uint32_t id;

    if (saves_frames())
        return 0;
    tracefs = tracefs_open();
    if (tracefs >= 0 && !tracefs_event_id(tracefs, "raw_syscalls", "sys_exit", &id))
        fd = perf_open_tracepoint(id);
    if (tracefs >= 0)
        close(tracefs);
    if (fd < 0)
        return 0;
    (void)perf_disable(fd); /* it is there, which is all that is wanted */
    return fd;
}
