/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <linux/bpf.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/opening.h"
#include "base/text.h"
#include "base/util.h"
#include "find/library.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "machine/machine.h"
#include "processes/image.h"
#include "run/command.h"
#include "run/run.h"
#include "run/user_stacks.h"

#define MOST_SHARE 8 /* of free memory that tables may take */
#define MOST_BYTES (1ull << 30)
/*
 * To verify programs that unwind takes 4 MB, their maps as much, and names are still to be read:
 * with less free memory the kernel might kill a process.
 */
#define LEAST_FREE_BYTES (24ull << 20)
#define UNUSED_NS 10000000000ull
/*
 * How long (ns) to wait for tables before tracing begins; after that they are made in the
 * background.
 */
#define MOST_WAIT_NS 3000000000ull
#define STEP_NS 50000000 /* and how often to check whether to stop */
/* For stacks that come before their table is made: the ring, and what was read from it. */
#define MOST_RING_SHARE 64 /* of the free memory */
#define MOST_RING_BYTES (4u << 20)
#define LEAST_RING_BYTES (64u << 10)
#define DEMAND_RING_BYTES (256u << 10) /* for each CPU */
#define MOST_WAITING_SHARE 32 /* of the free memory, within: */
#define LEAST_WAITING_BYTES (16u << 20)
#define MOST_WAITING_BYTES (256u << 20)
#define MOST_WALKED_BYTES (16u << 20)
#define MAKING_MS 1
#define LOOK_MS 1000 /* until the maker checks whether to end, if nothing wakes it up */
#define MATTERS 100 /* less than one stack in this many is not worth a line */

void user_stacks_init(struct user_stacks *user_stacks)
{
    *user_stacks = (struct user_stacks){.offsets = KERNEL_OFFSETS_NONE, .stop = -1,
                                        .config.maps = {-1, -1, -1, -1, -1}};
}

void user_stacks_take_first_alone(struct user_stacks *user_stacks)
{
    user_stacks->config.first_alone = user_stacks->rings.first_alone = true;
}

void user_stacks_take_samples(struct user_stacks *user_stacks)
{
    if (machine_walks())
        user_stacks->rings.machine = machine_of_kernel();
}

static void see(struct user_stacks *user_stacks, uint32_t pid, struct mapped_file *file,
                bool at_once)
{
    if (has_number(user_stacks->filter->pids, user_stacks->filter->pid_count, pid))
        (void)objects_want(user_stacks->objects, file);
    else
        (void)objects_see(user_stacks->objects, file, at_once);
}

/* Our own file is mapped by each reader process that we fork, but is seldom in stacks. */
static bool is_ours(const struct user_stacks *user_stacks, const struct mapped_file *file)
{
    return same_file(&file->about, &user_stacks->own);
}

static void see_mapping(void *context, uint32_t pid, const struct mapping *mapping)
{
    const struct user_stacks *user_stacks = context;

    see(context, pid, mapping->file,
        !user_stacks->on_demand && !is_ours(user_stacks, mapping->file));
}

static size_t ring_bytes(uint64_t free_memory)
{
    size_t bytes = MOST_RING_BYTES;

    while (bytes > LEAST_RING_BYTES && bytes > free_memory / MOST_RING_SHARE)
        bytes /= 2;
    return bytes;
}

static size_t waiting_bytes(uint64_t free_memory)
{
    const uint64_t bytes = free_memory / MOST_WAITING_SHARE;

    return bytes < LEAST_WAITING_BYTES  ? LEAST_WAITING_BYTES
           : bytes < MOST_WAITING_BYTES ? (size_t)bytes
                                        : MOST_WAITING_BYTES;
}

/* Keeps stacks for later only if we know what processes map. */
static int open_deferred(struct user_stacks *user_stacks, uint32_t depth, uint64_t free_memory)
{
    const bool is_kept =
        !processes_listening(user_stacks->processes) && !user_stacks->rings.machine;
    const struct deferred_options config = {
        .machine = user_stacks->config.machine,
        .context = &user_stacks->deferred_objects,
        .find = deferred_objects_find,
        .depth = depth,
        .asked = user_stacks->config.asked,
        .ring_bytes = is_kept ? ring_bytes(free_memory) : 0,
        .most_bytes = is_kept ? waiting_bytes(free_memory) : LEAST_WAITING_BYTES,
        .walked_bytes = MOST_WALKED_BYTES,
        .sampled_bytes = user_stacks->rings.stack_bytes,
    };

    user_stacks->ring_bytes = config.ring_bytes;
    user_stacks->deferred_objects = (struct deferred_objects){
        .processes = user_stacks->processes,
        .objects = user_stacks->objects,
    };
    return deferred_open(&user_stacks->deferred, &config);
}

static int open_programs(struct user_stacks *user_stacks, uint32_t depth)
{
    struct text log = {0};
    int result = kernel_offsets_open(&user_stacks->offsets, &log);

    text_free(&log);
    user_stacks->config.machine = user_stacks->offsets.machine;
    return result ? result
        : bpf_create_numbered(&user_stacks->config.maps.states, BPF_MAP_TYPE_PERCPU_ARRAY, "walks",
                              UNWIND_STATE_BYTES(depth), SLOTS_PER_CPU);
}

/* Without programs, samples are walked here, if we know of mappings before them. */
static int open_samples(struct user_stacks *user_stacks, uint32_t depth)
{
    struct ring_unwind *rings = &user_stacks->rings;

    if (!rings->machine)
        return -EOPNOTSUPP;
    user_stacks->config.machine = rings->machine;
    rings->frames = calloc(depth + 1, sizeof(*rings->frames));
    return rings->frames ? processes_listening(user_stacks->processes) : -ENOMEM;
}

static int open_all(struct user_stacks *user_stacks, uint32_t depth, bool by_rings)
{
    const uint64_t free_memory = kernel_free_memory(), most = free_memory / MOST_SHARE;
    const struct objects_options config = {
        .key = by_rings ? NULL : kernel_offsets_key,
        .context = &user_stacks->offsets,
        .files = processes_files(user_stacks->processes),
        .unused_ns = UNUSED_NS,
        .most_bytes = most && most < MOST_BYTES ? most : MOST_BYTES,
    };
    int result = free_memory && free_memory < LEAST_FREE_BYTES ? -ENOMEM
                 : by_rings ? open_samples(user_stacks, depth)
                            : open_programs(user_stacks, depth);

    if (!result)
        result = objects_open(&user_stacks->objects, &config);
    return result ? result : open_deferred(user_stacks, depth, free_memory);
}

/*
 * Sees the files of what runs already. Their tables are made on demand, at the first stack, if the
 * ring has room for what each CPU writes until the maker reads it, and the maker runs before other
 * tasks. With one CPU, making tables would stop what is traced: only little memory calls for it.
 */
static void see_all(struct user_stacks *user_stacks)
{
    const size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN), bytes = user_stacks->ring_bytes;

    user_stacks->on_demand = bpf_begin_unpreempted() &&
        (bytes == MOST_RING_BYTES ? cpus > 1 : bytes >= DEMAND_RING_BYTES * cpus);
    bpf_end_unpreempted();
    if (user_stacks->ring_bytes)
        (void)stat("/proc/self/exe", &user_stacks->own);
    processes_watch(user_stacks->processes, see_mapping, user_stacks);
}

void user_stacks_open(struct user_stacks *user_stacks, struct processes *processes,
                      const struct user_stacks_config *config)
{
    const uint32_t depth = config->depth < UNWIND_MOST_DEPTH ? config->depth : UNWIND_MOST_DEPTH;

    user_stacks->processes = processes;
    user_stacks->filter = config->filter;
    user_stacks->config.asked = config->asked;
    user_stacks->refused = open_all(user_stacks, depth, config->by_rings);
    if (user_stacks->refused) {
        const int refused = user_stacks->refused;
        user_stacks_close(user_stacks);
        user_stacks->refused = refused;
        return;
    }
    objects_get_maps(user_stacks->objects, &user_stacks->config.maps);
    user_stacks->rings.objects = &user_stacks->deferred_objects;
    user_stacks->rings.deferred = user_stacks->deferred;
    user_stacks->config.fields = &user_stacks->offsets.fields;
    user_stacks->config.maps.deferred = deferred_map(user_stacks->deferred);
    user_stacks->config.depth = depth;
    user_stacks->config.in_namespace = config->filter->in_namespace;
    user_stacks->config.namespace_device = config->filter->namespace_device;
    user_stacks->config.namespace_inode = config->filter->namespace_inode;
    user_stacks->config.numbers = config->filter->numbers;
    user_stacks->config.claims = true;
    see_all(user_stacks);
}

void user_stacks_close(struct user_stacks *user_stacks)
{
    user_stacks_end(user_stacks);
    if (user_stacks->processes) {
        processes_watch(user_stacks->processes, NULL, NULL);
        objects_close(user_stacks->objects);
        deferred_close(user_stacks->deferred);
    }
    free(user_stacks->rings.frames);
    close_fd(user_stacks->config.maps.states);
    kernel_offsets_close(&user_stacks->offsets);
    user_stacks_init(user_stacks);
}

void user_stacks_see_file(const struct user_stacks *user_stacks, const char *path)
{
    struct stat about;

    if (!user_stacks->objects || stat(path, &about))
        return;
    struct mapped_files *files = processes_files(user_stacks->processes);
    const struct mapped_sight sight = {
        .device = about.st_dev,
        .inode = about.st_ino,
        .path = path,
        .pid = (uint32_t)getpid(),
    };
    struct mapped_file *file = mapped_files_see(files, &sight);
    if (!file)
        return;
    (void)objects_want(user_stacks->objects, file);
    mapped_file_drop(files, file);
}

void user_stacks_see_command(struct user_stacks *user_stacks, const char *name)
{
    struct text paths = {0};
    char *program = user_stacks->objects ? path_walk_find(name) : NULL;

    if (program && !needed_find(program, &paths))
        for (size_t at = 0; at < paths.length; at += strlen(paths.data + at) + 1)
            user_stacks_see_file(user_stacks, paths.data + at);
    text_free(&paths);
    free(program);
}

/* A stack that goes on with a new table may need another. Returns how many are left to be made. */
static size_t make_and_walk(struct user_stacks *user_stacks)
{
    size_t left;
    bool goes_on;

    do {
        left = objects_make(user_stacks->objects);
        goes_on = user_stacks->settled != objects_settled(user_stacks->objects);
        user_stacks->settled = objects_settled(user_stacks->objects);
        if (goes_on)
            deferred_walk(user_stacks->deferred);
    } while (goes_on);
    return left;
}

/*
 * Reads the ring, and takes tables that were made. While stacks wait for tables, makes these before
 * other tasks get the CPU, as the ring would fill up; with `awaited_alone`, no other tables.
 */
static size_t make(struct user_stacks *user_stacks, bool awaited_alone)
{
    size_t left = 0;

    processes_hold(user_stacks->processes);
    user_stacks->deferred_objects.is_settled = false;
    (void)deferred_read(user_stacks->deferred);
    const bool hurries = deferred_waiting(user_stacks->deferred);
    if (hurries)
        bpf_begin_unpreempted();
    if (hurries || !awaited_alone)
        left = make_and_walk(user_stacks);
    if (hurries)
        bpf_end_unpreempted();
    processes_release(user_stacks->processes);
    return left;
}

/* Waits outside the lock: others walk samples and make tables meanwhile. */
static size_t make_until(struct user_stacks *user_stacks, uint64_t until)
{
    size_t left;

    while ((left = make(user_stacks, false)) && now_ns() < until)
        (void)poll(NULL, 0, MAKING_MS);
    return left;
}

/* The maker, which runs before other tasks. */
static void *keep_making(void *context)
{
    struct user_stacks *user_stacks = context;
    struct pollfd polled[] = {{.fd = user_stacks->stop, .events = POLLIN},
                              {.fd = deferred_fd(user_stacks->deferred), .events = POLLIN}};
    size_t left = 0;

    bpf_begin_unpreempted();
    while (!__atomic_load_n(&user_stacks->ends, __ATOMIC_RELAXED) &&
           poll(polled, COUNT_OF(polled), left ? MAKING_MS : LOOK_MS) >= 0)
        left = make(user_stacks, true);
    processes_hold(user_stacks->processes);
    objects_put_off(user_stacks->objects);
    processes_release(user_stacks->processes);
    return NULL;
}

void user_stacks_look_at_all(struct user_stacks *user_stacks)
{
    const uint64_t last = now_ns() + MOST_WAIT_NS;

    while (user_stacks->objects && !run_stopped && now_ns() < last &&
           make_until(user_stacks, now_ns() + STEP_NS))
        ;
}

void user_stacks_begin(struct user_stacks *user_stacks)
{
    if (!user_stacks->objects || deferred_fd(user_stacks->deferred) < 0)
        return;
    deferred_begin(user_stacks->deferred);
    user_stacks->stop = eventfd(0, EFD_CLOEXEC);
    /* Without the maker, user_stacks_look() and its like make the tables. */
    if (user_stacks->stop >= 0 && thread_begin(&user_stacks->maker, keep_making, user_stacks)) {
        close(user_stacks->stop);
        user_stacks->stop = -1;
    }
}

void user_stacks_end(struct user_stacks *user_stacks)
{
    if (user_stacks->stop >= 0) {
        thread_end(user_stacks->maker, &user_stacks->ends, user_stacks->stop);
        user_stacks->ends = false;
        close(user_stacks->stop);
        user_stacks->stop = -1;
    }
    if (user_stacks->deferred)
        deferred_end(user_stacks->deferred);
}

static void lock(void *context, bool locks)
{
    (locks ? processes_hold : processes_release)(context);
}

void user_stacks_look(struct user_stacks *user_stacks, uint64_t most)
{
    if (!user_stacks->objects)
        return;
    user_stacks->is_behind = make_until(user_stacks, user_stacks->is_behind ? 0 : now_ns() + most);
    objects_make_room(user_stacks->objects, lock, user_stacks->processes);
}

void user_stacks_settle(struct user_stacks *user_stacks, uint64_t most)
{
    const uint64_t last = now_ns() + most;

    if (!user_stacks->objects)
        return;
    bpf_begin_unpreempted();
    while (make(user_stacks, false) && user_stacks_are_waiting(user_stacks) && now_ns() < last)
        (void)poll(NULL, 0, MAKING_MS);
    bpf_end_unpreempted();
}

static int complete(struct user_stacks *user_stacks, struct tally *tally, struct stack *stack,
                    uint64_t *whole, bool for_good)
{
    const uint64_t *frames = tally->addresses + stack->first;
    bool by_tables;

    if (stack->state != STACK_KEPT || !stack->count ||
        !UNWIND_IS_DEFERRED_FRAME(frames[stack->count - 1]))
        return 0;
    processes_hold(user_stacks->processes);
    size_t count = deferred_complete(user_stacks->deferred, frames, stack->count, for_good, whole);
    processes_release(user_stacks->processes);
    count = unwind_count_frames(whole, count, &by_tables);
    if (count)
        tally_count_anew(tally);
    return count ? tally_add_stack(tally, stack, whole, count) : 0;
}

int user_stacks_complete(struct user_stacks *user_stacks, struct tally *tally, bool for_good)
{
    if (!user_stacks->objects)
        return 0;
    uint64_t *whole = calloc(user_stacks->config.depth + 1, sizeof(*whole));
    int result = whole ? 0 : -ENOMEM;

    for (size_t i = 0; i < tally->count && !result; i++) {
        struct tally_entry *entry = &tally->entries[i];
        result = complete(user_stacks, tally, &entry->task.user, whole, for_good);
        if (!result)
            result = complete(user_stacks, tally, &entry->waker.user, whole, for_good);
    }
    free(whole);
    return result;
}

/* Adds what programs counted themselves to the counts of samples. */
static void add_counts(const struct user_stacks *user_stacks, struct unwind_counts *counts)
{
    *counts = user_stacks->rings.counts;
    if (user_stacks->config.maps.states < 0)
        return;
    const size_t words = UNWIND_STATE_BYTES(user_stacks->config.depth) / sizeof(uint64_t);
    uint64_t *sums = calloc(words, sizeof(*sums));
    const struct unwind_state *state = (const void *)sums;

    for (uint32_t i = 0; sums && i < SLOTS_PER_CPU; i++) {
        if (bpf_sum_of_cpus(user_stacks->config.maps.states, i, sums, words))
            break;
        counts->walks += state->counts.walks;
        counts->fell_back += state->counts.fell_back;
        counts->not_kept += state->counts.not_kept;
    }
    free(sums);
}

bool user_stacks_are_waiting(const struct user_stacks *user_stacks)
{
    if (!user_stacks->objects)
        return false;
    processes_hold(user_stacks->processes);
    const bool are = deferred_waiting(user_stacks->deferred);
    processes_release(user_stacks->processes);
    return are;
}

static void add_demanded(const struct user_stacks *user_stacks, bool all, struct text *lines)
{
    struct text names = {0};

    objects_add_demanded(user_stacks->objects, &names);
    if (all && names.length)
        text_format(lines, "unwind tables of these files were made once a stack needed them: %s\n",
                    names.data);
    text_free(&names);
}

void user_stacks_add_functions(const struct frame_counts *functions, struct text *text)
{
    text_format(text, "%llu functions have rows from unwind tables, %llu from their code, "
                "%llu have none",
                (unsigned long long)functions->by_table, (unsigned long long)functions->by_code,
                (unsigned long long)functions->by_none);
}

void user_stacks_add_lines(const struct user_stacks *user_stacks, bool all, struct text *lines)
{
    struct unwind_counts counts;

    if (!user_stacks->objects)
        return;
    processes_hold(user_stacks->processes);
    add_counts(user_stacks, &counts);
    if (counts.fell_back && (all || counts.fell_back > counts.walks / MATTERS))
        text_format(lines, "%.3g %% of user stacks were unwound by frame pointers: no memory or "
                    "time for unwind tables\n",
                    100.0 * (double)counts.fell_back / (double)counts.walks);
    const struct frame_counts functions = objects_figures(user_stacks->objects).counts;
    if (all) {
        user_stacks_add_functions(&functions, lines);
        text_add(lines, "\n");
    }
    add_demanded(user_stacks, all, lines);
    const struct deferred_figures figures = deferred_figures(user_stacks->deferred);
    const uint64_t gone = counts.not_kept + figures.forgotten;
    if (all && figures.taken)
        text_format(lines, "%llu user stacks were unwound later\n",
                    (unsigned long long)figures.taken);
    if (all && gone)
        text_format(lines, "%llu user stacks end where a table was missing: no room to keep them\n",
                    (unsigned long long)gone);
    processes_release(user_stacks->processes);
}

const struct unwind_config *user_stacks_config(const struct user_stacks *user_stacks)
{
    return user_stacks->objects || user_stacks->config.first_alone ? &user_stacks->config : NULL;
}
