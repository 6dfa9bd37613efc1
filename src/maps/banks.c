/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/banks.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kernel/bpf.h"
#include "machine/machine.h"
#include "maps/store_sizes.h"

static void close_map(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_bank(struct bank *bank)
{
    for (int map = 0; map < BANK_MAPS; map++) {
        close_map(&bank->maps[map]);
        bank->entries[map] = 0;
    }
}

/*
 * Makes a map with the room wanted, or with as much as there is memory for. 0 or a negative errno.
 */
static int make_map(struct store *store, enum bank_map map, bool or_less, int *fd, uint32_t *entries)
{
    for (*entries = store->wanted[map];; *entries /= 2) {
        const struct bpf_map_shape shape = store_map_shape(store, map, *entries);
        *fd = bpf_create_map(&shape);
        if (*fd >= 0 || !or_less || *entries <= LEAST_STACKS)
            return *fd < 0 ? *fd : 0;
    }
}

/*
 * Through this, programs find the maps of all banks but the first; the first bank's map is the
 * pattern.
 */
static int open_others(struct store *store, enum bank_map map)
{
    const struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
        .name = "banks",
        .key_size = sizeof(uint32_t),
        .value_size = sizeof(uint32_t),
        .entries = 2 * CONTROL_MODES, /* see show_map() */
        .inner = store->main.maps[map],
    };

    store->banks.first[map] = store->main.maps[map];
    store->banks.others[map] = bpf_create_map(&shape);
    return store->banks.others[map] < 0 ? store->banks.others[map] : 0;
}

void banks_close(struct store *store)
{
    close_bank(&store->main);
    close_bank(&store->stand_in);
    for (int map = 0; map < BANK_MAPS; map++)
        close_map(&store->banks.others[map]);
    settled_close(&store->settled);
}

int banks_open(struct store *store)
{
    struct bank *bank = &store->main;
    int result = 0;

    for (int map = 0; map < BANK_MAPS && !result; map++) {
        if (!store->wanted[map])
            continue;
        result = make_map(store, (enum bank_map)map, false, &bank->maps[map], &bank->entries[map]);
        if (!result)
            result = open_others(store, (enum bank_map)map);
    }
    if (!result && store->id_entries)
        result = settled_open(&store->settled, store->id_entries, store->depth);
    if (result)
        banks_close(store);
    return result;
}

/*
 * Installs a map for programs that count into that bank, of which none runs now. 32-bit kernels
 * store it at an index times the size of a pointer, and look for it at the index times 8.
 */
static int show_map(const struct store *store, enum control_mode mode, int map, int fd)
{
    uint32_t key = mode, inner = (uint32_t)fd;
    int result = bpf_update(store->banks.others[map], &key, &inner, BPF_ANY);

    key *= 2;
    if (!result && machine_of_kernel()->bits == 32)
        result = bpf_update(store->banks.others[map], &key, &inner, BPF_ANY);
    return result;
}
_Static_assert(CONTROL_STAND_IN * 2 > CONTROL_GROWN, "what is shown twice hides no other");

/* Replaces an empty bank's map by a larger one, if there is memory. */
static int enlarge_map(struct store *store, struct bank *bank, enum bank_map map)
{
    uint32_t entries;
    int fd;
    int result = make_map(store, map, store->grows && !bank->entries[map], &fd, &entries);

    if (!result)
        result = show_map(store, bank->mode, (int)map, fd);
    if (result) {
        if (fd >= 0)
            close(fd);
        return result;
    }
    close_map(&bank->maps[map]);
    bank->maps[map] = fd;
    bank->entries[map] = entries;
    bank->kept[map] = 0;
    return 0;
}

static bool is_smaller(const struct store *store, const struct bank *bank)
{
    for (int map = 0; map < BANK_MAPS; map++)
        if (bank->entries[map] < store->wanted[map])
            return true;
    return false;
}

/*
 * Programs have the first main bank's maps built in: a larger one is another bank, with its own
 * account.
 */
static int leave_first(struct store *store)
{
    struct bank *bank = &store->main;
    int result = 0;

    if (bank->mode != CONTROL_MAIN)
        return 0;
    for (int map = 0; map < BANK_MAPS && !result; map++)
        if (bank->maps[map] >= 0)
            result = show_map(store, CONTROL_GROWN, map, bank->maps[map]);
    if (!result) {
        bank->mode = CONTROL_GROWN;
        bank->before = (struct account){0};
    }
    return result;
}

/* Before 5.10, all maps within a map of maps have the same size: the first one's. */
static int keep_size(struct store *store, struct bank *bank)
{
    store->grows = false;
    memcpy(store->wanted, store->main.entries, sizeof(store->wanted));
    return banks_enlarge(store, bank);
}

int banks_enlarge(struct store *store, struct bank *bank)
{
    bool is_new = bank->maps[BANK_COUNTS] < 0;
    int result = 0;

    if (!is_smaller(store, bank) || (!is_new && !store->grows))
        return 0;
    if (bank == &store->main)
        result = leave_first(store);
    for (int map = 0; map < BANK_MAPS && !result; map++)
        if (bank->entries[map] < store->wanted[map])
            result = enlarge_map(store, bank, (enum bank_map)map);
    if (result == -EINVAL && store->grows)
        return keep_size(store, bank);
    if (!result || is_new)
        return result;
    store->grows = false;
    memcpy(store->wanted, store->main.entries, sizeof(store->wanted));
    return 0;
}
