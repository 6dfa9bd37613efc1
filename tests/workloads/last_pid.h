/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which number the next process gets, if no other is made meanwhile. */
#ifndef STACKBOX_WORKLOADS_LAST_PID_H
#define STACKBOX_WORKLOADS_LAST_PID_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

/* The next process gets the first free pid after this one. 0, or 1 if that cannot be set. */
static inline int set_last_pid(pid_t pid)
{
    char text[16];
    int length = snprintf(text, sizeof(text), "%d", (int)pid);
    int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    ssize_t written = fd < 0 ? -1 : write(fd, text, (size_t)length);

    if (fd >= 0)
        close(fd);
    return written != length;
}

#endif
