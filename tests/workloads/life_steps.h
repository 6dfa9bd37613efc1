/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Steps of a life that make threads, children, or execute programs. */
#ifndef STACKBOX_WORKLOADS_LIFE_STEPS_H
#define STACKBOX_WORKLOADS_LIFE_STEPS_H

#include "last_pid.h"
#include "life_parts.h"

/* ---- deeds */

static void deed(void)
{
    char name[16];

    switch (between(&dice, 0, 9)) {
    case 0: case 1: case 2: life_calls(between(&dice, 1, 200)); break;
    case 3: case 4: life_nap(between(&dice, 100, 15000) * 1000); break;
    case 5: case 6: life_spin(between(&dice, 200, 6000) * 1000); break;
    case 7:
        snprintf(name, sizeof(name), one_in(&dice, 4) ? "a %u) b" : "n%u", between(&dice, 0, 99));
        rename_thread(name);
        break;
    case 8: go_deep(between(&dice, 1, 12)); break;
    default:
        for (unsigned i = between(&dice, 1, 20); i; i--) {
            life_calls(1);
            sched_yield();
        }
    }
    seen();
}

static void deeds(void *unused)
{
    (void)unused;
    for (unsigned i = between(&dice, 1, 4); i; i--)
        deed();
    life_calls(between(&dice, 1, 9));
}

/* Reports a standing step as ready, and waits for the go-ahead in any step. */
static void stand(void)
{
    if (my_step->stands) {
        seen();
        ADD(life->ready, 1);
    }
    life_stand();
}

static void stand_and_deeds(void *unused)
{
    life_stand();
    deeds(unused);
}

/* ---- programs */

/* Makes a copy of this program, or a hard link to it; `path` receives the new path. */
static int make_program(char *path, size_t size, const char *name, int is_copy)
{
    char own[4096], block[65536];
    ssize_t got = 0;
    int from, to;

    snprintf(own, sizeof(own), "%s/life", directory);
    snprintf(path, size, "%s/%s", directory, name);
    if (!is_copy)
        return link(own, path) && errno != EEXIST;
    from = open(own, O_RDONLY | O_CLOEXEC);
    to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    while (from >= 0 && to >= 0 && (got = read(from, block, sizeof(block))) > 0) {
        if (write(to, block, (size_t)got) != got)
            got = -1;
    }
    close(from);
    close(to);
    return from < 0 || to < 0 || got;
}

static void name_program(char *name, size_t size, const char *prefix)
{
    snprintf(name, size, "%s%u.%u", prefix, (unsigned)(my_step - steps), between(&dice, 0, 9999));
}

struct member {
    char numbers[128], step[16];
    const char *words[16];
};

/* The command line of an executed program (a member): it continues part `follows` - 1, if any. */
static void write_words(struct member *member, const char *path, uint32_t follows, uint32_t process, uint32_t parent,
                        uint64_t born_after, uint32_t program)
{
    snprintf(member->step, sizeof(member->step), "%u", (unsigned)(my_step - steps));
    snprintf(member->numbers, sizeof(member->numbers), "%u %u %u %llu %u %llu", follows, process, parent,
             (unsigned long long)born_after, program, (unsigned long long)roll(&dice));
    const char *words[] = {
        path, seed_text, "--log", log_path, "--dir", directory, "--member", member->numbers, "--step", member->step, NULL
    };
    memcpy(member->words, words, sizeof(words));
}

static void become(const char *path, uint32_t program)
{
    struct member member;

    write_words(&member, path, index_of(me) + 1, me->process, me->parent, 0, program);
    seen();
    me->ended = 1;
    execve(path, (char **)(uintptr_t)member.words, environ);
    me->ended = 0;
    trouble(path);
    _exit(4);
}

static void become_named(const char *prefix)
{
    char name[16], path[4096];

    name_program(name, sizeof(name), prefix);
    if (make_program(path, sizeof(path), name, 0))
        snprintf(path, sizeof(path), "%s/life", directory);
    become(path, PROGRAM_LIFE);
}

/* main() of an executed program (--member); does not return. */
static void be_member(const char *numbers)
{
    unsigned follows, process, parent, program;
    unsigned long long born_after, seed;
    struct origin origin;
    struct part *old = NULL;

    if (sscanf(numbers, "%u %u %u %llu %u %llu", &follows, &process, &parent, &born_after, &program, &seed) != 6)
        exit(2);
    origin = (struct origin){born_after, process, parent, follows, program, 0, NULL};
    dice.state = seed;
    if (follows)
        old = &life->part[follows - 1];
    begin_part(&origin);
    if (old) {
        tell_number(old, me->pid);
        old->gone_before = me->first;
        process_gone(process, me);
    }
    deeds(NULL);
    end_process();
}

/* ---- the steps: each runs in a process of its own, except those of in_first_process() */

/* Runs `function` in new threads and, if it is not NULL, `own` in this one meanwhile. */
static void run_threads(void (*function)(void *), void (*own)(void *))
{
    struct thread_words words[8];
    unsigned count = my_step->size;

    stand();
    for (unsigned i = 0; i < count; i++) {
        if (start_thread(&words[i], function, NULL))
            count = i;
    }
    if (own)
        own(NULL);
    for (unsigned i = 0; i < count; i++)
        end_thread(&words[i]);
}

static void do_threads(void *unused)
{
    (void)unused;
    run_threads(deeds, deeds);
}

static void chain(unsigned left)
{
    uint32_t process;
    pid_t pid = left ? give_birth(&process) : 1;

    if (!pid) {
        chain(left - 1);
        end_process();
    }
    deeds(NULL);
    if (left)
        await(pid, process, 0);
}

static void do_fork(void)
{
    stand();
    chain(my_step->size);
}

static void fork_and_await(void *unused)
{
    uint32_t process;
    pid_t pid;

    (void)unused;
    for (unsigned i = 0; i < my_step->size; i++) {
        pid = give_birth(&process);
        if (!pid) {
            deeds(NULL);
            end_process();
        }
        await(pid, process, 0);
    }
}

static void do_forking_threads(void *unused)
{
    (void)unused;
    run_threads(fork_and_await, NULL);
}

/* Until its exec the child shares its parent's memory, including `me` and `figures`. */
static APART void vfork_once(void)
{
    struct part *parent = me;
    int its_figures = figures;
    struct origin origin = {now(), new_process(), me->process, 0, me->program, 0, NULL};
    uint32_t process = origin.process;
    volatile pid_t pid = vfork();

    if (!pid) {
        figures = -1;
        begin_part(&origin);
        life_calls(between(&dice, 1, 50));
        become_named("vf");
    }
    me = parent;
    figures = its_figures;
    await(pid, process, 0);
}

static void do_vfork(void)
{
    stand();
    for (unsigned i = 0; i < my_step->size; i++)
        vfork_once();
}

static void do_spawn(void)
{
    struct member member;
    struct origin origin;
    char name[16], path[4096];
    pid_t pid;

    stand();
    for (unsigned i = 0; i < my_step->size; i++) {
        uint32_t process = new_process();
        name_program(name, sizeof(name), "sp");
        if (make_program(path, sizeof(path), name, 0))
            return;
        /* Until its exec, the child has this thread's name. */
        origin = (struct origin){now(), process, me->process, 0, me->program, 0, NULL};
        write_words(&member, path, index_of(make_part(&origin)) + 1, process, me->process, 0, PROGRAM_LIFE);
        if (!posix_spawn(&pid, path, NULL, NULL, (char **)(uintptr_t)member.words, environ))
            await(pid, process, 0);
    }
}

static void do_exec(void)
{
    stand();
    deeds(NULL);
    become_named("ex");
}

static void deeds_and_become(void *unused)
{
    stand();
    deeds(unused);
    become_named("te");
}

static void pause_for_ever(void)
{
    for (;;)
        pause();
}

static void do_thread_exec(void)
{
    struct thread_words words;

    deeds(NULL);
    if (!my_step->stands)
        life_calls(3);
    seen();
    if (start_thread(&words, deeds_and_become, NULL))
        return;
    pause_for_ever();
}

/* Ends only the first thread, which stays a zombie until the others have ended. */
static void leave_alone(void)
{
    end_part();
    call_kernel(SYS_exit, 0);
}

static void see_leader_gone(void)
{
    char path[64], text[256];
    uint32_t process = me->process;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", me->pid);
    for (int i = 0; i < 2000; i++) {
        FILE *file = fopen(path, "re");
        size_t got = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
        char *end;
        if (file)
            fclose(file);
        text[got] = 0;
        end = strrchr(text, ')');
        if (end && end[1] == ' ' && end[2] == 'Z')
            break;
        usleep(500);
    }
    for (uint32_t i = 0; i < life->parts; i++) {
        struct part *part = &life->part[i];
        if (part->process == process && part->tid == part->pid && !part->gone_before)
            part->gone_before = now();
    }
}

static void without_leader(void *becomes)
{
    see_leader_gone();
    stand();
    deeds(NULL);
    if (becomes)
        become_named("le");
    end_process();
}

static struct thread_words apart[8]; /* static: the first thread ends before the others */

static void do_leader_gone(int becomes)
{
    if (!my_step->stands)
        deeds(NULL);
    if (start_thread(&apart[0], without_leader, becomes ? apart : NULL))
        return;
    for (unsigned i = 1; i < my_step->size && !becomes; i++)
        start_thread(&apart[i], stand_and_deeds, NULL);
    leave_alone();
}

static void on_signal(int signal)
{
    (void)signal;
    life_calls(3);
}

static void do_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    uint32_t process;
    sigset_t set;
    pid_t pid;

    /* Before it begins a part of its own, the child's handler would count calls in its parent's. */
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigaction(SIGUSR1, &action, NULL);
    pid = give_birth(&process);
    if (!pid) {
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        stand();
        deeds(NULL);
        deeds(NULL);
        end_process();
    }
    life_stand();
    for (unsigned i = 0; i < 4 * my_step->size && pid > 0; i++) {
        kill(pid, SIGUSR1);
        life_nap(between(&dice, 100, 3000) * 1000);
    }
    await(pid, process, 0);
}

static void do_stopped(void)
{
    uint32_t process;
    pid_t pid = give_birth(&process);

    if (!pid) {
        stand();
        for (unsigned i = 0; i < 4; i++)
            deed();
        deeds(NULL);
        end_process();
    }
    life_stand();
    for (unsigned i = 0; i < my_step->size && pid > 0; i++) {
        life_nap(between(&dice, 100, 4000) * 1000);
        kill(pid, SIGSTOP);
        life_nap(between(&dice, 100, 9000) * 1000);
        kill(pid, SIGCONT);
    }
    await(pid, process, 0);
}

static void for_ever(void *unused)
{
    (void)unused;
    life_stand();
    for (;;)
        deed();
}

static void do_killed(void)
{
    struct thread_words words[8];
    uint32_t process;
    pid_t pid = give_birth(&process);

    if (!pid) {
        for (unsigned i = 1; i < my_step->size; i++)
            start_thread(&words[i], for_ever, NULL);
        stand();
        for_ever(NULL);
    }
    life_stand();
    life_nap(between(&dice, 100, 30000) * 1000);
    if (pid > 0)
        kill(pid, SIGKILL);
    await(pid, process, SIGKILL);
}

/* Forks a child with this pid; a child that gets another pid exits at once. < 0: no such child. */
static pid_t give_birth_as(pid_t wanted, uint32_t *process)
{
    for (int tries = 0; tries < NEVER_AGAIN; tries++) {
        struct origin origin = {0, 0, me->process, 0, me->program, 0, NULL};
        uint64_t seed = roll(&dice);
        pid_t pid;
        if (!chooses_pids)
            return -1;
        origin.born_after = now();
        origin.process = *process = new_process();
        origin.part = make_part(&origin);
        pid = fork_as_pid(wanted);
        if (!pid) {
            if (getpid() != wanted)
                _exit(0);
            be_born(&origin, seed);
            return 0;
        }
        tell_number(origin.part, pid);
        if (pid == wanted || pid < 0)
            return pid;
        await(pid, *process, 0);
    }
    return -1;
}

static void do_same_pid(int leader_ends)
{
    uint32_t process;
    pid_t pid = give_birth(&process), again;

    if (!pid) {
        if (leader_ends)
            do_leader_gone(0);
        stand();
        deeds(NULL);
        end_process();
    }
    await(pid, process, 0);
    for (unsigned i = 0; i < my_step->size; i++) {
        again = give_birth_as(pid, &process);
        if (!again) {
            rename_thread("again");
            deeds(NULL);
            if (one_in(&dice, 2))
                become_named("ag");
            end_process();
        }
        if (again < 0)
            return;
        await(again, process, 0);
    }
}

#endif
