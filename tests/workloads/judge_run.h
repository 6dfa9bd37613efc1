/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sets up the drawn environment, and runs stackbox and a life in it. */
#ifndef STACKBOX_WORKLOADS_JUDGE_RUN_H
#define STACKBOX_WORKLOADS_JUDGE_RUN_H

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "judge_draw.h"

static struct life *life;

/* ---- the environment */

static int write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t written = fd < 0 ? -1 : write(fd, text, strlen(text));

    if (fd >= 0)
        close(fd);
    return written < 0;
}

/* Enters a new cgroup (v1 or v2) with this limit; `path` is its directory, "" if that failed. */
static void limit_memory(unsigned megabytes, char *path, size_t size)
{
    static const struct { const char *root, *limit, *swap; } kinds[] = {
        {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"},
        {"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
    };
    char file[400], number[32];

    *path = 0;
    write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        snprintf(path, size, "%s/judge.%d", kinds[i].root, (int)getpid());
        if (mkdir(path, 0755))
            continue;
        snprintf(file, sizeof(file), "%s/%s", path, kinds[i].limit);
        snprintf(number, sizeof(number), "%llu", (unsigned long long)megabytes << 20);
        if (!write_text(file, number)) {
            snprintf(file, sizeof(file), "%s/%s", path, kinds[i].swap);
            write_text(file, i ? "0" : number);
            snprintf(file, sizeof(file), "%s/cgroup.procs", path);
            if (!write_text(file, "0"))
                return;
        }
        rmdir(path);
    }
    *path = 0;
}

/* How many OOM kills the kernel counted in this cgroup. */
static unsigned long killed_in(const char *path)
{
    static const char *const files[] = {"memory.events", "memory.oom_control"};
    char file[400], *text, *at;
    unsigned long kills = 0;

    for (size_t i = 0; i < COUNT_OF(files); i++) {
        snprintf(file, sizeof(file), "%s/%s", path, files[i]);
        text = read_whole(file, NULL);
        at = strstr(text, "oom_kill ");
        if (at)
            kills += strtoul(at + 9, NULL, 10);
        free(text);
    }
    return kills;
}

static void mount_tracefs(int mounted)
{
    while (!umount2("/sys/kernel/tracing", MNT_DETACH) || !umount2("/sys/kernel/debug", MNT_DETACH)) {
    }
    if (mounted)
        mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
}

static void use_one_cpu(void)
{
    cpu_set_t all, one;

    sched_getaffinity(0, sizeof(all), &all);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++) {
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    }
    sched_setaffinity(0, sizeof(one), &one);
}

/* Only children enter a namespace: returns 0 inside, 1 in the parent once the child has ended. */
static int enter_namespaces(const struct draw *draw, int *status)
{
    static const char offsets[] = "monotonic 100000 0\nboottime 200000 0\n";
    int flags = 0;
    pid_t pid;

    if (draw->time_namespace && !unshare(CLONE_NEWTIME) && !write_text("/proc/self/timens_offsets", offsets))
        flags |= CLONE_NEWTIME;
    if (draw->pid_namespace && !unshare(CLONE_NEWPID))
        flags |= CLONE_NEWPID;
    if (!flags)
        return 0;
    pid = fork();
    if (!pid) {
        learn_clock_offset();
        if (flags & CLONE_NEWPID)
            mount("proc", "/proc", "proc", 0, NULL);
        return 0;
    }
    while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
    }
    return 1;
}

/* ---- snapshots */

static void take_snapshot(struct snapshot *snapshot)
{
    uint32_t parts = __atomic_load_n(&life->parts, __ATOMIC_ACQUIRE);

    parts = parts > MOST_PARTS ? MOST_PARTS : parts;
    snapshot->at = now();
    snapshot->parts = parts;
    snapshot->part = calloc(parts + 1, sizeof(struct part));
    memcpy(snapshot->part, life->part, parts * sizeof(struct part));
}

/* ---- the run */

static pid_t start(const struct words *words, const char *out, const char *err)
{
    pid_t pid = fork();

    if (pid)
        return pid;
    setsid();
    for (int signal = 1; signal < NSIG; signal++)
        if (signal != SIGKILL && signal != SIGSTOP)
            sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(open(out, O_WRONLY | O_CREAT | O_TRUNC, 0644), 1);
    dup2(open(err, O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
    for (int fd = 3; fd < 20; fd++)
        close(fd);
    execv(words->word[0], (char *const *)(uintptr_t)words->word);
    _exit(127);
}

static int as_shell(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int has_ended(pid_t pid, int *status)
{
    return waitpid(pid, status, WNOHANG) == pid;
}

static void sleep_ms(int milliseconds)
{
    poll(NULL, 0, milliseconds);
}

static int says_that_it_traces(const char *path)
{
    char text[16384] = "";
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

    if (file)
        fclose(file);
    text[got] = 0;
    return !strncmp(text, "Tracing ", 8) || !strncmp(text, "Sampling ", 9) || strstr(text, "\nTracing ") ||
           strstr(text, "\nSampling ");
}

/* The seed draws an order of the parts, in which leaving out a step does not move other parts. */
static uint64_t rank_of(const struct draw *draw, const struct part *part, uint32_t number)
{
    return mix(mix(draw->seed ^ 0x7a9) + part->step * 64 + number);
}

/* Chooses standing processes for -p, and one of their threads for -t. */
static void choose_targets(const struct draw *draw, struct run *run)
{
    const struct snapshot *parts = &run->before;
    uint64_t best[2] = {0, 0}, best_tid = 0;
    uint32_t number[MOST_STEPS + 1] = {0};

    for (uint32_t i = 0; i < parts->parts; i++) {
        const struct part *part = &parts->part[i];
        uint64_t rank = rank_of(draw, part, number[part->step]++);
        if (!part->used || part->gone_before)
            continue;
        if (rank > best_tid && !part->ended) {
            best_tid = rank;
            run->tid = part->tid;
            run->target_part = i;
        }
        if (part->process == run->processes[0] && best[0])
            continue;
        if (rank > best[0]) {
            best[1] = best[0], run->pids[1] = run->pids[0], run->processes[1] = run->processes[0];
            best[0] = rank, run->pids[0] = part->pid, run->processes[0] = part->process;
        } else if (rank > best[1]) {
            best[1] = rank, run->pids[1] = part->pid, run->processes[1] = part->process;
        }
    }
    run->targets = best[1] && run->processes[0] != run->processes[1] ? 2 : 1;
}

static void let_live(void)
{
    __atomic_store_n(&life->state, GOES, __ATOMIC_RELEASE);
    syscall(CALL_FUTEX, &life->state, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

static void tell_to_end(const struct draw *draw, pid_t stackbox)
{
    kill(stackbox, draw->ending == BY_INT ? SIGINT : SIGTERM);
    if (draw->ending == BY_TERM_TWICE) /* as timeout(1) does: to the process, then to its group */
        kill(-stackbox, SIGTERM);
}

static uint64_t deadline_in(unsigned seconds)
{
    return now() + seconds * 1000000000ull;
}

/* Waits until stackbox traces; returns 1 if it has ended, or hangs and was killed. */
static int wait_for_header(const struct place *place, struct run *run, pid_t stackbox, int *status)
{
    for (uint64_t deadline = deadline_in(place->limit); now() < deadline; sleep_ms(1)) {
        int ended = has_ended(stackbox, status);
        if (says_that_it_traces(place->err)) {
            run->traced = now();
            return ended;
        }
        if (ended)
            return 1;
    }
    run->hangs = 1;
    kill(stackbox, SIGKILL);
    waitpid(stackbox, status, 0);
    return 1;
}

static void wait_for_end(const struct place *place, struct run *run, pid_t stackbox, int *status)
{
    for (uint64_t deadline = deadline_in(place->limit); now() < deadline; sleep_ms(1)) {
        if (has_ended(stackbox, status))
            return;
    }
    run->hangs = 1;
    kill(stackbox, SIGKILL);
    waitpid(stackbox, status, 0);
}

/* Runs stackbox beside a life that waits for the go-ahead until tracing has begun. */
static void run_beside(const struct draw *draw, const struct place *place, struct run *run, struct words *words)
{
    int status = 0, its_status = 0, ended, lives = 1;
    pid_t its, stackbox;
    uint64_t deadline;

    words->count = 0;
    words->end = words->text;
    add_life(draw, place, words);
    its = start(words, "/dev/null", place->more);
    for (deadline = deadline_in(place->limit); life->state < READY && now() < deadline; sleep_ms(1)) {
        if (has_ended(its, &its_status)) {
            fails("the life ended early with status %d: %s", as_shell(its_status), life->trouble);
            return;
        }
    }
    take_snapshot(&run->before);
    choose_targets(draw, run);
    write_words(draw, place, run, words);
    run->began = now();
    stackbox = start(words, place->out, place->err);
    ended = wait_for_header(place, run, stackbox, &status);
    take_snapshot(&run->at_begin);
    let_live();
    uint64_t early = draw->early ? now() + (uint64_t)draw->early * 1000000 : 0;
    for (deadline = deadline_in(place->limit); !ended && now() < deadline && (!early || now() < early); sleep_ms(1)) {
        ended = has_ended(stackbox, &status);
        if (lives && has_ended(its, &its_status))
            lives = 0;
        if (!lives)
            break;
    }
    take_snapshot(&run->at_end);
    run->told = now();
    if (!ended) {
        tell_to_end(draw, stackbox);
        wait_for_end(place, run, stackbox, &status);
    }
    run->ended = now();
    take_snapshot(&run->after);
    run->status = as_shell(status);
    for (deadline = deadline_in(place->limit); lives && now() < deadline; sleep_ms(1))
        lives = !has_ended(its, &its_status);
    if (lives) {
        fails("the life does not end");
        kill(its, SIGKILL);
    } else if (its_status) {
        fails("the life ended with status %d", as_shell(its_status));
    }
}

static void run_command(const struct draw *draw, const struct place *place, struct run *run, struct words *words)
{
    int status = 0;
    pid_t stackbox;

    take_snapshot(&run->before);
    take_snapshot(&run->at_begin);
    write_words(draw, place, run, words);
    run->began = run->traced = now();
    stackbox = start(words, place->out, place->err);
    wait_for_end(place, run, stackbox, &status);
    run->told = run->ended = now();
    take_snapshot(&run->at_end);
    take_snapshot(&run->after);
    run->status = as_shell(status);
}

/* A life's processes can outlive its first; they are then children of this process, a subreaper. */
static void look_for_left(const struct place *place)
{
    for (uint64_t deadline = deadline_in(place->limit); now() < deadline; sleep_ms(5)) {
        pid_t ended;
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) {
        }
        if (ended < 0)
            return;
    }
    fails("processes are left");
}

static void run_in_place(const struct draw *draw, const struct place *place, struct run *run, struct words *words)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (draw->one_cpu)
        use_one_cpu();
    if (draw->whose == COMMAND)
        run_command(draw, place, run, words);
    else
        run_beside(draw, place, run, words);
    look_for_left(place);
    take_snapshot(&run->whole);
}

#endif
