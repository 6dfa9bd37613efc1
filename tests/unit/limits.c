/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Limits that several threads ask for the first time at the same time, as `check` does. */
#include "kernel/limits.h"

#include <pthread.h>
#include <sys/wait.h>

#include "kernel/task_fields.h"
#include "test.h"

#define PROCESSES 60
#define THREADS 8

static pthread_barrier_t barrier;

static void *ask(void *context)
{
    uint64_t *memory = context;
    struct task_fields fields;

    pthread_barrier_wait(&barrier);
    *memory = kernel_free_memory();
    task_fields_find(&fields);
    return NULL;
}

/* Free memory changes meanwhile, but not by much. */
static bool all_get_an_answer(void)
{
    uint64_t memory[THREADS];
    pthread_t threads[THREADS];
    bool are_right = true;

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, ask, &memory[i]))
            return false;
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        are_right = are_right && memory[i] > memory[0] / 2 && memory[i] < memory[0] * 2;
    }
    return are_right;
}

TEST(in_threads)
{
    unsigned right = 0;

    for (unsigned i = 0; i < PROCESSES; i++) {
        const pid_t child = fork();
        int status = -1;
        if (!child)
            _exit(!all_get_an_answer());
        if (child > 0 && waitpid(child, &status, 0) == child)
            right += !status;
    }
    CHECK_NUMBER(right, PROCESSES);
}

TEST_MAIN
