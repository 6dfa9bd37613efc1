/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/limits.h"
#include "store/recorder.h"
#include "store/store.h"

/* Room for a third of a second of 50,000 events a second with two stacks of 127 frames. */
#define DEFAULT_BYTES (32u << 20)
#define MOST_BYTES (1u << 30)
#define LEAST_RECORDS 2
/*
 * The kernel's fast clock can step back by less than a microsecond when the time is adjusted.
 * Records that are this old are in order in any case.
 */
#define CLOCK_SLACK_NS 1000000

/* ---- Maps ---- */

static uint64_t power_of_two_below(uint64_t number)
{
    uint64_t power = 1;

    while (power <= number / 2)
        power *= 2;
    return power;
}

static uint64_t least_bytes(uint64_t record)
{
    uint64_t page = page_bytes(), bytes = page;

    while (bytes < LEAST_RECORDS * record)
        bytes *= 2;
    return bytes;
}

/* As asked for, or as a quarter of the free memory allows. */
static uint64_t first_size(const struct recorder_config *config)
{
    uint64_t available = kernel_free_memory(), bytes = config->bytes;

    if (!bytes)
        bytes = available && available / 4 < DEFAULT_BYTES ? available / 4 : DEFAULT_BYTES;
    return power_of_two_below(bytes < MOST_BYTES ? bytes : MOST_BYTES);
}

/* Tries sizes from `bytes` down to `least` until there is enough memory. */
static int open_ring(struct recorder *recorder, uint64_t bytes, uint64_t least)
{
    int result;

    bytes = bytes < least ? least : bytes;
    do {
        bpf_ring_close(&recorder->ring);
        result = bpf_ring_open(&recorder->ring, (size_t)bytes);
        recorder->bytes = bytes;
        bytes /= 2;
    } while (result == -ENOMEM && bytes >= least);
    return result;
}

/* A limit on locked pages is a refusal, too: -EPERM. */
static int open_buffers(struct recorder *recorder, uint64_t bytes, uint64_t least)
{
    int result;

    bytes = power_of_two_below(bytes / (uint64_t)sysconf(_SC_NPROCESSORS_CONF));
    bytes = bytes < least ? least : bytes;
    do {
        perf_rings_close(&recorder->buffers);
        result = perf_rings_open(&recorder->buffers, (size_t)bytes);
        recorder->bytes = bytes * recorder->buffers.count;
        bytes /= 2;
    } while ((result == -ENOMEM || result == -EPERM) && bytes >= least);
    return result;
}

/* A record for a perf buffer is prepared in a slot, which must have room for both stacks. */
static uint32_t most_of_slot(uint32_t stacks, size_t values)
{
    size_t room = MOST_CPU_VALUE_BYTES - SNOOP_SLOT_BYTES(0, 0);

    return (uint32_t)((room / sizeof(uint64_t) - values) / (stacks ? stacks : 1));
}

static int open_kind(struct recorder *recorder, enum recorder_kind kind,
                     const struct recorder_config *config)
{
    uint64_t bytes = first_size(config);
    const uint64_t values = config->values * sizeof(uint64_t);
    uint64_t least = least_bytes(SNOOP_RECORD_BYTES(config->stacks, recorder->depth) + values + 16);

    recorder->kind = kind;
    if (kind == RECORDER_PERF && recorder->depth > most_of_slot(config->stacks, config->values))
        recorder->depth = most_of_slot(config->stacks, config->values);
    if (kind == RECORDER_RING)
        return open_ring(recorder, bytes, least);
    int result = controls_open_slots(&recorder->controls,
                                     SNOOP_SLOT_BYTES(config->stacks,
                                                      recorder->depth) + (size_t)values);
    return result ? result : open_buffers(recorder, bytes, least);
}

void recorder_init(struct recorder *recorder)
{
    *recorder = (struct recorder){
        .kind = RECORDER_RING,
        .controls = CONTROLS_NONE,
        .ring = {.map = -1},
        .buffers = {.map = -1},
    };
}

int recorder_open(struct recorder *recorder, const struct recorder_config *config)
{
    recorder_init(recorder);
    recorder->depth = (uint32_t)(config->depth ? config->depth : store_depth_limit());
    int result = controls_open(&recorder->controls);

    if (!result)
        result = open_kind(recorder, config->kind == RECORDER_PERF ? RECORDER_PERF : RECORDER_RING,
                           config);
    /* EINVAL means that the kernel does not know this type of map. */
    if (result == -EINVAL && config->kind == RECORDER_BEST)
        result = open_kind(recorder, RECORDER_PERF, config);
    return result;
}

void recorder_close(struct recorder *recorder)
{
    bpf_ring_close(&recorder->ring);
    perf_rings_close(&recorder->buffers);
    controls_close(&recorder->controls);
}

int recorder_buffer(const struct recorder *recorder)
{
    return recorder->kind == RECORDER_RING ? recorder->ring.map : recorder->buffers.map;
}

int recorder_fd(const struct recorder *recorder, size_t index)
{
    if (recorder->kind == RECORDER_RING)
        return index ? -1 : recorder->ring.map;
    return index < recorder->buffers.count ? recorder->buffers.rings[index].fd : -1;
}

/* ---- Recording ---- */

int recorder_start(struct recorder *recorder)
{
    return controls_set(&recorder->controls, CONTROL_MAIN);
}

int recorder_stop(struct recorder *recorder)
{
    return controls_set_and_wait(&recorder->controls, CONTROL_PAUSED);
}

/*
 * A program that has read the clock may not have written its record yet. Once all programs that run
 * now have ended, it has.
 */
static int read_buffers(struct recorder *recorder, ring_take *take, void *context)
{
    uint64_t now = now_ns();
    int result = grace_wait(&recorder->controls.grace);

    if (!result)
        result = perf_rings_read(&recorder->buffers, take, context);
    if (result >= 0)
        recorder->settled = now - CLOCK_SLACK_NS;
    return result;
}

int recorder_read(struct recorder *recorder, ring_take *take, void *context)
{
    if (recorder->kind == RECORDER_PERF)
        return read_buffers(recorder, take, context);
    int result = bpf_ring_read(&recorder->ring, take, context);
    if (recorder->ring.settled)
        recorder->settled = recorder->ring.settled - CLOCK_SLACK_NS;
    return result;
}

bool recorder_is_behind(const struct recorder *recorder)
{
    return recorder->kind == RECORDER_RING && recorder->ring.is_marked;
}

int recorder_account(const struct recorder *recorder, struct account *account)
{
    int result = controls_account(&recorder->controls, CONTROL_MAIN, account);

    /* Before 5.2 the kernel does not tell programs what it drops: only the buffers count that. */
    if (recorder->buffers.lost > account->table_full)
        account->table_full = recorder->buffers.lost;
    return result;
}

uint32_t snoop_record_frames(int32_t bytes)
{
    return bytes > 0 ? (uint32_t)bytes / sizeof(uint64_t) : 0;
}

static int32_t bounded(int32_t bytes, uint32_t depth, bool wanted)
{
    uint64_t most = wanted ? depth * sizeof(uint64_t) : 0;

    if (bytes < 0)
        return bytes;
    return (int32_t)((uint64_t)bytes < most ? (uint64_t)bytes : most) & ~7;
}

size_t snoop_record_take(const void *bytes, size_t size, const struct snoop_shape *shape,
                         struct snoop_record *record)
{
    const size_t head = offsetof(struct snoop_record, frames);
    const size_t values = shape->values * sizeof(uint64_t);
    const char *frames = (const char *)bytes + head + values;
    size_t stack = shape->depth * sizeof(uint64_t);

    if (size < SNOOP_RECORD_BYTES(shape->kernel + shape->user, shape->depth) + values)
        return 0;
    memcpy(record, bytes, head);
    record->kernel_bytes = bounded(record->kernel_bytes, shape->depth, shape->kernel);
    record->user_bytes = bounded(record->user_bytes, shape->depth, shape->user);
    record->comm[sizeof(record->comm) - 1] = '\0';
    uint32_t kernel = snoop_record_frames(record->kernel_bytes);
    uint32_t user = snoop_record_frames(record->user_bytes);
    memcpy(record->frames, frames, kernel * sizeof(uint64_t));
    memcpy(record->frames + kernel, frames + (shape->kernel ? stack : 0), user * sizeof(uint64_t));
    memcpy(record->frames + kernel + user, frames - values, values);
    return head + (kernel + user) * sizeof(uint64_t) + values;
}

const uint64_t *snoop_record_values(const struct snoop_record *record)
{
    return record->frames + snoop_record_frames(record->kernel_bytes) +
           snoop_record_frames(record->user_bytes);
}
