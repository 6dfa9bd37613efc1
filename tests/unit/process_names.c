/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of processes: from /proc, as reported, and from first threads in the tally. */
#include "processes/process.h"

#include <sys/prctl.h>

#include "processes/process_parts.h"
#include "test.h"

#define GONE 4000001 /* an unused pid */

static struct tally tally;

static void add(uint32_t pid, uint32_t tid, uint64_t generation, const char *comm)
{
    struct tally_entry *entry = tally_add(&tally);

    entry->task = (struct tally_task){.pid = pid, .tid = tid, .generation = generation};
    snprintf(entry->task.comm, sizeof(entry->task.comm), "%s", comm);
}

/* The process name of the n-th entry. */
static void expect(struct processes *processes, size_t n, const char *name)
{
    AUTO(process_names_free) struct process_names names;

    CHECK_NUMBER(process_names_make(&names, &tally, processes), 0);
    CHECK_STRING(process_names_find(&names, &tally.entries[n].task), name);
}

static struct processes *open_silent(void)
{
    static const struct processes_options silent = {.silent = true};
    struct processes *processes = NULL;

    CHECK_NUMBER(processes_open(&processes, &silent), 0);
    processes_begin(processes);
    return processes;
}

/* Without records, a process has its first thread's name, if that thread had only one. */
TEST(by_first_threads)
{
    add(GONE, GONE + 1, 0, "worker");
    add(GONE, GONE, 0, "server");
    add(GONE + 10, GONE + 11, 0, "worker");
    add(GONE + 20, GONE + 20, 0, "sh");
    add(GONE + 20, GONE + 20, 0, "ls");
    add(GONE, 0, 8, "other");
    add(GONE, GONE, 0, "elsewhere");
    tally.entries[6].task.foreign = true;
    tally.entries[0].has_waker = true;
    tally.entries[0].waker = (struct tally_task){.pid = GONE + 10, .tid = GONE + 10, .comm = "main"};
    expect(NULL, 0, "server");
    expect(NULL, 1, "server");
    expect(NULL, 2, "main");
    expect(NULL, 3, "sh");
    expect(NULL, 4, "ls");
    expect(NULL, 5, "other");
    expect(NULL, 6, "elsewhere");
    tally_clear(&tally);
    add(0, 0, 0, "swapper/0");
    add(0, 0, 0, "swapper/1");
    expect(NULL, 1, "swapper/1");
    tally_free(&tally);
}

/* A process that renames itself has its last name, and another one before its exec. */
TEST(as_it_was_told)
{
    struct processes *processes = open_silent();
    uint64_t begin = now_ns(), generation = begin + 2000;

    processes_take(processes, &(struct task_event){
        .kind = TASK_FORK, .time = begin + 10, .pid = GONE, .tid = GONE, .parent = 1});
    processes_take(processes, &(struct task_event){
        .kind = TASK_NAME, .time = begin + 20, .pid = GONE, .tid = GONE, .path = "early"});
    processes_take(processes, &(struct task_event){
        .kind = TASK_EXEC, .time = begin + 1000, .pid = GONE, .tid = GONE, .path = "program"});
    add(GONE, 0, 0, "sh");
    add(GONE, 0, generation, "program");
    add(GONE, 0, generation, "worker");
    expect(processes, 0, "early");
    expect(processes, 1, "program");
    expect(processes, 2, "program");
    processes_take(processes, &(struct task_event){
        .kind = TASK_FORK, .time = begin + 6000, .pid = GONE + 3, .tid = GONE + 3, .parent = 1, .forker = 1});
    processes_take(processes, &(struct task_event){
        .kind = TASK_NAME, .time = begin + 6010, .pid = GONE + 3, .tid = GONE + 3, .path = "shell"});
    processes_take(processes, &(struct task_event){
        .kind = TASK_FORK, .time = begin + 6020, .pid = GONE + 4, .tid = GONE + 4, .parent = GONE + 3,
        .forker = GONE + 3});
    processes_take(processes, &(struct task_event){
        .kind = TASK_EXIT, .time = begin + 6030, .pid = GONE + 4, .tid = GONE + 4});
    add(GONE + 4, 0, 0, "worker");
    expect(processes, 3, "shell");
    processes_close(processes);
    tally_free(&tally);
}

/* The name of a process that still runs comes from /proc. */
TEST(as_it_is)
{
    struct processes *processes = open_silent();
    char before[COMM_BYTES + 1] = "";

    CHECK_NUMBER(prctl(PR_GET_NAME, before), 0);
    add((uint32_t)getpid(), 0, 0, "as it was");
    expect(processes, 0, before);
    CHECK_NUMBER(prctl(PR_SET_NAME, "fifteen letters"), 0);
    expect(processes, 0, "fifteen letters");
    CHECK_NUMBER(prctl(PR_SET_NAME, "a b"), 0);
    expect(processes, 0, "a b");
    /* For a kernel worker, /proc shows more than the comm. */
    CHECK_NUMBER(prctl(PR_SET_NAME, "kworker/0:1+ev"), 0);
    expect(processes, 0, "as it was");
    CHECK_NUMBER(prctl(PR_SET_NAME, before), 0);
    processes_close(processes);
    tally_free(&tally);
}

/*
 * Reports tell all names. During an exec /proc shows the new one before it is reported: a name that
 * was only told here stands for such a moment.
 */
TEST(as_it_was_reported)
{
    static const struct processes_options all = {.pid_count = 0};
    const uint32_t self = (uint32_t)getpid();
    struct processes *processes = NULL;

    CHECK_NUMBER(processes_open(&processes, &all), 0);
    int refused = processes_listening(processes);
    if (refused) {
        printf("SKIP as_it_was_reported: the kernel reports no names: %s\n", strerror(-refused));
        processes_close(processes);
        return;
    }
    processes_tell(processes, &(struct task_event){
        .kind = TASK_NAME, .time = now_ns(), .pid = self, .tid = self, .path = "before"});
    add(self, self, 0, "at the event");
    expect(processes, 0, "before");
    CHECK_NUMBER(prctl(PR_SET_NAME, "renamed"), 0);
    expect(processes, 0, "renamed");
    processes_close(processes);
    tally_free(&tally);
}

TEST_MAIN
