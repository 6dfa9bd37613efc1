/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/saved_frames.h"

#include "kernel/kallsyms.h"
#include "kernel/own_version.h"
#include "machine/machine.h"

#define SAVES_ALL 0x041000 /* Linux 4.16, and stable kernels with a backport */

bool kernel_saves_frames(void)
{
    const char *way = machine_of_kernel()->unsaved;

    return !way || own_version() >= SAVES_ALL || !kallsyms_has(way);
}
