/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The process that the tracker assigns to an event of a ring. */
#include "kernel/limits.h"
#include "kernel/task_events.h"
#include "processes/process.h"
#include "rings/ring_source.h"
#include "test.h"

/* processes/process_parts.h has a `struct program` of its own. */
void processes_take(void *context, const struct task_event *event);

/* No real process maps anything there. */
#define FREE ((uint64_t)0x200000000000)

static struct processes *processes;
static struct ring_tasks tasks;

static void runs(uint64_t time, uint32_t pid, const char *program)
{
    processes_take(processes, &(struct task_event){
        .kind = TASK_MAP, .time = time, .pid = pid, .tid = pid, .path = program,
        .start = FREE, .end = FREE + 0x1000, .offset = 0x7000});
}

static void tell(enum task_event_kind kind, uint64_t time, uint32_t parent, uint32_t pid)
{
    processes_take(processes, &(struct task_event){.kind = kind, .time = time, .pid = pid, .tid = pid,
                                                   .parent = parent});
}

static void ring_tells(enum ring_task_kind kind, uint64_t time, uint32_t parent, uint32_t pid)
{
    ring_tasks_take(&tasks, &(struct ring_task){.kind = kind, .pid = pid, .tid = pid, .by = parent}, time);
}

static uint64_t born_at(uint64_t time, uint32_t pid)
{
    ring_tasks_see(&tasks, pid, time);
    return ring_tasks_process(&tasks, pid)->generation;
}

static const char *program_of(uint32_t pid, uint64_t generation)
{
    const uint64_t address = FREE + 0x10;
    struct process_place place;

    CHECK_NUMBER(processes_find(processes, pid, generation, 0, &address, 1, &place), 0);
    return place.label;
}

/* A command's rings have no records of another process with its pid; their times are their own. */
TEST(a_stranger_has_the_pid_in_between)
{
    const uint32_t pid = kernel_pid_limit() - 1, parent = pid - 1;
    static const char *const programs[] = {"[one]", "[stranger]", "[two]"};
    struct scope scope = {.follow = FOLLOW_NONE};
    uint64_t leaving[3] = {0};

    CHECK_NUMBER(processes_open(&processes, &(struct processes_options){.silent = true}), 0);
    CHECK_NUMBER(ring_tasks_open(&tasks, &scope), 0);
    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t at = 10000 * i;
        runs(at, parent, programs[i]);
        tell(TASK_FORK, at + 2000, parent, pid);
        if (i != 1) {
            ring_tells(RING_TASK_FORKED, at + 1999, parent, pid);
            CHECK_STRING(program_of(pid, born_at(at + 2500, pid)), programs[i]);
            ring_tells(RING_TASK_ENDED, at + 2999, 0, pid);
        }
        tell(TASK_EXIT, at + 3000, 0, pid);
        leaving[i] = born_at(at + 3002, pid);
    }
    CHECK_STRING(program_of(pid, leaving[0]), "[one]");
    CHECK_STRING(program_of(pid, leaving[2]), "[two]");
    ring_tasks_close(&tasks);
    processes_close(processes);
}

TEST_MAIN
