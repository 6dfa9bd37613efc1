/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "collect/walk_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "insns/unwind_layout.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "kernel/perf.h"
#include "kernel/refusal.h"
#include "machine/machine.h"
#include "processes/process.h"
#include "store/store.h"

#define VERSION(major, minor) ((major) << 16 | (minor) << 8)

/* Of a bank, as powers of two; and the part of free memory that everything may take. */
#define LEAST_BITS 8
#define USUAL_BITS 13
#define MOST_BITS 20
#define MOST_SHARE 16
/* A bank is emptied when 1/FILLED is full: in a fuller one, some stacks find no bucket. */
#define FILLED 16

static uint64_t bytes_of(const struct walk_counts *counts)
{
    return ((uint64_t)WALK_BANKS << counts->capture.bits) * counts->bucket_bytes;
}

/* ---- Opening ---- */

static void choose_bits(struct walk_counts *counts)
{
    const uint64_t stacks = counts->stacks, available = kernel_free_memory();
    uint32_t *bits = &counts->capture.bits;

    *bits = stacks ? 0 : USUAL_BITS;
    while (*bits < MOST_BITS && (uint64_t)1 << *bits < stacks)
        ++*bits;
    while (!stacks && *bits > LEAST_BITS && bytes_of(counts) > available / MOST_SHARE)
        --*bits;
}

static int choose_depth(struct walk_counts *counts, struct text *why)
{
    const bool both = counts->capture.kernel_stack && counts->capture.user_stack;
    const uint32_t most = both ? UNROLLED_MOST_OF_BOTH : UNROLLED_MOST_OF_ONE;

    if (counts->capture.depth > most) {
        text_format(why, "--depth: \"%u\" is more than a BPF program can walk on this kernel: "
                         "it takes 1 to %u%s",
                    counts->capture.depth, most, both ? ", more with -K or -U" : "");
        return -EINVAL;
    }
    if (!counts->capture.depth)
        counts->capture.depth = most;
    return 0;
}

static int create_maps(struct walk_counts *counts)
{
    struct capture *capture = &counts->capture;
    const uint32_t cpus = (uint32_t)cpus_possible();
    int result = bpf_create_numbered(&capture->control, BPF_MAP_TYPE_ARRAY, "control",
                                     sizeof(uint32_t), 1);

    if (!result)
        result = bpf_create_numbered(&capture->scratches, BPF_MAP_TYPE_ARRAY, "scratches",
                                     counts->scratch_bytes, cpus * WALK_BANKS);
    if (!result)
        result = bpf_create_numbered(&capture->buckets, BPF_MAP_TYPE_ARRAY, "buckets",
                                     counts->bucket_bytes, (uint32_t)WALK_BANKS << capture->bits);
    return result ? result : grace_open(&counts->grace);
}

static int open_counts(struct collector *collector, struct text *why)
{
    struct walk_counts *counts = (struct walk_counts *)collector;
    const size_t stacks = (size_t)counts->capture.kernel_stack + counts->capture.user_stack;
    int result = choose_depth(counts, why);

    if (result)
        return result;
    const size_t frames = stacks * counts->capture.depth;
    counts->bucket_bytes = (uint32_t)WALK_BUCKET_BYTES(frames);
    counts->scratch_bytes = (uint32_t)WALK_SCRATCH_BYTES(frames);
    counts->capture.from_regs = kernel_saves_frames();
    choose_bits(counts);
    counts->value = malloc(counts->bucket_bytes + counts->scratch_bytes);
    result = counts->value ? create_maps(counts) : -ENOMEM;
    return result ? refusal_of_maps(result, bytes_of(counts), why) : 0;
}

static void close_counts(struct collector *collector)
{
    struct walk_counts *counts = (struct walk_counts *)collector;
    const int maps[] = {counts->capture.control, counts->capture.scratches,
                        counts->capture.buckets};

    for (size_t i = 0; i < COUNT_OF(maps); i++)
        close_fd(maps[i]);
    grace_close(&counts->grace);
    free(counts->value);
    walk_counts_init(counts, &(struct capture){0}, 0);
}

static int count_into(struct walk_counts *counts, uint32_t bank)
{
    const uint32_t zero = 0;

    return bpf_update(counts->capture.control, &zero, &bank, BPF_ANY);
}

static int start(struct collector *collector)
{
    struct walk_counts *counts = (struct walk_counts *)collector;

    return count_into(counts, counts->bank);
}

/* ---- Accounts ---- */

/* Everything that programs have done in that bank since it was made. */
static int sum_account(const struct walk_counts *counts, uint32_t bank, struct account *sum)
{
    const size_t cpus = cpus_possible();
    int result = 0;

    *sum = (struct account){.bank = 0};
    for (size_t cpu = 0; cpu < cpus && !result; cpu++) {
        const uint32_t index = (uint32_t)(cpu * WALK_BANKS + bank - 1);
        const struct walk_scratch *scratch = counts->value;
        result = bpf_lookup(counts->capture.scratches, &index, counts->value);
        for (size_t i = 0; i < ACCOUNT_WORDS && !result; i++)
            ((uint64_t *)sum)[i] += ((const uint64_t *)&scratch->account)[i];
    }
    return result;
}

static int take_account(struct walk_counts *counts, uint32_t bank)
{
    struct account now, *before = &counts->before[bank - 1];
    int result = sum_account(counts, bank, &now);

    for (size_t i = 0; i < ACCOUNT_WORDS && !result; i++)
        ((uint64_t *)&counts->sum)[i] += ((uint64_t *)&now)[i] - ((uint64_t *)before)[i];
    if (!result)
        *before = now;
    return result;
}

static void account(struct collector *collector, struct collector_account *account)
{
    const struct walk_counts *counts = (const struct walk_counts *)collector;
    const struct account *sum = &counts->sum;

    *account = (struct collector_account){
        .seen = sum->seen,
        .filtered = sum->filtered,
        .counted = counts->counted,
        .lost = sum->table_full,
        .unknown = (int64_t)(sum->seen - sum->filtered - counts->counted - sum->table_full),
        .bytes = bytes_of(counts),
        .depth = counts->capture.depth,
    };
}

static void add_losses(const struct collector *collector, struct losses *losses)
{
    const struct walk_counts *counts = (const struct walk_counts *)collector;

    losses_add(losses, &(struct loss){.count = counts->sum.table_full},
               "are only in the total, as [table full]: the table of %u stacks was full; raise "
               "--stack-storage-size", 1u << counts->capture.bits);
}

static void describe(const struct collector *collector, bool again, struct text *lines)
{
    const struct walk_counts *counts = (const struct walk_counts *)collector;

    (void)again;
    text_format(lines, "maps: two of %u stacks of %u frames; %llu KB in all\n",
                1u << counts->capture.bits, counts->capture.depth,
                (unsigned long long)bytes_of(counts) / 1024);
}

static enum tally_news look(struct collector *collector)
{
    struct walk_counts *counts = (struct walk_counts *)collector;
    const struct account *before = &counts->before[counts->bank - 1];
    struct account now;

    if (sum_account(counts, counts->bank, &now) || now.inserted == before->inserted)
        return NOTHING_NEW;
    const bool is_new = now.inserted != counts->looked_at;
    counts->looked_at = now.inserted;
    if (now.inserted - before->inserted > ((uint64_t)1 << counts->capture.bits) / FILLED)
        return IS_FILLING;
    return is_new ? HAS_NEWS : NOTHING_NEW;
}

static int settle(struct collector *collector)
{
    (void)collector;
    return 0;
}

/* ---- Collecting ---- */

/* A stack that has a frame for the last step is taken to be longer: a mark replaces that frame. */
static void mark_cut(const struct walk_counts *counts, uint64_t *frames, uint32_t count)
{
    if (count == counts->capture.depth && !counts->depth_asked)
        frames[count - 1] = UNWIND_END_FRAME(UNWIND_END_STEPS);
}

static int add_bucket(struct walk_counts *counts, struct walk_bucket *bucket, struct tally *tally)
{
    struct walked *walked = &bucket->walked;
    const uint32_t depth = counts->capture.kernel_stack ? counts->capture.depth : 0;
    struct tally_entry *entry = tally_add(tally);

    if (!entry)
        return -ENOMEM;
    entry->value = entry->events = bucket->count;
    counts->counted += bucket->count;
    entry->task.pid = walked->pid;
    entry->task.tid = walked->tid;
    memcpy(entry->task.comm, walked->comm, sizeof(walked->comm));
    if (counts->processes && walked->pid)
        entry->task.generation = processes_generation_at(counts->processes, walked->pid,
                                                         bucket->time);
    mark_cut(counts, walked->frames + depth, walked->user_frames);
    int result = tally_add_stack(tally, &entry->task.kernel, walked->frames, walked->kernel_frames);
    return result ? result : tally_add_stack(tally, &entry->task.user, walked->frames + depth,
                                             walked->user_frames);
}

/* A bank that no program writes to any more; it is then empty. */
static int empty_bank(struct walk_counts *counts, uint32_t bank, struct tally *tally)
{
    const uint32_t first = (bank - 1) << counts->capture.bits, end = bank << counts->capture.bits;
    const uint64_t full = counts->sum.table_full;
    struct walk_bucket *bucket = counts->value;
    int result = take_account(counts, bank);

    for (uint32_t i = first; i < end && !result; i++) {
        result = bpf_lookup(counts->capture.buckets, &i, bucket);
        if (result || !bucket->hash)
            continue;
        result = add_bucket(counts, bucket, tally);
        memset(bucket, 0, counts->bucket_bytes);
        if (!result)
            result = bpf_update(counts->capture.buckets, &i, bucket, BPF_ANY);
    }
    const uint64_t lost = counts->sum.table_full - full;
    return result ? result : drain_uncounted(tally, lost, lost);
}

static int collect(struct collector *collector, bool again, struct tally *tally)
{
    struct walk_counts *counts = (struct walk_counts *)collector;
    const uint32_t bank = counts->bank;

    bpf_begin_unpreempted();
    counts->bank = WALK_BANKS + 1 - bank;
    counts->looked_at = counts->before[counts->bank - 1].inserted;
    int result = count_into(counts, again ? counts->bank : CONTROL_PAUSED);
    if (!result)
        result = grace_wait(&counts->grace);
    if (!result && counts->processes)
        result = processes_settle(counts->processes);
    if (!result)
        result = empty_bank(counts, bank, tally);
    bpf_end_unpreempted();
    return result;
}

static const struct collector_calls calls = {
    .open = open_counts,
    .start = start,
    .account = account,
    .add_losses = add_losses,
    .describe = describe,
    .close = close_counts,
};

static const struct counter_calls counter = {
    .look = look,
    .settle = settle,
    .collect = collect,
};

void walk_counts_init(struct walk_counts *counts, const struct capture *capture, uint64_t stacks)
{
    *counts = (struct walk_counts){
        .collector = {.calls = &calls, .counter = &counter},
        .capture = *capture,
        .depth_asked = capture->depth != 0,
        .stacks = stacks,
        .bank = 1,
        .grace = GRACE_NONE,
    };
    counts->capture.machine = machine_of_kernel();
    counts->capture.steps = UNROLLED_MOST_OF_BOTH;
    counts->capture.control = counts->capture.scratches = counts->capture.buckets = -1;
}

int walk_counts_try(void)
{
    if (!machine_of_kernel()->kernel_stack || own_version() >= VERSION(4, 14))
        return -EOPNOTSUPP;
    int program = bpf_load_nothing(BPF_PROG_TYPE_KPROBE, 0);
    if (program < 0)
        return program;
    close(program);
    return 0;
}
