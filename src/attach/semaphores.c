/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "attach/semaphores.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "processes/proc_maps.h"

struct search {
    struct stat file;
    uint64_t offset, address; /* in the file, and in memory: 0 so far */
};

/*
 * The last mapping is it: the page where code ends and data begins is mapped twice, first as code.
 */
static int look_at(void *context, const struct maps_entry *entry)
{
    struct search *search = context;

    if (entry->inode == search->file.st_ino && entry->device == search->file.st_dev &&
        search->offset >= entry->offset && search->offset - entry->offset < entry->end - entry->start)
        search->address = entry->start + (search->offset - entry->offset);
    return 0;
}

/* Others change it like this, too: not atomically. */
static int add(int memory, uint64_t address, int difference)
{
    uint16_t listeners;

    if (pread(memory, &listeners, sizeof(listeners), (off_t)address) != sizeof(listeners))
        return -EIO;
    listeners = (uint16_t)(listeners + difference);
    return pwrite(memory, &listeners, sizeof(listeners), (off_t)address) == sizeof(listeners) ? 0 : -EIO;
}

static int open_memory(uint32_t pid)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u/mem", pid);
    int memory = open(path, O_RDWR | O_CLOEXEC);
    return memory < 0 ? -errno : memory;
}

int semaphores_raise(struct semaphores *semaphores, const struct place *place, uint32_t pid)
{
    struct search search = {.offset = place->semaphore};
    uint32_t shown_by;

    if (stat(place->file, &search.file))
        return -errno;
    int result = maps_each_of(pid, &shown_by, look_at, &search);
    int memory = result ? result : semaphores->count ? semaphores->memory : open_memory(shown_by);
    if (memory < 0)
        result = memory;
    if (!result && !search.address)
        result = -ENOENT;
    if (!result)
        result = array_reserve(&semaphores->addresses, &semaphores->room, semaphores->count + 1,
                               sizeof(*semaphores->addresses));
    if (!result)
        result = add(memory, search.address, 1);
    if (!result) {
        semaphores->memory = memory;
        semaphores->addresses[semaphores->count++] = search.address;
    } else if (memory >= 0 && !semaphores->count) {
        close(memory);
    }
    return result;
}

void semaphores_lower(struct semaphores *semaphores)
{
    for (size_t i = 0; i < semaphores->count; i++)
        (void)add(semaphores->memory, semaphores->addresses[i], -1);
    if (semaphores->count)
        close(semaphores->memory);
    free(semaphores->addresses);
    *semaphores = (struct semaphores){0};
}
