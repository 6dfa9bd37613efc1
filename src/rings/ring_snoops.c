/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_collectors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int32_t put_frames(uint64_t *to, const struct ring_stack *stack)
{
    if (stack->count)
        memcpy(to, stack->frames, stack->count * sizeof(*to));
    return (int32_t)(stack->count * sizeof(*to));
}

static size_t make_record(struct ring_snoops *snoops, const struct ring_record *read)
{
    const struct ring_sample *sample = &read->sample;
    const uint32_t number = rings_number(&snoops->source.rings, sample->event);
    struct snoop_record *record = snoops->record;
    struct counted_task task;

    ring_source_task(&snoops->source, read, number, &task);
    *record = (struct snoop_record){
        .time = read->time,
        .generation = task.who.generation,
        .caller = task.caller,
        .pid = sample->pid,
        .tid = sample->tid,
        .cpu = sample->cpu,
        .flags = (uint32_t)task.flags,
        .place = number < snoops->source.place_count ? snoops->source.places[number].place : 0,
        .walker = sample->tid,
    };
    memcpy(record->comm, task.who.comm, sizeof(record->comm));
    record->kernel_bytes = put_frames(record->frames, &task.kernel);
    record->user_bytes = put_frames(record->frames + task.kernel.count, &task.user);
    return offsetof(struct snoop_record,
                    frames) + (size_t)record->kernel_bytes + (size_t)record->user_bytes;
}

static int take(void *context, const struct ring_record *record)
{
    struct ring_snoops *snoops = context;
    struct ring_source *source = &snoops->source;

    if (record->kind != RECORD_SAMPLE)
        return 0;
    if (!ring_source_wants(source, &record->sample)) {
        source->filtered++;
        return 0;
    }
    source->counted++;
    snoops->taken++;
    const size_t size = make_record(snoops, record);
    return snoops->take(snoops->taking, snoops->record, size);
}

static int open_snoops(struct collector *collector, struct text *why)
{
    struct ring_snoops *snoops = (struct ring_snoops *)collector;
    int result = ring_source_open(&snoops->source, take, snoops, why);

    if (result)
        return result;
    snoops->record = malloc(SNOOP_RECORD_BYTES(2, snoops->source.depth + 1));
    return snoops->record ? 0 : -ENOMEM;
}

static void close_snoops(struct collector *collector)
{
    struct ring_snoops *snoops = (struct ring_snoops *)collector;

    ring_source_close(&snoops->source);
    free(snoops->record);
    snoops->record = NULL;
}

static int event_fd(const struct collector *collector, size_t index)
{
    const struct ring_reading *reading =
        &((const struct ring_snoops *)collector)->source.rings.reading;

    return index < reading->count ? reading->rings[index].ring.fd : -1;
}

/* Once stopped, everything is read at once. */
static int read_snoops(struct collector *collector, collector_take *take_one, void *context)
{
    struct ring_snoops *snoops = (struct ring_snoops *)collector;

    snoops->take = take_one;
    snoops->taking = context;
    snoops->taken = 0;
    int result = snoops->has_stopped ? ring_source_read(&snoops->source, true)
                                     : ring_source_read_settled(&snoops->source);
    return result ? result : snoops->taken;
}

static uint64_t settled(const struct collector *collector)
{
    return ((const struct ring_snoops *)collector)->source.settled;
}

static bool is_behind(const struct collector *collector)
{
    const struct ring_reading *reading =
        &((const struct ring_snoops *)collector)->source.rings.reading;
    bool any = false;

    for (size_t i = 0; i < reading->count; i++)
        any = any || reading->rings[i].size;
    return any;
}

static int stop(struct collector *collector)
{
    struct ring_snoops *snoops = (struct ring_snoops *)collector;

    snoops->has_stopped = true;
    return rings_stop(&snoops->source.rings);
}

static const struct collector_calls calls = {
    .open = open_snoops,
    .start = ring_source_start,
    .account = ring_source_account,
    .add_losses = ring_source_add_losses,
    .describe = ring_source_describe,
    .close = close_snoops,
};

static const struct event_source_calls event_calls = {
    .fd = event_fd,
    .read = read_snoops,
    .settled = settled,
    .is_behind = is_behind,
    .stop = stop,
};

void ring_snoops_init(struct ring_snoops *snoops, const struct ring_options *options)
{
    *snoops = (struct ring_snoops){
        .source = {.collector = {.calls = &calls, .events = &event_calls}, .options = *options},
    };
}
