/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the tracker makes of hand-made records of forks, execs, mappings and exits. */
#include <signal.h>
#include <sys/wait.h>

#include "insns/layout.h"
#include "processes/process_parts.h"
#include "test.h"

/* Pids beyond the kernel's limit: /proc has none of them. */
#define A 5000001
#define B 5000002
#define C 5000003

#define BEGIN 1000

/* No real process maps anything from here on. */
#define FREE ((uint64_t)0x200000000000)

static struct processes *processes;

static void begin(void)
{
    static const struct processes_options silent = {.silent = true};

    CHECK_NUMBER(processes_open(&processes, &silent), 0);
    CHECK_NUMBER(processes_listening(processes), -ECANCELED);
    CHECK_NUMBER(processes_fd(processes), -1);
    processes->begin = processes->reported = processes->window = BEGIN;
}

static void end(void)
{
    processes_close(processes);
}

static void tell(struct task_event event)
{
    processes_take(processes, &event);
}

static void forks(uint64_t time, uint32_t parent, uint32_t pid)
{
    tell((struct task_event){.kind = TASK_FORK, .time = time, .pid = pid, .tid = pid,
                             .parent = parent});
}

static void begins_thread(uint64_t time, uint32_t pid, uint32_t tid)
{
    tell((struct task_event){.kind = TASK_FORK, .time = time, .pid = pid, .tid = tid,
                             .parent = pid});
}

static void executes(uint64_t time, uint32_t pid)
{
    tell((struct task_event){.kind = TASK_EXEC, .time = time, .pid = pid, .tid = pid});
}

static void maps_at(uint64_t time, uint32_t pid, uint64_t start, const char *what)
{
    tell((struct task_event){.kind = TASK_MAP, .time = time, .pid = pid, .tid = pid, .path = what,
                             .start = start, .end = start + 0x1000, .offset = 0x7000});
}

static void maps(uint64_t time, uint32_t pid, const char *what)
{
    maps_at(time, pid, FREE + 0x10000, what);
}

static void ends_thread(uint64_t time, uint32_t pid, uint32_t tid)
{
    tell((struct task_event){.kind = TASK_EXIT, .time = time, .pid = pid, .tid = tid});
}

static void ends(uint64_t time, uint32_t pid)
{
    ends_thread(time, pid, pid);
}

/* What is at an address; "-" if nothing at all is known about the process. */
static const char *at(uint64_t address, uint32_t pid, uint64_t generation)
{
    struct process_place place;
    int result = processes_find(processes, pid, generation, 0, &address, 1, &place);

    if (result == -ENOENT)
        return "-";
    CHECK_NUMBER(result, 0);
    return place.label;
}

static const char *what(uint32_t pid, uint64_t generation)
{
    return at(FREE + 0x10010, pid, generation);
}

TEST(forks_inherit)
{
    begin();
    maps(10, A, "[first]");
    forks(20, A, B);
    CHECK_STRING(what(B, 0), "[first]");
    CHECK_NUMBER(processes->history.past_bytes, 0);
    maps(30, A, "[of the parent]");
    maps_at(40, B, FREE + 0x20000, "[of the child]");
    CHECK_STRING(what(A, 0), "[of the parent]");
    CHECK_STRING(what(B, 0), "[first]");
    CHECK_STRING(at(FREE + 0x20000, B, 0), "[of the child]");
    CHECK_STRING(at(FREE + 0x20000, A, 0), "");
    CHECK_STRING(at(FREE + 0x20fff, B, 0), "[of the child]");
    CHECK_STRING(at(FREE + 0x21000, B, 0), "");
    CHECK_STRING(at(FREE + 0x1ffff, B, 0), "");
    forks(50, B, C);
    ends(60, A);
    ends(70, B);
    CHECK_STRING(what(C, 0), "[first]");
    CHECK_STRING(at(FREE + 0x20000, C, 0), "[of the child]");
    CHECK_STRING(what(5000009, 0), "-");
    end();
}

static const char *what_then(uint32_t pid, uint64_t time)
{
    const uint64_t address = FREE + 0x10010;
    struct process_place place;
    uint32_t epoch = processes_epoch(processes, pid, 0, time);

    CHECK_NUMBER(processes_find(processes, pid, 0, epoch, &address, 1, &place), 0);
    return place.label;
}

/* Within one report it is unknown which mapping an event hit, unless the event has a time. */
TEST(one_takes_the_place_of_another)
{
    begin();
    maps(10, A, "[one]");
    CHECK_NUMBER(processes_epoch(processes, A, 0, 2000), 0);
    CHECK_STRING(what(A, 0), "[one]");
    maps_at(2000, A, FREE + 0x10800, "[two]"); /* it begins before, and ends within */
    CHECK_STRING(what(A, 0), "[one]");
    CHECK_STRING(at(FREE + 0x10800, A, 0), "[[one] or [two]]");
    CHECK_STRING(at(FREE + 0x11000, A, 0), "[two]");
    maps(3000, A, "[three]");
    CHECK_STRING(what(A, 0), "[[one] or [three]]");
    CHECK_STRING(at(FREE + 0x10800, A, 0), "[[one] or [two] or [three]]");
    CHECK_STRING(what_then(A, 1999), "[one]");
    CHECK_STRING(what_then(A, 2999), "[one]");
    CHECK_STRING(what_then(A, 3000), "[three]");
    maps(3500, A, "[three]"); /* as after mprotect(2) */
    CHECK_STRING(what(A, 0), "[[one] or [three]]");
    /* The next report has no events from before the replacement. */
    processes->read = 4000;
    processes_forget(processes);
    CHECK_STRING(what(A, 0), "[three]");
    maps(5000, A, "[one]");
    CHECK_STRING(what(A, 0), "[[three] or [one]]");
    maps(5001, A, "[three]");
    CHECK_STRING(what(A, 0), "[[three] or [one] or another [three]]");
    CHECK_STRING(what_then(A, 4999), "[three]");
    CHECK_STRING(what_then(A, 5000), "[one]");
    CHECK_STRING(what_then(A, 5001), "[three]");
    end();
}

/* If there are more replacements than are kept, the oldest are forgotten, and counted. */
TEST(many_replacements)
{
    begin();
    for (uint64_t i = 0; i < REPLACED_MOST + 10; i++)
        maps(2000 + i, A, i % 2 ? "[odd]" : "[even]");
    CHECK_NUMBER(processes_lost(processes).forgotten, 9);
    CHECK_STRING(what_then(A, 2000 + REPLACED_MOST), "[even]");
    CHECK_STRING(what_then(A, 2000 + REPLACED_MOST + 1), "[odd]");
    end();
}

TEST(exec_is_another_program)
{
    begin();
    maps(10, A, "[before]");
    executes(BEGIN - 100, A);
    maps(BEGIN - 90, A, "[one]");
    executes(2000, A);
    maps(2010, A, "[two]");
    executes(3000, A);
    maps(3010, A, "[three]");
    CHECK_STRING(what(A, 0), "[one]"); /* the program when exec counting began */
    CHECK_STRING(what(A, 2020), "[two]");
    CHECK_STRING(what(A, 2998), "[two]");
    CHECK_STRING(what(A, 3020), "[three]");
    ends(4000, A);
    CHECK_STRING(what(A, 0), "[one]");
    CHECK_STRING(what(A, 2020), "[two]");
    CHECK_STRING(what(A, 3020), "[three]");
    end();
}

TEST(a_child_that_executes)
{
    begin();
    maps(10, A, "[shell]");
    for (uint64_t i = 1; i <= 3; i++) { /* the same pid again and again */
        uint64_t time = 10000 * i;
        forks(time, A, B);
        executes(time + 100, B);
        maps(time + 110, B, i == 1 ? "[one]" : i == 2 ? "[two]" : "[three]");
        ends(time + 200, B);
    }
    CHECK_STRING(what(B, 0), "[shell]");
    CHECK_STRING(what(B, 10120), "[one]");
    CHECK_STRING(what(B, 10201), "[shell]"); /* after the exit of the first, before an exec */
    CHECK_STRING(what(B, 20120), "[two]");
    CHECK_STRING(what(B, 20201), "[shell]");
    CHECK_STRING(what(B, 30120), "[three]");
    end();
}

/* A program of one pid, which ran in [from, until). */
struct ran {
    uint64_t from, until;
    char label[16];
};

/* Forks, execs and ends of B at random times, as a list of its programs. */
static size_t make_random_past(struct ran *ran, size_t room)
{
    uint64_t time = BEGIN;
    size_t count = 0;

    for (bool lives = false; count < room; time += 4 + (uint64_t)rand() % 3) {
        if (lives && rand() % 3 == 0) {
            ends(time, B);
            ran[count++].until = time;
            lives = false;
            continue;
        }
        struct ran *now = &ran[lives ? ++count : count];
        if (count == room)
            break;
        if (lives)
            now[-1].until = time;
        else
            forks(time, A, B);
        if (lives || rand() % 2)
            executes(time + 1, B);
        snprintf(now->label, sizeof(now->label), "[%zu]", count);
        now->from = time + 2;
        maps(time + 2, B, now->label);
        lives = true;
    }
    return count;
}

/* The label of the code at that time; "-" if unknown. */
static const char *code_at(uint32_t pid, uint64_t time)
{
    uint64_t address = FREE + 0x10010;
    const struct mapped_file *file = processes_code_at(processes, pid, time, &address);

    if (!file)
        return "-";
    CHECK_NUMBER(address, 0x10);
    return file->label;
}

TEST(code_of_then)
{
    begin();
    maps_at(10, A, FREE, "[shell]");
    forks(BEGIN + 10, A, B);
    CHECK_STRING(code_at(B, BEGIN + 11), "-");
    maps(BEGIN + 20, B, "[one]");
    maps(BEGIN + 30, B, "[two]");
    executes(BEGIN + 40, B);
    CHECK_STRING(code_at(B, BEGIN + 41), "-");
    maps(BEGIN + 50, B, "[three]");
    ends(BEGIN + 60, B);
    forks(BEGIN + 70, A, B);
    maps(BEGIN + 80, B, "[four]");
    CHECK_STRING(code_at(B, BEGIN + 5), "-"); /* B did not exist yet */
    CHECK_STRING(code_at(B, BEGIN + 25), "[one]");
    CHECK_STRING(code_at(B, BEGIN + 35), "[two]");
    CHECK_STRING(code_at(B, BEGIN + 55), "[three]");
    CHECK_STRING(code_at(B, BEGIN + 65), "-"); /* no process had that pid */
    CHECK_STRING(code_at(B, BEGIN + 90), "[four]");
    CHECK_STRING(code_at(C, BEGIN + 90), "-");
    uint64_t address = FREE + 0x20000;
    CHECK(!processes_code_at(processes, B, BEGIN + 90, &address) && address == FREE + 0x20000);
    end();
}

/* An event with a time belongs to the process that ran then. */
TEST(events_by_their_times)
{
    static struct ran ran[48];

    srand(11);
    for (int round = 0; round < 200; round++) {
        begin();
        size_t count = make_random_past(ran, COUNT_OF(ran));
        for (size_t i = 0; i < count; i++) {
            uint64_t first = processes_generation_at(processes, B, ran[i].from);
            CHECK_STRING(what(B, first), ran[i].label);
            for (uint64_t time = ran[i].from; time < ran[i].until; time++) {
                CHECK_NUMBER(processes_generation_at(processes, B, time), first);
                CHECK_STRING(code_at(B, time), ran[i].label);
            }
        }
        CHECK_NUMBER(processes_generation_at(processes, C, BEGIN + 5), 0);
        end();
    }
}

/* Each life of a pid, even if none of them executes anything. */
TEST(lives_of_one_pid)
{
    begin();
    for (uint64_t i = 0; i < 3; i++) {
        maps(10 + 10000 * i, A, i == 0 ? "[one]" : i == 1 ? "[two]" : "[three]");
        forks(2000 + 10000 * i, A, B);
        ends(3000 + 10000 * i, B);
    }
    CHECK_STRING(what(B, 0), "[one]");
    CHECK_STRING(what(B, 2999), "[two]"); /* the exit's count is a little older than its record */
    CHECK_STRING(what(B, 2999 | (uint64_t)1 << LIFE_THEN_BIT), "[one]"); /* still exiting */
    CHECK_STRING(what(B, 12999), "[three]");
    CHECK_STRING(what(B, 22999), "[three]"); /* no later process: other threads ran on */
    /* An event can also come after the exit, while the process still frees its memory. */
    CHECK_STRING(what(B, 3099 | (uint64_t)1 << LIFE_THEN_BIT), "[one]");
    CHECK_STRING(what(B, 13099 | (uint64_t)1 << LIFE_THEN_BIT), "[two]");
    CHECK_STRING(what(B, 3099), "[two]");
    CHECK_STRING(what(B, 23099), "[three]");
    CHECK_NUMBER(processes_generation_at(processes, B, 13100), processes_generation_at(processes, B, 12500));
    end();
}

/*
 * Generation 0 does not mean a process that ended before stackbox counted execs and exits, even if
 * it had the pid.
 */
TEST(a_life_before_the_beginning)
{
    begin();
    maps(10, A, "[early]");
    ends(500, A);
    maps(BEGIN + 500, B, "[shell]");
    forks(BEGIN + 600, B, A);
    CHECK_STRING(what(A, 0), "[shell]");
    end();
}

/* Once ends are forgotten, generation 0 of a reused pid finds nothing, not a later process. */
TEST(forgotten_ends)
{
    begin();
    maps(10, A, "[one]");
    maps(10, B, "[lives]");
    ends(2000, A);
    forks(3000, B, A);
    CHECK_STRING(what(A, 0), "[one]");
    processes_ends_forgotten(processes);
    CHECK_STRING(what(A, 0), "");
    CHECK_STRING(what(B, 0), "[lives]");
    CHECK_STRING(what(A, 2001), "[lives]"); /* this end is known */
    executes(4000, A);
    maps(4010, A, "[two]");
    CHECK_STRING(what(A, 4020), "[two]");
    CHECK_NUMBER(processes_lost(processes).doubtful, 1);
    end();
}

TEST(threads_that_outlive_the_first)
{
    begin();
    maps(10, A, "[shell]");
    forks(2000, A, B);
    executes(2100, B);
    maps(2110, B, "[program]");
    begins_thread(2200, B, C);
    ends(3000, B);
    CHECK(!history_newest(&processes->history, B)->ended);
    maps_at(3100, B, FREE + 0x20000, "[later]");
    CHECK_STRING(at(FREE + 0x20000, B, 2999), "[later]");
    CHECK_STRING(what(B, 2999), "[program]");
    ends_thread(3200, B, C);
    CHECK(history_newest(&processes->history, B)->ended);
    CHECK_STRING(at(FREE + 0x20000, B, 2999), "[later]");
    CHECK_STRING(what(B, 2120), "[program]");
    end();
}

/* The first thread ends, then the executing thread gets its tid. */
TEST(exec_by_another_thread)
{
    begin();
    maps(10, A, "[shell]");
    forks(2000, A, B);
    begins_thread(2100, B, C);
    begins_thread(2110, B, C + 1);
    ends(2200, B);
    ends_thread(2210, B, C + 1);
    executes(2300, B);
    maps(2310, B, "[program]");
    CHECK(!history_newest(&processes->history, B)->ended);
    CHECK_STRING(what(B, 2320), "[program]");
    CHECK_STRING(what(B, 2199), "[shell]");
    ends(2400, B);
    CHECK(history_newest(&processes->history, B)->ended);
    end();
}

/* After an exec there is one thread, even if exits of the others were not reported. */
TEST(ends_of_threads_that_were_lost)
{
    begin();
    maps(10, A, "[shell]");
    forks(2000, A, B);
    begins_thread(2100, B, C);
    begins_thread(2110, B, C + 1);
    executes(2300, B);
    maps(2310, B, "[program]");
    ends(2400, B);
    CHECK(history_newest(&processes->history, B)->ended);
    end();
}

/* As after the exec of a set-user-ID program, which goes on. */
TEST(an_exit_within_an_exec)
{
    begin();
    maps(10, A, "[shell]");
    forks(2000, A, B);
    executes(2100, B);
    ends(2101, B);
    maps(2110, B, "[program]");
    CHECK_STRING(what(B, 2120), "[program]");
    CHECK_STRING(what(B, 2101 | (uint64_t)1 << LIFE_THEN_BIT), "[program]");
    begins_thread(2200, B, C);
    ends_thread(2300, B, C);
    CHECK(!history_newest(&processes->history, B)->ended);
    executes(2400, B);
    ends(2401, B);
    maps(2410, B, "[next]");
    processes_forget(processes);
    CHECK_STRING(what(B, 2420), "[next]");
    ends(2500, B);
    CHECK(history_newest(&processes->history, B)->ended);
    /* One that failed, and thus has ended, is found out later. */
    forks(2600, A, B);
    executes(2700, B);
    ends(2701, B);
    CHECK(!history_newest(&processes->history, B)->ended);
    processes_forget(processes);
    CHECK(history_newest(&processes->history, B)->ended);
    end();
}

/* Forks a child that only waits. */
static pid_t make_child(void)
{
    pid_t child = fork();

    if (!child)
        for (;;)
            pause();
    return child;
}

static void end_child(pid_t child)
{
    if (child > 0) /* kill(-1) signals all processes */
        kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* A record from before the tracker read /proc is already part of what it read, for any process. */
TEST(what_was_seen_is_not_told_again)
{
    pid_t child = make_child(), other = make_child();
    const uint32_t pid = (uint32_t)child;
    const uint64_t here = (uintptr_t)&what_was_seen_is_not_told_again;

    begin();
    uint64_t before = now_ns();
    maps_at(before, pid, FREE + 0x20000, "[too old]"); /* the first record about it */
    struct life *life = history_newest(&processes->history, pid);
    CHECK(life && life->seen >= before && life->seen_until <= now_ns());
    processes->begin = now_ns();
    CHECK_STRING(at(FREE + 0x20000, pid, 0), "");
    CHECK_STRING(at(here, pid, 0), "history");
    maps_at(before, pid, here & -4096ULL, "[too old]");
    executes(before, pid);
    ends_thread(before, pid, pid);
    forks(before, A, pid);
    CHECK(history_newest(&processes->history, pid) == life && !life->ended);
    CHECK_NUMBER(life->parent, A);
    CHECK_STRING(at(here, pid, 0), "history");
    maps_at(now_ns(), pid, FREE + 0x20000, "[told]");
    CHECK_STRING(at(FREE + 0x20000, pid, 0), "[told]");
    /* The parent may have run another program when it forked: so the tracker reads the child. */
    forks(before, pid, (uint32_t)other);
    CHECK_STRING(at(here, (uint32_t)other, 0), "history");
    CHECK_STRING(at(FREE + 0x20000, (uint32_t)other, 0), "");
    /* A child that is gone is assumed to have run its parent's program. */
    forks(before, pid, B);
    CHECK_STRING(at(FREE + 0x20000, B, 0), "[told]");
    end_child(child);
    end_child(other);
    end();
}

/* After a loss of records, the tracker reads living processes again. */
TEST(what_was_lost_is_looked_at)
{
    pid_t child = make_child();
    const uint32_t pid = (uint32_t)child;
    const uint64_t here = (uintptr_t)&what_was_lost_is_looked_at;

    begin();
    maps(10, A, "[shell]");
    forks(BEGIN + 10, A, pid);
    maps_at(BEGIN + 20, pid, here & -4096ULL, "[told]");
    CHECK_STRING(at(here, pid, 0), "[told]");
    tell((struct task_event){.kind = TASK_LOST, .time = BEGIN + 30, .lost = 1});
    CHECK_STRING(at(here, pid, 0), "history");
    CHECK_STRING(what(pid, 0), "");
    end_child(child);
    end();
}

TEST(programs_that_nobody_told_of)
{
    begin();
    maps(10, A, "[one]");
    CHECK_STRING(what(A, 2000), "-"); /* that exec was not reported */
    executes(3000, A);
    maps(3010, A, "[two]");
    CHECK_STRING(what(A, 2000), "-");
    CHECK_STRING(what(A, 3020), "[two]");
    ends(4000, A);
    CHECK_STRING(what(A, 5000), "-"); /* nor was this exec's process */
    forks(6000, C, B); /* nothing is known about C */
    maps(6010, B, "[known]");
    CHECK_STRING(what(B, 0), "[known]");
    CHECK_STRING(at(FREE + 0x20000, B, 0), "");
    end();
}

/* The record of the exit was lost: the process that now has the pid is another one anyway. */
TEST(exits_that_were_lost)
{
    begin();
    maps(10, A, "[shell]");
    forks(2000, A, B);
    maps(2010, B, "[one]");
    tell((struct task_event){.kind = TASK_LOST, .time = 2500, .lost = 7});
    forks(3000, A, B);
    CHECK_STRING(what(B, 2999), "[shell]");
    CHECK_STRING(what(B, 0), "[[shell] or [one]]");
    CHECK_STRING(what_then(B, 2010), "[one]");
    CHECK_NUMBER(processes_lost(processes).records, 7);
    tell((struct task_event){.kind = TASK_LOST, .time = 3500, .lost = 3});
    CHECK_NUMBER(processes_lost(processes).records, 10);
    processes_forget(processes); /* /proc has none of them: all have ended */
    CHECK(history_newest(&processes->history, B)->ended);
    end();
}

TEST(reports_forget)
{
    begin();
    maps(10, A, "[shell]");
    forks(2000, A, B);
    executes(2100, B);
    maps(2110, B, "[one]");
    executes(2200, B);
    maps(2210, B, "[two]");
    ends(2300, B);
    CHECK(processes->history.past_bytes > 0);
    processes_forget(processes);
    CHECK_STRING(what(B, 2120), "[one]");
    CHECK_STRING(what(B, 2220), "[two]");
    processes_forget(processes);
    CHECK_STRING(what(B, 2120), "-");
    CHECK_STRING(what(A, 0), "[shell]");
    CHECK_NUMBER(processes->history.past_bytes, 0);
    CHECK_NUMBER(processes->history.count, 1);
    CHECK_NUMBER(processes_lost(processes).forgotten, 0);
    /* Reports also forget what a living process no longer has mapped. */
    executes(3000, A);
    maps(3010, A, "[other]");
    CHECK_STRING(what(A, 0), "[shell]");
    CHECK(processes->history.past_bytes > 0);
    processes_forget(processes);
    processes_forget(processes);
    CHECK_NUMBER(processes->history.past_bytes, 0);
    CHECK_STRING(what(A, 3020), "[other]");
    end();
}

/* Forgetting begins when the memory limit is reached. */
TEST(more_is_kept_where_there_is_memory)
{
    enum { MANY = 60000 };
    static const struct processes_options config = {.silent = true, .free_memory = (uint64_t)2 << 30};

    CHECK_NUMBER(processes_open(&processes, &config), 0);
    processes->begin = processes->reported = BEGIN;
    maps(10, A, "[shell]");
    for (uint32_t i = 0; i < MANY; i++) {
        uint64_t time = 2000 + i * 1000;
        forks(time, A, 6000000 + i);
        executes(time + 100, 6000000 + i);
        maps(time + 110, 6000000 + i, "[short]");
        ends(time + 200, 6000000 + i);
    }
    CHECK_NUMBER(processes_lost(processes).forgotten, 0);
    CHECK_STRING(what(6000000, 2120), "[short]");
    end();
}

/* As many processes as in a long run with one report, at its end. */
TEST(what_is_kept_is_bounded)
{
    enum { MANY = 60000 };

    begin();
    maps(10, A, "[shell]");
    for (uint32_t i = 0; i < MANY; i++) {
        uint64_t time = 2000 + i * 1000;
        forks(time, A, 6000000 + i);
        executes(time + 100, 6000000 + i);
        maps(time + 110, 6000000 + i, "[short]");
        ends(time + 200, 6000000 + i);
        CHECK(processes->history.past_bytes <= PROCESSES_KEPT_BYTES);
    }
    uint64_t forgotten = processes_lost(processes).forgotten;
    CHECK(forgotten > 0 && forgotten < MANY - 10000);
    CHECK_NUMBER(processes->history.count, MANY + 1 - forgotten);
    CHECK_STRING(what(6000000, 2120), "-");
    CHECK_STRING(what(6000000 + (uint32_t)forgotten - 1, 2120 + (forgotten - 1) * 1000), "-");
    CHECK_STRING(what(6000000 + (uint32_t)forgotten, 2120 + forgotten * 1000), "[short]");
    CHECK_STRING(what(6000000 + MANY - 1, 2120 + (MANY - 1) * 1000), "[short]");
    processes_forget(processes);
    processes_forget(processes);
    CHECK_NUMBER(processes->history.count, 1);
    CHECK_NUMBER(processes->history.past_bytes, 0);
    end();
}

TEST(one_that_executes_for_ever)
{
    begin();
    maps(10, A, "[first]");
    for (uint64_t i = 0; i < 1000; i++) {
        executes(2000 + i * 100, A);
        maps(2010 + i * 100, A, i % 2 ? "[odd]" : "[even]");
    }
    CHECK_NUMBER(history_newest(&processes->history, A)->program_count, HISTORY_PROGRAMS);
    CHECK_NUMBER(processes_lost(processes).forgotten, 1001 - HISTORY_PROGRAMS);
    CHECK_STRING(what(A, 2020 + 999 * 100), "[odd]");
    CHECK_STRING(what(A, 2020 + 998 * 100), "[even]");
    CHECK_STRING(what(A, 2020), "-");
    CHECK_STRING(what(A, 0), "-");
    end();
}

TEST(only_who_is_wished_for)
{
    static const uint32_t pids[] = {A, B};
    static const struct processes_options config = {pids, 2, .silent = true};

    CHECK_NUMBER(processes_open(&processes, &config), 0);
    processes->begin = BEGIN;
    maps(10, A, "[one]");
    maps(10, C, "[other]");
    forks(20, A, C);
    CHECK_STRING(what(A, 0), "[one]");
    CHECK_STRING(what(C, 0), "-");
    CHECK_NUMBER(processes->history.count, 1);
    end();
}

/*
 * A watcher's copy of the mappings of 20 processes, from A on, page by page: a mapping stays until
 * another replaces it.
 */
#define PAGES 128
#define PROCESSES 20

static char heard[PROCESSES][PAGES][16];

static void hear(void *context, uint32_t pid, const struct mapping *mapping)
{
    (void)context;
    for (uint64_t page = mapping->start >> 12; page < mapping->end >> 12 && page < PAGES; page++)
        snprintf(heard[pid - A][page], 16, "%s", mapping->file->label);
}

/* Does the watcher's copy have all of the tracker's mappings? */
static void check_heard(void)
{
    for (uint32_t pid = A; pid < A + PROCESSES; pid++) {
        const struct life *life = history_living(&processes->history, pid);
        unsigned wrong = 0;
        for (uint64_t page = 0; page < PAGES && life; page++) {
            const struct mapping *mapping = image_find(life->programs->image, page << 12);
            wrong += mapping && strncmp(heard[pid - A][page], mapping->file->label, 15) != 0;
        }
        CHECK_NUMBER(wrong, 0);
    }
}

TEST(a_watcher_hears)
{
    begin();
    maps_at(2000, A, 0x1000, "[one]");
    processes_watch(processes, hear, NULL);
    CHECK_STRING(heard[0][1], "[one]"); /* mapped before the watch began */
    forks(2100, A, B);
    CHECK_STRING(heard[B - A][1], "[one]");
    maps_at(2200, B, 0x1000, "[two]");
    CHECK_STRING(heard[B - A][1], "[two]");
    CHECK_STRING(heard[0][1], "[one]");
    executes(2300, A);
    maps_at(2350, A, 0x1000, "[new]");
    CHECK_STRING(heard[0][1], "[new]");
    ends(2400, B);
    check_heard();
    processes_watch(processes, NULL, NULL);
    maps_at(2500, A, 0x1000, "[three]");
    CHECK_STRING(heard[0][1], "[new]");
    end();
}

/* Records of any kind in any order: the watcher's copy stays right, and all memory is freed. */
TEST(random_events)
{
    static const char *const names[] = {"[a]", "[b]", "[c]", "//anon", ""};

    srand(8);
    begin();
    processes_watch(processes, hear, NULL);
    for (uint64_t i = 0; i < 200000; i++) {
        struct task_event event = {
            .kind = (enum task_event_kind)(rand() % 5),
            .time = 2000 + i * 2 - (uint64_t)(rand() % 1000),
            .pid = A + (uint32_t)rand() % 20,
            .parent = A + (uint32_t)rand() % 20,
            .start = (uint64_t)rand() % 100 * 0x1000,
            .path = names[rand() % 5],
            .lost = 1,
        };
        event.tid = rand() % 2 ? event.pid : event.pid + 100;
        event.end = event.start + 0x1000 * (1 + (uint64_t)rand() % 10);
        tell(event);
        if (rand() % 16 == 0) {
            uint64_t generation = 2000 + (uint64_t)rand() % (i * 2 + 1);
            (void)what(event.pid, rand() % 4 ? generation : 0);
        }
        if (rand() % 2000 == 0)
            processes_forget(processes);
        if (i % 10000 == 0)
            check_heard();
    }
    check_heard();
    for (uint32_t pid = A; pid < A + 20; pid++)
        if (history_living(&processes->history, pid))
            history_end(&processes->history, history_living(&processes->history, pid), 1000000);
    processes_forget(processes);
    processes_forget(processes);
    CHECK_NUMBER(processes->history.past_bytes, 0);
    CHECK_NUMBER(processes->history.count, 0);
    end();
}

TEST_MAIN
