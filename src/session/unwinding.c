/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/unwinding.h"

#include <errno.h>
#include <linux/bpf.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "find/needed.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "machine/machine.h"
#include "processes/image.h"
#include "session/path_walk.h"
#include "session/run.h"

#define MOST_SHARE 8 /* of free memory that tables may take */
#define MOST_BYTES (1ull << 30)
/*
 * Verifying such programs takes 4 MB, their maps as much, and names are still to be read: with less
 * free memory the kernel might kill a process.
 */
#define LEAST_FREE_BYTES (24ull << 20)
#define UNUSED_NS 10000000000ull
/*
 * How long (ns) to wait for tables before tracing begins; after that they are made in the
 * background.
 */
#define MOST_WAIT_NS 3000000000ull
#define STEP_NS 50000000 /* and how often to check whether to stop */
/* For stacks met before there was a table: what waits to be read, and what was read. */
#define MOST_RING_SHARE 256 /* of the free memory */
#define MOST_RING_BYTES (4u << 20)
#define LEAST_RING_BYTES (64u << 10)
#define MOST_COLD_BYTES (16u << 20)
#define LEAST_LOOKS 12 /* a second: MOST_TICK_NS */
#define COLD_STEP_NS 5000000
#define MAKING_MS 1
#define MATTERS 100 /* less than one stack in this many is not worth a line */

void unwinding_init(struct unwinding *unwinding)
{
    *unwinding = (struct unwinding){.learned = LEARNED_NONE, .wishes.maps = {-1, -1, -1, -1, -1}};
}

void unwinding_take_first_alone(struct unwinding *unwinding)
{
    unwinding->wishes.first_alone = unwinding->rings.first_alone = true;
}

void unwinding_take_samples(struct unwinding *unwinding)
{
    if (machine_walks())
        unwinding->rings.machine = machine_of_kernel();
}

static void see_mapping(void *context, uint32_t pid, const struct mapping *mapping)
{
    struct unwinding *unwinding = context;

    (void)pid;
    (void)objects_see(unwinding->objects, mapping->file);
}

static void ignore_process(void *context, uint32_t pid)
{
    (void)context, (void)pid;
}

static size_t ring_bytes(uint64_t free_memory)
{
    size_t bytes = MOST_RING_BYTES;

    while (bytes > LEAST_RING_BYTES && bytes > free_memory / MOST_RING_SHARE)
        bytes /= 2;
    return bytes;
}

/* Kept stacks can only be walked if we know what processes map. */
static int open_cold(struct unwinding *unwinding, uint32_t depth)
{
    const bool is_deaf = processes_listening(unwinding->processes) != 0;
    const struct cold_wishes wishes = {
        .machine = unwinding->wishes.machine,
        .context = &unwinding->cold_objects,
        .find = cold_objects_find,
        .depth = depth,
        .asked = unwinding->wishes.asked,
        .ring_bytes = is_deaf || unwinding->rings.machine ? 0 : ring_bytes(kernel_free_memory()),
        .most_bytes = MOST_COLD_BYTES,
        .sampled_bytes = unwinding->rings.stack_bytes,
    };

    unwinding->cold_objects = (struct cold_objects){
        .processes = unwinding->processes,
        .objects = unwinding->objects,
    };
    return cold_open(&unwinding->cold, &wishes);
}

static int open_programs(struct unwinding *unwinding, uint32_t depth)
{
    struct text log = {0};
    int result = learned_open(&unwinding->learned, &log);

    text_free(&log);
    unwinding->wishes.machine = unwinding->learned.machine;
    return result ? result : bpf_create_numbered(&unwinding->wishes.maps.states, BPF_MAP_TYPE_PERCPU_ARRAY, "walks",
                                                 UNWIND_STATE_BYTES(depth), SLOTS_PER_CPU);
}

/* Without programs, samples are walked here, if we know of mappings before them. */
static int open_samples(struct unwinding *unwinding, uint32_t depth)
{
    struct ring_unwind *rings = &unwinding->rings;

    if (!rings->machine)
        return -EOPNOTSUPP;
    unwinding->wishes.machine = rings->machine;
    rings->frames = calloc(depth + 1, sizeof(*rings->frames));
    return rings->frames ? processes_listening(unwinding->processes) : -ENOMEM;
}

static int open_all(struct unwinding *unwinding, uint32_t depth, bool by_rings)
{
    const uint64_t free_memory = kernel_free_memory(), most = free_memory / MOST_SHARE;
    const struct objects_wishes wishes = {
        .key = by_rings ? NULL : learned_key,
        .context = &unwinding->learned,
        .files = processes_files(unwinding->processes),
        .unused_ns = UNUSED_NS,
        .most_bytes = most && most < MOST_BYTES ? most : MOST_BYTES,
    };
    int result = free_memory && free_memory < LEAST_FREE_BYTES ? -ENOMEM : by_rings ? open_samples(unwinding, depth)
                                                                                   : open_programs(unwinding, depth);

    if (!result)
        result = objects_open(&unwinding->objects, &wishes);
    return result ? result : open_cold(unwinding, depth);
}

void unwinding_open(struct unwinding *unwinding, struct processes *processes,
                    const struct unwinding_wishes *wishes)
{
    const uint32_t depth = wishes->depth < UNWIND_MOST_DEPTH ? wishes->depth : UNWIND_MOST_DEPTH;

    unwinding->processes = processes;
    unwinding->wishes.asked = wishes->asked;
    unwinding->refused = open_all(unwinding, depth, wishes->by_rings);
    if (unwinding->refused) {
        const int refused = unwinding->refused;
        unwinding_close(unwinding);
        unwinding->refused = refused;
        return;
    }
    objects_tell_maps(unwinding->objects, &unwinding->wishes.maps);
    unwinding->rings.objects = &unwinding->cold_objects;
    unwinding->rings.cold = unwinding->cold;
    unwinding->wishes.fields = &unwinding->learned.fields;
    unwinding->wishes.maps.cold = cold_map(unwinding->cold);
    unwinding->wishes.depth = depth;
    unwinding->wishes.in_namespace = wishes->filter->in_namespace;
    unwinding->wishes.namespace_device = wishes->filter->namespace_device;
    unwinding->wishes.namespace_inode = wishes->filter->namespace_inode;
    unwinding->wishes.numbers = wishes->filter->numbers;
    unwinding->wishes.claims = true;
    unwinding->watcher = (struct processes_watcher){
        .context = unwinding,
        .mapped = see_mapping,
        .execs = ignore_process,
        .ended = ignore_process,
    };
    processes_watch(processes, &unwinding->watcher);
}

void unwinding_close(struct unwinding *unwinding)
{
    if (unwinding->processes) {
        processes_watch(unwinding->processes, NULL);
        objects_close(unwinding->objects);
        cold_close(unwinding->cold);
    }
    free(unwinding->rings.frames);
    if (unwinding->wishes.maps.states >= 0)
        close(unwinding->wishes.maps.states);
    learned_close(&unwinding->learned);
    unwinding_init(unwinding);
}

static void see_file(struct unwinding *unwinding, const char *path)
{
    struct mapped_files *files = processes_files(unwinding->processes);
    struct stat about;

    if (stat(path, &about))
        return;
    const struct mapped_sight sight = {
        .device = about.st_dev,
        .inode = about.st_ino,
        .path = path,
        .pid = (uint32_t)getpid(),
    };
    struct mapped_file *file = mapped_files_see(files, &sight);
    if (!file)
        return;
    (void)objects_want(unwinding->objects, file);
    mapped_file_drop(files, file);
}

void unwinding_see_command(struct unwinding *unwinding, const char *name)
{
    struct text paths = {0};
    char *program = unwinding->objects ? path_walk_find(name) : NULL;

    if (program && !needed_find(program, &paths))
        for (size_t at = 0; at < paths.length; at += strlen(paths.data + at) + 1)
            see_file(unwinding, paths.data + at);
    text_free(&paths);
    free(program);
}

/* If another thread walks samples, it must not be held up: so wait outside the lock. */
static size_t make(struct unwinding *unwinding, uint64_t until)
{
    const bool by_rings = unwinding->rings.cold;
    size_t left;

    processes_hold(unwinding->processes);
    left = objects_make(unwinding->objects, by_rings ? 0 : until);
    cold_walk(unwinding->cold);
    processes_release(unwinding->processes);
    if (by_rings && left && now_ns() < until)
        (void)poll(NULL, 0, MAKING_MS);
    return left;
}

void unwinding_look_at_all(struct unwinding *unwinding)
{
    const uint64_t last = now_ns() + MOST_WAIT_NS;

    while (unwinding->objects && !run_stopped && now_ns() < last &&
           make(unwinding, now_ns() + STEP_NS))
        ;
}

void unwinding_expect(struct unwinding *unwinding, uint64_t events)
{
    if (unwinding->objects && unwinding->wishes.maps.cold >= 0 &&
        events <= ring_bytes(kernel_free_memory()) / UNWIND_MOST_KEPT * LEAST_LOOKS)
        objects_wait_to_be_asked(unwinding->objects);
}

void unwinding_look(struct unwinding *unwinding, uint64_t most)
{
    const uint64_t until = unwinding->is_behind ? 0 : now_ns() + most;

    if (!unwinding->objects)
        return;
    unwinding->is_behind = make(unwinding, until);
    unwinding_settle(unwinding, 0);
}

void unwinding_settle(struct unwinding *unwinding, uint64_t most)
{
    const uint64_t last = now_ns() + most;
    uint64_t now;

    if (!unwinding->objects)
        return;
    processes_hold(unwinding->processes);
    unwinding->cold_objects.is_settled = false;
    (void)cold_read(unwinding->cold);
    cold_walk(unwinding->cold);
    processes_release(unwinding->processes);
    while (cold_waiting(unwinding->cold) && (now = now_ns()) < last && make(unwinding, now + COLD_STEP_NS))
        ;
}

static int complete(struct unwinding *unwinding, struct tally *tally, struct stack *stack, uint64_t *whole,
                    bool for_good)
{
    const uint64_t *frames = tally->addresses + stack->first;
    bool by_tables;

    if (stack->state != STACK_KEPT || !stack->count || !UNWIND_IS_COLD_FRAME(frames[stack->count - 1]))
        return 0;
    processes_hold(unwinding->processes);
    size_t count = cold_complete(unwinding->cold, frames, stack->count, for_good, whole);
    processes_release(unwinding->processes);
    count = unwind_count_frames(whole, count, &by_tables);
    return count ? tally_add_stack(tally, stack, whole, count) : 0;
}

int unwinding_complete(struct unwinding *unwinding, struct tally *tally, bool for_good)
{
    if (!unwinding->objects)
        return 0;
    uint64_t *whole = calloc(unwinding->wishes.depth + 1, sizeof(*whole));
    int result = whole ? 0 : -ENOMEM;

    for (size_t i = 0; i < tally->count && !result; i++) {
        struct tally_entry *entry = &tally->entries[i];
        result = complete(unwinding, tally, &entry->task.user, whole, for_good);
        if (!result)
            result = complete(unwinding, tally, &entry->waker.user, whole, for_good);
    }
    free(whole);
    return result;
}

/* What programs counted themselves. */
static void add_counts(const struct unwinding *unwinding, struct unwind_counts *counts)
{
    *counts = unwinding->rings.counts;
    if (unwinding->wishes.maps.states < 0)
        return;
    const size_t words = UNWIND_STATE_BYTES(unwinding->wishes.depth) / sizeof(uint64_t);
    uint64_t *sums = calloc(words, sizeof(*sums));
    const struct unwind_state *state = (const void *)sums;

    for (uint32_t i = 0; sums && i < SLOTS_PER_CPU; i++) {
        if (bpf_sum_of_cpus(unwinding->wishes.maps.states, i, sums, words))
            break;
        counts->walks += state->counts.walks;
        counts->fell_back += state->counts.fell_back;
        counts->not_kept += state->counts.not_kept;
    }
    free(sums);
}

void unwinding_add_lines(const struct unwinding *unwinding, bool all, struct text *lines)
{
    struct unwind_counts counts;

    if (!unwinding->objects)
        return;
    add_counts(unwinding, &counts);
    if (counts.fell_back && (all || counts.fell_back > counts.walks / MATTERS))
        text_format(lines, "%.3g %% of user stacks were unwound by frame pointers: no memory or "
                    "time for unwind tables\n", 100.0 * (double)counts.fell_back / (double)counts.walks);
    const struct cold_figures figures = cold_figures(unwinding->cold);
    const uint64_t gone = counts.not_kept + figures.forgotten;
    if (all && figures.taken)
        text_format(lines, "%llu user stacks were unwound later\n", (unsigned long long)figures.taken);
    if (all && gone)
        text_format(lines, "%llu user stacks end where a table was missing: no room to keep them\n",
                    (unsigned long long)gone);
}

const struct unwind_wishes *unwinding_wishes(const struct unwinding *unwinding)
{
    return unwinding->objects || unwinding->wishes.first_alone ? &unwinding->wishes : NULL;
}
