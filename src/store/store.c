/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "machine/machine.h"
#include "store/store.h"

/*
 * What may be new within a fifth of a second, when several programs at once do everything for the
 * first time. The kernel preallocates the maps: setup takes some milliseconds even if most of it is
 * never used.
 */
#define DEFAULT_STACKS 20480
#define LEAST_STACKS 64
#define STACKS_PER_DEEP 5
#define COUNTS_PER_FIVE 6 /* per five stacks, as they come in pairs, and with processes */
/* On larger machines more runs, and more is new between two looks. */
#define STACKS_PER_CPU 512
#define MOST_STACKS 65536
#define MOST_IDS 4096 /* that map never grows; stacks that do not fit are kept by our own hash */
/* For deep stacks, up to the kernel's limit: there are few, and a map that is too small grows. */
#define FIRST_DEEP_BYTES (8u << 20)
/* With a size asked for: a stack occurs with several others, and these with several processes. */
#define COUNTS_PER_STACK 2
/* What a hash entry takes besides its key and value. */
#define ENTRY_OVERHEAD 56
#define MOST_SHARE 4 /* of the free memory */
#define MOST_MAP_BYTES (128u << 20) /* a single map does not grow beyond this */
/* If more than half of a map is new between two looks, it grows until that is at most a quarter. */
#define GROWS_FROM 2
#define GROWS_TO 4

uint64_t store_depth_limit(void)
{
    const uint64_t limit = kernel_stack_depth(),
        most = bpf_has_loops() ? MOST_DEPTH : UNROLLED_DEPTH;

    return limit < most ? limit : most;
}

static uint64_t few_deep(const struct store *store, uint64_t stacks)
{
    const uint64_t most = FIRST_DEEP_BYTES / (store->depth * sizeof(uint64_t));

    return stacks < most ? stacks : most;
}

/* Sets the sizes wanted for this many stacks: of the banks, and of the map of ids. */
static void store_set_sizes(struct store *store, uint64_t stacks, const struct store_config *config)
{
    uint64_t ids = stacks;

    store->stacks = (uint32_t)stacks;
    if (config->stacks) {
        store->wanted[BANK_DEEP] = (uint32_t)stacks;
        store->wanted[BANK_COUNTS] =
            (uint32_t)(stacks < LEAST_STACKS ? LEAST_STACKS : stacks) * COUNTS_PER_STACK;
    } else {
        bool has_shallow = store->depth > SHALLOW_DEPTH;
        store->banks.shallow_depth = has_shallow ? SHALLOW_DEPTH : 0;
        store->wanted[BANK_SHALLOW] = has_shallow ? (uint32_t)stacks : 0;
        store->wanted[BANK_DEEP] =
            (uint32_t)(has_shallow ? few_deep(store, stacks / STACKS_PER_DEEP) : stacks);
        store->wanted[BANK_COUNTS] = (uint32_t)(stacks / 5 * COUNTS_PER_FIVE);
        ids = few_deep(store, stacks < MOST_IDS ? stacks : MOST_IDS);
    }
    store->id_entries = config->by_id ? (uint32_t)ids : 0;
}

struct bpf_map_shape store_map_shape(const struct store *store, enum bank_map map,
                                     uint32_t entries)
{
    static const char *const names[] = {
        [BANK_COUNTS] = "counts",
        [BANK_SHALLOW] = "shallow",
        [BANK_DEEP] = "deep",
    };
    uint32_t depth = map == BANK_SHALLOW ? SHALLOW_DEPTH : store->depth;

    return (struct bpf_map_shape){
        .type = BPF_MAP_TYPE_HASH,
        .name = names[map],
        .key_size = map == BANK_COUNTS ? store->key_bytes : (uint32_t)sizeof(int64_t),
        .value_size = map == BANK_COUNTS ? store->value_bytes
                                         : (uint32_t)SPILLED_STACK_BYTES(depth),
        .entries = entries,
    };
}

static uint64_t map_bytes(const struct store *store, enum bank_map map, uint64_t entries)
{
    struct bpf_map_shape shape = store_map_shape(store, map, 0);

    return entries * (shape.key_size + shape.value_size + ENTRY_OVERHEAD);
}

uint64_t store_bytes(const struct store *store)
{
    uint64_t bytes = (uint64_t)store->id_entries * store->depth * sizeof(uint64_t);

    for (int map = 0; map < BANK_MAPS; map++)
        bytes += 2 * map_bytes(store, (enum bank_map)map, store->wanted[map]);
    return bytes;
}

/* ---- Growth ---- */

/* How many entries of each map are new in `now`, since `before`. */
static void store_new_entries(const struct account *now, const struct account *before,
                              uint64_t entries[BANK_MAPS])
{
    uint64_t deep = now->deep_kept - before->deep_kept;

    entries[BANK_COUNTS] = now->inserted - before->inserted;
    entries[BANK_SHALLOW] = now->stacks_kept - before->stacks_kept - deep;
    entries[BANK_DEEP] = deep;
}

static bool may_double(const struct store *store, enum bank_map map)
{
    uint64_t more = map_bytes(store, map, store->wanted[map]), has = store_bytes(store);

    return more * 2 <= MOST_MAP_BYTES &&
           has + more * 2 <= (has + kernel_free_memory()) / MOST_SHARE;
}

/* Raises the sizes wanted, if this many entries were new between two looks. */
static void store_want(struct store *store, const uint64_t entries[BANK_MAPS])
{
    for (int map = 0; map < BANK_MAPS && store->grows; map++) {
        uint32_t *wanted = &store->wanted[map];
        if (entries[map] <= *wanted / GROWS_FROM)
            continue;
        while (entries[map] > *wanted / GROWS_TO && may_double(store, (enum bank_map)map))
            *wanted *= 2;
    }
    store->stacks = store->wanted[store->banks.shallow_depth ? BANK_SHALLOW : BANK_DEEP];
}

/* ---- The beginning ---- */

/* As many new stacks as this machine makes in a moment. */
static uint64_t usual_stacks(void)
{
    uint64_t cpus = cpus_count(cpus_each_online), stacks = DEFAULT_STACKS;

    if (!cpus || cpus * STACKS_PER_CPU > MOST_STACKS)
        cpus = MOST_STACKS / STACKS_PER_CPU;
    while (stacks < cpus * STACKS_PER_CPU)
        stacks *= 2;
    return stacks;
}

/*
 * Sets the sizes wanted: for the stacks asked for, or else for what suits this machine and a
 * quarter of its free memory allows. Returns how many stacks.
 */
static uint64_t store_first_sizes(struct store *store, const struct store_config *config)
{
    uint64_t available = kernel_free_memory();
    uint64_t stacks = config->stacks ? config->stacks : usual_stacks();

    store->grows = !config->stacks;
    store_set_sizes(store, stacks, config);
    while (!config->stacks && available && store_bytes(store) > available / MOST_SHARE &&
           stacks > LEAST_STACKS)
        store_set_sizes(store, stacks /= 2, config);
    return stacks;
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
static int make_map(struct store *store, enum bank_map map, bool or_less, int *fd,
                    uint32_t *entries)
{
    for (*entries = store->wanted[map];; *entries /= 2) {
        const struct bpf_map_shape shape = store_map_shape(store, map, *entries);
        *fd = bpf_create_map(&shape);
        if (*fd >= 0 || !or_less || *entries <= LEAST_STACKS)
            return *fd < 0 ? *fd : 0;
    }
}

/*
 * Makes the map of maps in which programs find the maps of all banks but the first. The first
 * bank's map is the template for the inner maps.
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

static void banks_close(struct store *store)
{
    close_bank(&store->main);
    close_bank(&store->stand_in);
    for (int map = 0; map < BANK_MAPS; map++)
        close_map(&store->banks.others[map]);
    settled_close(&store->settled);
}

/*
 * Makes the first main bank, as large as wanted. The stand-in is made when needed. 0 or a negative
 * errno.
 */
static int banks_open(struct store *store)
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
 * store a map at the index times the size of a pointer, but look it up at the index times 8.
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
        close_fd(fd);
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
 * Programs have the first main bank's maps built in, so a larger main bank is a bank of its own,
 * with its own account.
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

/*
 * Enlarges a bank that no program counts into, and that is empty, to the size wanted. Without
 * memory for that it stays as it is and nothing grows any more; but without any stand-in there can
 * be no report: a negative errno.
 */
static int banks_enlarge(struct store *store, struct bank *bank)
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
    /* Before 5.10, all maps within a map of maps have the same size: the first one's. */
    const bool again = result == -EINVAL && store->grows;
    if (!result || (is_new && !again))
        return result;
    store->grows = false;
    memcpy(store->wanted, store->main.entries, sizeof(store->wanted));
    return again ? banks_enlarge(store, bank) : 0;
}

/* ---- Maps ---- */

void store_init(struct store *store)
{
    *store = (struct store){
        .main = {.mode = CONTROL_MAIN, .maps = {-1, -1, -1}},
        .stand_in = {.mode = CONTROL_STAND_IN, .maps = {-1, -1, -1}},
        .banks = {.first = {-1, -1, -1}, .others = {-1, -1, -1}},
        .settled = SETTLED_NONE,
        .controls = CONTROLS_NONE,
    };
}

/* The kernel would only fail after it has used all memory, which takes a minute or more. */
static bool is_too_much(const struct store *store)
{
    const uint64_t free_memory = kernel_free_memory();

    return free_memory && store_bytes(store) > free_memory;
}

int store_open(struct store *store, const struct store_config *config)
{
    store_init(store);
    store->banks.unrolls = !bpf_has_loops();
    store->depth = (uint32_t)(config->depth ? config->depth : store_depth_limit());
    store->key_bytes = config->key_bytes ? config->key_bytes : sizeof(struct count_key);
    store->value_bytes = config->value_bytes ? config->value_bytes : sizeof(uint64_t);
    if (!store->depth)
        return -EDOM;
    uint64_t stacks = store_first_sizes(store, config);
    int result = config->stacks && is_too_much(store) ? -ENOMEM : controls_open(&store->controls);

    if (!result)
        result = controls_open_slots(&store->controls, SLOT_BYTES(store->depth));
    if (!result)
        result = banks_open(store);
    while (result == -ENOMEM && !config->stacks && stacks > LEAST_STACKS) {
        store_set_sizes(store, stacks /= 2, config);
        result = banks_open(store);
    }
    /* A size that the user asks for is allocated at once: memory must not run out later. */
    if (!result && config->stacks)
        result = banks_enlarge(store, &store->stand_in);
    return result;
}

void store_close(struct store *store)
{
    banks_close(store);
    controls_close(&store->controls);
}

/* ---- Reports ---- */

/* Programs that still find it paused write nothing: no need to wait for them. */
int store_start(struct store *store)
{
    return controls_set(&store->controls, store->main.mode);
}

/* What programs have added to a bank's account since the last time: no program writes to it now. */
static int take_account(struct store *store, struct bank *bank)
{
    struct account now;
    int result = controls_account(&store->controls, bank->mode, &now);

    if (result)
        return result;
    const uint64_t *words = (const uint64_t *)&now, *before = (const uint64_t *)&bank->before;
    for (size_t i = 0; i < ACCOUNT_WORDS; i++)
        ((uint64_t *)&store->sum)[i] += words[i] - before[i];
    uint64_t entries[BANK_MAPS];
    store_new_entries(&now, &bank->before, entries);
    store_want(store, entries);
    bank->kept[BANK_SHALLOW] += entries[BANK_SHALLOW];
    bank->kept[BANK_DEEP] += entries[BANK_DEEP];
    bank->before = now;
    return 0;
}

static uint64_t stacks_kept(const struct bank *bank)
{
    return bank->kept[BANK_SHALLOW] + bank->kept[BANK_DEEP];
}

uint64_t store_stacks_kept(const struct store *store)
{
    return stacks_kept(&store->main) + stacks_kept(&store->stand_in) +
           settled_used(&store->settled);
}

uint64_t store_lost(const struct store *store)
{
    const struct account *sum = &store->sum;

    return sum->table_full + sum->slots_taken + sum->waits_full + sum->ends_unseen;
}

int64_t store_account_gap(const struct store *store)
{
    return (int64_t)(store->sum.seen - store->sum.filtered - store->counted - store_lost(store));
}

/* Programs sum the values' upper halves apart: that tells what `summed` has lost above 64 bits. */
uint64_t store_wraps(const struct store *store)
{
    const uint64_t high = store->sum.sum_high, shifted = high << 32, low = store->summed - shifted;
    uint64_t sum;

    return (high >> 32) + __builtin_add_overflow(shifted, low, &sum);
}

/* A table that is emptied when it is this full has room for what comes meanwhile. */
#define FILLED 4 /* a quarter */
/* Long before that the stand-in exists, so that counting does not have to wait for it. */
#define IN_USE 16

/* Do this many entries fill 1/part of a map, or of its wanted size? */
static bool fill(const uint64_t entries[BANK_MAPS], const struct bank *bank, uint32_t part)
{
    for (int map = 0; map < BANK_MAPS; map++)
        if (entries[map] && entries[map] >= bank->entries[map] / part)
            return true;
    return false;
}

bool store_has_filled(const struct bank *bank)
{
    return fill(bank->kept, bank, FILLED);
}

enum tally_news store_look(struct store *store)
{
    struct bank *bank = &store->main;
    uint64_t entries[BANK_MAPS];
    struct account now;

    if (controls_account(&store->controls, bank->mode, &now))
        return NOTHING_NEW;
    bool has_news = now.inserted != store->looked_at;
    store->looked_at = now.inserted;
    store_new_entries(&now, &bank->before, entries);
    store_want(store, entries);
    entries[BANK_SHALLOW] += bank->kept[BANK_SHALLOW];
    entries[BANK_DEEP] += bank->kept[BANK_DEEP];
    if (fill(entries, bank, IN_USE))
        store->needs_stand_in = true;
    if (fill(entries, bank, FILLED))
        return IS_FILLING;
    return has_news ? HAS_NEWS : NOTHING_NEW;
}

int store_settle(struct store *store)
{
    /* Without memory for it, the next report tries again, and says so. */
    if (store->needs_stand_in && store->stand_in.maps[BANK_COUNTS] < 0)
        (void)banks_enlarge(store, &store->stand_in);
    return settled_advance(&store->settled, &store->controls.grace);
}

static int empty_bank(struct store *store, struct bank *bank, bool again, store_drain *drain,
                      void *context)
{
    int result = take_account(store, bank);

    return result ? result : drain(context, bank, again);
}

static int collect(struct store *store, bool again, store_drain *drain, void *context)
{
    bool has_stand_in = store->stand_in.maps[BANK_COUNTS] >= 0;
    /* It has what came while the tracer drained the last report: no program writes there now. */
    int result = has_stand_in ? empty_bank(store, &store->stand_in, again, drain, context) : 0;

    if (!result && again)
        result = banks_enlarge(store, &store->stand_in);
    if (!result)
        result = controls_set_and_wait(&store->controls, again ? CONTROL_STAND_IN : CONTROL_PAUSED);
    if (!result)
        result = empty_bank(store, &store->main, again, drain, context);
    if (!result && again)
        result = banks_enlarge(store, &store->main);
    if (!result && again)
        result = controls_set_and_wait(&store->controls, store->main.mode);
    return result;
}

int store_drain_by(struct store *store, bool again, store_drain *drain, void *context,
                   struct tally *tally)
{
    const struct account before = store->sum;

    bpf_begin_unpreempted();
    int result = collect(store, again, drain, context);
    bpf_end_unpreempted();
    const uint64_t full = store->sum.table_full - before.table_full;
    const uint64_t value = store->value_bytes > sizeof(uint64_t)
        ? store->sum.table_full_ns - before.table_full_ns : full;
    store->summed += value;
    return result ? result : drain_uncounted(tally, full, value);
}

void store_capture(const struct store *store, struct capture *capture)
{
    capture->depth = store->depth;
    capture->control = store->controls.control;
    capture->account = store->controls.account;
    capture->slots = store->controls.slots;
    capture->ids = store->settled.ids;
    capture->banks = store->banks;
}
