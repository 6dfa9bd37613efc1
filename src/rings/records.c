/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "kernel/ring_buffers.h"
#include "rings/records.h"

/* The end of all records but samples: sample_id_all, with the parts of RECORD_SAMPLE_TYPE. */
struct trailer {
    uint32_t pid, tid;
    uint64_t time;
    uint32_t cpu, unused;
    uint64_t event;
};

/* The start of all samples. */
struct sample_head {
    struct perf_event_header header;
    uint64_t event, ip;
    uint32_t pid, tid;
    uint64_t time;
    uint32_t cpu, unused;
    uint64_t frames;
};

/* Words from PERF_CONTEXT_MAX on are context markers, which tell whose frames follow. */
static bool is_context(uint64_t word)
{
    return word >= (uint64_t)PERF_CONTEXT_MAX;
}

/* The kernel's part comes first; a marker precedes each part. */
static void split_chain(const uint64_t *words, size_t count, struct ring_sample *sample)
{
    uint64_t context = 0;

    for (size_t i = 0; i < count; i++) {
        const bool kernel = context == (uint64_t)PERF_CONTEXT_KERNEL;
        if (is_context(words[i])) {
            context = words[i];
        } else if (kernel) {
            sample->kernel = sample->kernel_count ? sample->kernel : words + i;
            sample->kernel_count++;
        } else if (context == (uint64_t)PERF_CONTEXT_USER) {
            sample->user = sample->user_count ? sample->user : words + i;
            sample->user_count++;
        }
    }
}

/* Callchains of 32-bit programs and broken stacks may end with zeros. */
static size_t without_zeros(const uint64_t *frames, size_t count)
{
    while (count && !frames[count - 1])
        count--;
    return count;
}

/* The unparsed rest of a sample. */
struct rest {
    const char *at;
    size_t left;
};

/* Its next bytes; NULL: there are not that many. */
static const void *take(struct rest *rest, uint64_t bytes)
{
    const char *at = rest->at;

    if (bytes > rest->left)
        return NULL;
    rest->at += bytes;
    rest->left -= (size_t)bytes;
    return at;
}

static bool take_word(struct rest *rest, uint64_t *word)
{
    const void *at = take(rest, sizeof(*word));

    if (at)
        memcpy(word, at, sizeof(*word));
    return at;
}

static bool parse_raw(struct rest *rest, struct ring_sample *sample)
{
    uint32_t size;
    const void *at = take(rest, sizeof(size));

    if (!at)
        return false;
    memcpy(&size, at, sizeof(size));
    sample->raw = take(rest, size);
    sample->raw_size = size;
    return sample->raw;
}

/* After the stack the kernel writes how many of its bytes it could copy; the rest is padding. */
static bool parse_user(struct rest *rest, const struct record_shape *shape,
                       struct ring_sample *sample)
{
    const uint64_t walked = shape->narrow ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_64;
    const void *registers = NULL;
    uint64_t abi, bytes, copied = 0;

    if (!take_word(rest, &abi))
        return false;
    if (abi != PERF_SAMPLE_REGS_ABI_NONE)
        registers = take(rest, (uint64_t)__builtin_popcountll(shape->registers) * sizeof(uint64_t));
    if ((abi != PERF_SAMPLE_REGS_ABI_NONE && !registers) || !take_word(rest, &bytes))
        return false;
    sample->stack = take(rest, bytes);
    if (!sample->stack || (bytes && !take_word(rest, &copied)) || copied > bytes)
        return false;
    sample->stack_bytes = (size_t)copied;
    sample->registers = abi == walked ? registers : NULL;
    return true;
}

static enum record_kind parse_sample(const char *bytes, size_t size,
                                     const struct record_shape *shape, struct ring_record *record)
{
    struct ring_sample *sample = &record->sample;
    struct sample_head head;

    *sample = (struct ring_sample){.raw_size = 0};
    if (size < sizeof(head))
        return RECORD_BROKEN;
    memcpy(&head, bytes, sizeof(head));
    record->time = head.time;
    sample->event = head.event;
    sample->pid = head.pid;
    sample->tid = head.tid;
    sample->cpu = head.cpu;
    sample->in_kernel =
        (head.header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    const size_t left = size - sizeof(head);
    if (head.frames > left / sizeof(uint64_t))
        return RECORD_BROKEN;
    const uint64_t *words = (const void *)(bytes + sizeof(head));
    split_chain(words, (size_t)head.frames, sample);
    /* A kernel that walks no user stacks writes the marker alone. */
    if (!sample->in_kernel && head.frames &&
        words[head.frames - 1] == (uint64_t)PERF_CONTEXT_USER) {
        sample->user = (const void *)(bytes + offsetof(struct sample_head, ip));
        sample->user_count = 1;
    }
    sample->kernel_count = without_zeros(sample->kernel, sample->kernel_count);
    sample->user_count = without_zeros(sample->user, sample->user_count);
    const size_t chain = (size_t)head.frames * sizeof(uint64_t);
    struct rest rest = {bytes + sizeof(head) + chain, left - chain};
    return (!shape->raw || parse_raw(&rest, sample)) &&
           (!shape->registers || parse_user(&rest, shape, sample)) ? RECORD_SAMPLE : RECORD_BROKEN;
}

static enum record_kind parse_task(char *bytes, size_t size, struct ring_record *record)
{
    const struct perf_event_header *header = (const void *)bytes;
    struct ring_task *task = &record->task;
    struct fork_record fork;
    struct comm_record comm;
    const size_t least = header->type == PERF_RECORD_COMM ? sizeof(comm) : sizeof(fork);

    if (size < least + sizeof(struct trailer))
        return RECORD_OTHER;
    if (header->type == PERF_RECORD_COMM) {
        memcpy(&comm, bytes, sizeof(comm));
        bytes[size - sizeof(struct trailer)] = '\0'; /* over the trailer, which has been read */
        *task = (struct ring_task){
            .kind = header->misc & PERF_RECORD_MISC_COMM_EXEC ? RING_TASK_EXECS : RING_TASK_NAMED,
            .pid = comm.pid, .tid = comm.tid, .name = bytes + sizeof(comm),
        };
        return RECORD_TASK;
    }
    memcpy(&fork, bytes, sizeof(fork));
    *task = (struct ring_task){
        .kind = header->type == PERF_RECORD_FORK ? RING_TASK_FORKED : RING_TASK_ENDED,
        .pid = fork.pid, .tid = fork.tid, .by = fork.ptid,
    };
    return RECORD_TASK;
}

void ring_record_parse(char *bytes, size_t size, const struct record_shape *shape,
                       struct ring_record *record)
{
    struct perf_event_header header;
    struct lost_record lost;
    struct trailer trailer;

    *record = (struct ring_record){.kind = RECORD_BROKEN};
    if (size < sizeof(header))
        return;
    memcpy(&header, bytes, sizeof(header));
    if (header.type == PERF_RECORD_SAMPLE) {
        record->kind = parse_sample(bytes, size, shape, record);
        return;
    }
    record->kind = RECORD_OTHER;
    if (size < sizeof(header) + sizeof(trailer))
        return;
    memcpy(&trailer, bytes + size - sizeof(trailer), sizeof(trailer));
    record->time = trailer.time;
    switch (header.type) {
    case PERF_RECORD_LOST:
        if (size < sizeof(lost) + sizeof(trailer))
            break;
        memcpy(&lost, bytes, sizeof(lost));
        record->kind = RECORD_LOST;
        record->lost = lost.lost;
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
    case PERF_RECORD_COMM:
        record->kind = parse_task(bytes, size, record);
        break;
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_UNTHROTTLE:
        record->kind = RECORD_THROTTLE;
        break;
    }
}

int ring_open(struct ring *ring, unsigned cpu, int fd, size_t bytes)
{
    *ring = (struct ring){.cpu = cpu, .throttle.ring.fd = -1};
    int result = perf_ring_open(&ring->ring, fd, bytes);
    ring->bytes = result ? NULL : malloc(PERF_RING_MOST_RECORD_BYTES + 1);
    return result ? result : ring->bytes ? 0 : -ENOMEM;
}

void ring_close(struct ring *ring)
{
    perf_ring_close(&ring->ring);
    free(ring->bytes);
    ring->bytes = NULL;
}

/* The ring has lost samples from before `until`. */
static void note_gap(struct ring_reading *reading, const struct ring *ring, uint64_t until)
{
    if (!ring->of_tasks && until > reading->whole_since)
        reading->whole_since = until;
}

/*
 * Drops all that the ring holds now: a record's size is wrong, so that the next record cannot be
 * found, or the kernel's head position is impossible.
 */
static void give_up(struct ring_reading *reading, struct ring *ring)
{
    reading->broken++;
    ring->at = ring->head;
    note_gap(reading, ring, now_ns());
}

/* Finds the next sample or task record, and takes account of all other records on the way. */
static void find_next(struct ring_reading *reading, struct ring *ring)
{
    struct ring_record *next = &ring->next;
    bool after_lost = false;
    char *record;

    for (ring->size = 0; ring->at != ring->head; ring->at += ring->size) {
        ring->size = perf_ring_find(&ring->ring, ring->at, ring->head, ring->bytes, &record);
        if (!ring->size) {
            give_up(reading, ring);
            return;
        }
        ring_record_parse(record, ring->size, &reading->shape, next);
        if (after_lost)
            note_gap(reading, ring, next->time);
        after_lost = next->kind == RECORD_LOST;
        if (next->kind == RECORD_SAMPLE || next->kind == RECORD_TASK)
            return;
        *(ring->of_tasks ? &reading->tasks_lost : &reading->lost) += next->kind == RECORD_LOST
            ? next->lost : 0;
        reading->broken += next->kind == RECORD_BROKEN;
        if (next->kind == RECORD_THROTTLE)
            throttle_take(&ring->throttle, record, ring->size);
    }
    ring->size = 0;
}

/* The most that a record may need; in a small ring, half of it. */
static size_t room_of(const struct perf_ring *ring)
{
    return ring->bytes / 2 < PERF_RING_MOST_RECORD_BYTES ? ring->bytes / 2
        : PERF_RING_MOST_RECORD_BYTES;
}

static void look(struct ring_reading *reading, struct ring *ring)
{
    ring->head = perf_ring_head(&ring->ring);
    if (ring->head - ring->at > ring->ring.bytes)
        give_up(reading, ring);
    if (ring->head != ring->at)
        ring->was_full = ring->head - ring->at + room_of(&ring->ring) > ring->ring.bytes;
    if (!ring->size)
        find_next(reading, ring);
}

/* The ring with the earliest record; its records up to `until` come before all other rings'. */
static struct ring *earliest(const struct ring_reading *reading, uint64_t *until)
{
    struct ring *first = NULL;

    for (size_t i = 0; i < reading->count; i++) {
        struct ring *ring = &reading->rings[i];
        if (!ring->size)
            continue;
        const bool is_first = !first || ring->next.time < first->next.time;
        const uint64_t other = !is_first ? ring->next.time : first ? first->next.time : UINT64_MAX;
        *until = other < *until ? other : *until;
        first = is_first ? ring : first;
    }
    return first;
}

int rings_read(struct ring_reading *reading, uint64_t until, ring_take_record *take_record,
               void *context)
{
    struct ring *ring;
    uint64_t next = until;
    int result = 0;

    for (size_t i = 0; i < reading->count; i++)
        look(reading, &reading->rings[i]);
    while (!result && (ring = earliest(reading, &next)) && ring->next.time <= until) {
        do {
            reading->samples += ring->next.kind == RECORD_SAMPLE;
            result = take_record(context, &ring->next);
            ring->at += ring->size;
            find_next(reading, ring);
        } while (!result && ring->size && ring->next.time <= next);
        perf_ring_release(&ring->ring, ring->at);
        /* the kernel reports what it has lost until now with the ring's next record only */
        if (!ring->size && ring->was_full)
            note_gap(reading, ring, now_ns());
        next = until;
    }
    for (size_t i = 0; i < reading->count; i++) /* of records that were only skipped, too */
        perf_ring_release(&reading->rings[i].ring, reading->rings[i].at);
    return result;
}
