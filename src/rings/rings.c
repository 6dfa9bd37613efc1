/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/limits.h"
#include "kernel/perf.h"
#include "kernel/refusal.h"
#include "kernel/tracefs.h"
#include "machine/machine.h"
#include "rings/ring_source.h"
#include "rings/rings.h"

#define USUAL_STACK 8192
#define LEAST_STACK 4096
#define LEAST_SAMPLES 8
#define OF_TASKS UINT32_MAX /* the number of task events */

/* ---- Attributes ---- */

static struct perf_event_attr attributes_of(const struct rings *rings)
{
    const struct rings_config *config = &rings->config;

    return (struct perf_event_attr){
        .size = PERF_ATTR_SIZE_VER3, /* up to clockid: 4.1 */
        .sample_type = RECORD_SAMPLE_TYPE | (config->raw ? PERF_SAMPLE_RAW : 0) |
                       (config->registers ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER : 0),
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | (rings->counts_lost ? PERF_FORMAT_LOST : 0),
        .sample_id_all = 1,
        .exclude_kernel = rings->user_part_alone,
        .exclude_hv = rings->user_part_alone,
        .exclude_callchain_kernel = !config->kernel || rings->user_part_alone,
        .exclude_callchain_user = !config->user,
        .sample_regs_user = config->registers,
        .sample_stack_user = config->stack_bytes,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
}

/* An event that only reports tasks. */
static struct perf_event_attr rings_teller(const struct rings *rings)
{
    struct perf_event_attr attributes = attributes_of(rings);

    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.exclude_kernel = attributes.exclude_hv = 1; /* which does not exclude records */
    attributes.exclude_callchain_kernel = 1;
    attributes.comm = 1;
    attributes.comm_exec = 1;
    attributes.task = 1;
    return attributes;
}

/* An event that is opened after rings_start() starts at once. */
static struct perf_event_attr asked_for(const struct rings *rings, const struct rings_event *event)
{
    struct perf_event_attr attributes = attributes_of(rings);

    attributes.type = event->type;
    attributes.config = event->config;
    attributes.config1 = event->config1;
    attributes.config2 = event->config2;
    attributes.freq = event->by_frequency;
    attributes.sample_period = event->period ? event->period : 1;
    attributes.exclude_idle = event->leaves_idle_out;
    attributes.disabled = !rings->has_started;
    attributes.enable_on_exec = rings->config.from_exec;
    return attributes;
}

/* ---- What is open ---- */

static int keep(struct rings *rings, int fd, unsigned cpu, uint32_t number)
{
    if (ARRAY_RESERVE(rings->opened, rings->opened_room, rings->count + 1)) {
        close(fd);
        return -ENOMEM;
    }
    struct rings_opened *opened = &rings->opened[rings->count++];
    *opened = (struct rings_opened){.fd = fd, .cpu = cpu, .number = number};
    return perf_id(fd, &opened->id);
}

/* `asked` is NULL for task events, here and below. */
static bool is_of_all(const struct rings *rings, const struct rings_asked *asked)
{
    return !rings->config.tid_count || (asked && rings->config.events_of_all);
}

/* How many times an event is opened on each CPU: once for all tasks, or for each task. */
static size_t targets(const struct rings *rings, bool of_all)
{
    return of_all ? 1 : rings->config.tid_count;
}

static int open_for(const struct rings *rings, const struct rings_asked *asked,
                    struct perf_event_attr *attributes, size_t target, unsigned cpu)
{
    const struct rings_config *config = &rings->config;

    if (!is_of_all(rings, asked)) {
        attributes->inherit = !config->alone;
        return perf_open(attributes, (int)config->tids[target], cpu, 0);
    }
    if (!config->cgroup || !asked || asked->event.outside)
        return perf_open(attributes, -1, cpu, 0);
    int fd = perf_open(attributes, config->cgroup, cpu, PERF_FLAG_PID_CGROUP);
    return fd == -ENOENT ? -ENODATA : fd; /* it is the cgroup that perf does not see */
}

static int open_event(struct rings *rings, const struct rings_asked *asked, size_t target,
                      unsigned cpu)
{
    struct perf_event_attr attributes = asked ? asked_for(rings, &asked->event)
        : rings_teller(rings);
    int fd = open_for(rings, asked, &attributes, target, cpu);

    /* A user who may not see the kernel may see user code. */
    if (fd == -EACCES && asked && !rings->user_part_alone && !is_of_all(rings, asked)) {
        rings->user_part_alone = true;
        return open_event(rings, asked, target, cpu);
    }
    return fd;
}

static int add(struct rings *rings, const struct rings_asked *asked, size_t target, size_t at)
{
    const unsigned cpu = rings->cpus[at].cpu;
    int fd = open_event(rings, asked, target, cpu);

    if (fd == -ESRCH && rings->config.tid_count > 1)
        return 0; /* a thread may end before it has its event */
    if (fd < 0)
        return fd;
    int result = keep(rings, fd, cpu, asked ? asked->number : OF_TASKS);
    return result ? result : perf_redirect(fd, rings->reading.rings[2 * at + !asked].ring.fd);
}

static int add_for_each(struct rings *rings, const struct rings_asked *asked, size_t at)
{
    const bool of_all = is_of_all(rings, asked);
    const size_t first = rings->count;
    struct rings_cpu *cpu = &rings->cpus[at];
    int result = 0;

    for (size_t target = 0; target < targets(rings, of_all) && !result; target++)
        result = add(rings, asked, target, at);
    if (of_all && !cpu->is_open && rings->count > first) {
        cpu->is_open = true;
        cpu->pulse = first;
    }
    /* With tasks there are rings for offline CPUs, too, on which events of all cannot be opened. */
    return result == -ENODEV && of_all && rings->config.tid_count ? 0 : result;
}

/*
 * Opens the task event and everything asked for on the CPU with that index. 0 or a negative errno.
 */
static int rings_open_events(struct rings *rings, size_t at)
{
    int result = rings->cpus[at].is_told ? 0 : add_for_each(rings, NULL, at);

    rings->cpus[at].is_told = !result;
    for (size_t i = 0; i < rings->asked_count && !result; i++)
        result = add_for_each(rings, &rings->asked[i], at);
    return result;
}

/*
 * While an event on raw_syscalls:sys_exit is open, kernels that do not save frame pointers of user
 * programs on entry to a system call take another path, which saves all registers. A descriptor of
 * one, to be kept open; 0: this kernel does not need it, or it cannot be opened.
 */
static int rings_have_frames_saved(void)
{
    int tracefs, fd = -1;
    uint32_t id;

    if (kernel_saves_frames())
        return 0;
    tracefs = tracefs_open();
    if (tracefs >= 0 && !tracefs_event_id(tracefs, "raw_syscalls", "sys_exit", &id))
        fd = perf_open_tracepoint(id);
    close_fd(tracefs);
    return fd < 0 ? 0 : fd; /* nothing reads it */
}

static void add_lost(const struct rings_opened *opened, uint64_t *lost)
{
    uint64_t count;

    if (!perf_lost(opened->fd, &count))
        lost[opened->number == OF_TASKS ? RINGS_TASKS : RINGS_SAMPLES] += count;
}

/* Closes the events of all tasks on a CPU that is gone. */
static void rings_close_dead(struct rings *rings, struct rings_cpu *cpu)
{
    const bool keeps_told = rings->config.tid_count;

    for (size_t i = 0; i < rings->count; i++) {
        struct rings_opened *opened = &rings->opened[i];
        if (opened->cpu != cpu->cpu || opened->fd < 0 || (keeps_told && opened->number == OF_TASKS))
            continue;
        add_lost(opened, rings->lost);
        close(opened->fd);
        opened->fd = -1;
    }
    cpu->is_told = keeps_told;
}

void rings_count_lost(struct rings *rings)
{
    memcpy(rings->all_lost, rings->lost, sizeof(rings->all_lost));
    for (size_t i = 0; i < rings->count && rings->counts_lost; i++)
        if (rings->opened[i].fd >= 0)
            add_lost(&rings->opened[i], rings->all_lost);
}

/* The reader may take further PERF_RECORD_LOST after the events' own counts were read. */
uint64_t rings_lost(const struct rings *rings, enum rings_kind kind)
{
    const struct ring_reading *reading = &rings->reading;
    const uint64_t told = kind == RINGS_TASKS ? reading->tasks_lost : reading->lost;

    return told > rings->all_lost[kind] ? told : rings->all_lost[kind];
}

void rings_close_events(struct rings *rings)
{
    for (size_t i = 0; i < rings->count; i++)
        close_fd(rings->opened[i].fd);
    rings->count = rings->asked_count = 0;
    rings->has_started = false;
}

int rings_add(struct rings *rings, const struct rings_event *event, uint32_t number)
{
    int result = ARRAY_RESERVE(rings->asked, rings->asked_room, rings->asked_count + 1);

    if (result)
        return -ENOMEM;
    const struct rings_asked *asked = &rings->asked[rings->asked_count];
    rings->asked[rings->asked_count] = (struct rings_asked){*event, number};
    for (size_t at = 0; at < rings->cpu_count && !result; at++)
        result = add_for_each(rings, asked, at);
    rings->asked_count += !result;
    return result;
}

size_t rings_descriptors(const struct rings *rings, size_t events)
{
    return (events + 3) * rings->cpu_count * targets(rings, !rings->config.tid_count);
}

/* The kernel gives events rising ids, so `opened` is sorted. */
uint32_t rings_number(const struct rings *rings, uint64_t id)
{
    const size_t at = rings->count
        ? first_key_above(&rings->opened->id, sizeof(*rings->opened), rings->count, id) : 0;

    return at && rings->opened[at - 1].id == id ? rings->opened[at - 1].number : OF_TASKS;
}

int rings_start(struct rings *rings)
{
    int result = 0;

    for (size_t i = 0; i < rings->count && !result && !rings->config.from_exec; i++)
        result = perf_enable(rings->opened[i].fd);
    rings->has_started = true;
    return result;
}

static int stop_those(struct rings *rings, bool of_tasks)
{
    int result = 0;

    for (size_t i = 0; i < rings->count; i++) {
        const struct rings_opened *opened = &rings->opened[i];
        if (opened->fd < 0 || (opened->number == OF_TASKS) != of_tasks)
            continue;
        int stopped = perf_disable(opened->fd);
        result = result ? result : stopped;
    }
    return result;
}

/* Task events stop last, as they tell whose the samples are. */
int rings_stop(struct rings *rings)
{
    rings->has_started = false;
    int result = stop_those(rings, false), told = stop_those(rings, true);
    return result ? result : told;
}

/*
 * Room for a third of a second of 50,000 events a second on one CPU, with stacks of 60 frames, as
 * long as all rings together take a small part of free memory.
 */
#define MOST_BYTES (8u << 20)
#define MOST_OF_TASKS (128u << 10)
#define MOST_OF_ALL (64u << 20)
#define MOST_WITH_STACKS (64u << 20) /* per CPU, if samples have a piece of the user stack */
#define LEAST_BYTES 16384
#define MOST_SHARE 16
#define MOST_SHARE_WITH_STACKS 8
#define WAKING_SHARE 8 /* of a ring: when it is this full, the reader is woken */

#define LOOK_NS 200000000

/* ---- Rings ---- */

/*
 * All events of the CPU write to this ring. Its own event is for our process alone: see
 * rings_have_losses_told().
 */
static int open_ring(struct rings *rings, unsigned cpu, bool of_tasks)
{
    struct perf_event_attr attributes = rings_teller(rings);
    struct ring_reading *reading = &rings->reading;
    const size_t bytes = of_tasks && rings->bytes > MOST_OF_TASKS ? MOST_OF_TASKS : rings->bytes;

    attributes.task = 0;
    attributes.watermark = 1;
    attributes.wakeup_watermark = (uint32_t)(bytes / WAKING_SHARE);
    int fd = perf_open(&attributes, (int)getpid(), cpu, 0);
    if (fd < 0)
        return fd;
    if (ARRAY_RESERVE(reading->rings, rings->room, reading->count + 1)) {
        close(fd);
        return -ENOMEM;
    }
    struct ring *ring = &reading->rings[reading->count];
    int result = ring_open(ring, cpu, fd, bytes);
    ring->of_tasks = of_tasks;
    reading->count += !result;
    if (result)
        ring_close(ring);
    return result == -EPERM ? -ENOMEM : result; /* the memory is refused, not the events */
}

static bool is_known(const struct rings *rings, unsigned cpu, size_t *at)
{
    for (*at = 0; *at < rings->cpu_count; ++*at)
        if (rings->cpus[*at].cpu == cpu)
            return true;
    return false;
}

static int add_cpu(void *context, unsigned cpu)
{
    struct rings *rings = context;
    struct ring_reading *reading = &rings->reading;
    size_t at;

    if ((rings->config.cpu >= 0 && rings->config.cpu != cpu) || is_known(rings, cpu, &at))
        return 0;
    if (ARRAY_RESERVE(rings->cpus, rings->cpu_room, at + 1))
        return -ENOMEM;
    int result = open_ring(rings, cpu, false);
    if (!result)
        result = open_ring(rings, cpu, true);
    if (result && reading->count % 2)
        ring_close(&reading->rings[--reading->count]);
    if (!result)
        rings->cpus[rings->cpu_count++] = (struct rings_cpu){.cpu = cpu};
    return result;
}

static void rings_close_cpus(struct rings *rings)
{
    for (size_t i = 0; i < rings->reading.count; i++)
        ring_close(&rings->reading.rings[i]);
    rings->reading.count = rings->cpu_count = 0;
}

static uint64_t most_bytes(const struct rings *rings)
{
    const bool has_stacks = rings->config.registers;
    const uint64_t free_memory = kernel_free_memory();
    const uint64_t share = free_memory / (has_stacks ? MOST_SHARE_WITH_STACKS : MOST_SHARE);
    const uint64_t cpus = cpus_count(cpus_each_present);
    uint64_t all = rings->config.bytes;
    uint64_t bytes = all ? 1u << 30 : has_stacks ? MOST_WITH_STACKS : MOST_BYTES;

    if (!all)
        all = free_memory && (has_stacks || share < MOST_OF_ALL) ? share : MOST_OF_ALL;
    while (bytes > LEAST_BYTES && bytes * cpus > all)
        bytes /= 2;
    return bytes;
}

/*
 * Opens the rings of all online CPUs, for tasks of all present ones; halves them until they fit,
 * as locked memory is limited, too. 0 or a negative errno; rings_close_cpus after either.
 */
static int rings_open_cpus(struct rings *rings)
{
    bool again = false;
    int result;

    rings->bytes = (size_t)most_bytes(rings);
    for (;;) {
        result = rings->config.tid_count ? cpus_each_present(add_cpu, rings)
            : cpus_each_online(add_cpu, rings);
        const bool refused = result == -ENOMEM;
        if (rings->bytes / 2 < LEAST_BYTES || (!refused && !again))
            break;
        again = refused; /* once more after they fit: others, too, use the user's allowance */
        rings->bytes /= 2;
        rings_close_cpus(rings);
    }
    return result ? result : rings->cpu_count ? 0 : -ENODEV;
}

/*
 * Cuts stack_bytes so that config->samples samples fit into a ring, but not below USUAL_STACK for
 * that. LEAST_SAMPLES must fit even into a small ring, with less of each stack, or none.
 */
static void fit_stacks(struct rings *rings)
{
    struct rings_config *config = &rings->config;
    const size_t share = config->samples ? rings->bytes / config->samples & ~(size_t)7 : 0;
    const size_t usual = share > USUAL_STACK ? share : USUAL_STACK,
        room = rings->bytes / LEAST_SAMPLES & ~(size_t)7;
    const uint32_t most = (uint32_t)(usual < room ? usual : room);

    if (config->stack_bytes > most)
        config->stack_bytes = most;
    if (config->stack_bytes < LEAST_STACK)
        config->registers = config->stack_bytes = 0;
    rings->reading.shape.registers = config->registers;
    rings->reading.shape.narrow = config->registers && machine_of_kernel()->bits == 32;
}

int rings_open(struct rings *rings, const struct rings_config *config)
{
    *rings = (struct rings){
        .config = *config,
        .reading.shape = {.raw = config->raw},
        .counts_lost = perf_counts_lost(),
    };
    int result = rings_open_cpus(rings);

    fit_stacks(rings);
    if (!result && config->user)
        rings->saving = rings_have_frames_saved();
    for (size_t at = 0; at < rings->cpu_count && !result; at++)
        result = rings_open_events(rings, at);
    return result;
}

void rings_close(struct rings *rings)
{
    rings_close_events(rings);
    rings_close_cpus(rings);
    if (rings->saving > 0)
        close(rings->saving);
    free(rings->reading.rings);
    free(rings->cpus);
    free(rings->asked);
    free(rings->opened);
    *rings = (struct rings){.bytes = 0};
}

/* ---- CPU hotplug ---- */

/* The events of a CPU that went offline are dead, and stay dead when it comes back. */
static void close_dead(struct rings *rings, struct rings_cpu *cpu)
{
    uint64_t armed = 0;

    if (!cpu->is_open)
        return;
    cpu->is_open = !perf_armed_ns(rings->opened[cpu->pulse].fd, &armed) && armed > cpu->armed;
    cpu->armed = cpu->is_open ? armed : 0;
    if (!cpu->is_open)
        rings_close_dead(rings, cpu);
}

static int look_at_cpu(void *context, unsigned cpu)
{
    struct rings *rings = context;
    size_t at;
    int result = add_cpu(rings, cpu);

    if (result || !is_known(rings, cpu, &at) || rings->cpus[at].is_open)
        return result;
    result = rings_open_events(rings, at);
    rings->came += rings->cpus[at].is_open;
    return result;
}

void rings_look(struct rings *rings)
{
    const uint64_t now = now_ns();

    if ((rings->config.tid_count && !rings->config.events_of_all) || !rings->has_started ||
        now - rings->looked < LOOK_NS)
        return;
    rings->looked = now;
    for (size_t i = 0; i < rings->cpu_count; i++)
        close_dead(rings, &rings->cpus[i]);
    int result = cpus_each_online(look_at_cpu, rings);
    rings->refused = result ? result : rings->refused;
}

/* Renames this thread on each CPU that it may run on, for a record; other rings stay untold. */
static void provide_records(struct rings *rings, cpu_set_t *one, size_t bytes)
{
    char name[16] = "";

    prctl(PR_GET_NAME, name);
    for (size_t i = 0; i < rings->cpu_count; i++) {
        CPU_ZERO_S(bytes, one);
        CPU_SET_S(rings->cpus[i].cpu, bytes, one);
        if (!sched_setaffinity(0, bytes, one))
            prctl(PR_SET_NAME, name);
        else
            rings->untold = rings->untold || rings->reading.rings[2 * i].was_full;
    }
}

void rings_have_losses_told(struct rings *rings)
{
    const size_t bytes = CPU_ALLOC_SIZE(cpus_possible());

    if (rings->counts_lost)
        return;
    cpu_set_t *before = malloc(bytes), *one = malloc(bytes);
    if (before && one && !sched_getaffinity(0, bytes, before)) {
        provide_records(rings, one, bytes);
        sched_setaffinity(0, bytes, before);
    } else {
        rings->untold = true;
    }
    free(before);
    free(one);
}

void rings_stopped(const struct rings *rings, uint64_t *times, uint64_t *nanoseconds)
{
    *times = *nanoseconds = 0;
    for (size_t i = 0; i < rings->reading.count; i++) {
        *times += rings->reading.rings[i].throttle.times;
        *nanoseconds += throttle_stopped(&rings->reading.rings[i].throttle);
    }
}

struct trial {
    bool own, kernel;
};

static int try_one(void *context, unsigned cpu)
{
    const struct trial *trial = context;
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .size = PERF_ATTR_SIZE_VER3,
        .exclude_kernel = !trial->kernel,
        .exclude_hv = 1,
    };

    return perf_open(&attributes, trial->own ? 0 : -1, cpu, 0);
}

int rings_try(bool own, bool kernel)
{
    return cpus_try(try_one, &(struct trial){own, kernel});
}

/* Why there are no rings, or no event in them, and what to do about it. */

static void explain_memory(struct text *sentence)
{
    const uint64_t own = kernel_number("/proc/sys/kernel/perf_event_mlock_kb", UINT64_MAX);
    struct rlimit limit;

    text_add(sentence, "the kernel refuses the memory for the rings");
    if (own != UINT64_MAX && !prlimit(0, RLIMIT_MEMLOCK, NULL, &limit)) {
        text_format(sentence, ", of which a user may have %llu KB per CPU",
                    (unsigned long long)own);
        if (limit.rlim_cur != RLIM_INFINITY)
            text_format(sentence, " plus %llu KB", (unsigned long long)limit.rlim_cur / 1024);
    }
    text_add(sentence, ": stop other tracers, or raise sysctl kernel.perf_event_mlock_kb or "
                       "ulimit -l");
}

/* A seccomp filter says EPERM; the kernel says EACCES if perf_event_paranoid is the reason. */
static void explain_no_right(int error, struct text *sentence)
{
    const bool perfmon = refusal_has_capability(CAP_SYS_ADMIN) ||
                         refusal_has_capability(NUMBER_CAP_PERFMON);
    const bool filtered = error == -EPERM && prctl(PR_GET_SECCOMP) == 2;

    if (filtered && !perfmon)
        text_add(sentence, "a seccomp filter blocks perf_event_open(2): give the container "
                 "CAP_PERFMON (--cap-add PERFMON; --cap-add SYS_ADMIN before Linux 5.8)");
    else if (filtered)
        text_add(sentence, "a seccomp filter blocks perf_event_open(2): start the container or "
                 "service with a filter that allows it");
    else if (refusal_explain_paranoid(sentence))
        return;
    else if (!perfmon)
        text_add(sentence, "without CAP_PERFMON you can only trace your own processes: give -p "
                 "PID or -- COMMAND, or run it as root");
    else
        refusal_explain(REFUSED_SAMPLING, error, 0, sentence);
}

void rings_explain(int error, struct text *sentence)
{
    if (error == -EPERM || error == -EACCES)
        explain_no_right(error, sentence);
    else if (error == -ENOMEM)
        explain_memory(sentence);
    else if (error == -EMFILE || error == -ENOSYS)
        refusal_explain(REFUSED_SAMPLING, error, 0, sentence);
    else
        text_add(sentence, strerror(-error));
}

void ring_source_explain(const struct ring_source *source, int error, struct text *sentence)
{
    if (error == -EINVAL && source->options.scope->filter.cgroup)
        text_add(sentence, "this kernel cannot filter by cgroup (CONFIG_CGROUP_PERF)");
    else if (error == -ENODATA)
        text_add(sentence, "perf does not see this cgroup: enable a controller in its parent "
                 "(echo +pids >cgroup.subtree_control), on Linux 4.11 or later");
    else if (error == -ENODEV)
        text_format(sentence, "CPU %lld is offline: bring it online",
                    (long long)source->options.scope->filter.cpu);
    else
        rings_explain(error, sentence);
}
