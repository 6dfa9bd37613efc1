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

/* A map's memory, or, if it is below 0, just memory shared by the tracer's processes. */
static int map_pids(struct own *own, int map)
{
    void *at = mmap(NULL, mapped_bytes(), PROT_READ | PROT_WRITE,
                    MAP_SHARED | (map < 0 ? MAP_ANONYMOUS : 0), map, 0);

    if (at == MAP_FAILED)
        return -errno;
    own->pids = at;
    for (size_t i = 0; i < OWN_PROCESSES; i++)
        put(own, i, OWN_NOBODY);
    put(own, OWN_TRACER, (uint32_t)getpid());
    return 0;
}

int own_open(struct own *own)
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
    int result = own->map < 0 ? own->map : map_pids(own, own->is_copied ? -1 : own->map);
    if (result) {
        if (own->map >= 0)
            close(own->map);
        *own = (struct own){.map = 0};
    }
    return result;
}

int own_open_in_memory(struct own *own)
{
    *own = (struct own){.map = 0};
    return map_pids(own, -1);
}

void own_close(struct own *own)
{
    if (own->pids)
        munmap(own->pids, mapped_bytes());
    if (own->map)
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
        /*
         * What it reads could turn it against us: it must not write others' pids. The opener forks
         * the reader.
         */
        if (role & APART_READER)
            own_close(own);
    }
}
