/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * strict COMMAND...
 *
 * Runs COMMAND so that the verifier checks every BPF program as on machines without unaligned
 * access: with BPF_F_STRICT_ALIGNMENT. A seccomp filter suspends each BPF_PROG_LOAD until a process
 * outside COMMAND has set the flag in the caller's memory, where the kernel then reads it.
 *
 * Exit: COMMAND's own; 125 if this is impossible. At the end it prints how many programs were loaded
 * this way: `strict N` on stderr, once COMMAND and everything that it started have ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#define PROG_LOAD 5
#define FLAGS_AT 44 /* union bpf_attr: prog_flags */
#define STRICT_ALIGNMENT 1

static void die(const char *what)
{
    fprintf(stderr, "strict: %s: %s\n", what, strerror(errno));
    _exit(125);
}

static int hold_loads(void)
{
    uint32_t first_at = offsetof(struct seccomp_data, args);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    first_at += 4;
#endif
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first_at),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROG_LOAD, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};

    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static int make_strict(const struct seccomp_notif *call)
{
    char path[32];
    uint32_t flags;
    const off_t at = (off_t)(call->data.args[1] + FLAGS_AT);

    snprintf(path, sizeof(path), "/proc/%u/mem", call->pid);
    int memory = open(path, O_RDWR | O_CLOEXEC);
    if (memory < 0)
        return 0;
    int made = pread(memory, &flags, sizeof(flags), at) == sizeof(flags);
    flags |= STRICT_ALIGNMENT;
    made = made && pwrite(memory, &flags, sizeof(flags), at) == sizeof(flags);
    close(memory);
    return made;
}

/* Serves until no process with the filter is left. */
static void serve(int held)
{
    unsigned loads = 0;

    for (;;) {
        struct pollfd ready = {.fd = held, .events = POLLIN};
        struct seccomp_notif call = {0};
        struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

        if (poll(&ready, 1, -1) < 0 && errno != EINTR)
            die("poll");
        if (ready.revents & POLLHUP)
            break;
        if (ioctl(held, SECCOMP_IOCTL_NOTIF_RECV, &call))
            continue;
        answer.id = call.id;
        if (make_strict(&call)) {
            loads++;
        } else {
            answer.flags = 0;
            answer.error = -EIO; /* never load a program without the flag */
        }
        (void)ioctl(held, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    fprintf(stderr, "strict %u\n", loads);
}

/*
 * The serving process has no filter, and shares our descriptor table (CLONE_FILES): it can use the
 * listener, which we get only later.
 */
static int grandchild(void *told)
{
    int held;

    if (read(*(int *)told, &held, sizeof(held)) == sizeof(held))
        serve(held);
    _exit(0);
}

static void start_serving(int told)
{
    pid_t child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

    if (child < 0)
        die("clone");
    if (!child) {
        setsid();
        child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
        if (child < 0)
            die("clone");
        if (!child)
            grandchild(&told);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    int pipe_ends[2];

    if (argc < 2 || pipe2(pipe_ends, O_CLOEXEC))
        die("usage: strict COMMAND...");
    start_serving(pipe_ends[0]);
    int held = hold_loads();
    if (held < 0)
        die("seccomp");
    if (write(pipe_ends[1], &held, sizeof(held)) != sizeof(held))
        die("pipe");
    execvp(argv[1], argv + 1);
    die(argv[1]);
}
