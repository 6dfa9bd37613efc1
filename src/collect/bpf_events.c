/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "collect/bpf_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/limits.h"
#include "kernel/refusal.h"

static int open_events(struct collector *collector, struct text *why)
{
    struct bpf_events *events = (struct bpf_events *)collector;
    const struct recorder_config wanted = {
        .kind = events->config.buffer,
        .bytes = events->config.bytes,
        .depth = events->config.depth,
        .stacks = events->config.kernel + events->config.user,
        .values = events->config.values,
    };
    int result = recorder_open(&events->recorder, &wanted);

    collector->wakes_at_once = events->recorder.kind == RECORDER_RING;
    if (!result) {
        events->scratch = malloc(SNOOP_RECORD_BYTES(2, events->recorder.depth) +
                                 wanted.values * sizeof(uint64_t));
        result = events->scratch ? 0 : -ENOMEM;
    }
    if (!result)
        return 0;
    if (result == -EINVAL && wanted.kind == RECORDER_RING) {
        text_add(why, "--buffer: this kernel has no ring buffers (Linux 5.8)");
        return result;
    }
    text_add(why, "cannot create the buffer: ");
    refusal_explain(REFUSED_MAPS, result, events->recorder.bytes, why);
    return result;
}

static int start(struct collector *collector)
{
    return recorder_start(&((struct bpf_events *)collector)->recorder);
}

/* Before 5.2 the kernel does not tell programs of a full buffer: what never came was lost. */
#define TELLS_PROGRAMS 0x050200

static int sum_of(const struct bpf_events *events, struct account *sum)
{
    int result = recorder_account(&events->recorder, sum);

    if (!result && events->has_all && events->recorder.kind == RECORDER_PERF &&
        own_version() < TELLS_PROGRAMS)
        sum->table_full = sum->seen - events->taken - sum->filtered - sum->slots_taken;
    return result;
}

static void account_events(struct collector *collector, struct collector_account *account)
{
    const struct bpf_events *events = (const struct bpf_events *)collector;
    struct account sum = {0};
    int result = sum_of(events, &sum);

    *account = (struct collector_account){
        .seen = sum.seen,
        .filtered = sum.filtered,
        .counted = events->taken,
        .lost = sum.table_full + sum.slots_taken,
        .bytes = events->recorder.bytes,
        .depth = events->recorder.depth,
    };
    if (!result)
        account->unknown =
            (int64_t)(sum.seen - account->counted - account->filtered - account->lost);
}

static void add_losses(const struct collector *collector, struct losses *losses)
{
    const struct bpf_events *events = (const struct bpf_events *)collector;
    struct account sum = {0};
    int result = sum_of(events, &sum);
    const struct loss untold = {result ? LOSSES_UNCOUNTED : 0, "what was lost", .beside = true};

    losses_add(losses, &untold, "cannot be told: %s", strerror(-result));
    losses_add(losses, &(struct loss){.count = sum.table_full, .beside = true},
               "were lost: they came faster than they were printed and filled the buffer of %llu "
               "KB; raise --buffer-size, or narrow the pattern or filters",
               (unsigned long long)events->recorder.bytes / 1024);
    losses_add(losses, &(struct loss){.count = sum.slots_taken, .beside = true},
               "were lost: more than %d BPF programs were nested on a CPU", SLOTS_PER_CPU);
    losses_add_nested(losses, sum.nested, events->config.condition);
    losses_add(losses, &(struct loss){.count = events->walks_failed},
               "have no stack: the kernel could not walk it");
}

static void describe(const struct collector *collector, bool again, struct text *lines)
{
    const struct bpf_events *events = (const struct bpf_events *)collector;
    unsigned stacks = events->config.kernel + events->config.user;

    (void)again;
    text_format(lines, "buffer: %s, %llu KB in all, of records of %zu bytes\n",
                events->recorder.kind == RECORDER_RING ? "one ring" : "perf buffers of each CPU",
                (unsigned long long)events->recorder.bytes / 1024,
                SNOOP_RECORD_BYTES(stacks, events->recorder.depth) +
                    events->config.values * sizeof(uint64_t));
}

static void close_events(struct collector *collector)
{
    struct bpf_events *events = (struct bpf_events *)collector;

    recorder_close(&events->recorder);
    free(events->scratch);
    events->scratch = NULL;
}

static int event_fd(const struct collector *collector, size_t index)
{
    return recorder_fd(&((const struct bpf_events *)collector)->recorder, index);
}

struct taking {
    struct bpf_events *events;
    collector_take *take;
    void *context;
};

static int take_record(void *context, const void *bytes, size_t size)
{
    const struct taking *taking = context;
    struct bpf_events *events = taking->events;
    const struct snoop_shape shape = {
        .depth = events->recorder.depth,
        .kernel = events->config.kernel,
        .user = events->config.user,
        .values = events->config.values,
    };
    struct snoop_record *record = events->scratch;
    size_t used = snoop_record_take(bytes, size, &shape, record);

    if (!used)
        return -EIO;
    events->taken++;
    events->walks_failed += record->flags & KEY_USER_PROBE && record->user_bytes == -EFAULT;
    return taking->take(taking->context, record, used);
}

static int read_events(struct collector *collector, collector_take *take, void *context)
{
    struct bpf_events *events = (struct bpf_events *)collector;
    struct taking taking = {events, take, context};
    int count = recorder_read(&events->recorder, take_record, &taking);

    events->has_all = events->stopped && !count;
    return count;
}

static uint64_t settled(const struct collector *collector)
{
    return ((const struct bpf_events *)collector)->recorder.settled;
}

static bool is_behind(const struct collector *collector)
{
    return recorder_is_behind(&((const struct bpf_events *)collector)->recorder);
}

static int stop(struct collector *collector)
{
    struct bpf_events *events = (struct bpf_events *)collector;

    events->stopped = true;
    return recorder_stop(&events->recorder);
}

static const struct collector_calls calls = {
    .open = open_events,
    .start = start,
    .account = account_events,
    .add_losses = add_losses,
    .describe = describe,
    .close = close_events,
};

static const struct event_source_calls event_calls = {
    .fd = event_fd,
    .read = read_events,
    .settled = settled,
    .is_behind = is_behind,
    .stop = stop,
};

void bpf_events_init(struct bpf_events *events, const struct bpf_events_config *config)
{
    *events = (struct bpf_events){.collector = {.calls = &calls, .events = &event_calls},
                                  .config = *config};
    recorder_init(&events->recorder);
}
