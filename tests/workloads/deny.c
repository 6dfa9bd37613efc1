/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * deny [OPTION]... -- COMMAND...
 *
 * Runs COMMAND with fewer rights, to see what a program says then.
 *
 *   --cap NAME               without this capability: a name, a number or all
 *   --only NAME              with none but these capabilities (kept across --uid)
 *   --syscall NAME:ERRNO     this system call fails so: names, or numbers
 *   --syscall NAME/N:ERRNO   only when its first argument is N, a command of bpf(2) for instance
 *   --container              the system calls that container engines refuse by default
 *   --memlock BYTES          RLIMIT_MEMLOCK, soft and hard
 *   --uid N                  as this user and group
 *   --pid-namespace          in a new pid namespace with a /proc of its own
 *   --time-namespace SECONDS in a new time namespace, whose clocks are ahead by that much
 *
 * Exit: COMMAND's own; 125 when something could not be denied.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80 /* 5.6 */
#endif
#define MOST_RULES 48

struct name {
    const char *name;
    long value;
};

struct rule {
    uint32_t call;
    uint32_t first;         /* the first argument, if only_first */
    int only_first;
    uint32_t error;
};

static struct {
    uint64_t dropped;       /* capabilities */
    uint64_t only;
    int has_only;
    struct rule rules[MOST_RULES];
    size_t rule_count;
    long memlock;           /* -1: as it is */
    long uid;               /* -1: as it is */
    int pid_namespace;
    const char *time_ahead; /* NULL: no time namespace */
} denied = { .memlock = -1, .uid = -1 };

static const struct name capabilities[] = {
    { "chown", 0 },      { "dac_override", 1 }, { "dac_read_search", 2 }, { "kill", 5 },
    { "setuid", 7 },     { "net_admin", 12 },   { "ipc_lock", 14 },       { "sys_module", 16 },
    { "sys_chroot", 18 }, { "sys_ptrace", 19 },  { "sys_admin", 21 },      { "sys_nice", 23 },
    { "sys_resource", 24 }, { "syslog", 34 },    { "perfmon", 38 },        { "bpf", 39 },
    { NULL, 0 },
};

#ifdef SYS_mmap2
#define CALL_OF_MMAP SYS_mmap2 /* 32-bit: the call that libc's mmap() makes there */
#else
#define CALL_OF_MMAP SYS_mmap
#endif

static const struct name syscalls[] = {
    { "bpf", SYS_bpf },
    { "perf_event_open", SYS_perf_event_open },
    { "mount", SYS_mount },
    { "unshare", SYS_unshare },
    { "setns", SYS_setns },
    { "membarrier", SYS_membarrier },
    { "sched_setscheduler", SYS_sched_setscheduler },
    { "sched_setattr", SYS_sched_setattr },
    { "process_vm_readv", SYS_process_vm_readv },
    { "ptrace", SYS_ptrace },
    { "memfd_create", SYS_memfd_create },
    { "mmap", CALL_OF_MMAP },
    { "ioctl", SYS_ioctl },
    { "openat", SYS_openat },
    { "pread64", SYS_pread64 },
    { "pidfd_open", 434 },
    { "open_tree", 428 },
    { "move_mount", 429 },
    { "fsopen", 430 },
    { "fsconfig", 431 },
    { "fsmount", 432 },
    { NULL, 0 },
};

/* Kernel interfaces that need capabilities a container does not get, or none at all. */
static const long of_containers[] = {
    SYS_bpf, SYS_perf_event_open, SYS_mount, SYS_umount2, SYS_unshare, SYS_setns, SYS_pivot_root,
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_open_by_handle_at, SYS_keyctl,
    SYS_add_key, SYS_request_key, SYS_syslog, SYS_quotactl, SYS_acct, SYS_init_module,
    SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff,
    SYS_clock_settime, SYS_settimeofday, SYS_sethostname, SYS_setdomainname, SYS_userfaultfd, 428, 429,
    430, 431, 432,
};

static const struct name errors[] = {
    { "EPERM", EPERM },   { "ENOENT", ENOENT }, { "EINTR", EINTR },   { "E2BIG", E2BIG }, { "EIO", EIO },
    { "EAGAIN", EAGAIN }, { "ENOMEM", ENOMEM }, { "EACCES", EACCES }, { "EBUSY", EBUSY },
    { "ENODEV", ENODEV }, { "EINVAL", EINVAL }, { "EMFILE", EMFILE }, { "ENOSPC", ENOSPC },
    { "ENOSYS", ENOSYS }, { "EOPNOTSUPP", EOPNOTSUPP }, { NULL, 0 },
};

static void die(const char *what)
{
    fprintf(stderr, "deny: %s: %s\n", what, strerror(errno));
    exit(125);
}

static void usage(const char *word)
{
    fprintf(stderr, "deny: not understood: %s\n", word);
    exit(125);
}

static long look_up(const struct name *table, const char *word)
{
    char *end;
    long value;

    for (; table->name; table++) {
        if (!strcmp(table->name, word))
            return table->value;
    }
    value = strtol(word, &end, 10);
    if (end == word || *end || value < 0)
        usage(word);
    return value;
}

static uint64_t capability_bits(const char *word)
{
    return !strcmp(word, "all") ? ~0ULL : 1ULL << (look_up(capabilities, word) & 63);
}

static void add_rule(char *text)
{
    struct rule *rule = &denied.rules[denied.rule_count];
    char *error = strchr(text, ':'), *first = strchr(text, '/');

    if (!error || denied.rule_count == MOST_RULES)
        usage(text);
    *error++ = 0;
    if (first) {
        *first++ = 0;
        rule->only_first = 1;
        rule->first = (uint32_t)strtoul(first, NULL, 10);
    }
    rule->call = (uint32_t)look_up(syscalls, text);
    rule->error = (uint32_t)look_up(errors, error);
    denied.rule_count++;
}

static void add_container_rules(void)
{
    for (size_t i = 0; i < sizeof(of_containers) / sizeof(*of_containers); i++) {
        if (denied.rule_count == MOST_RULES)
            usage("--container");
        denied.rules[denied.rule_count++] =
            (struct rule){ .call = (uint32_t)of_containers[i], .error = EPERM };
    }
}

static char **read_options(char **argv)
{
    for (argv++; *argv && strcmp(*argv, "--"); argv++) {
        char *option = *argv;

        if (!strcmp(option, "--pid-namespace")) {
            denied.pid_namespace = 1;
            continue;
        }
        if (!strcmp(option, "--container")) {
            add_container_rules();
            continue;
        }
        if (!*++argv)
            usage(option);
        if (!strcmp(option, "--cap")) {
            denied.dropped |= capability_bits(*argv);
        } else if (!strcmp(option, "--only")) {
            denied.only |= capability_bits(*argv);
            denied.has_only = 1;
        } else if (!strcmp(option, "--syscall")) {
            add_rule(*argv);
        } else if (!strcmp(option, "--memlock")) {
            denied.memlock = look_up(&(struct name){ 0 }, *argv);
        } else if (!strcmp(option, "--uid")) {
            denied.uid = look_up(&(struct name){ 0 }, *argv);
        } else if (!strcmp(option, "--time-namespace")) {
            denied.time_ahead = *argv;
        } else {
            usage(option);
        }
    }
    if (!argv[0] || !argv[1])
        usage("no -- COMMAND");
    return argv + 1;
}

static pid_t child;

static void pass_on(int number)
{
    kill(child, number);
}

/*
 * Goes on in a child, which is in the new namespace. The parent stays outside, and passes on the
 * exit status, and SIGINT if the child does not get it anyway.
 */
static void go_on_in_child(void (*interrupt)(int))
{
    int status;

    child = fork();
    if (child < 0)
        die("fork");
    if (child) {
        signal(SIGINT, interrupt);
        while (waitpid(child, &status, 0) < 0)
            if (errno != EINTR)
                die("waitpid");
        exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void enter_time_namespace(void)
{
    if (unshare(CLONE_NEWTIME))
        die("new time namespace");
    FILE *offsets = fopen("/proc/self/timens_offsets", "w");
    if (!offsets || fprintf(offsets, "monotonic %s 0\nboottime %s 0\n", denied.time_ahead, denied.time_ahead) < 0 ||
        fclose(offsets))
        die("/proc/self/timens_offsets");
    go_on_in_child(pass_on);
}

static void enter_pid_namespace(void)
{
    if (unshare(CLONE_NEWPID | CLONE_NEWNS))
        die("new pid namespace");
    go_on_in_child(SIG_IGN);
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("proc", "/proc", "proc", 0, NULL))
        die("/proc of the new pid namespace");
}

static void set_capabilities(uint64_t kept, int inheritable)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2];

    if (syscall(SYS_capget, &header, data))
        die("capget");
    for (int i = 0; i < 2; i++) {
        uint32_t word = (uint32_t)(kept >> (32 * i));

        data[i].permitted &= word;
        data[i].effective = data[i].permitted;
        data[i].inheritable = inheritable ? data[i].permitted : data[i].inheritable & word;
    }
    if (syscall(SYS_capset, &header, data))
        die("capset");
}

/*
 * At the next execve root gets the bounding set, other users the ambient set. So the bounding set
 * shrinks first, while that is still allowed.
 */
static void drop_capabilities(void)
{
    uint64_t kept = (denied.has_only ? denied.only : ~0ULL) & ~denied.dropped;

    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (int i = 0; i < 64 && prctl(PR_CAPBSET_READ, i) >= 0; i++) {
        if (!(kept >> i & 1) && prctl(PR_CAPBSET_READ, i) && prctl(PR_CAPBSET_DROP, i))
            die("bounding set");
    }
    if (denied.uid >= 0) {
        uid_t id = (uid_t)denied.uid;

        prctl(PR_SET_KEEPCAPS, denied.has_only);
        if (setgroups(0, NULL) || setresgid(id, id, id) || setresuid(id, id, id))
            die("--uid");
    }
    set_capabilities(kept, denied.has_only);
    for (int i = 0; denied.has_only && i < 64; i++) {
        if (kept >> i & 1)
            prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0);
    }
}

static void install_filter(void)
{
    static struct sock_filter code[5 * MOST_RULES + 1];
    struct sock_fprog program = { .filter = code };
    unsigned short n = 0;
    uint32_t first_at = offsetof(struct seccomp_data, args);

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    first_at += 4;
#endif
    for (size_t i = 0; i < denied.rule_count; i++) {
        const struct rule *rule = &denied.rules[i];
        uint8_t rest = rule->only_first ? 3 : 1;

        code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                 offsetof(struct seccomp_data, nr));
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule->call, 0, rest);
        if (rule->only_first) {
            code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first_at);
            code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule->first, 0, 1);
        }
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | rule->error);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = n;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        die("seccomp");
}

int main(int argc, char **argv)
{
    char **command = read_options(argv);

    int file = strchr(command[0], '/') ? open(command[0], O_PATH | O_CLOEXEC) : -1;

    (void)argc;
    if (denied.time_ahead)
        enter_time_namespace();
    if (denied.pid_namespace)
        enter_pid_namespace();
    if (denied.memlock >= 0) {
        struct rlimit limit = { (rlim_t)denied.memlock, (rlim_t)denied.memlock };

        if (setrlimit(RLIMIT_MEMLOCK, &limit))
            die("RLIMIT_MEMLOCK");
    }
    if (denied.dropped || denied.has_only || denied.uid >= 0)
        drop_capabilities();
    if (denied.rule_count)
        install_filter();
    /* Opened before: COMMAND's user may have no access to its directory. */
    if (file >= 0)
        syscall(SYS_execveat, file, "", command, environ, AT_EMPTY_PATH);
    if (file < 0 || errno == ENOENT)
        execvp(command[0], command);
    fprintf(stderr, "deny: %s: %s\n", command[0], strerror(errno));
    return errno == ENOENT ? 127 : 126;
}
