/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The sandbox: its answers, its limits, and the end of its processes. */
#include "sandbox/sandbox.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/reading.h"
#include "files.h"

#ifdef __SANITIZE_ADDRESS__
#define HAS_FILTER 0 /* sanitizers make calls of their own */
#else
#define HAS_FILTER 1
#endif

/* Refuses a missing pid: kill(-1) would signal all processes. */
static bool end(pid_t pid)
{
    return pid > 1 && !kill(pid, SIGKILL);
}

static const int *kept;
static size_t kept_count;

/* A job's own opener, with a message of its own, which may be long. */
static int opener(unsigned how, const char *root, const char *path, struct text *told)
{
    text_format(told, "%u %s %s", how, root, path);
    if (how == 2)
        for (int i = 0; i < 400; i++)
            text_add(told, "0123456789");
    return how == 3 ? -ELOOP : open(path, O_RDONLY | O_CLOEXEC);
}

static int run(sandbox_work *work, void *context, struct text *answer, int *signal)
{
    const struct sandbox_job job = {
        .work = work, .context = context, .keep = kept, .keep_count = kept_count, .open = opener,
    };

    return sandbox_run(&job, answer, signal);
}

static int answer_much(void *context, struct text *answer)
{
    for (size_t i = 0; i < *(size_t *)context; i++)
        text_append(answer, "0123456789abcde", 16);
    *(size_t *)context = 0;
    return 0;
}

TEST(answers)
{
    static const size_t sizes[] = {0, 1, 100000};
    AUTO_TEXT answer = {0};
    int signal = 7;

    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        size_t count = sizes[i];
        CHECK_NUMBER(run(answer_much, &count, &answer, &signal), 0);
        CHECK_NUMBER(answer.length, sizes[i] * 16);
        CHECK(!answer.length || !memcmp(answer.data + answer.length - 16, "0123456789abcde", 16));
        CHECK_NUMBER(count, sizes[i]); /* its memory is a copy */
        CHECK_NUMBER(signal, 0);
    }
}

static int refuse(void *context, struct text *answer)
{
    text_add(answer, "half");
    return *(int *)context;
}

static int crash(void *context, struct text *answer)
{
    text_add(answer, "half");
    **(int *volatile *)context = 1;
    return 0;
}

TEST(failures)
{
    static const int results[] = {-ENOMEM, -ENOEXEC, -EIO};
    int *nowhere = NULL;
    AUTO_TEXT answer = {0};
    int signal;

    for (size_t i = 0; i < COUNT_OF(results); i++) {
        int result = results[i];
        CHECK_NUMBER(run(refuse, &result, &answer, &signal), results[i]);
        CHECK_NUMBER(answer.length, 0);
    }
    if (HAS_FILTER) { /* a sanitizer would report it */
        CHECK_NUMBER(run(crash, &nowhere, &answer, &signal), -EBADMSG);
        CHECK_NUMBER(signal, SIGSEGV);
    }
}

/* ---- What it must not do ---- */

static int try_all(void *context, struct text *answer)
{
    const char *own = context;
    int tried[8] = {0};

    tried[0] = open(own, O_RDONLY) < 0 ? errno : 0;
    tried[1] = socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0;
    tried[2] = kill(1, 0) ? errno : 0; /* 0: checks, sends no signal */
    pid_t child = fork();
    if (!child)
        _exit(0);
    tried[3] = child < 0 ? errno : 0;
    tried[4] = chmod(own, 0777) ? errno : 0;
    tried[5] = execl("/proc/self/exe", "none", NULL) ? errno : 0;
    text_append(answer, (char *)tried, sizeof(tried));
    return 0;
}

static void calls_that_are_refused(void)
{
    AUTO_TEXT answer = {0};
    int signal, tried[8];

    CHECK_NUMBER(run(try_all, path_in(own_directory, "own"), &answer, &signal), 0);
    CHECK_NUMBER(answer.length, sizeof(tried));
    memcpy(tried, answer.data, sizeof(tried));
    for (int i = 0; i < 6; i++)
        CHECK_NUMBER(tried[i], EPERM);
}

/* The sandbox closes every descriptor that it was not given. */
static int see_open(void *context, struct text *answer)
{
    const int *fds = context;

    for (int i = 0; i < 4; i++)
        text_add(answer, read(fds[i], &(char){0}, 0) < 0 ? "-" : "+");
    return 0;
}

TEST(descriptors)
{
    AUTO_TEXT answer = {0};
    int signal, own = open(".", O_RDONLY | O_CLOEXEC), fds[4];

    for (int i = 0; i < 4; i++)
        fds[i] = openat(own, "own", O_RDONLY | O_CLOEXEC);
    int far = fcntl(fds[3], F_DUPFD_CLOEXEC, 900);
    close(fds[3]);
    fds[3] = far;
    const int given[] = {fds[2], -1, fds[0]};
    kept = given;
    kept_count = COUNT_OF(given);
    CHECK_NUMBER(run(see_open, fds, &answer, &signal), 0);
    CHECK_STRING(answer.data, "+-+-");
    kept_count = 0;
    for (int i = 0; i < 4; i++)
        CHECK(!close(fds[i]));
    close(own);
}

/* ---- Capabilities that stay ---- */

/* Makes a system call fail from now on: with this first argument, or with any (option < 0). */
static bool refuse_call(long call, int option, int error)
{
    const size_t low = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offsetof(struct seccomp_data, args) + low)),
        BPF_JUMP(BPF_JMP | (option < 0 ? BPF_JGE : BPF_JEQ) | BPF_K, option < 0 ? 0 : (uint32_t)option, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {COUNT_OF(filter), filter};

    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* The sandbox's result if this call fails; 1: none. In a child, since the filter stays. */
static int result_without(long call, int option, int error)
{
    struct text answer = {0};
    int signal, status, ends[2], result = 1;
    size_t count = 1;

    CHECK(!pipe(ends));
    pid_t child = fork();
    if (!child) {
        if (refuse_call(call, option, error)) {
            result = run(answer_much, &count, &answer, &signal);
            (void)!write(ends[1], &result, sizeof(result));
        }
        _exit(0);
    }
    close(ends[1]);
    if (read(ends[0], &result, sizeof(result)) != sizeof(result))
        result = 1;
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child);
    return result;
}

/* If the sandbox cannot drop a right, it does not read. A kernel without filters returns EINVAL. */
TEST(rights_that_stay)
{
    CHECK_NUMBER(result_without(SYS_prctl, PR_SET_NO_NEW_PRIVS, EPERM), SANDBOX_KEEPS_RIGHTS);
    CHECK_NUMBER(result_without(SYS_prctl, PR_SET_DUMPABLE, EPERM), SANDBOX_KEEPS_RIGHTS);
    CHECK_NUMBER(result_without(SYS_prctl, PR_SET_PDEATHSIG, EPERM), SANDBOX_KEEPS_RIGHTS);
    CHECK_NUMBER(result_without(SYS_capset, -1, EPERM), SANDBOX_KEEPS_RIGHTS);
    CHECK_NUMBER(result_without(SYS_prctl, PR_GET_NAME, EPERM), 0);
    if (!HAS_FILTER)
        return;
    CHECK_NUMBER(result_without(SYS_prctl, PR_SET_SECCOMP, EACCES), SANDBOX_KEEPS_RIGHTS);
    CHECK_NUMBER(result_without(SYS_prctl, PR_SET_SECCOMP, EINVAL), 0);
}

TEST(explanations)
{
    AUTO_TEXT why = {0};

    sandbox_explain(-EAGAIN, 0, &why);
    text_add(&why, "|");
    sandbox_explain(-EBADMSG, SIGKILL, &why);
    text_add(&why, "|");
    sandbox_explain(-EBADMSG, 0, &why);
    text_add(&why, "|");
    sandbox_explain(SANDBOX_KEEPS_RIGHTS, 0, &why);
    CHECK_STRING(why.data, "failed: Resource temporarily unavailable|was killed by signal 9|"
                 "gave no valid answer|could not drop its privileges, so it read nothing: "
                 "allow prctl(2) and capset(2) in the container or security module");
}

/* The watcher reads what /proc says about the sandbox, and about its parent. */
struct watch {
    int tell[2], go[2];
};

static struct watch open_watch(void)
{
    struct watch watch;

    CHECK(!pipe(watch.tell) && !pipe(watch.go));
    return watch;
}

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

static void close_watch(struct watch *watch)
{
    for (int i = 0; i < 2; i++) {
        close_end(&watch->tell[i]);
        close_end(&watch->go[i]);
    }
}

#define AUTO_WATCH AUTO(close_watch) struct watch

static int wait_for_watcher(void *context, struct text *answer)
{
    const struct watch *watch = context;
    const pid_t pids[2] = {getpid(), 0};
    char byte;

    (void)answer;
    return write(watch->tell[1], pids, sizeof(pids)) != sizeof(pids) ||
           read(watch->go[0], &byte, 1) != 1 ? -EIO : 0;
}

#define RIGHT_TO_TRACE (1u << 19) /* CAP_SYS_PTRACE */

static bool status_has(pid_t pid, const char *line)
{
    AUTO_TEXT path = {0}, status = {0};

    text_format(&path, "/proc/%d/status", (int)pid);
    bool has = !read_file(AT_FDCWD, path.data, 65536, &status) && strstr(status.data, line);
    if (!has)
        printf("  %d: no %s in %s\n", (int)pid, line, status.data ? status.data : "nothing");
    return has;
}

/* Our effective capabilities: in a container, root has few, too. */
static unsigned long long own_rights(void)
{
    AUTO_TEXT status = {0};
    const char *line = NULL;

    if (!read_file(AT_FDCWD, "/proc/self/status", 65536, &status))
        line = strstr(status.data, "\nCapEff:\t");
    const unsigned long long rights_now = line ? strtoull(line + 9, NULL, 16) : 0;
    return rights_now;
}

static pid_t parent_of(pid_t pid)
{
    AUTO_TEXT path = {0}, status = {0};
    pid_t parent = 0;

    text_format(&path, "/proc/%d/status", (int)pid);
    if (!read_file(AT_FDCWD, path.data, 65536, &status) && strstr(status.data, "\nPPid:"))
        parent = (pid_t)atoi(strstr(status.data, "\nPPid:") + 6);
    return parent;
}

static int strike(const struct watch *watch)
{
    pid_t pids[2];

    return read(watch->tell[0], pids, sizeof(pids)) != sizeof(pids) || !end(pids[0]);
}

/* Has the process a uid that no other process has, or `nobody` in a namespace without such uids? */
static bool has_own_user(pid_t pid)
{
    const unsigned user = 0x7f000000u + (unsigned)pid;
    AUTO_TEXT line = {0};

    text_format(&line, "\nUid:\t%u\t%u\t%u\t%u\n", user, user, user, user);
    const bool is = status_has(pid, line.data);
    return is;
}

static int look(const struct watch *watch)
{
    pid_t pids[2];
    char byte = 0;

    if (read(watch->tell[0], pids, sizeof(pids)) != sizeof(pids))
        return 1;
    bool right = status_has(pids[0], "\nCapEff:\t0000000000000000\n") &&
                 status_has(pids[0], "\nCapPrm:\t0000000000000000\n") &&
                 status_has(pids[0], "\nNoNewPrivs:\t1\n") &&
                 (!HAS_FILTER || status_has(pids[0], "\nSeccomp:\t2\n")) &&
                 (geteuid() || has_own_user(pids[0]));
    /* It keeps CAP_DAC_READ_SEARCH (2), CAP_KILL (5), CAP_SYS_PTRACE (19), and no others. */
    AUTO_TEXT line = {0};
    text_format(&line, "\nCapEff:\t%016llx\n", own_rights() & (1u << 2 | 1u << 5 | RIGHT_TO_TRACE));
    right = right && status_has(parent_of(pids[0]), line.data);
    return write(watch->go[1], &byte, 1) != 1 || !right;
}

/* Another process reads the sandbox's /proc files meanwhile. */
static void meet(int (*watcher_work)(const struct watch *watch), int result, int ended_by)
{
    AUTO_WATCH watch = open_watch();
    AUTO_TEXT answer = {0};
    int signal, status = 1;

    const int used[] = {watch.tell[1], -1, watch.go[0]};
    kept = used;
    kept_count = COUNT_OF(used);
    pid_t watcher = fork();
    if (!watcher) {
        int found = watcher_work(&watch);
        fflush(stdout);
        _exit(found);
    }
    CHECK_NUMBER(run(wait_for_watcher, &watch, &answer, &signal), result);
    CHECK_NUMBER(signal, ended_by);
    CHECK(waitpid(watcher, &status, 0) == watcher);
    CHECK_NUMBER(status, 0);
    kept_count = 0;
}

TEST(rights)
{
    meet(look, 0, 0);
}

TEST(killed_alone)
{
    meet(strike, -EBADMSG, SIGKILL);
}

/* ---- Opening ---- */

struct wanted {
    const char *root, *path;
    int error; /* 0: the file contains its own name */
};

static int open_wanted(void *context, struct text *answer)
{
    const struct wanted *wanted = context;
    char bytes[16] = "";
    int fd = sandbox_open(wanted->root, wanted->path);
    int result = fd < 0 ? fd : 0;

    if (fd >= 0 && pread(fd, bytes, sizeof(bytes), 0) <= 0)
        result = -EIO;
    text_append(answer, (char *)&result, sizeof(result));
    text_append(answer, bytes, sizeof(bytes));
    return 0;
}

static void check_opened(const struct wanted *wanted, const char *content)
{
    AUTO_TEXT answer = {0};
    int signal, result = 1;

    CHECK_NUMBER(run(open_wanted, (void *)wanted, &answer, &signal), 0);
    CHECK_NUMBER(answer.length, sizeof(result) + 16);
    memcpy(&result, answer.data, sizeof(result));
    CHECK_NUMBER(result, wanted->error);
    if (!result)
        CHECK_STRING(answer.data + sizeof(result), content);
    text_clear(&answer);
    /* And the same without a sandbox. */
    CHECK_NUMBER(open_wanted((void *)wanted, &answer), 0);
    memcpy(&result, answer.data, sizeof(result));
    CHECK_NUMBER(result, wanted->error);
}

TEST(opening)
{
    const char *own = path_in(own_directory, "own"), *inner = path_in(own_directory, "root");
    AUTO_TEXT long_path = {0};

    check_opened(&(struct wanted){NULL, own, 0}, "outside");
    check_opened(&(struct wanted){inner, "/own", 0}, "inside");
    check_opened(&(struct wanted){inner, "link", 0}, "inside"); /* to /own: in its root */
    check_opened(&(struct wanted){inner, "/../own", 0}, "inside");
    check_opened(&(struct wanted){inner, "/none", -ENOENT}, "");
    check_opened(&(struct wanted){inner, "/fifo", -EINVAL}, "");
    check_opened(&(struct wanted){NULL, own_directory, -EINVAL}, "");
    check_opened(&(struct wanted){NULL, "/dev/null", -EINVAL}, "");
    for (int i = 0; i < 5000; i++)
        text_add(&long_path, "/a");
    check_opened(&(struct wanted){NULL, long_path.data, -ENAMETOOLONG}, "");
}

static void put(const char *name, const char *content)
{
    AUTO_FD fd = open(path_in(own_directory, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, content, strlen(content)) == (ssize_t)strlen(content));
}

#define RENAMED_OPENS 3000

/* Renames by another process, in this directory or elsewhere, do not hide a file. */
TEST(opening_beside_renames)
{
    const char *inner = path_in(own_directory, "root");
    unsigned lost = 0;
    int status;

    put("root/one", "renamed");
    pid_t child = fork();
    while (!child)
        if (rename("root/one", "root/other") || rename("root/other", "root/one"))
            _exit(1);
    for (unsigned i = 0; i < RENAMED_OPENS; i++) {
        int fd = sandbox_open(inner, "deep/../../own");
        lost += fd < 0;
        if (fd >= 0)
            close(fd);
    }
    CHECK_NUMBER(lost, 0);
    CHECK(end(child) && waitpid(child, &status, 0) == child);
    (void)remove("root/one");
    (void)remove("root/other");
}

/*
 * Files that exist only in memory are opened through procfs, which a compromised reader must not be
 * able to do itself.
 */
TEST(places)
{
    static const char *const refused[] = {
        "/proc/version", "/proc/self/mem", "/proc/self/maps", "/proc/self/environ", "/proc/1/mem",
        "/proc/sys/kernel/osrelease", "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/fs/cgroup/cgroup.procs", "/sys/kernel/tracing/trace", "/sys/kernel/debug/sleep_time",
    };
    AUTO_TEXT path = {0}, root = {0};
    struct stat there;
    AUTO_FD fd = memfd_create("places", MFD_CLOEXEC);

    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        if (stat(refused[i], &there)) /* not on every machine */
            continue;
        check_opened(&(struct wanted){NULL, refused[i], -EINVAL}, "");
        check_opened(&(struct wanted){"/", refused[i], -EINVAL}, "");
    }
    CHECK(!stat("/proc/self/mem", &there));
    if (!geteuid() && !(own_rights() & RIGHT_TO_TRACE)) {
        printf("SKIP places, in part: root lacks CAP_SYS_PTRACE here\n");
        return;
    }
    CHECK(fd >= 0 && write(fd, "memory", 6) == 6);
    text_format(&path, "/proc/%d/fd/%d", (int)getpid(), fd);
    check_opened(&(struct wanted){NULL, path.data, 0}, "memory");
    text_format(&root, "/proc/%d/root", (int)getpid());
    check_opened(&(struct wanted){root.data, path_in(own_directory, "own"), 0}, "outside");
}

static int ask_for_memory(void *context, struct text *answer)
{
    static const char *const asked[] = {"/proc/self/mem", "/proc", "/proc/self/task"};
    AUTO_TEXT told = {0};

    (void)context;
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        int fd = sandbox_ask(4, "", asked[i], &told);
        text_format(answer, "%d|", fd < 0 ? fd : 0);
        if (fd >= 0)
            close(fd);
    }
    return 0;
}

/* Neither with a job's own opener. */
TEST(places_of_other_ways)
{
    AUTO_TEXT answer = {0}, expected = {0};
    int signal;

    CHECK_NUMBER(run(ask_for_memory, NULL, &answer, &signal), 0);
    for (int i = 0; i < 3; i++)
        text_format(&expected, "%d|", -EINVAL);
    CHECK_STRING(answer.data, expected.data);
}

static int ask(void *context, struct text *answer)
{
    AUTO_TEXT told = {0};

    (void)context;
    for (unsigned char how = 1; how <= 3; how++) {
        int fd = sandbox_ask(how, "root", how == 1 ? "own" : "root/own", &told);
        char bytes[16] = "";
        text_format(answer, "%d %s (%zu) %zd %s|", fd < 0 ? fd : 0, how == 2 ? "long" : told.data,
                    told.length, fd < 0 ? 0 : pread(fd, bytes, sizeof(bytes), 0), bytes);
        if (fd >= 0)
            close(fd);
    }
    return sandbox_is_here() ? 0 : -EIO;
}

TEST(other_ways)
{
    AUTO_TEXT answer = {0}, expected = {0};
    int signal;

    CHECK(!sandbox_is_here());
    CHECK_NUMBER(run(ask, NULL, &answer, &signal), 0);
    text_format(&expected, "0 1 root own (10) 7 outside|0 long (4015) 6 inside|%d 3 root root/own (15)"
                " 0 |", -ELOOP);
    CHECK_STRING(answer.data, expected.data);
}

/* ---- The end ---- */

TEST(nothing_is_left)
{
    struct stat before, after;
    int first = dup(0);

    close(first);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    int second = dup(0);
    CHECK_NUMBER(second, first);
    close(second);
    CHECK(!fstat(0, &before) && !fstat(0, &after));
}

/* If the caller is killed in the middle, both end with it. */
static int wait_for_ever(void *context, struct text *answer)
{
    const struct watch *watch = context;
    const pid_t pids[2] = {getpid(), 0};
    char byte;

    (void)answer;
    (void)!write(watch->tell[1], pids, sizeof(pids));
    (void)!read(watch->go[0], &byte, 1);
    return 0;
}

TEST(killed)
{
    AUTO_WATCH watch = open_watch();
    struct text answer = {0};
    pid_t pids[2];
    int signal;
    char byte;

    pid_t runner = fork();
    if (!runner) {
        const int used[] = {watch.go[0], watch.tell[1]};
        close(watch.tell[0]);
        close(watch.go[1]);
        kept = used;
        kept_count = COUNT_OF(used);
        _exit(run(wait_for_ever, &watch, &answer, &signal) != 0);
    }
    close_end(&watch.tell[1]);
    CHECK(read(watch.tell[0], pids, sizeof(pids)) == sizeof(pids));
    CHECK(end(runner) && waitpid(runner, NULL, 0) == runner);
    /* Once both are gone, their ends of the pipe are closed: end of file. */
    CHECK_NUMBER(read(watch.tell[0], &byte, 1), 0);
}

/* ---- Together with other children ---- */

static int spin(void *context, struct text *answer)
{
    (void)answer;
    for (volatile int *on = context; *on;)
        ;
    return 0;
}

static int roles_begun, roles_ended;

/* The child calls this at its start, this process at the child's end. */
static void count_roles(void *context, bool begins, unsigned role)
{
    (void)context;
    if (begins)
        return;
    roles_begun |= 1 << role;
    roles_ended++;
}

/*
 * When their end is reported, they are still zombies, so no other process can have their pids yet.
 * `ends` is shared by all of them.
 */
struct role_ends {
    _Atomic pid_t pids[2];
    _Atomic bool told[2], taken[2];
};

static void watch_ends(void *context, bool begins, unsigned role)
{
    struct role_ends *ends = context;

    if (begins)
        ends->pids[role] = getpid();
    else if (!ends->told[role]) {
        ends->told[role] = true;
        ends->taken[role] = kill(ends->pids[role], 0);
    }
}

TEST(told_in_time)
{
    struct role_ends *ends = mmap(NULL, sizeof(*ends), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    AUTO_TEXT answer = {0};
    size_t count = 1;
    int signal;

    CHECK(ends != MAP_FAILED);
    sandbox_watch(watch_ends, ends);
    CHECK_NUMBER(run(answer_much, &count, &answer, &signal), 0);
    sandbox_watch(NULL, NULL);
    for (int role = SANDBOX_BROKER; role <= SANDBOX_READER; role++)
        CHECK(ends->pids[role] && ends->told[role] && !ends->taken[role]);
    CHECK(ends->pids[SANDBOX_BROKER] != ends->pids[SANDBOX_READER]);
    munmap(ends, sizeof(*ends));
}

/* While one job runs, others begin and end; its answer waits until it is taken. */
TEST(aside)
{
    AUTO_WATCH watch = open_watch();
    AUTO_TEXT answer = {0};
    struct sandbox_run beside = {0};
    size_t count = 10;
    int signal;
    pid_t pids[2];

    const int used[] = {watch.go[0], watch.tell[1]};
    const struct sandbox_job job = {
        .work = wait_for_ever, .context = &watch, .keep = used, .keep_count = COUNT_OF(used),
        .aside = true, .asks_nothing = true,
    };
    sandbox_watch(count_roles, NULL);
    CHECK_NUMBER(sandbox_begin(&beside, &job), 0);
    CHECK(read(watch.tell[0], pids, sizeof(pids)) == sizeof(pids));
    CHECK_NUMBER(sandbox_take(&beside, 0, &signal), -EINPROGRESS);
    CHECK_NUMBER(run(answer_much, &count, &answer, &signal), 0);
    CHECK_NUMBER(answer.length, 160);
    CHECK_NUMBER(roles_begun, 1 << SANDBOX_BROKER);
    CHECK_NUMBER(sandbox_take(&beside, now_ns() + 1000000, &signal), -EINPROGRESS);
    CHECK(write(watch.go[1], "", 1) == 1);
    CHECK_NUMBER(sandbox_take(&beside, UINT64_MAX, &signal), 0);
    CHECK(!beside.pid && beside.cpu_ns && !beside.answer.length);
    CHECK_NUMBER(roles_begun, 1 << SANDBOX_BROKER | 1 << SANDBOX_ASIDE);
    /* And stopped: the end of this pipe shows that both are gone. */
    CHECK_NUMBER(sandbox_begin(&beside, &job), 0);
    CHECK(read(watch.tell[0], pids, sizeof(pids)) == sizeof(pids));
    sandbox_stop(&beside);
    sandbox_stop(&beside);
    close_end(&watch.tell[1]);
    CHECK_NUMBER(read(watch.tell[0], pids, 1), 0);
    CHECK_NUMBER(roles_ended, 3);
    sandbox_watch(NULL, NULL);
    text_free(&beside.answer);
}

static unsigned descriptors_of(pid_t pid)
{
    char path[32];
    unsigned count = 0;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *places = opendir(path);
    for (const struct dirent *place; places && (place = readdir(places));)
        count += *place->d_name != '.';
    if (places)
        closedir(places);
    return count;
}

/* A job that opens nothing has no opener process. */
TEST(asks_nothing)
{
    struct sandbox_run beside = {0};
    int signal;
    pid_t pids[2];

    for (int asks = 0; asks < 2; asks++) {
        AUTO_WATCH watch = open_watch();
        const int used[] = {watch.go[0], watch.tell[1]};
        const struct sandbox_job job = {
            .work = wait_for_ever, .context = &watch, .keep = used, .keep_count = COUNT_OF(used),
            .asks_nothing = !asks,
        };
        CHECK_NUMBER(sandbox_begin(&beside, &job), 0);
        CHECK(read(watch.tell[0], pids, sizeof(pids)) == sizeof(pids));
        CHECK((pids[0] == beside.pid) == !asks);
        if (!asks)
            CHECK_NUMBER(descriptors_of(pids[0]), 3 + !HAS_FILTER); /* those two, and the answer */
        CHECK(write(watch.go[1], "", 1) == 1);
        CHECK_NUMBER(sandbox_take(&beside, UINT64_MAX, &signal), 0);
    }
    text_free(&beside.answer);
}

/* One second of CPU time, and no more. */
TEST(limited)
{
    AUTO_TEXT answer = {0};
    int on = 1, signal;
    const struct sandbox_job job = {.work = spin, .context = &on, .seconds = 1};

    CHECK_NUMBER(sandbox_run(&job, &answer, &signal), -EBADMSG);
    CHECK_NUMBER(signal, SIGKILL);
}

/* Before Linux 5.6, and under some filters, openat2(2) fails: links still stay in their root. */
TEST(opening_without_openat2)
{
    if (refuse_call(437, -1, ENOSYS))
        opening();
}

int main(void)
{
    if (!enter_own_directory() || chmod(own_directory, 0755) || mkdir("root", 0755) ||
        mkdir("root/deep", 0755) || symlink("/own", "root/link") || mkfifo("root/fifo", 0600))
        return 1;
    put("own", "outside");
    put("root/own", "inside");
    if (HAS_FILTER) /* else it would do all of that */
        RUN(calls_that_are_refused);
    run_tests();
    remove_own_directory();
    return tests_done();
}
