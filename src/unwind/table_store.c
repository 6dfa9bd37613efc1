/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unwind/table_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/bpf.h"
#include "machine/machine.h"

#define CHUNK_BYTES (UNWIND_CHUNK_BLOCKS * UNWIND_BLOCK_BYTES)
_Static_assert(UNWIND_CHUNK_BLOCKS == 64, "a chunk's blocks are the bits of a word");

/* ---- Chunks ---- */

static int create_chunk(void)
{
    const struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_ARRAY,
        .name = "chunk",
        .key_size = sizeof(uint32_t),
        .value_size = UNWIND_BLOCK_BYTES,
        .entries = UNWIND_CHUNK_BLOCKS,
        .flags = BPF_F_MMAPABLE, /* 5.5 */
    };

    return bpf_create_map(&shape);
}

/* `map` below 0: private memory. Readers of files, forked from us, must not reach the tables. */
static void *map_chunk(int map)
{
    void *at = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE,
                    map < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, map, 0);

    if (at == MAP_FAILED)
        return NULL;
    if (!madvise(at, CHUNK_BYTES, MADV_DONTFORK))
        return at;
    munmap(at, CHUNK_BYTES);
    return NULL;
}

static int make_chunk(struct space *space, uint32_t number)
{
    if (space->chunks < 0)
        return (space->at[number] = map_chunk(-1)) ? 0 : -ENOMEM;
    int map = create_chunk();

    if (map < 0)
        return map;
    int result = bpf_update(space->chunks, &number, &map, 0);
    if (result)
        close(map);
    else
        space->maps[number] = map;
    return result;
}

static bool has_chunk(const struct space *space, uint32_t number)
{
    return space->at[number] || space->maps[number];
}

/* How many chunks there may be, of which a quarter may be spare. */
static uint32_t most_chunks(const struct space *space)
{
    return space->most / UNWIND_CHUNK_BLOCKS;
}

static uint32_t most_spares(const struct space *space)
{
    const uint32_t part = most_chunks(space) / 4;

    return part < SPACE_SPARES ? part + !part : SPACE_SPARES;
}

static uint32_t count_spares(const struct space *space)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < most_chunks(space); i++)
        count += has_chunk(space, i) && !space->taken[i];
    return count;
}

void space_lack_spares(struct space *space, struct spares *spares)
{
    const uint32_t most = most_spares(space), has = count_spares(space);
    uint32_t first = most_chunks(space), lacking = has < most ? most - has : 0;

    if (has && lacking == 1)
        lacking = 0;
    while (first && !has_chunk(space, first - 1) && !space->taken[first - 1])
        first--;
    *spares = (struct spares){.chunks = space->chunks, .first = first};
    while (space->chunks >= 0 && spares->count < lacking &&
           first + spares->count < most_chunks(space)) {
        space->taken[first + spares->count++] = UINT64_MAX;
        space->used += UNWIND_CHUNK_BLOCKS;
    }
}

/* Kernels that know no batch updates of maps of maps (before 5.16) get only the first. */
static uint32_t add_spares(const struct spares *spares, uint32_t made)
{
    uint32_t numbers[SPACE_SPARES];

    for (uint32_t i = 0; i < made; i++)
        numbers[i] = spares->first + i;
    if (!made || !bpf_update_batch(spares->chunks, numbers, spares->maps, made))
        return made;
    return bpf_update(spares->chunks, numbers, spares->maps, 0) ? 0 : 1;
}

void space_make_spares(struct spares *spares)
{
    uint32_t made = 0;

    while (made < spares->count && (spares->maps[made] = create_chunk()) >= 0)
        made++;
    const uint32_t added = add_spares(spares, made);
    for (uint32_t i = added; i < spares->count; i++) {
        if (i < made)
            close(spares->maps[i]);
        spares->maps[i] = 0;
    }
}

void space_take_spares(struct space *space, const struct spares *spares)
{
    for (uint32_t i = 0; i < spares->count; i++) {
        space->maps[spares->first + i] = spares->maps[i];
        space->taken[spares->first + i] = 0;
    }
    space->used -= spares->count * UNWIND_CHUNK_BLOCKS;
}

static void forget_chunk(struct space *space, uint32_t number)
{
    if (space->at[number])
        munmap(space->at[number], CHUNK_BYTES);
    if (space->maps[number])
        close(space->maps[number]);
    space->at[number] = NULL;
    space->maps[number] = 0;
}

int space_open(struct space *space, uint64_t most, bool in_memory)
{
    const uint64_t chunks = (most + UNWIND_CHUNK_BLOCKS - 1) / UNWIND_CHUNK_BLOCKS;
    struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
        .name = "chunks",
        .key_size = sizeof(uint32_t),
        .value_size = sizeof(uint32_t),
        .entries = UNWIND_MOST_CHUNKS,
    };
    struct spares spares;

    *space = (struct space){
        .chunks = -1,
        .grace = GRACE_NONE,
        .most = (uint32_t)(chunks < UNWIND_MOST_CHUNKS ? chunks : UNWIND_MOST_CHUNKS) *
                UNWIND_CHUNK_BLOCKS,
    };
    if (in_memory)
        return 0;
    int like = create_chunk();
    if (like < 0)
        return like;
    shape.inner = like;
    space->chunks = bpf_create_map(&shape);
    close(like);
    if (space->chunks < 0)
        return space->chunks;
    space_lack_spares(space, &spares);
    space_make_spares(&spares);
    space_take_spares(space, &spares);
    return grace_open(&space->grace);
}

void space_close(struct space *space)
{
    for (uint32_t i = 0; i < UNWIND_MOST_CHUNKS; i++)
        forget_chunk(space, i);
    close_fd(space->chunks);
    grace_close(&space->grace);
    *space = (struct space){.chunks = -1, .grace = GRACE_NONE};
}

/* ---- Blocks ---- */

static uint64_t bit_of(uint32_t block)
{
    return (uint64_t)1 << block % UNWIND_CHUNK_BLOCKS;
}

int space_take(struct space *space, size_t blocks, uint32_t *first)
{
    size_t found = 0;
    uint32_t at = 0;

    for (; at < space->most && found < blocks; at++)
        found = space->taken[at / UNWIND_CHUNK_BLOCKS] & bit_of(at) ? 0 : found + 1;
    if (!blocks || found < blocks)
        return -ENOSPC;
    *first = at - (uint32_t)blocks;
    for (uint32_t i = *first; i < at; i++)
        space->taken[i / UNWIND_CHUNK_BLOCKS] |= bit_of(i);
    space->used += (uint32_t)blocks;
    return 0;
}

uint32_t space_left(const struct space *space)
{
    return space->most - space->used;
}

static int put_block(struct space *space, const uint32_t *words, uint32_t block)
{
    const uint32_t number = block / UNWIND_CHUNK_BLOCKS, within = block % UNWIND_CHUNK_BLOCKS;
    int result = has_chunk(space, number) ? 0 : make_chunk(space, number);

    if (result)
        return result;
    if (!space->at[number])
        return bpf_update(space->maps[number], &within, words, BPF_ANY);
    memcpy(space->at[number] + (size_t)within * UNWIND_BLOCK_WORDS, words, UNWIND_BLOCK_BYTES);
    return 0;
}

int space_put(struct space *space, const uint32_t *words, size_t blocks, uint32_t *first)
{
    int result = space_take(space, blocks, first);

    if (result)
        return result;
    for (size_t i = 0; i < blocks && !result; i++)
        result = put_block(space, words + i * UNWIND_BLOCK_WORDS, *first + (uint32_t)i);
    if (result)
        space_rest(space, *first, blocks);
    return result;
}

bool space_map(struct space *space, uint32_t first, size_t blocks)
{
    const uint32_t last = (first + (uint32_t)blocks - 1) / UNWIND_CHUNK_BLOCKS;

    for (uint32_t i = first / UNWIND_CHUNK_BLOCKS; i <= last; i++) {
        if (space->at[i])
            continue;
        space->at[i] = space->maps[i] ? map_chunk(space->maps[i]) : NULL;
        if (!space->at[i])
            return false;
        close(space->maps[i]);
        space->maps[i] = 0;
    }
    return true;
}

/* ---- Freeing ---- */

void space_rest(struct space *space, uint32_t first, size_t blocks)
{
    for (uint32_t i = first; i < first + blocks; i++)
        space->resting[i / UNWIND_CHUNK_BLOCKS] |= bit_of(i);
    space->rests = space->rests || blocks;
}

/* If its map cannot be removed from the map of maps, programs still find it: keep it for reuse. */
static void free_resting(struct space *space, uint32_t number)
{
    const uint64_t resting = space->resting[number];

    space->taken[number] &= ~resting;
    space->resting[number] = 0;
    space->used -= (uint32_t)__builtin_popcountll(resting);
    if (!resting || space->taken[number] || count_spares(space) <= most_spares(space))
        return;
    const bool is_gone = space->chunks < 0 || !bpf_delete(space->chunks, &number);
    if (is_gone)
        forget_chunk(space, number);
}

int space_settle(struct space *space)
{
    int result = space->rests && space->chunks >= 0 ? grace_wait(&space->grace) : 0;

    if (result || !space->rests)
        return result;
    for (uint32_t i = 0; i < UNWIND_MOST_CHUNKS; i++)
        free_resting(space, i);
    space->rests = false;
    return 0;
}

/* ---- Tables ---- */

#define MOST_TABLES 4096

struct stored_table *tables_find(const struct tables *tables, const struct unwind_key *key)
{
    for (size_t i = 0; i < tables->count; i++)
        if (tables->items[i].users && !memcmp(&tables->items[i].key, key, sizeof(*key)))
            return &tables->items[i];
    return NULL;
}

static struct stored_table *find_free(struct tables *tables)
{
    for (size_t i = 0; i < tables->count; i++)
        if (!tables->items[i].users)
            return &tables->items[i];
    if (ARRAY_RESERVE(tables->items, tables->room, tables->count + 1))
        return NULL;
    return &tables->items[tables->count++];
}

/* NULL: it no longer exists. */
static int tell(struct tables *tables, const struct unwind_key *key,
                const struct unwind_object *object)
{
    int result = tables->map < 0 ? 0
                 : object        ? bpf_update(tables->map, key, object, BPF_ANY)
                                 : bpf_delete(tables->map, key);
    return result == -E2BIG ? -ENOSPC : result;
}

int tables_put(struct tables *tables, const struct stored_table *about, const struct table *table,
               struct stored_table **stored)
{
    struct unwind_object object = table->object;
    struct stored_table *old = tables_find(tables, &about->key),
                        *next = old ? old : find_free(tables);

    if (!next)
        return -ENOMEM;
    if (!old)
        *next = (struct stored_table){0};
    object.number = ++tables->number;
    /* Blocks that programs know are not overwritten while a program may still read them. */
    int result = space_settle(&tables->space);
    if (!result)
        result = space_put(&tables->space, table->words, table->blocks, &object.block);
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
    *stored = next;
    return 0;
}

void tables_leave(struct tables *tables, size_t number)
{
    struct stored_table *stored = &tables->items[number];

    if (--stored->users)
        return;
    (void)tell(tables, &stored->key, NULL);
    space_rest(&tables->space, stored->object.block, stored->blocks);
    tables->dropped++;
}

void tables_set_kind(struct tables *tables, const struct unwind_key *key, uint32_t kind)
{
    const struct unwind_object object = {.kind = kind};

    if (key->inode && !tables_find(tables, key))
        (void)tell(tables, key, kind ? &object : NULL);
}

/* The kernel's own vDSO, the same in all processes; but we may be 32-bit, and they 64-bit. */
static int put_vdso(struct tables *tables)
{
    const uint64_t at = machine_of_kernel() == machine_ours() ? getauxval(AT_SYSINFO_EHDR) : 0;
    int memory = at ? open("/proc/self/mem", O_RDONLY | O_CLOEXEC) : -1;
    struct stored_table about = {0}, *stored;
    struct table table = {0};
    struct elf elf;

    if (memory < 0)
        return -ENOENT;
    int result = elf_open_watched(&elf, memory, at, NULL);
    if (!result) {
        result = table_build(&elf, &table, &about.counts);
        elf_close(&elf);
    }
    if (!result)
        result = tables_put(tables, &about, &table, &stored);
    if (!result)
        stored->users = 1;
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
    close_fd(tables->map);
    close_fd(tables->cache);
    free(tables->items);
}
