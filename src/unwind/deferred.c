/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unwind/deferred.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/index.h"
#include "base/reading.h"
#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/ring_buffers.h"
#include "machine/machine.h"

/* ---- The backlog ---- */

/*
 * The reader thread empties the ring of kept stacks as fast as programs fill it, whatever else we
 * do: it runs before other tasks, and copies each record without its unused rest.
 */
#define LOOK_MS 1000 /* how often the thread checks `ends`, should no wakeup come */

struct backlog {
    struct bpf_ring ring;
    int bell;             /* readable once the thread has copied something; below 0: none */
    int stop;             /* and once the thread is to end */
    size_t most;          /* bytes copied */
    struct text copied;   /* each record after a word with its size */
    uint64_t dropped;     /* records for which there was no memory */
    bool has_reader, ends;
    pthread_t reader;
    pthread_mutex_t lock; /* of all this while the thread runs */
};

static int copy_record(void *context, const void *record, size_t size)
{
    const struct unwind_state *walk = record;
    struct backlog *backlog = context;

    if (size < UNWIND_KEPT_HEAD || walk->kept > size - UNWIND_KEPT_HEAD)
        return 0; /* programs write no such record */
    const uint64_t bytes = (UNWIND_RECORD_BYTES(walk->kept) + 7) & ~(uint64_t)7;
    if (bytes > size || backlog->copied.failed || backlog->copied.length + bytes > backlog->most) {
        backlog->dropped++;
        return 0;
    }
    const size_t before = backlog->copied.length;
    text_append(&backlog->copied, (const char *)&bytes, sizeof(bytes));
    text_append(&backlog->copied, record, (size_t)bytes);
    if (backlog->copied.failed) {
        backlog->copied.length = before; /* without the size of a record that is missing */
        backlog->dropped++;
    }
    return 0;
}

/* Returns how many records there were. */
static int read_ring(struct backlog *backlog)
{
    pthread_mutex_lock(&backlog->lock);
    const int count = bpf_ring_read(&backlog->ring, copy_record, backlog);
    if (count > 0)
        (void)!write(backlog->bell, &(uint64_t){1}, sizeof(uint64_t));
    pthread_mutex_unlock(&backlog->lock);
    return count;
}

/* If a record is pending but not submitted, it sleeps: the program may be waiting for our CPU. */
static void *keep_reading(void *context)
{
    struct backlog *backlog = context;
    struct pollfd polled[] = {{.fd = backlog->stop, .events = POLLIN},
                              {.fd = backlog->ring.map, .events = POLLIN}};
    const struct sched_param second = {.sched_priority = 2};

    /* Above bpf_begin_unpreempted(), whose priority makers of tables may inherit. */
    syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &second);
    while (!__atomic_load_n(&backlog->ends, __ATOMIC_RELAXED)) {
        const int ready = poll(polled, COUNT_OF(polled), LOOK_MS);
        if (ready < 0)
            break;
        if (ready && !read_ring(backlog))
            (void)poll(NULL, 0, 1);
    }
    return NULL;
}

/* Hands out the records that have come, oldest first. How many, or a negative errno. */
static int backlog_take(struct backlog *backlog, ring_take *take, void *context)
{
    int count = 0, result = 0;
    uint64_t size, times;

    if (backlog->ring.map < 0)
        return 0;
    /* Otherwise a task that preempts us here would hold up the thread, which needs the lock. */
    bpf_begin_unpreempted();
    pthread_mutex_lock(&backlog->lock);
    (void)!read(backlog->bell, &times, sizeof(times));
    (void)bpf_ring_read(&backlog->ring, copy_record, backlog);
    struct text taken = backlog->copied;
    backlog->copied = (struct text){0};
    pthread_mutex_unlock(&backlog->lock);
    bpf_end_unpreempted();
    for (size_t at = 0; at < taken.length && !result; at += sizeof(size) + (size_t)size, count++) {
        memcpy(&size, taken.data + at, sizeof(size));
        result = take(context, taken.data + at + sizeof(size), (size_t)size);
    }
    text_free(&taken);
    return result ? result : count;
}

/* ring_bytes 0: there is no ring. 0 or a negative errno; backlog_close after either. */
static int backlog_open(struct backlog *backlog, size_t ring_bytes, size_t most)
{
    *backlog = (struct backlog){.ring.map = -1, .bell = -1, .stop = -1, .most = most};
    pthread_mutex_init(&backlog->lock, NULL);
    if (!ring_bytes)
        return 0;
    backlog->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    backlog->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return backlog->bell < 0 || backlog->stop < 0 ? -errno
                                                  : bpf_ring_open(&backlog->ring, ring_bytes);
}

static void backlog_end(struct backlog *backlog)
{
    uint64_t times;

    if (!backlog->has_reader)
        return;
    thread_end(backlog->reader, &backlog->ends, backlog->stop);
    backlog->ends = false;
    (void)!read(backlog->stop, &times, sizeof(times));
    backlog->has_reader = false;
}

static void backlog_close(struct backlog *backlog)
{
    backlog_end(backlog);
    bpf_ring_close(&backlog->ring);
    close_fd(backlog->bell);
    close_fd(backlog->stop);
    text_free(&backlog->copied);
    pthread_mutex_destroy(&backlog->lock);
}

/* ---- Kept stacks ---- */

/* How many dropped items may precede the first. */
#define FEW_PLACES 1024

struct item {
    uint64_t number;
    size_t bytes;
    bool waits;          /* for a table: `kept` is what the program wrote, */
    uint32_t prior;      /* else the frames from that number on, */
    uint32_t count;      /* this many */
    void *kept;
};

struct deferred {
    struct deferred_options options;
    struct backlog backlog;
    struct item *items; /* from `first` on, oldest first */
    size_t first, count, room;
    struct index index; /* by number; including those before `first` */
    size_t waits_from; /* items before this one do not wait */
    size_t waiting, bytes, waiting_bytes;
    uint64_t serial;  /* of samples */
    uint64_t *frames; /* of the stack being walked */
    struct deferred_figures figures;
};

/* ---- Walking ---- */

struct walking {
    const struct deferred *deferred;
    const struct unwind_state *walk;
    const unsigned char *stack;
    bool must_wait, is_unknown, is_beyond;
};

static void find_object(void *context, uint64_t pc, struct walk_object *object)
{
    struct walking *walking = context;
    const struct deferred_options *options = &walking->deferred->options;

    if (!options->find(options->context, walking->walk, pc, object))
        walking->must_wait = true;
    walking->is_unknown =
        !object->table && !object->frame_pointers && object->end == UNWIND_END_UNMAPPED;
}

static bool read_word(void *context, uint64_t address, uint64_t *word)
{
    struct walking *walking = context;
    const uint64_t at = address - walking->walk->sp, bytes = walking->walk->kept;
    const bool is_narrow = walking->deferred->options.machine->bits == 32;
    const size_t size = is_narrow ? sizeof(uint32_t) : sizeof(*word);
    uint32_t half;

    const uint64_t page = (address >> UNWIND_PAGE_BITS) - (walking->walk->sp >> UNWIND_PAGE_BITS);
    const uint32_t pages = walking->walk->pages;

    walking->is_beyond = at >= bytes || bytes - at < size || (pages && !(pages >> (page & 31) & 1));
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

/* How a walk's end is reported. An unmapped pc that a program met can be code that was unloaded. */
static enum unwind_end end_of(const struct walking *walking, enum unwind_end end)
{
    const size_t sampled = walking->deferred->options.sampled_bytes;

    if (sampled)
        return end == UNWIND_END_UNREADABLE && walking->is_beyond && walking->walk->kept == sampled
                   ? UNWIND_END_BEYOND
                   : end;
    if (end == UNWIND_END_UNMAPPED && walking->is_unknown)
        return UNWIND_END_UNKNOWN;
    return end == UNWIND_END_UNREADABLE && walking->is_beyond ? UNWIND_END_DEFERRED : end;
}

/*
 * Walks on into deferred->frames, including the end. Returns the number of frames; *must_wait: a
 * table is missing, so a later walk may find more.
 */
static uint32_t walk_from(struct deferred *deferred, const struct unwind_state *from,
                          const void *stack, bool *must_wait)
{
    struct walking walking = {
        .deferred = deferred,
        .walk = from,
        .stack = stack,
    };
    const struct machine *machine = deferred->options.machine;
    const struct walk_options options = {
        .machine = machine,
        .context = &walking,
        .find = find_object,
        .read = read_word,
        .first_stack = from->first_stack,
        .depth = deferred->options.depth - (from->count - 1),
    };
    struct walk_start start = {
        .pc = from->pc, .sp = from->sp, .frame = from->frame, .base = from->base,
        .exact = from->exact, .first = from->first, .frame_lost = from->frame_lost,
        .sp_lost = from->sp_lost, .at_entry = from->at_entry,
    };
    enum unwind_end end;

    copy_registers(machine, from, &start.registers);
    size_t count = walk_on(&options, &start, deferred->frames, &end);
    *must_wait = walking.must_wait;
    /* The first frame counts even without a table: the program saw that there is code. */
    if (!count)
        deferred->frames[count++] = from->pc + (from->exact && !from->first);
    const bool is_full = count == options.depth && deferred->options.asked;
    if (end != UNWIND_END_ROOT && !is_full) {
        count -= count == options.depth;
        deferred->frames[count++] = UNWIND_END_FRAME(end_of(&walking, end));
    }
    return (uint32_t)count;
}

/* Walks what a program kept, from the frame without a table on. */
static uint32_t walk(struct deferred *deferred, const void *record, bool *must_wait)
{
    return walk_from(deferred, record, (const unsigned char *)record + UNWIND_KEPT_HEAD, must_wait);
}

/* ---- What there is ---- */

static struct item *find(const struct deferred *deferred, uint64_t number)
{
    size_t at = 0;
    uint32_t item;

    while (index_next(&deferred->index, hash_word(0, number), &at, &item))
        if (item >= deferred->first && deferred->items[item].number == number)
            return &deferred->items[item];
    return NULL;
}

static void forget(struct deferred *deferred, struct item *item)
{
    free(item->kept);
    deferred->bytes -= item->bytes;
    deferred->waiting_bytes -= item->waits ? item->bytes : 0;
    deferred->waiting -= item->waits;
    item->kept = NULL;
    item->bytes = 0;
    item->waits = false;
}

static void keep(struct deferred *deferred, struct item *item, const void *bytes, size_t count)
{
    void *copy = malloc(count);

    forget(deferred, item);
    if (copy)
        memcpy(copy, bytes, count);
    item->kept = copy;
    item->bytes = copy ? count : 0;
    deferred->bytes += item->bytes;
}

/* With `for_good` it does not wait for tables any longer. */
static void walk_item(struct deferred *deferred, struct item *item, const void *record,
                      bool for_good)
{
    bool must_wait;
    const uint32_t count = walk(deferred, record, &must_wait);

    must_wait = must_wait && !for_good;
    if (must_wait && item->waits)
        return;
    if (must_wait)
        keep(deferred, item, record,
             UNWIND_RECORD_BYTES(((const struct unwind_state *)record)->kept));
    if (must_wait && item->kept) {
        item->waits = true;
        deferred->waiting++;
        deferred->waiting_bytes += item->bytes;
        return;
    }
    item->count = count;
    keep(deferred, item, deferred->frames, count * sizeof(*deferred->frames));
}

/* If memory runs out for the index, stacks are not found there, and are reported truncated. */
static void close_ranks(struct deferred *deferred)
{
    if (deferred->first < FEW_PLACES || deferred->first < deferred->count / 2)
        return;
    deferred->count -= deferred->first;
    deferred->waits_from -=
        deferred->waits_from < deferred->first ? deferred->waits_from : deferred->first;
    memmove(deferred->items, deferred->items + deferred->first,
            deferred->count * sizeof(*deferred->items));
    deferred->first = 0;
    index_free(&deferred->index);
    for (size_t i = 0; i < deferred->count; i++)
        (void)index_add(&deferred->index, hash_word(0, deferred->items[i].number), (uint32_t)i);
}

static void walk_waiting(struct deferred *deferred, bool for_good)
{
    size_t at = deferred->waits_from < deferred->first ? deferred->first : deferred->waits_from;

    deferred->waits_from = deferred->count;
    for (; at < deferred->count; at++) {
        struct item *item = &deferred->items[at];
        const bool is_enough = for_good && deferred->bytes <= deferred->options.most_bytes;
        if (item->waits && !is_enough)
            walk_item(deferred, item, item->kept, for_good);
        if (item->waits && deferred->waits_from > at)
            deferred->waits_from = at;
        if (item->waits && is_enough)
            break;
    }
}

/* Walks the oldest waiting stacks without their tables; if that is not enough, drops the oldest. */
static void make_room(struct deferred *deferred)
{
    const struct deferred_options *options = &deferred->options;

    if (deferred->bytes > options->most_bytes && deferred->waiting)
        walk_waiting(deferred, true);
    while (deferred->first < deferred->count) {
        struct item *item = &deferred->items[deferred->first];
        const size_t items = (deferred->count - deferred->first) * sizeof(*item);
        const bool is_over = deferred->bytes + items > options->most_bytes;
        if (!is_over &&
            (item->waits || !options->walked_bytes ||
             deferred->bytes - deferred->waiting_bytes + items <= options->walked_bytes))
            break;
        forget(deferred, item);
        deferred->first++;
        deferred->figures.forgotten++;
    }
    close_ranks(deferred);
}

static bool is_good(const struct deferred *deferred, const struct unwind_state *walk, size_t size)
{
    return size >= UNWIND_KEPT_HEAD && walk->kept <= UNWIND_MOST_KEPT &&
           size >= UNWIND_RECORD_BYTES(walk->kept) && walk->count &&
           walk->count <= deferred->options.depth;
}

int deferred_take(void *context, const void *record, size_t size)
{
    const struct unwind_state *walk = record;
    struct deferred *deferred = context;

    if (!is_good(deferred, walk, size))
        return 0;
    if (ARRAY_RESERVE(deferred->items, deferred->room, deferred->count + 1) ||
        index_add(&deferred->index, hash_word(0, walk->number), (uint32_t)deferred->count))
        return -ENOMEM;
    struct item *item = &deferred->items[deferred->count++];
    *item = (struct item){.number = walk->number, .prior = walk->count - 1};
    deferred->figures.taken++;
    walk_item(deferred, item, record, false);
    make_room(deferred);
    return 0;
}

size_t deferred_walk_sample(struct deferred *deferred, struct unwind_state *walk, const void *stack,
                        uint64_t *frames)
{
    const size_t head = UNWIND_KEPT_HEAD;
    bool must_wait;
    const size_t count = walk_from(deferred, walk, stack, &must_wait);

    if (!must_wait) {
        memcpy(frames, deferred->frames, count * sizeof(*frames));
        return count;
    }
    walk->count = 1;
    walk->number = UNWIND_DEFERRED_FRAME(deferred->serial++);
    frames[0] = walk->pc;
    frames[1] = walk->number;
    const size_t kept = (size_t)walk->kept;
    unsigned char *record = malloc(head + kept);
    if (record) {
        memcpy(record, walk, head);
        memcpy(record + head, stack, kept);
        (void)deferred_take(deferred, record, head + kept);
        free(record);
    }
    return 2;
}

int deferred_read(struct deferred *deferred)
{
    return backlog_take(&deferred->backlog, deferred_take, deferred);
}

void deferred_walk(struct deferred *deferred)
{
    if (deferred->waiting)
        walk_waiting(deferred, false);
}

size_t deferred_waiting(const struct deferred *deferred)
{
    return deferred->waiting;
}

bool deferred_is_waiting(const struct deferred *deferred, uint64_t frame)
{
    const struct item *item = UNWIND_IS_DEFERRED_FRAME(frame) ? find(deferred, frame) : NULL;

    return item && item->waits;
}

/* ---- Lookups ---- */

size_t deferred_complete(struct deferred *deferred, const uint64_t *frames, size_t count,
                         bool for_good, uint64_t *whole)
{
    const struct item *item = find(deferred, frames[count - 1]);
    const uint64_t *rest = deferred->frames;
    const uint64_t end = UNWIND_END_FRAME(UNWIND_END_DEFERRED);
    size_t prior = count - 1, more = 1;
    bool must_wait;

    if (!for_good && (!item || item->waits))
        return 0;
    if (item && item->kept && item->prior < count) {
        prior = item->prior;
        more = item->waits ? walk(deferred, item->kept, &must_wait) : item->count;
        rest = item->waits ? deferred->frames : item->kept;
    } else {
        rest = &end;
    }
    memcpy(whole, frames, prior * sizeof(*frames));
    memcpy(whole + prior, rest, more * sizeof(*rest));
    return prior + more;
}

struct deferred_figures deferred_figures(const struct deferred *deferred)
{
    struct deferred_figures figures = deferred->figures;

    figures.forgotten += deferred->backlog.dropped;
    return figures;
}

/* ---- The whole ---- */

int deferred_open(struct deferred **made, const struct deferred_options *options)
{
    struct deferred *deferred = *made = calloc(1, sizeof(*deferred));

    if (!deferred)
        return -ENOMEM;
    deferred->options = *options;
    deferred->frames = calloc(options->depth + 1, sizeof(*deferred->frames));
    const int result =
        backlog_open(&deferred->backlog, options->ring_bytes, options->most_bytes);
    return deferred->frames ? result : -ENOMEM;
}

void deferred_close(struct deferred *deferred)
{
    if (!deferred)
        return;
    for (size_t i = deferred->first; i < deferred->count; i++)
        free(deferred->items[i].kept);
    backlog_close(&deferred->backlog);
    index_free(&deferred->index);
    free(deferred->items);
    free(deferred->frames);
    free(deferred);
}

int deferred_map(const struct deferred *deferred)
{
    return deferred->backlog.ring.map;
}

int deferred_fd(const struct deferred *deferred)
{
    return deferred->backlog.bell;
}

void deferred_begin(struct deferred *deferred)
{
    struct backlog *backlog = &deferred->backlog;

    /* Without a thread only backlog_take() reads. */
    if (!backlog->has_reader && backlog->ring.map >= 0)
        backlog->has_reader = !thread_begin(&backlog->reader, keep_reading, backlog);
}

void deferred_end(struct deferred *deferred)
{
    backlog_end(&deferred->backlog);
}

/* ---- By the mappings of that time ---- */

/* Tells programs what kind of object this is, if they met it as the first of this walk. */
static void tell_kind(const struct deferred_objects *in, const struct unwind_state *walk,
                      uint64_t pc, uint32_t kind)
{
    if (pc == walk->pc - !walk->exact)
        objects_set_kind(in->objects, &walk->key, kind);
}

/* Code does not change while it runs. If the process is gone, what was seen there counts. */
static bool is_trampoline(struct deferred_objects *in, uint32_t pid, uint64_t pc)
{
    const struct machine_walk *walk = machine_of_kernel()->walk;
    const uint64_t hash = hash_word(hash_word(0, pid), pc);
    uint64_t *seen = &in->trampolines[hash % COUNT_OF(in->trampolines)], code = 0;

    if (walk->trampoline.bytes && read_memory(pid, pc, &code, walk->trampoline.bytes))
        *seen = code == walk->trampoline.code ? hash : 0;
    return *seen == hash;
}

bool deferred_objects_find(void *context, const struct unwind_state *walk, uint64_t pc,
                       struct walk_object *object)
{
    struct deferred_objects *in = context;
    uint64_t offset = pc;

    if (!in->is_settled)
        (void)processes_settle(in->processes);
    in->is_settled = true;
    const struct mapped_file *file =
        processes_code_at(in->processes, walk->pid, walk->time, &offset);

    *object = (struct walk_object){.end = UNWIND_END_UNMAPPED, .bias = pc - offset};
    if (!file)
        return true;
    if (file->kind == MAPPED_ANONYMOUS && !mapped_file_is_unseen(file)) {
        object->frame_pointers = true;
        object->trampoline = is_trampoline(in, walk->pid, pc + 1);
        tell_kind(in, walk, pc, UNWIND_KEEPS_RECORDS);
        return true;
    }
    const int found = objects_find(in->objects, file, &in->table);
    if (!found) {
        object->table = &in->table;
        return true;
    }
    object->end = found < 0 ? UNWIND_END_DEFERRED : (enum unwind_end)found;
    if (found > 0 && found != UNWIND_END_DEFERRED)
        tell_kind(in, walk, pc, (uint32_t)found + 1);
    return found > 0;
}
