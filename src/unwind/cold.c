/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unwind/cold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/util.h"
#include "kernel/bpf_ring.h"

/* How many places of dropped items may be left unused. */
#define FEW_PLACES 1024

struct item {
    uint64_t number;
    size_t bytes;
    bool waits;          /* for a table: `kept` is what the program wrote, */
    uint32_t prior;      /* else the frames from that number on, */
    uint32_t count;      /* this many */
    void *kept;
};

struct cold {
    struct cold_wishes wishes;
    struct bpf_ring ring;
    struct item *items; /* from `first` on, oldest first */
    size_t first, count, room;
    struct index index; /* by number; including those before `first` */
    size_t waiting, bytes;
    uint64_t serial;  /* of samples */
    uint64_t *frames; /* of the stack being walked */
    struct cold_figures figures;
};

/* ---- Walking ---- */

struct walking {
    const struct cold *cold;
    const struct unwind_state *walk;
    const unsigned char *stack;
    bool must_wait, is_unknown, is_beyond;
};

static void find_object(void *context, uint64_t pc, struct walk_object *object)
{
    struct walking *walking = context;
    const struct cold_wishes *wishes = &walking->cold->wishes;

    if (!wishes->find(wishes->context, walking->walk, pc, object))
        walking->must_wait = true;
    walking->is_unknown = !object->table && !object->frame_pointers && object->end == UNWIND_END_UNMAPPED;
}

static bool read_word(void *context, uint64_t address, uint64_t *word)
{
    struct walking *walking = context;
    const uint64_t at = address - walking->walk->sp, bytes = walking->walk->kept;
    const bool is_narrow = walking->cold->wishes.machine->bits == 32;
    const size_t size = is_narrow ? sizeof(uint32_t) : sizeof(*word);
    uint32_t half;

    walking->is_beyond = at >= bytes || bytes - at < size;
    if (walking->is_beyond)
        return false;
    memcpy(is_narrow ? (void *)&half : word, walking->stack + at, size);
    if (is_narrow)
        *word = half;
    return true;
}

static void copy_registers(const struct machine *machine, const struct unwind_state *walk,
                           struct walk_registers *registers)
{
    registers->pc = walk->registers[machine->pc.word];
    for (unsigned i = 0; i < machine->walk->numbered; i++)
        registers->by_dwarf[i] = walk->registers[machine_word_of(machine->walk, i)];
    registers->by_dwarf[machine->sp.dwarf] = walk->registers[machine->sp.word];
}

/* How a walk's end is reported: unknown places may well exist where a program was. */
static enum unwind_end end_of(const struct walking *walking, enum unwind_end end)
{
    const size_t sampled = walking->cold->wishes.sampled_bytes;

    if (sampled)
        return end == UNWIND_END_UNREADABLE && walking->is_beyond && walking->walk->kept == sampled ? UNWIND_END_BEYOND
                                                                                                     : end;
    if (end == UNWIND_END_UNMAPPED && walking->is_unknown)
        return UNWIND_END_UNKNOWN;
    return end == UNWIND_END_UNREADABLE && walking->is_beyond ? UNWIND_END_COLD : end;
}

/*
 * Walks on, into cold->frames, including the end. Returns how many there are; *must_wait: there may
 * be more later.
 */
static uint32_t walk_from(struct cold *cold, const struct unwind_state *from, const void *stack, bool *must_wait)
{
    struct walking walking = {
        .cold = cold,
        .walk = from,
        .stack = stack,
    };
    const struct machine *machine = cold->wishes.machine;
    const struct walk_wishes wishes = {
        .machine = machine,
        .context = &walking,
        .find = find_object,
        .read = read_word,
        .first_stack = from->first_stack,
        .depth = cold->wishes.depth - (from->count - 1),
    };
    struct walk_start start = {
        .pc = from->pc, .sp = from->sp, .frame = from->frame, .base = from->base,
        .exact = from->exact, .first = from->first, .frame_lost = from->frame_lost,
        .sp_lost = from->sp_lost, .at_entry = from->at_entry,
    };
    enum unwind_end end;

    copy_registers(machine, from, &start.registers);
    size_t count = walk_on(&wishes, &start, cold->frames, &end);
    *must_wait = walking.must_wait;
    /* That frame itself counts: the program saw that there is code. */
    if (!count)
        cold->frames[count++] = from->pc + (from->exact && !from->first);
    const bool is_full = count == wishes.depth && cold->wishes.asked;
    if (end != UNWIND_END_ROOT && !is_full) {
        count -= count == wishes.depth;
        cold->frames[count++] = UNWIND_END_FRAME(end_of(&walking, end));
    }
    return (uint32_t)count;
}

/* What a program kept, from the frame without a table on. */
static uint32_t walk(struct cold *cold, const void *record, bool *must_wait)
{
    return walk_from(cold, record, (const unsigned char *)record + UNWIND_KEPT_HEAD, must_wait);
}

/* ---- What there is ---- */

static struct item *find(const struct cold *cold, uint64_t number)
{
    size_t at = 0;
    uint32_t item;

    while (index_next(&cold->index, hash_word(0, number), &at, &item))
        if (item >= cold->first && cold->items[item].number == number)
            return &cold->items[item];
    return NULL;
}

static void keep(struct cold *cold, struct item *item, const void *bytes, size_t count)
{
    void *copy = malloc(count);

    free(item->kept);
    cold->bytes -= item->bytes;
    if (copy)
        memcpy(copy, bytes, count);
    item->kept = copy;
    item->bytes = copy ? count : 0;
    cold->bytes += item->bytes;
}

/* With `for_good` it waits no longer. */
static void walk_item(struct cold *cold, struct item *item, const void *record, bool for_good)
{
    bool must_wait;
    const uint32_t count = walk(cold, record, &must_wait);

    cold->waiting -= item->waits;
    must_wait = must_wait && !for_good;
    if (must_wait && item->kept != record)
        keep(cold, item, record, UNWIND_RECORD_BYTES(((const struct unwind_state *)record)->kept));
    item->waits = must_wait && item->kept;
    cold->waiting += item->waits;
    if (item->waits)
        return;
    item->count = count;
    keep(cold, item, cold->frames, count * sizeof(*cold->frames));
}

/* Without memory for this nothing is lost: stacks that are not found are truncated. */
static void close_ranks(struct cold *cold)
{
    if (cold->first < FEW_PLACES || cold->first < cold->count / 2)
        return;
    cold->count -= cold->first;
    memmove(cold->items, cold->items + cold->first, cold->count * sizeof(*cold->items));
    cold->first = 0;
    index_free(&cold->index);
    for (size_t i = 0; i < cold->count; i++)
        (void)index_add(&cold->index, hash_word(0, cold->items[i].number), (uint32_t)i);
}

/* The oldest that wait are given up; if that is not enough, the oldest go. */
static void make_room(struct cold *cold)
{
    for (size_t i = cold->first; cold->bytes > cold->wishes.most_bytes && i < cold->count && cold->waiting; i++)
        if (cold->items[i].waits)
            walk_item(cold, &cold->items[i], cold->items[i].kept, true);
    while (cold->bytes + (cold->count - cold->first) * sizeof(*cold->items) > cold->wishes.most_bytes &&
           cold->first < cold->count) {
        struct item *item = &cold->items[cold->first++];
        free(item->kept);
        cold->bytes -= item->bytes;
        cold->waiting -= item->waits;
        cold->figures.forgotten++;
    }
    close_ranks(cold);
}

static bool is_good(const struct cold *cold, const struct unwind_state *walk, size_t size)
{
    return size >= UNWIND_KEPT_HEAD && walk->kept <= UNWIND_MOST_KEPT &&
           size >= UNWIND_RECORD_BYTES(walk->kept) && walk->count && walk->count <= cold->wishes.depth;
}

int cold_take(void *context, const void *record, size_t size)
{
    const struct unwind_state *walk = record;
    struct cold *cold = context;

    if (!is_good(cold, walk, size))
        return 0;
    if (array_reserve(&cold->items, &cold->room, cold->count + 1, sizeof(*cold->items)) ||
        index_add(&cold->index, hash_word(0, walk->number), (uint32_t)cold->count))
        return -ENOMEM;
    struct item *item = &cold->items[cold->count++];
    *item = (struct item){.number = walk->number, .prior = walk->count - 1};
    cold->figures.taken++;
    walk_item(cold, item, record, false);
    make_room(cold);
    return 0;
}

size_t cold_walk_sample(struct cold *cold, struct unwind_state *walk, const void *stack, uint64_t *frames)
{
    const size_t head = UNWIND_KEPT_HEAD;
    bool must_wait;
    const size_t count = walk_from(cold, walk, stack, &must_wait);

    if (!must_wait) {
        memcpy(frames, cold->frames, count * sizeof(*frames));
        return count;
    }
    walk->count = 1;
    walk->number = UNWIND_COLD_FRAME(cold->serial++);
    frames[0] = walk->pc;
    frames[1] = walk->number;
    const size_t kept = (size_t)walk->kept;
    unsigned char *record = malloc(head + kept);
    if (record) {
        memcpy(record, walk, head);
        memcpy(record + head, stack, kept);
        (void)cold_take(cold, record, head + kept);
        free(record);
    }
    return 2;
}

int cold_read(struct cold *cold)
{
    return cold->ring.map < 0 ? 0 : bpf_ring_read(&cold->ring, cold_take, cold);
}

void cold_walk(struct cold *cold)
{
    for (size_t i = cold->first; i < cold->count && cold->waiting; i++)
        if (cold->items[i].waits)
            walk_item(cold, &cold->items[i], cold->items[i].kept, false);
}

size_t cold_waiting(const struct cold *cold)
{
    return cold->waiting;
}

bool cold_is_waiting(const struct cold *cold, uint64_t frame)
{
    const struct item *item = UNWIND_IS_COLD_FRAME(frame) ? find(cold, frame) : NULL;

    return item && item->waits;
}

/* ---- Lookups ---- */

size_t cold_complete(struct cold *cold, const uint64_t *frames, size_t count, bool for_good, uint64_t *whole)
{
    const struct item *item = find(cold, frames[count - 1]);
    const uint64_t *rest = cold->frames;
    const uint64_t end = UNWIND_END_FRAME(UNWIND_END_COLD);
    size_t prior = count - 1, more = 1;
    bool must_wait;

    if (!for_good && (!item || item->waits))
        return 0;
    if (item && item->kept && item->prior < count) {
        prior = item->prior;
        more = item->waits ? walk(cold, item->kept, &must_wait) : item->count;
        rest = item->waits ? cold->frames : item->kept;
    } else {
        rest = &end;
    }
    memcpy(whole, frames, prior * sizeof(*frames));
    memcpy(whole + prior, rest, more * sizeof(*rest));
    return prior + more;
}

struct cold_figures cold_figures(const struct cold *cold)
{
    return cold->figures;
}

/* ---- The whole ---- */

int cold_open(struct cold **made, const struct cold_wishes *wishes)
{
    struct cold *cold = *made = calloc(1, sizeof(*cold));

    if (!cold)
        return -ENOMEM;
    cold->wishes = *wishes;
    cold->ring.map = -1;
    cold->frames = calloc(wishes->depth + 1, sizeof(*cold->frames));
    if (!cold->frames)
        return -ENOMEM;
    return wishes->ring_bytes ? bpf_ring_open(&cold->ring, wishes->ring_bytes) : 0;
}

void cold_close(struct cold *cold)
{
    if (!cold)
        return;
    for (size_t i = cold->first; i < cold->count; i++)
        free(cold->items[i].kept);
    bpf_ring_close(&cold->ring);
    index_free(&cold->index);
    free(cold->items);
    free(cold->frames);
    free(cold);
}

int cold_map(const struct cold *cold)
{
    return cold->ring.map;
}
