/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/own.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apart/apart.h"
#include "insns/layout.h"
#include "kernel/bpf.h"

/* The kernel maps whole pages. */
static size_t mapped_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Events may come at any moment: a pid is there whole, or not yet. */
static void put(const struct own *own, size_t place, uint32_t pid)
{
    const uint32_t zero = 0;

    __atomic_store_n(&own->pids[place], pid, __ATOMIC_RELAXED);
    if (own->is_copied)
        (void)bpf_update(own->map, &zero, own->pids, BPF_ANY);
}

/* Where the map is no memory of ours, the processes that trace share a copy of it. */
static int open_map(struct own *own)
{
    struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_ARRAY,
        .name = "own",
        .key_size = sizeof(uint32_t),
        .value_size = OWN_PROCESSES * sizeof(uint32_t),
        .entries = 1,
        .flags = BPF_F_MMAPABLE, /* 5.5 */
    };

    *own = (struct own){.map = bpf_create_map(&shape)};
    if (own->map == -EINVAL) {
        shape.flags = 0;
        *own = (struct own){.map = bpf_create_map(&shape), .is_copied = true};
    }
    return own->map < 0 ? own->map : 0;
}

int own_open(struct own *own)
{
    int result = open_map(own);
    void *at = result ? MAP_FAILED
                      : mmap(NULL, mapped_bytes(), PROT_READ | PROT_WRITE,
                             own->is_copied ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED,
                             own->is_copied ? -1 : own->map, 0);

    if (at == MAP_FAILED) {
        result = result ? result : -errno;
        if (own->map >= 0)
            close(own->map);
        *own = (struct own){.map = 0};
        return result;
    }
    own->pids = at;
    for (size_t i = 0; i < OWN_PROCESSES; i++)
        put(own, i, OWN_NOBODY);
    put(own, OWN_TRACER, (uint32_t)getpid());
    return 0;
}

void own_close(struct own *own)
{
    if (!own->map)
        return;
    munmap(own->pids, mapped_bytes());
    close(own->map);
    *own = (struct own){.map = 0};
}

void own_watch(void *context, bool begins, unsigned role)
{
    struct own *own = context;

    if (!own->pids)
        return;
    if (!begins) {
        put(own, OWN_OPENER + role, OWN_NOBODY);
        put(own, OWN_OPENER + (role | APART_READER), OWN_NOBODY);
    } else {
        put(own, OWN_OPENER + role, (uint32_t)getpid());
        /* What it is to read could turn it against us: it writes no other. The opener begins the reader. */
        if (role & APART_READER)
            own_close(own);
    }
}
