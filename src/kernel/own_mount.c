/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/own_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_fsopen /* 5.2, the same number on every architecture but alpha */
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif
#define FSOPEN_CLOSES_ON_EXEC 1
#define FSMOUNT_CLOSES_ON_EXEC 1
#define FSCONFIG_CREATES 6

int own_mount(const char *type)
{
    int context = (int)syscall(SYS_fsopen, type, FSOPEN_CLOSES_ON_EXEC);

    if (context < 0)
        return -errno;
    int mounted = -1;
    if (!syscall(SYS_fsconfig, context, FSCONFIG_CREATES, NULL, NULL, 0))
        mounted = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOSES_ON_EXEC, 0);
    int result = mounted < 0 ? -errno : openat(mounted, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (mounted >= 0 && result < 0)
        result = -errno;
    if (mounted >= 0)
        close(mounted);
    close(context);
    return result;
}
