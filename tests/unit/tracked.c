/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Real processes under the tracker: short ones, deleted and replaced programs, several programs in
 * one process, another root. They run copies of this program, each of which reports the address of
 * a function, in memory and in the file.
 */
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "processes/process_parts.h"
#include "files.h"
#include "test.h"

#define PAGE 4096

static struct processes *processes;
static int answers[2], holds_back[2]; /* pipes: from and to the children */

/* ---- What the copies do ---- */

struct answer {
    uint32_t pid;
    uint64_t generation;    /* of this exec */
    uint64_t address; /* of a function of this program */
    uint64_t in_file; /* the function's address in the file */
};

/* The load bias, from the kernel's auxiliary vector. */
static uint64_t load_bias(void)
{
    const Elf64_Phdr *header = (const Elf64_Phdr *)getauxval(AT_PHDR);

    for (unsigned long i = getauxval(AT_PHNUM); i; i--, header++)
        if (header->p_type == PT_PHDR)
            return (uint64_t)getauxval(AT_PHDR) - header->p_vaddr;
    return 0;
}

static struct answer answer_now(void)
{
    struct answer answer = {.pid = (uint32_t)getpid(), .generation = now_ns() & ~1ULL,
                            .address = (uintptr_t)&answer_now};

    answer.in_file = answer.address - load_bias();
    return answer;
}

/* Waits until the parent's tracker has read this process. */
static void wait_to_be_seen(int fd)
{
    char byte;

    (void)!read(fd, &byte, 1);
}

/*
 * "run FD HOLD PATH...": writes its answer, and executes the next path; the last one waits if HOLD
 * is set.
 */
static int run_copy(char **arguments)
{
    const struct answer answer = answer_now();

    if (write(atoi(arguments[1]), &answer, sizeof(answer)) != sizeof(answer))
        return 1;
    if (arguments[3]) {
        char *next = arguments[3];
        memmove(arguments + 1, arguments, 3 * sizeof(*arguments));
        execv(next, arguments + 1);
        return 1;
    }
    if (strcmp(arguments[2], "-"))
        wait_to_be_seen(atoi(arguments[2]));
    return 0;
}

/* ---- What starts them ---- */

static bool copy_to(const char *path)
{
    char bytes[65536];
    ssize_t got;
    AUTO_FD from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    AUTO_FD to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    bool copied = from >= 0 && to >= 0;

    while (copied && (got = read(from, bytes, sizeof(bytes))) > 0)
        copied = write(to, bytes, (size_t)got) == got;
    return copied;
}

/* Reads pending task records, as applets do between reports. */
static void take_what_is_told(int timeout)
{
    struct pollfd told = {.fd = processes_fd(processes), .events = POLLIN};

    if (poll(&told, 1, timeout) > 0)
        CHECK_NUMBER(processes_read(processes), 0);
}

static void wait_for_end(pid_t child)
{
    int status = 1;

    while (!waitpid(child, &status, WNOHANG))
        take_what_is_told(1);
    CHECK_NUMBER(status, 0);
}

/* Returns once the tracker has read the child's records: until then its file must stay. */
static void wait_for(pid_t child)
{
    wait_for_end(child);
    take_what_is_told(10000);
}

/* The tracker reads a waiting child's records so far while the child can still be read in /proc. */
static void see_and_let_go(pid_t child)
{
    usleep(5000);
    take_what_is_told(10000);
    CHECK_NUMBER(write(holds_back[1], "", 1), 1);
    wait_for(child);
}

static pid_t run_copies(const char *hold, const char *path, const char *second, const char *third)
{
    char fd[16];
    pid_t child;

    snprintf(fd, sizeof(fd), "%d", answers[1]);
    child = fork();
    if (!child) {
        execl(path, "run", fd, hold, second, second ? third : NULL, NULL);
        _exit(1);
    }
    return child;
}

static pid_t start(const char *path, const char *second, const char *third)
{
    return run_copies("-", path, second, third);
}

/* Starts a copy that waits for see_and_let_go(). */
static pid_t start_held(const char *path)
{
    char hold[16];

    snprintf(hold, sizeof(hold), "%d", holds_back[0]);
    return run_copies(hold, path, NULL, NULL);
}

static struct answer next_answer(void)
{
    struct answer answer = {.pid = 0};

    CHECK_NUMBER(read(answers[0], &answer, sizeof(answer)), sizeof(answer));
    return answer;
}

static struct process_place place_at(uint32_t pid, uint64_t generation, uint64_t address)
{
    struct process_place place = {.label = "?"};

    CHECK_NUMBER(processes_find(processes, pid, generation, 0, &address, 1, &place), 0);
    if (place.kind == MAPPED_FILE)
        CHECK_NUMBER(mapped_file_address(place.file, place.address, &place.address), 0);
    return place;
}

static void check_answer(const struct answer *answer, const char *label)
{
    struct process_place place = place_at(answer->pid, answer->generation, answer->address);

    CHECK_STRING(place.label, label);
    CHECK_NUMBER(place.kind, MAPPED_FILE);
    CHECK_NUMBER(place.address, answer->in_file);
    CHECK(place.file && place.file->fd >= 0);
}

static void open_tracker(void)
{
    static const struct processes_options all = {.pids = NULL};

    CHECK_NUMBER(processes_open(&processes, &all), 0);
    processes_begin(processes);
}

static uint64_t lost_here;

static void close_tracker(void)
{
    lost_here += processes_lost(processes).records;
    processes_close(processes);
}

/* All processes of the machine fill the same rings: after a loss, the test starts again. */
static void without_losses(void (*test)(void))
{
    for (int attempt = 0; attempt < 5; attempt++) {
        test_failures_here = 0;
        lost_here = 0;
        test();
        if (!lost_here)
            return;
    }
    CHECK_NUMBER(lost_here, 0);
}

#define TRACKED(name)                                                                     \
    static void name##_once(void);                                                        \
    TEST(name)                                                                            \
    {                                                                                     \
        without_losses(name##_once);                                                      \
    }                                                                                     \
    static void name##_once(void)

/* ---- Tests ---- */

TRACKED(programs_that_are_deleted)
{
    char *path = path_in(own_directory, "deleted");

    open_tracker();
    CHECK(copy_to(path));
    pid_t child = start_held(path);
    struct answer answer = next_answer();
    see_and_let_go(child);
    unlink(path);
    int other = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    CHECK_NUMBER(write(other, "other", 5), 5);
    close(other);
    check_answer(&answer, "deleted");
    struct process_place place = place_at(answer.pid, answer.generation, answer.address);
    struct stat ours;
    CHECK(!stat("/proc/self/exe", &ours) && place.file->about.st_size == ours.st_size);
    CHECK(!mapped_file_changed(place.file));
    CHECK_STRING(place.file->path, path);
    CHECK_STRING(place.file->root, "");
    unlink(path);
    close_tracker();
}

/* A file overwritten in place: the tracker reports it as changed for the first run only. */
TRACKED(programs_that_are_overwritten)
{
    char *path = path_in(own_directory, "written");

    open_tracker();
    CHECK(copy_to(path));
    wait_for(start(path, NULL, NULL));
    struct answer answer = next_answer(), again;
    check_answer(&answer, "written");
    struct process_place place = place_at(answer.pid, answer.generation, answer.address);
    CHECK(!mapped_file_changed(place.file));
    usleep(20000); /* file times are coarse */
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    CHECK_NUMBER(write(fd, "more", 4), 4);
    close(fd);
    wait_for(start(path, NULL, NULL));
    again = next_answer();
    place = place_at(answer.pid, answer.generation, answer.address);
    CHECK(mapped_file_changed(place.file));
    place = place_at(again.pid, again.generation, again.address);
    CHECK(place.file && !mapped_file_changed(place.file));
    check_answer(&again, "written");
    unlink(path);
    close_tracker();
}

/* A file that is renamed, linked and given to another owner is still the same file. */
TRACKED(programs_that_move)
{
    char *path = path_in(own_directory, "moved"), *now = path_in(own_directory, "new name");

    open_tracker();
    CHECK(copy_to(path));
    wait_for(start(path, NULL, NULL));
    CHECK_NUMBER(rename(path, now), 0);
    CHECK_NUMBER(chmod(now, 0700), 0);
    struct answer answer = next_answer();
    check_answer(&answer, "moved");
    CHECK(!mapped_file_changed(place_at(answer.pid, answer.generation, answer.address).file));
    unlink(now);
    close_tracker();
}

TRACKED(one_pid_with_three_programs)
{
    char *one = path_in(own_directory, "one"), *two = path_in(own_directory, "two");
    char *three = path_in(own_directory, "three");
    struct answer given[3];

    open_tracker();
    CHECK(copy_to(one) && copy_to(two) && copy_to(three));
    wait_for(start(one, two, three));
    unlink(one);
    unlink(two);
    unlink(three);
    for (int i = 0; i < 3; i++)
        given[i] = next_answer();
    CHECK(given[0].pid == given[1].pid && given[1].pid == given[2].pid);
    check_answer(&given[0], "one");
    check_answer(&given[1], "two");
    check_answer(&given[2], "three");
    /* Before its first exec it was this program. */
    struct process_place place = place_at(given[0].pid, 0, (uintptr_t)&one_pid_with_three_programs_once);
    CHECK_STRING(place.label, "tracked");
    close_tracker();
}

/* The tracker reads all records at once, after the process's end. */
TRACKED(a_process_that_is_told_late)
{
    char *one = path_in(own_directory, "one"), *two = path_in(own_directory, "two");
    int status = 1;

    open_tracker();
    CHECK(copy_to(one) && copy_to(two));
    waitpid(start(one, two, NULL), &status, 0);
    CHECK_NUMBER(status, 0);
    struct answer first = next_answer(), second = next_answer();
    check_answer(&first, "one");
    check_answer(&second, "two");
    unlink(one);
    unlink(two);
    close_tracker();
}

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

/* The first fields of struct clone_args (5.5). */
struct wished_pid {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid;
    uint64_t set_tid_size;
};

TRACKED(a_pid_that_is_used_again)
{
    pid_t first = fork(), again;
    const struct wished_pid wished = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&first,
                                      .set_tid_size = 1};
    char *path = path_in(own_directory, "mapped");

    if (!first)
        _exit(0);
    CHECK(copy_to(path));
    int status, fd = open(path, O_RDONLY | O_CLOEXEC);
    waitpid(first, &status, 0);
    open_tracker();
    void *at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    again = (pid_t)syscall(SYS_clone3, &wished, sizeof(wished));
    if (!again)
        _exit(0);
    if (again != first) {
        printf("SKIP a_pid_that_is_used_again, in part: a pid cannot be chosen here\n");
    } else {
        waitpid(again, &status, 0);
        uint64_t ended = now_ns() | 1;
        mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        again = (pid_t)syscall(SYS_clone3, &wished, sizeof(wished));
        if (!again)
            _exit(0);
        CHECK_NUMBER(again, first);
        waitpid(again, &status, 0);
        CHECK_STRING(place_at((uint32_t)first, 0, (uintptr_t)at).label, "mapped");
        CHECK_STRING(place_at((uint32_t)first, ended, (uintptr_t)at).label, "[anon]");
    }
    munmap(at, PAGE);
    close(fd);
    unlink(path);
    close_tracker();
}

/* The tracker may start anywhere in a series of execs: the last one is right. */
TRACKED(execs_while_it_begins)
{
    char *one = path_in(own_directory, "one"), *two = path_in(own_directory, "two"), fd[16], hold[16];

    CHECK(copy_to(one) && copy_to(two));
    snprintf(fd, sizeof(fd), "%d", answers[1]);
    snprintf(hold, sizeof(hold), "%d", holds_back[0]);
    for (int round = 0; round < 20 && !test_failures_here; round++) {
        char *arguments[32] = {(char *)(uintptr_t)"run", fd, hold};
        int execs = 1 + round;
        for (int i = 0; i < execs; i++)
            arguments[3 + i] = i % 2 ? two : one;
        pid_t child = fork();
        if (!child) {
            execv("/proc/self/exe", arguments);
            _exit(1);
        }
        open_tracker();
        struct answer answer = next_answer(), before = answer;
        for (int i = 0; i < execs; i++) {
            before = answer;
            answer = next_answer();
        }
        uint64_t begin = processes->begin;
        see_and_let_go(child);
        if (answer.generation < begin) /* its last exec came too early to be counted */
            answer.generation = 0;
        if (!answer.generation || before.generation > begin) /* else it is uncertain */
            check_answer(&answer, execs % 2 ? "one" : "two");
        close_tracker();
    }
    unlink(one);
    unlink(two);
}

#ifdef __SANITIZE_ADDRESS__ /* each start takes thirty times as long */
#define MANY 100
#else
#define MANY 2000
#endif

TRACKED(many_processes)
{
    static struct answer given[MANY];
    char *path = path_in(own_directory, "many");

    open_tracker();
    CHECK(copy_to(path));
    for (int i = 0; i < MANY; i++) {
        wait_for_end(start(path, NULL, NULL));
        given[i] = next_answer();
    }
    take_what_is_told(10000);
    unlink(path);
    for (int i = 0; i < MANY && !test_failures_here; i++)
        check_answer(&given[i], "many");
    CHECK_NUMBER(processes_lost(processes).forgotten, 0);
    processes_forget(processes);
    processes_forget(processes);
    CHECK(!history_newest(&processes->history, given[0].pid));
    CHECK(!history_newest(&processes->history, given[MANY - 1].pid));
    close_tracker();
}

static bool may_have_namespaces(const char *test)
{
    pid_t child = fork();
    int status = 1;

    if (!child)
        _exit(unshare(CLONE_NEWNS | CLONE_NEWPID) != 0);
    waitpid(child, &status, 0);
    if (status)
        printf("SKIP %s: there is no right to new namespaces\n", test);
    return !status;
}

static void reach(const char *root, const char *path, const struct stat *about)
{
    struct stat reached;
    AUTO_TEXT whole = {0};

    text_format(&whole, "%s%s", root, path);
    CHECK(!stat(whole.data, &reached) && reached.st_ino == about->st_ino);
}

/* A process in its own root and mount namespace, which end with it. */
TRACKED(another_root)
{
    char *root = path_in(own_directory, "root"), *program = path_in(own_directory, "root/program");
    char fd[16], hold[16];

    if (!may_have_namespaces("another_root"))
        return;
    open_tracker();
    CHECK_NUMBER(mkdir(root, 0755), 0);
    snprintf(fd, sizeof(fd), "%d", answers[1]);
    snprintf(hold, sizeof(hold), "%d", holds_back[0]);
    pid_t child = fork();
    if (!child) {
        const struct answer none = {.pid = 0};
        struct stat about;
        bool there = !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
                     !mount("none", root, "tmpfs", 0, "mode=0755") && copy_to(program) &&
                     !chroot(root) && !chdir("/") && !stat("/program", &about);
        /* Without a dynamic linker there it must be a static program, like release builds. */
        if (there)
            execl("/program", "run", fd, hold, NULL);
        _exit(write(answers[1], &none, sizeof(none)) < 0 || !there);
    }
    struct answer answer = next_answer();
    if (!answer.pid) {
        printf("SKIP another_root, in part: this is no static program\n");
        wait_for(child);
    } else {
        see_and_let_go(child);
        check_answer(&answer, "program");
        struct process_place place = place_at(answer.pid, answer.generation, answer.address);
        CHECK_STRING(place.file->path, "/program");
        CHECK(place.file->root && *place.file->root);
        if (place.file->root)
            reach(place.file->root, "/program", &place.file->about);
    }
    rmdir(root);
    close_tracker();
}

/* ---- Memory that a JIT may have written ---- */

static void make_map(uint32_t number, uid_t user, const char *content)
{
    char path[64];

    snprintf(path, sizeof(path), "/tmp/perf-%u.map", number);
    unlink(path);
    AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    CHECK(fd >= 0 && write(fd, content, strlen(content)) == (ssize_t)strlen(content));
    CHECK(geteuid() || !fchown(fd, user, user));
}

static bool holds(int fd, const char *content)
{
    char bytes[64] = "";

    return fd >= 0 && pread(fd, bytes, sizeof(bytes) - 1, 0) >= 0 && !strcmp(bytes, content);
}

/* Maps executable memory, writes its answer, and waits. */
static void map_code(void)
{
    const struct answer answer = answer_now();

    mmap((void *)0x70000000, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    (void)!write(answers[1], &answer, sizeof(answer));
    wait_to_be_seen(holds_back[0]);
}

/* A child that maps executable memory and ends, as `user`. */
static uint32_t run_jit(uid_t user)
{
    pid_t child = fork();

    if (!child) {
        if (user && (setresgid(user, user, user) || setresuid(user, user, user)))
            _exit(2);
        map_code();
        _exit(0);
    }
    (void)next_answer();
    see_and_let_go(child);
    return (uint32_t)child;
}

TRACKED(maps_of_jits)
{
    struct jitmap_refusal refusal = {.reason = NULL};
    uid_t user = geteuid() ? geteuid() : 65533;
    char path[64];

    open_tracker();
    uint32_t pid = run_jit(user);
    struct process_place place = place_at(pid, 0, 0x70000010);
    CHECK_NUMBER(place.kind, MAPPED_ANONYMOUS);
    CHECK_STRING(place.label, "[anon]");
    snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
    unlink(path);
    CHECK_NUMBER(processes_open_jitmap(processes, pid, 0, &refusal), -ENOENT);
    make_map(pid, user, "its own");
    int fd = processes_open_jitmap(processes, pid, 0, &refusal);
    CHECK(holds(fd, "its own"));
    close(fd);
    const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
    CHECK_NUMBER(utimensat(AT_FDCWD, path, old, 0), 0); /* of an earlier process with this pid */
    CHECK_NUMBER(processes_open_jitmap(processes, pid, 0, &refusal), -ENOENT);
    if (!geteuid()) {
        make_map(pid, 0, "of root");
        fd = processes_open_jitmap(processes, pid, 0, &refusal);
        CHECK(holds(fd, "of root"));
        close(fd);
        make_map(pid, user + 1, "of another");
        CHECK_NUMBER(processes_open_jitmap(processes, pid, 0, &refusal), -EACCES);
        CHECK_STRING(refusal.path, path);
        CHECK(refusal.reason && strstr(refusal.reason, "owner is not"));
    }
    unlink(path);
    CHECK_NUMBER(symlink("/proc/self/exe", path), 0);
    CHECK_NUMBER(processes_open_jitmap(processes, pid, 0, &refusal), -EACCES);
    CHECK(refusal.reason && strstr(refusal.reason, "regular"));
    unlink(path);
    CHECK_NUMBER(mkfifo(path, 0644), 0);
    CHECK_NUMBER(processes_open_jitmap(processes, pid, 0, &refusal), -EACCES);
    unlink(path);
    /* A process that has generated no code has no perf map. */
    pid = (uint32_t)fork();
    if (!pid)
        _exit(0);
    wait_for((pid_t)pid);
    make_map(pid, user, "of nobody");
    CHECK_NUMBER(processes_open_jitmap(processes, pid, 0, &refusal), -ENOENT);
    snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
    unlink(path);
    close_tracker();
}

/* A process that is pid 1 in its namespace, with its own /tmp, which ends with it. */
TRACKED(maps_of_jits_elsewhere)
{
    struct jitmap_refusal refusal = {.reason = NULL};
    uint32_t pid = 0;
    int told[2];

    if (!may_have_namespaces("maps_of_jits_elsewhere"))
        return;
    CHECK_NUMBER(pipe2(told, O_CLOEXEC), 0);
    open_tracker();
    pid_t child = fork();
    if (!child) {
        if (unshare(CLONE_NEWNS | CLONE_NEWPID) ||
            mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
            mount("none", "/tmp", "tmpfs", 0, NULL))
            _exit(2);
        pid_t inner = fork();
        if (!inner) {
            if (getpid() != 1)
                _exit(3);
            make_map(1, 0, "elsewhere");
            map_code();
            _exit(test_failures_here);
        }
        if (write(told[1], &inner, sizeof(inner)) != sizeof(inner))
            _exit(4);
        int status = 5;
        waitpid(inner, &status, 0);
        _exit(status != 0);
    }
    (void)next_answer();
    see_and_let_go(child);
    CHECK_NUMBER(read(told[0], &pid, sizeof(pid)), sizeof(pid));
    CHECK_STRING(place_at(pid, 0, 0x70000010).label, "[anon]");
    int fd = processes_open_jitmap(processes, pid, 0, &refusal);
    CHECK(holds(fd, "elsewhere"));
    close(fd);
    close(told[0]);
    close(told[1]);
    close_tracker();
}

int main(int argc, char **argv)
{
    static const struct processes_options all = {.pids = NULL};

    if (argc > 2 && !strcmp(argv[0], "run"))
        return run_copy(argv);
    if (!enter_own_directory() || pipe(answers) || pipe(holds_back))
        return 1;
    CHECK_NUMBER(processes_open(&processes, &all), 0);
    int listening = processes_listening(processes);
    processes_close(processes);
    if (listening) {
        printf("SKIP tracked: the kernel does not let us listen: %s\n", strerror(-listening));
        leave_own_directory();
        return tests_done();
    }
    run_tests();
    leave_own_directory();
    return tests_done();
}
