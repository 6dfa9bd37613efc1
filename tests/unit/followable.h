/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* May this process open a mapped file through its mapping (/proc/self/map_files)? */
#ifndef STACKBOX_TEST_FOLLOWABLE_H
#define STACKBOX_TEST_FOLLOWABLE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * This needs a capability. Under qemu-user our addresses may differ from the host's, and then the
 * kernel finds none of our mappings.
 */
static inline bool can_follow_mappings(void)
{
    int fd = memfd_create("followed", MFD_CLOEXEC), opened = -1;
    long size = sysconf(_SC_PAGESIZE);
    char path[96];

    if (fd >= 0 && !ftruncate(fd, size)) {
        char *at = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
        snprintf(path, sizeof(path), "/proc/self/map_files/%llx-%llx",
                 (unsigned long long)(uintptr_t)at, (unsigned long long)(uintptr_t)(at + size));
        opened = open(path, O_PATH | O_CLOEXEC);
        if (at != MAP_FAILED)
            munmap(at, (size_t)size);
    }
    if (fd >= 0)
        close(fd);
    if (opened >= 0)
        close(opened);
    return opened >= 0;
}

#endif
