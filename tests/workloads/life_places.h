/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Steps of a life in other namespaces, on other CPUs, as other users, from other files; and turns. */
#ifndef STACKBOX_WORKLOADS_LIFE_PLACES_H
#define STACKBOX_WORKLOADS_LIFE_PLACES_H

#include "life_steps.h"

static void do_pid_namespace(void)
{
    uint32_t process;
    pid_t pid;

    if (unshare(CLONE_NEWPID)) {
        stand();
        return;
    }
    pid = give_birth(&process);
    if (!pid) {
        stand();
        chain(my_step->size - 1);
        if (one_in(&dice, 2))
            fork_and_await(NULL);
        end_process();
    }
    await(pid, process, 0);
}

/* A program in a file system that no other process sees. */
static void do_mount_namespace(void)
{
    char place[4096], path[4096], name[64];

    snprintf(place, sizeof(place), "%s/mounted", directory);
    mkdir(place, 0755);
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", place, "tmpfs", 0, "mode=755")) {
        stand();
        return;
    }
    snprintf(name, sizeof(name), "mounted/mo%u", (unsigned)(my_step - steps));
    if (make_program(path, sizeof(path), name, 1)) {
        trouble(path);
        return;
    }
    stand();
    deeds(NULL);
    become(path, PROGRAM_COPY);
}

static void do_time_namespace(void)
{
    static const char offsets[] = "monotonic 100000 0\nboottime 200000 0\n";
    uint32_t process;
    pid_t pid;
    int fd;

    if (unshare(CLONE_NEWTIME) || (fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC)) < 0) {
        stand();
        return;
    }
    if (write(fd, offsets, sizeof(offsets) - 1) < 0)
        trouble("timens_offsets");
    close(fd);
    pid = give_birth(&process);
    if (!pid) {
        stand();
        if (one_in(&dice, 2))
            become_named("ti");
        do_threads(NULL);
        end_process();
    }
    await(pid, process, 0);
}

static void do_pinned(void)
{
    stand();
    for (unsigned i = 0; i < my_step->size; i++) {
        cpu_set_t all;
        sched_getaffinity(0, sizeof(all), &all);
        pin_to_cpu(between(&dice, 0, 7));
        deeds(NULL);
        sched_setaffinity(0, sizeof(all), &all);
    }
}

static void do_setuid(void)
{
    if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)) {
        stand();
        return;
    }
    stand();
    deeds(NULL);
    if (my_step->size > 2) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/life", directory);
        become(path, PROGRAM_LIFE);
    }
}

/* The process has ended well: its begun calls of getppid(2) are done. */
static void all_is_done(uint32_t process)
{
    for (uint32_t i = 0; i < life->parts; i++) {
        if (life->part[i].process == process)
            life->part[i].done[OF_GETPPID] = life->part[i].begun[OF_GETPPID];
    }
}

/* `loads` does not write the log, but makes 2 * n calls if it ends well. */
static void do_loads(void)
{
    char program[4096], libraries[2][4096], text[16];
    unsigned n = between(&dice, 1, 400);
    uint32_t process;
    pid_t pid;

    stand();
    if (!loads)
        return;
    snprintf(program, sizeof(program), "%s/loads", loads);
    snprintf(libraries[0], sizeof(libraries[0]), "%s/libnorth.so", loads);
    snprintf(libraries[1], sizeof(libraries[1]), "%s/libsouth.so", loads);
    snprintf(text, sizeof(text), "%u", n);
    pid = give_birth(&process);
    if (!pid) {
        struct origin origin = {0, me->process, me->parent, index_of(me) + 1, PROGRAM_LOADS, 0, NULL};
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        end_part();
        begin_part(&origin);
        snprintf(me->name, sizeof(me->name), "loads");
        me->begun[OF_GETPPID] = 2 * n;
        execl(program, program, "-n", text, "-c", libraries[0], libraries[1], (char *)NULL);
        me->begun[OF_GETPPID] = 0;
        _exit(0);
    }
    if (!await(pid, process, 0))
        all_is_done(process);
}

/* Waits until the process runs `program`, at most about 5 s. */
static void await_image(uint32_t process, uint32_t program)
{
    for (int tries = 0; tries < 5000; tries++) {
        for (uint32_t i = 0; i < life->parts; i++) {
            if (life->part[i].process == process && life->part[i].program == program)
                return;
        }
        life_nap(1000000);
    }
}

static void do_deleted(void)
{
    char path[4096], other[4096], name[16];
    uint32_t process;
    pid_t pid;

    name_program(name, sizeof(name), "de");
    if (make_program(path, sizeof(path), name, 1)) {
        stand();
        return;
    }
    stand();
    pid = give_birth(&process);
    if (!pid)
        become(path, PROGRAM_COPY);
    life_nap(between(&dice, 0, 5000) * 1000);
    if (my_step->size > 2) {
        name_program(name, sizeof(name), "re");
        if (!make_program(other, sizeof(other), name, 1))
            rename(other, path);
    } else if (my_step->size > 1) {
        await(pid, process, 0);
        unlink(path);
        return;
    } else {
        await_image(process, PROGRAM_COPY);
        unlink(path);
    }
    await(pid, process, 0);
}

static void do_brief(void)
{
    uint32_t process[2];
    pid_t pid[2];

    stand();
    for (unsigned i = 0; i < 4 * my_step->size; i++) {
        for (int one = 0; one < 2; one++) {
            pid[one] = give_birth(&process[one]);
            if (!pid[one]) {
                life_calls(1);
                end_process();
            }
        }
        await(pid[0], process[0], 0);
        await(pid[1], process[1], 0);
    }
}

static void do_deep(void)
{
    stand();
    for (unsigned i = 0; i < my_step->size; i++)
        go_deep(between(&dice, 40, MOST_DEEP - 1));
    deeds(NULL);
}

struct turns {
    int there[2], back[2];
    unsigned rounds;
    uint32_t waker; /* the process that wakes wake_other() */
};

static void wake_other(void *argument)
{
    struct turns *turns = argument;

    me->waker = turns->waker;
    life_stand();
    for (unsigned i = 0; i < turns->rounds; i++) {
        if (one_in(&dice, 2))
            life_nap(between(&dice, 50, 4000) * 1000);
        life_wake(turns->there[1]);
        life_wait(turns->back[0]);
    }
}

static void be_woken(struct turns *turns)
{
    stand();
    for (unsigned i = 0; i < turns->rounds; i++) {
        life_wait(turns->there[0]);
        if (one_in(&dice, 2))
            life_spin(between(&dice, 50, 3000) * 1000);
        life_wake(turns->back[1]);
    }
}

static void do_turns(void *by_threads)
{
    struct turns turns = {.rounds = 4 * my_step->size, .waker = me->process};
    struct thread_words words;
    uint32_t process;
    pid_t pid;

    if (pipe2(turns.there, O_CLOEXEC) || pipe2(turns.back, O_CLOEXEC)) {
        trouble("pipe");
        return;
    }
    if (by_threads) {
        me->waker = me->process;
        if (start_thread(&words, wake_other, &turns))
            return;
        be_woken(&turns);
        end_thread(&words);
    } else {
        pid = give_birth(&process);
        if (!pid) {
            wake_other(&turns);
            end_process();
        }
        me->waker = process;
        be_woken(&turns);
        await(pid, process, 0);
    }
    close(turns.there[0]);
    close(turns.there[1]);
    close(turns.back[0]);
    close(turns.back[1]);
}

static void do_daemon(void)
{
    uint32_t process;
    pid_t pid = give_birth(&process);

    if (!pid) {
        setsid();
        /* The parent does not wait: the first process is the subreaper. */
        stand();
        life_nap(2000000);
        deeds(NULL);
        end_process();
    }
}

static void do_cpus(void)
{
    static const char path[] = "/sys/devices/system/cpu/cpu1/online";

    stand();
    for (unsigned i = 0; i < my_step->size && switches_cpus; i++) {
        for (int on = 0; on < 2; on++) {
            int fd = open(path, O_WRONLY | O_CLOEXEC);
            if (on && !life->cpus_came_since)
                life->cpus_came_since = now();
            if (fd < 0 || write(fd, on ? "1" : "0", 1) != 1)
                i = my_step->size;
            if (fd >= 0)
                close(fd);
            if (on)
                life->cpus_came_until = now();
            deeds(NULL);
        }
    }
}

#endif
