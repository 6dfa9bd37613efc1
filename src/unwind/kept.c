/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unwind/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/bpf.h"
#include "machine/machine.h"
#include "unwind/making.h"

#define MOST_TABLES 4096

struct kept *tables_find(const struct tables *tables, const struct unwind_key *key)
{
    for (size_t i = 0; i < tables->count; i++)
        if (tables->items[i].users && !memcmp(&tables->items[i].key, key, sizeof(*key)))
            return &tables->items[i];
    return NULL;
}

static struct kept *find_free(struct tables *tables)
{
    for (size_t i = 0; i < tables->count; i++)
        if (!tables->items[i].users)
            return &tables->items[i];
    if (array_reserve(&tables->items, &tables->room, tables->count + 1, sizeof(*tables->items)))
        return NULL;
    return &tables->items[tables->count++];
}

/* Blocks that programs were told about are not overwritten while one may still read them. */
static int put_blocks(struct tables *tables, const struct table *table, uint32_t *first)
{
    int result = space_settle(&tables->space);

    return result ? result : space_put(&tables->space, table->words, table->blocks, first);
}

/* NULL: it no longer exists. */
static int tell(struct tables *tables, const struct unwind_key *key, const struct unwind_object *object)
{
    int result = tables->map < 0 ? 0 : object ? bpf_update(tables->map, key, object, BPF_ANY) : bpf_delete(tables->map, key);
    return result == -E2BIG ? -ENOSPC : result;
}

int tables_put(struct tables *tables, const struct kept *about, const struct table *table, struct kept **kept)
{
    struct unwind_object object = table->object;
    struct kept *old = tables_find(tables, &about->key), *next = old ? old : find_free(tables);

    if (!next)
        return -ENOMEM;
    if (!old)
        *next = (struct kept){0};
    object.number = ++tables->number;
    int result = put_blocks(tables, table, &object.block);
    if (result)
        return result;
    result = tell(tables, &about->key, &object);
    if (result) {
        space_rest(&tables->space, object.block, table->blocks);
        return result;
    }
    if (old)
        space_rest(&tables->space, old->object.block, old->blocks);
    const size_t users = next->users;
    *next = *about;
    next->users = users;
    next->object = object;
    next->blocks = (uint32_t)table->blocks;
    tables->made++;
    *kept = next;
    return 0;
}

void tables_leave(struct tables *tables, size_t number)
{
    struct kept *kept = &tables->items[number];

    if (--kept->users)
        return;
    (void)tell(tables, &kept->key, NULL);
    space_rest(&tables->space, kept->object.block, kept->blocks);
    tables->dropped++;
}

void tables_tell_kind(struct tables *tables, const struct unwind_key *key, uint32_t kind)
{
    const struct unwind_object object = {.kind = kind};

    if (key->inode && !tables_find(tables, key))
        (void)tell(tables, key, kind ? &object : NULL);
}

/* The kernel's own, the same in all processes; but we may be a 32-bit process, and they 64-bit ones. */
static int put_vdso(struct tables *tables)
{
    const uint64_t at = machine_of_kernel() == machine_ours() ? getauxval(AT_SYSINFO_EHDR) : 0;
    int memory = at ? open("/proc/self/mem", O_RDONLY | O_CLOEXEC) : -1;
    struct kept about = {0}, *kept;
    struct table table = {0};
    struct elf elf;

    if (memory < 0)
        return -ENOENT;
    int result = elf_open_at(&elf, memory, at);
    if (!result) {
        result = making_of(&elf, &table, &about.rows);
        elf_close(&elf);
    }
    if (!result)
        result = tables_put(tables, &about, &table, &kept);
    if (!result)
        kept->users = 1;
    table_free(&table);
    close(memory);
    return result;
}

int tables_open(struct tables *tables, uint64_t most_bytes, bool in_memory)
{
    const struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_HASH,
        .name = "objects",
        .key_size = sizeof(struct unwind_key),
        .value_size = sizeof(struct unwind_object),
        .entries = MOST_TABLES,
    };

    *tables = (struct tables){.map = -1, .cache = -1};
    int result = space_open(&tables->space, most_bytes / UNWIND_BLOCK_BYTES, in_memory);
    if (!result && !in_memory)
        result = tables->map = bpf_create_map(&shape);
    if (result >= 0 && !in_memory)
        result = bpf_create_numbered(&tables->cache, BPF_MAP_TYPE_ARRAY, "rules",
                                     UNWIND_CACHED * sizeof(struct unwind_cached), 1);
    if (!result)
        result = put_vdso(tables);
    return result == -ENOENT ? 0 : result;
}

void tables_close(struct tables *tables)
{
    space_close(&tables->space);
    if (tables->map >= 0)
        close(tables->map);
    if (tables->cache >= 0)
        close(tables->cache);
    free(tables->items);
}
