/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Each maker, and each search for dead ones, is a process of its own, as in use. */
#include "attach/attach.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "test.h"

#define MAKERS 8

struct process {
    pid_t pid;
    int out; /* what it prints: the names */
    char names[MAKERS][MAKER_NAME_ROOM];
};

static void *make(void *maker)
{
    maker_name(maker);
    return NULL;
}

/* Makers in many threads at the same time: they report their names, one ends, and the others live on. */
static void live(int out)
{
    struct maker makers[MAKERS] = {0}, ended = {0};
    pthread_t threads[MAKERS];

    for (size_t i = 0; i < MAKERS; i++)
        pthread_create(&threads[i], NULL, make, &makers[i]);
    for (size_t i = 0; i < MAKERS; i++)
        pthread_join(threads[i], NULL);
    maker_name(&ended);
    maker_end(&ended);
    for (size_t i = 0; i < MAKERS; i++)
        if (write(out, maker_name(&makers[i]), MAKER_NAME_ROOM) != MAKER_NAME_ROOM)
            _exit(1);
    pause();
}

static bool start(struct process *process)
{
    int ends[2];
    bool whole = !pipe(ends) && (process->pid = fork()) >= 0;

    if (whole && !process->pid)
        live(ends[1]);
    close(ends[1]);
    for (size_t i = 0; i < MAKERS && whole; i++)
        whole = read(ends[0], process->names[i], MAKER_NAME_ROOM) == MAKER_NAME_ROOM;
    close(ends[0]);
    return whole;
}

static void kill_process(const struct process *process)
{
    kill(process->pid, SIGKILL);
    waitpid(process->pid, NULL, 0);
}

struct looker {
    const struct process *process;
    bool clears;
    unsigned found;
};

static int count_dead(void *context, const char *name)
{
    struct looker *looker = context;

    for (size_t i = 0; i < MAKERS; i++)
        if (!strcmp(name, looker->process->names[i])) {
            looker->found++;
            return looker->clears ? 0 : -1;
        }
    return -1; /* of another library */
}

/* How many of its makers another process considers dead. */
static unsigned dead_of(const struct process *process, bool clears)
{
    struct looker looker = {process, clears, 0};
    int status = 0;
    pid_t child = fork();

    if (!child) {
        makers_each_dead(count_dead, &looker);
        _exit((int)looker.found);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? (unsigned)WEXITSTATUS(status) : MAKERS + 1;
}

TEST(names_of_their_own)
{
    struct process process;
    char pid[16];

    CHECK(start(&process));
    snprintf(pid, sizeof(pid), "%d_", (int)process.pid);
    for (size_t i = 0; i < MAKERS; i++) {
        CHECK(!strncmp(process.names[i], pid, strlen(pid)));
        CHECK_NUMBER(strlen(process.names[i]), strlen(pid) + 16);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(process.names[i], process.names[k]) != 0);
    }
    kill_process(&process);
    dead_of(&process, true);
}

TEST(who_lives_is_not_dead)
{
    struct process process;

    CHECK(start(&process));
    for (unsigned i = 0; i < 3; i++)
        CHECK_NUMBER(dead_of(&process, true), 0);
    kill_process(&process);
    CHECK_NUMBER(dead_of(&process, false), MAKERS); /* not all is cleaned up: asked for again */
    CHECK_NUMBER(dead_of(&process, true), MAKERS);
    CHECK_NUMBER(dead_of(&process, true), 0);
}

/* Looking for dead makers does not release the locks of live ones. */
TEST(ones_own)
{
    struct process process = {.pid = fork()};
    int status = 0;

    if (!process.pid) {
        struct maker maker = {0};
        memcpy(process.names[0], maker_name(&maker), MAKER_NAME_ROOM);
        struct looker looker = {&process, true, 0};
        makers_each_dead(count_dead, &looker);
        bool right = !looker.found && !dead_of(&process, true);
        maker_end(&maker);
        maker_end(&maker);
        _exit(right ? 0 : 1);
    }
    waitpid(process.pid, &status, 0);
    CHECK_NUMBER(status, 0);
}

int main(void)
{
    if (geteuid()) {
        printf("SKIP makers: only root's can be told from the dead\n");
        return 0;
    }
    run_tests();
    return tests_done();
}
