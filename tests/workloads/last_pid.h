/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Forks a child with a chosen pid. */
#ifndef STACKBOX_WORKLOADS_LAST_PID_H
#define STACKBOX_WORKLOADS_LAST_PID_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

/* Gives the next process the first free pid after this one. Returns 1 on failure, or 0. */
static inline int set_last_pid(long pid)
{
    char text[16];
    int length = snprintf(text, sizeof(text), "%ld", pid);
    int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    ssize_t written = fd < 0 ? -1 : write(fd, text, (size_t)length);

    if (fd >= 0)
        close(fd);
    return written != length;
}

/*
 * fork(2), whose child gets this pid unless the pid is in use, or another process forks just then.
 * Afterwards pids continue from the old value: otherwise the kernel would reuse pids of processes
 * that have just ended, and a shell that still knows one of them would signal another process.
 */
static inline pid_t fork_as_pid(pid_t wanted)
{
    char text[16] = "";
    int fd = open("/proc/sys/kernel/ns_last_pid", O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    if (fd >= 0)
        close(fd);
    if (length <= 0 || set_last_pid(wanted - 1))
        return -1;
    const pid_t child = fork();
    if (child)
        set_last_pid(strtol(text, NULL, 10));
    return child;
}

#endif
