/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "insns/layout.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "store/store.h"

int controls_open(struct controls *controls)
{
    int result = bpf_create_numbered(&controls->control, BPF_MAP_TYPE_ARRAY, "control",
                                     sizeof(uint32_t), 1);

    if (!result)
        result = bpf_create_numbered(&controls->account, BPF_MAP_TYPE_PERCPU_ARRAY, "account",
                                     sizeof(struct account), ACCOUNTS);
    return result ? result : grace_open(&controls->grace);
}

int controls_open_slots(struct controls *controls, size_t bytes)
{
    return bpf_create_numbered(&controls->slots, BPF_MAP_TYPE_PERCPU_ARRAY, "slots", bytes,
                               SLOTS_PER_CPU);
}

int controls_open_cuts(struct controls *controls)
{
    return bpf_create_numbered(&controls->cuts, BPF_MAP_TYPE_ARRAY, "cuts", sizeof(uint64_t),
                               CONTROL_MODES);
}

void close_map(int *fd)
{
    close_fd(*fd);
    *fd = -1;
}

void controls_close(struct controls *controls)
{
    close_map(&controls->control);
    close_map(&controls->account);
    close_map(&controls->slots);
    close_map(&controls->cuts);
    grace_close(&controls->grace);
}

/*
 * Comes before the word, so that a program that sees the word finds its cut, and no earlier time.
 * Programs return from the stand-in to the main bank within one report, so the cut stays then.
 */
static int set_cut(struct controls *controls, uint32_t word)
{
    if (controls->cuts < 0)
        return 0;
    if (!controls->cut || word == CONTROL_STAND_IN || word == CONTROL_PAUSED)
        controls->cut = now_ns();
    return bpf_update(controls->cuts, &word, &controls->cut, BPF_ANY);
}

int controls_set(struct controls *controls, enum control_mode mode)
{
    uint32_t zero = 0, word = mode;
    int result = set_cut(controls, word);

    return result ? result : bpf_update(controls->control, &zero, &word, BPF_ANY);
}

int controls_set_and_wait(struct controls *controls, enum control_mode mode)
{
    int result = controls_set(controls, mode);

    return result ? result : grace_wait(&controls->grace);
}

int controls_account(const struct controls *controls, enum control_mode mode,
                     struct account *account)
{
    return bpf_sum_of_cpus(controls->account, mode, (uint64_t *)account, ACCOUNT_WORDS);
}

#define MEMBARRIER_SHARED 1 /* MEMBARRIER_CMD_GLOBAL's name in kernels before 4.16 */

int grace_open(struct grace *grace)
{
    *grace = (struct grace)GRACE_NONE;
    int result = bpf_create_numbered(&grace->inner, BPF_MAP_TYPE_ARRAY, "grace_inner",
                                     sizeof(uint32_t), 1);
    const struct bpf_map_shape outer = {
        .type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
        .name = "grace",
        .key_size = sizeof(uint32_t),
        .value_size = sizeof(uint32_t),
        .entries = 1,
        .inner = grace->inner,
    };
    if (result)
        return result;
    grace->outer = bpf_create_map(&outer);
    return grace->outer < 0 && grace->outer != -EINVAL ? grace->outer : 0;
}

void grace_close(struct grace *grace)
{
    close_map(&grace->outer);
    close_map(&grace->inner);
}

static int run_on(void *context, unsigned cpu)
{
    cpu_set_t one;

    (void)context;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof(one), &one) ? -errno : 0;
}

/*
 * For kernels without maps of maps (before 4.12). Their programs cannot be preempted: once another
 * task has run on a CPU, the CPU's programs have ended. membarrier(2) waits for just that, but not
 * if some CPUs have no ticks.
 */
static int wait_for_cpus(void)
{
    cpu_set_t all;

    if (!syscall(SYS_membarrier, MEMBARRIER_SHARED, 0))
        return 0;
    if (sched_getaffinity(0, sizeof(all), &all))
        return -errno;
    int result = cpus_each_online(run_on, NULL);
    return sched_setaffinity(0, sizeof(all), &all) && !result ? -errno : result;
}

/*
 * The kernel waits before an update of a map of maps returns, as programs may be using the old
 * inner map. (membarrier(2) waits likewise, but does nothing at all on a machine with one CPU.)
 */
int grace_wait(const struct grace *grace)
{
    uint32_t zero = 0, inner = (uint32_t)grace->inner;

    if (grace->outer < 0)
        return wait_for_cpus();
    return bpf_update(grace->outer, &zero, &inner, BPF_ANY);
}

enum caller_seen callers_see(struct callers *callers, uint64_t caller, uint64_t flags,
                             const uint64_t *frames, size_t count)
{
    if (!caller || !count)
        return CALLER_IS_THERE;
    if (flags & KEY_NO_CALLER)
        return CALLER_IS_MISSING;
    if (count > 1 && frames[1] == caller)
        return CALLER_IN_DOUBT;
    callers->left_out[(flags & KEY_MARK) != 0] = true;
    return CALLER_IS_MISSING;
}

bool callers_are_left_out(const struct callers *callers, uint64_t flags)
{
    return callers->left_out[(flags & KEY_MARK) != 0];
}

bool callers_miss_kernel(uint64_t caller, uint64_t flags, const uint64_t *frames, size_t count)
{
    return flags & KEY_KERNEL_START && caller && count && (count < 2 || frames[1] != caller);
}

size_t callers_count_twice(const uint64_t *frames, size_t count)
{
    return count > 1 && frames[0] == frames[1];
}

void callers_drop_twice(const struct tally *tally, struct stack *stack)
{
    const uint32_t twice = stack->state == STACK_KEPT
        ? (uint32_t)callers_count_twice(tally->addresses + stack->first, stack->count) : 0;

    stack->first += twice;
    stack->count -= twice;
}

int callers_insert(struct tally *tally, struct stack *stack, uint64_t caller, uint32_t depth)
{
    const uint32_t kept = stack->count < depth ? stack->count : depth - 1;
    uint64_t *frames = malloc((kept + 1) * sizeof(*frames));

    if (!frames)
        return -ENOMEM;
    frames[0] = tally->addresses[stack->first];
    frames[1] = caller;
    memcpy(frames + 2, tally->addresses + stack->first + 1, (kept - 1) * sizeof(*frames));
    int result = tally_add_stack(tally, stack, frames, kept + 1);
    free(frames);
    return result;
}

static struct stack *stack_of(struct tally_entry *entry)
{
    return entry->flags & KEY_KERNEL_START ? &entry->task.kernel : &entry->task.user;
}

/* If the kernel's walk finds callers, any other second frame is right (a trampoline's, for one). */
static enum caller_seen see(struct callers *callers, const struct tally *tally,
                            struct tally_entry *entry)
{
    const struct stack *stack = stack_of(entry);
    const uint64_t *frames = tally->addresses + stack->first;

    if (!(entry->flags & KEY_KERNEL_START))
        return callers_see(callers, entry->caller, entry->flags, frames, stack->count);
    if (stack->count > 1 && frames[1] == entry->caller)
        callers->kernel_finds = true;
    return stack->count && !callers->kernel_finds ? CALLER_IS_MISSING : CALLER_IS_THERE;
}

/*
 * One stack can decide about others, so a first pass looks at all. What is in the index was
 * completed at an earlier report.
 */
int callers_complete(struct callers *callers, struct tally *tally, uint32_t depth)
{
    int result = 0;

    for (size_t i = tally->index.count; i < tally->count; i++)
        (void)see(callers, tally, &tally->entries[i]);
    for (size_t i = tally->index.count; i < tally->count && !result; i++) {
        struct tally_entry *entry = &tally->entries[i];
        const enum caller_seen seen = see(callers, tally, entry);
        if (depth > 1 && (seen == CALLER_IS_MISSING ||
                          (seen == CALLER_IN_DOUBT && callers_are_left_out(callers, entry->flags))))
            result = callers_insert(tally, stack_of(entry), entry->caller, depth);
        entry->caller = entry->flags = 0;
    }
    return result;
}
