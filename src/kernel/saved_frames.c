/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/saved_frames.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kallsyms.h"
#include "kernel/own_version.h"
#include "machine/machine.h"

#define SAVES_ALL 0x041000 /* Linux 4.16, and stable kernels with a backport */

static int is_way(void *way, const struct kallsyms_symbol *symbol)
{
    return strcmp(symbol->name, way) ? 0 : -EEXIST;
}

bool kernel_saves_frames(void)
{
    const char *way = machine_of_kernel()->unsaved;
    int kallsyms = way && own_version() < SAVES_ALL ? open("/proc/kallsyms", O_RDONLY | O_CLOEXEC) : -1;
    int result = kallsyms < 0 ? 0 : kallsyms_each(kallsyms, is_way, (void *)(uintptr_t)way);

    if (kallsyms >= 0)
        close(kallsyms);
    return !result;
}
