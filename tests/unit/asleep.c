/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Listing blocked threads by /proc: a thread that cannot be read is an error, not an ended one. */
#include "store/blocked_threads.h"

#include <sys/resource.h>

#include "run/blocked_time.h"
#include "unit/test.h"

static size_t met;

/* Counts this thread alone: qemu-user adds a thread of its own. */
static int meet(void *context, const struct blocked_thread *thread)
{
    const uint32_t pid = *(const uint32_t *)context;

    met += thread->pid == pid && thread->tid == pid;
    return 0;
}

/* Lists with a limit of this many more descriptors than are open. */
static int list_with(rlim_t descriptors)
{
    const uint32_t pid = (uint32_t)getpid();
    const struct event_filter of = {.pids = &pid, .pid_count = 1, .cpu = -1};
    const struct blocked_filter config = {.of = &of, .states = "R", .user = true,
                                         .started_before = UINT64_MAX};
    struct rlimit before, few;
    const int lowest = dup(STDIN_FILENO);

    met = 0;
    close(lowest);
    CHECK(!getrlimit(RLIMIT_NOFILE, &before));
    few = before;
    few.rlim_cur = (rlim_t)lowest + descriptors;
    CHECK(!setrlimit(RLIMIT_NOFILE, &few));
    const int result = blocked_threads_list(&config, meet, (void *)(uintptr_t)&pid);
    CHECK(!setrlimit(RLIMIT_NOFILE, &before));
    return result;
}

/* The listing needs five: /proc, a process, its task directory, a thread, and one of its files. */
TEST(passed_over_for_lack_of_descriptors)
{
    for (rlim_t descriptors = 0; descriptors < 5; descriptors++) {
        CHECK_NUMBER(list_with(descriptors), -EMFILE);
        CHECK_NUMBER(met, 0);
    }
    CHECK_NUMBER(list_with(5), 0);
    CHECK_NUMBER(met, 1);
}

TEST(ended_meanwhile)
{
    const uint32_t pid = UINT32_MAX;
    const struct event_filter of = {.pids = &pid, .pid_count = 1, .cpu = -1};

    CHECK_NUMBER(blocked_threads_list(&(struct blocked_filter){.of = &of, .states = "S"}, meet,
                             (void *)(uintptr_t)&pid), 0);
}

/* For walltime: waits whose stacks could not be read are reported. */
TEST(first_waits_unseen)
{
    const struct event_filter of = {.cpu = -1};
    const struct blocked_filter threads = {.of = &of, .cgroup = "/no/such/cgroup"};
    AUTO(wall_time_close) struct wall_time wall = WALL_TIME_NONE;
    struct wall_report report = {0};
    AUTO(losses_free) struct losses losses = {0};
    AUTO_TEXT lines = {0};

    wall.sampled.config.event = sampling_events;
    wall_time_begin(&wall, &threads, &report);
    wall_time_add_losses(&wall, &losses);
    CHECK_NUMBER(losses.count, 0);
    wall_time_look(&wall, -1);
    wall_time_add_losses(&wall, &losses);
    losses_add_lines(&losses, &lines);
    CHECK_STRING(lines.data, "waits that began before the run may have no stack: cannot list threads: No such file "
                             "or directory\n");
}

TEST_MAIN
