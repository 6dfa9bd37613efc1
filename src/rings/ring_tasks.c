/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"
#include "insns/layout.h"
#include "kernel/limits.h"
#include "rings/ring_source.h"

static struct ring_task_state *at(struct ring_tasks *tasks, uint32_t tid)
{
    return &tasks->tasks[tid < tasks->count ? tid : 0];
}

/*
 * Maps room for all tids; the kernel only allocates pages that are written to. Entry 0 stands for
 * all tasks without a valid tid.
 */
int ring_tasks_open(struct ring_tasks *tasks, struct scope *scope)
{
    const struct event_filter *filter = &scope->filter;
    const size_t count = (size_t)kernel_pid_limit() + 1;
    void *room = mmap(NULL, count * sizeof(*tasks->tasks), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    *tasks = (struct ring_tasks){.count = 0};
    if (room == MAP_FAILED)
        return -errno;
    *tasks = (struct ring_tasks){.tasks = room, .count = count, .round = 1, .scope = scope};
    for (size_t i = 0; i < filter->pid_count; i++)
        at(tasks, filter->pids[i])->asked |= ASKED_PROCESS;
    for (size_t i = 0; i < filter->tid_count; i++)
        at(tasks, filter->tids[i])->asked |= ASKED_THREAD;
    return 0;
}

void ring_tasks_close(struct ring_tasks *tasks)
{
    if (tasks->tasks)
        munmap(tasks->tasks, tasks->count * sizeof(*tasks->tasks));
    *tasks = (struct ring_tasks){.count = 0};
}

struct ring_task_state *ring_tasks_process(struct ring_tasks *tasks, uint32_t pid)
{
    return at(tasks, pid);
}

static void name(struct ring_task_state *task, const char *comm)
{
    const size_t length = strnlen(comm, COMM_BYTES - 1);

    memset(task->comm, 0, sizeof(task->comm));
    memcpy(task->comm, comm, length);
}

/* Task records lack the user. An ended thread keeps the last known one, at first its parent's. */
static void look_up_user(struct ring_tasks *tasks, uint32_t pid, uint32_t tid)
{
    struct ring_task_state *task = at(tasks, tid);
    struct text path = {0};
    uint32_t uid;

    text_format(&path, "/proc/%u/task/%u/status", pid, tid);
    if (!path.failed && tasks->scope->filter.uid_count &&
        !read_status(AT_FDCWD, path.data, STATUS_UID, &uid))
        task->user = uid + 1;
    task->user_round = tasks->round;
    text_free(&path);
}

struct look {
    struct ring_tasks *tasks;
    uint32_t pid; /* whose threads */
};

static void look_up(struct ring_tasks *tasks, uint32_t pid, uint32_t tid)
{
    struct ring_task_state *task = at(tasks, tid);
    struct text path = {0}, content = {0};

    text_format(&path, "/proc/%u/task/%u/comm", pid, tid);
    if (!path.failed && !read_file(AT_FDCWD, path.data, 64, &content) && content.length) {
        content.data[content.length - 1] = '\0'; /* the newline */
        name(task, content.data);
        task->pid = pid;
        look_up_user(tasks, pid, tid);
        at(tasks, pid)->threads++;
    }
    text_free(&path);
    text_free(&content);
}

static int look_at_thread(void *context, uint32_t tid)
{
    const struct look *look = context;

    if (tid < look->tasks->count)
        look_up(look->tasks, look->pid, tid);
    return 0;
}

static int look_at_process(void *context, uint32_t pid)
{
    struct look look = {context, pid};
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u/task", pid);
    if (pid < look.tasks->count)
        (void)each_number(path, look_at_thread, &look);
    return 0;
}

void ring_tasks_look(struct ring_tasks *tasks)
{
    (void)each_number("/proc", look_at_process, tasks);
}

struct ring_task_state *ring_tasks_of(struct ring_tasks *tasks, uint32_t pid, uint32_t tid)
{
    struct ring_task_state *task = at(tasks, tid);

    if (tid && !task->pid && tid < tasks->count)
        look_up(tasks, pid, tid);
    return task;
}

bool ring_tasks_follow(struct ring_tasks *tasks, uint32_t pid, uint32_t tid)
{
    const struct ring_task_state *task = ring_tasks_of(tasks, pid, tid);

    return task->followed && (!tasks->of_command || task->pid == pid);
}

void ring_tasks_begin_round(struct ring_tasks *tasks)
{
    tasks->round++;
}

static bool has_name(struct ring_tasks *tasks, uint32_t pid, uint32_t tid)
{
    const struct event_filter *filter = &tasks->scope->filter;

    return !filter->comm_count || filter_takes_name(filter, ring_tasks_of(tasks, pid, tid)->comm);
}

static bool has_user(struct ring_tasks *tasks, uint32_t pid, uint32_t tid)
{
    const struct event_filter *filter = &tasks->scope->filter;
    const struct ring_task_state *task = filter->uid_count ? ring_tasks_of(tasks, pid, tid) : NULL;

    if (task && task->user_round != tasks->round)
        look_up_user(tasks, pid, tid);
    return !task || (task->user && filter_takes_user(filter, task->user - 1));
}

bool ring_tasks_want(struct ring_tasks *tasks, uint32_t pid, uint32_t tid)
{
    const struct event_filter *filter = &tasks->scope->filter;

    return (!filter->pid_count || at(tasks, pid)->asked & ASKED_PROCESS ||
            (tasks->follows && ring_tasks_follow(tasks, pid, tid))) &&
           (!filter->tid_count || at(tasks, tid)->asked & ASKED_THREAD) &&
               has_name(tasks, pid, tid) &&
           has_user(tasks, pid, tid);
}

/* ---- Task events ---- */

/*
 * The process tracker (processes/) may date an exec slightly later than the task record does, and
 * looks for the last exec before `generation`: the new program's first event is later than both.
 */
#define GENERATION_BY_NEXT UINT64_MAX

/*
 * The process tracker also knows owners of a pid that no ring reports. So a new process is the
 * owner of its pid at the time of its first event, and an exiting one the owner at its exit.
 */
#define OF_THEN ((uint64_t)1 << LIFE_THEN_BIT)
#define BORN_BY_FORK (UINT64_MAX - 1)

void ring_tasks_see(struct ring_tasks *tasks, uint32_t pid, uint64_t time)
{
    struct ring_task_state *process = at(tasks, pid);

    if (process->generation == GENERATION_BY_NEXT)
        process->generation = time & ~(uint64_t)LIFE_ENDED;
    else if (process->generation == BORN_BY_FORK)
        process->generation = time | OF_THEN;
}

static void take_fork(struct ring_tasks *tasks, const struct ring_task *told)
{
    const struct ring_task_state *parent = at(tasks, told->by);
    struct ring_task_state *task = at(tasks, told->tid), *process = at(tasks, told->pid);

    memcpy(task->comm, parent->comm, sizeof(task->comm));
    task->pid = told->pid;
    task->event = 0;
    task->user = parent->user;
    task->user_round = 0;
    task->followed = parent->followed ||
        (tasks->follows && at(tasks, parent->pid)->asked & ASKED_PROCESS);
    task->asked = 0; /* the number's last owner has ended */
    process->threads = told->pid == told->tid ? 1 : process->threads + 1;
    if (told->pid == told->tid)
        process->generation = BORN_BY_FORK;
}

/*
 * An exec ends all other threads, whose exit records come before it: a thread asked for that still
 * belongs to the process is the one that executes, and goes on with the pid as its tid.
 */
static void take_thread(struct ring_tasks *tasks, uint32_t pid)
{
    const struct event_filter *filter = &tasks->scope->filter;

    for (size_t i = 0; i < filter->tid_count; i++) {
        const struct ring_task_state *task = at(tasks, filter->tids[i]);
        if (!(task->asked & ASKED_THREAD) || task->pid != pid)
            continue;
        at(tasks, pid)->asked |= ASKED_THREAD;
        __atomic_store_n(&tasks->scope->went_on, pid, __ATOMIC_RELAXED);
    }
}

/* The time of an exec is even, that of an exit odd: insns/layout.h. */
static void take_end(struct ring_tasks *tasks, const struct ring_task *told, uint64_t time)
{
    struct ring_task_state *process = at(tasks, told->pid);

    /* After some execs an exit is told of a task that goes on (processes/process.c). */
    if (told->tid == told->pid && process->generation == GENERATION_BY_NEXT &&
        !tasks->of_command) {
        process->generation = time | OF_THEN;
        return;
    }
    at(tasks, told->tid)->pid = 0;
    process->threads -= process->threads != 0;
    if (!process->threads)
        process->generation = time | OF_THEN;
    /* After the first thread's end, another thread may exec and take over its tid. */
    if (tasks->of_command && (told->tid != told->pid || !process->threads))
        at(tasks, told->tid)->followed = false;
}

void ring_tasks_take(struct ring_tasks *tasks, const struct ring_task *told, uint64_t time)
{
    struct ring_task_state *task = at(tasks, told->tid);

    if (!told->tid || told->tid >= tasks->count || !told->pid || told->pid >= tasks->count)
        return;
    switch (told->kind) {
    case RING_TASK_FORKED:
        take_fork(tasks, told);
        return;
    case RING_TASK_ENDED:
        take_end(tasks, told, time);
        return;
    case RING_TASK_EXECS: /* all other threads of it have ended */
        at(tasks, told->pid)->generation = GENERATION_BY_NEXT;
        task->followed = task->followed || told->pid == tasks->held;
        take_thread(tasks, told->pid);
        break;
    case RING_TASK_NAMED:
        break;
    }
    task->pid = told->pid;
    name(task, told->name);
}

int ring_threads_add(struct ring_threads *threads, uint32_t tid)
{
    if (ARRAY_RESERVE(threads->tids, threads->room, threads->count + 1))
        return -ENOMEM;
    threads->tids[threads->count++] = tid;
    return 0;
}

static int add_thread(void *threads, uint32_t tid)
{
    return ring_threads_add(threads, tid);
}

static int add_process(struct ring_threads *threads, uint32_t pid)
{
    const size_t before = threads->count;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u/task", pid);
    const int result = each_number(path, add_thread, threads);
    return !result || threads->count > before ? result : ring_threads_add(threads, pid);
}

int ring_threads_list(struct ring_threads *threads, const struct event_filter *filter)
{
    int result = 0;

    for (size_t i = 0; i < filter->pid_count && !result; i++)
        result = add_process(threads, filter->pids[i]);
    for (size_t i = 0; i < filter->tid_count && !filter->pid_count && !result; i++)
        result = ring_threads_add(threads, filter->tids[i]);
    return result ? result : threads->count ? 0 : -ESRCH;
}
