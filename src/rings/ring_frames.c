/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_frames.h"

#include <unistd.h>

#include "kernel/perf.h"
#include "kernel/saved_frames.h"
#include "kernel/tracefs.h"

int rings_have_frames_saved(void)
{
    int tracefs, fd = -1;
    uint32_t id;

    if (kernel_saves_frames())
        return 0;
    tracefs = tracefs_open();
    if (tracefs >= 0 && !tracefs_event_id(tracefs, "raw_syscalls", "sys_exit", &id))
        fd = perf_open_tracepoint(id);
    if (tracefs >= 0)
        close(tracefs);
    return fd < 0 ? 0 : fd; /* it only has to be open */
}
