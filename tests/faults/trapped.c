/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Traps system calls, wherever the C library makes them. */
#include <errno.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "fault.h"

static const struct {
    int number;
    enum kind kind;
} calls[] = {
    {SYS_bpf, KIND_BPF},
    {SYS_perf_event_open, KIND_PERF},
    {SYS_read, KIND_READ},
    {SYS_pread64, KIND_READ},
    {SYS_readv, KIND_READ},
    {SYS_getdents64, KIND_READ},
    {SYS_write, KIND_WRITE},
    {SYS_pwrite64, KIND_WRITE},
    {SYS_writev, KIND_WRITE},
    {SYS_open, KIND_OPEN},
    {SYS_openat, KIND_OPEN},
    {SYS_openat2, KIND_OPEN},
    {SYS_epoll_create1, KIND_DESCRIPTOR},
    {SYS_timerfd_create, KIND_DESCRIPTOR},
    {SYS_pipe2, KIND_DESCRIPTOR},
    {SYS_socketpair, KIND_DESCRIPTOR},
    {SYS_pidfd_open, KIND_DESCRIPTOR},
    {SYS_fsopen, KIND_DESCRIPTOR},
    {SYS_fsmount, KIND_DESCRIPTOR},
    {SYS_dup2, KIND_DESCRIPTOR},
    {SYS_fcntl, KIND_DESCRIPTOR},
    {SYS_eventfd2, KIND_DESCRIPTOR},
    {SYS_memfd_create, KIND_DESCRIPTOR},
    {SYS_fsconfig, KIND_OTHER},
    {SYS_ioctl, KIND_IOCTL},
    {SYS_linkat, KIND_FILE},
    {SYS_renameat, KIND_FILE},
    {SYS_fsync, KIND_FILE},
    {SYS_fchmod, KIND_FILE},
    {SYS_fchown, KIND_FILE},
    {SYS_unlinkat, KIND_FILE},
    {SYS_mkdir, KIND_FILE},
    {SYS_poll, KIND_OTHER},
    {SYS_ppoll, KIND_OTHER},
    {SYS_epoll_pwait, KIND_OTHER},
    {SYS_epoll_ctl, KIND_OTHER},
    {SYS_epoll_wait, KIND_OTHER},
    {SYS_timerfd_settime, KIND_OTHER},
    {SYS_newfstatat, KIND_OTHER},
    {SYS_fstat, KIND_OTHER},
    {SYS_statfs, KIND_OTHER},
    {SYS_access, KIND_OTHER},
    {SYS_faccessat, KIND_OTHER},
    {SYS_faccessat2, KIND_OTHER},
    {SYS_fstatfs, KIND_OTHER},
    {SYS_lseek, KIND_OTHER},
    {SYS_readlink, KIND_OTHER},
    {SYS_readlinkat, KIND_OTHER},
    {SYS_mount, KIND_OTHER},
    {SYS_waitid, KIND_OTHER},
    {SYS_wait4, KIND_OTHER},
    {SYS_sched_setscheduler, KIND_PROCESS},
    {SYS_sendmsg, KIND_OTHER},
    {SYS_recvmsg, KIND_OTHER},
    {SYS_sendto, KIND_OTHER},
    {SYS_recvfrom, KIND_OTHER},
    {SYS_getrandom, KIND_OTHER},
    {SYS_uname, KIND_PROCESS},
    {SYS_prctl, KIND_PROCESS},
    {SYS_capget, KIND_PROCESS},
    {SYS_capset, KIND_PROCESS},
    {SYS_setgroups, KIND_PROCESS},
    {SYS_setresuid, KIND_PROCESS},
    {SYS_setresgid, KIND_PROCESS},
    {SYS_prlimit64, KIND_PROCESS},
    {SYS_close_range, KIND_PROCESS},
    {SYS_getpriority, KIND_PROCESS},
    {SYS_setpriority, KIND_PROCESS},
    {SYS_sched_getaffinity, KIND_PROCESS},
    {SYS_sched_setaffinity, KIND_PROCESS},
};

__asm__(".text\n"
        ".globl inject_call\n"
        ".type inject_call, @function\n"
        "inject_call:\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    movq %rcx, %rdx\n"
        "    movq %r8, %r10\n"
        "    movq %r9, %r8\n"
        "    movq 8(%rsp), %r9\n"
        "    syscall\n"
        "    ret\n"
        ".size inject_call, . - inject_call\n");

/* Only regular files, pipes and sockets get short transfers. */
static bool can_be_short(long fd)
{
    struct stat about;

    return !inject_call(SYS_fstat, fd, (long)&about, 0, 0, 0, 0) &&
           (S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}

static void on_call(int signal, siginfo_t *about, void *context)
{
    ucontext_t *user = context;
    greg_t *registers = user->uc_mcontext.gregs;
    int before = errno, how = 0;
    size_t which = 0;

    (void)signal;
    while (which < sizeof(calls) / sizeof(*calls) && calls[which].number != about->si_syscall)
        which++;
    if (which == sizeof(calls) / sizeof(*calls))
        die("a call was trapped that is not in the table");
    how = count_call(calls[which].kind, (const void *)(uintptr_t)registers[REG_RBP]);
    long size = (long)registers[REG_RDX];
    bool sized = about->si_syscall == SYS_read || about->si_syscall == SYS_pread64 ||
                 about->si_syscall == SYS_write || about->si_syscall == SYS_pwrite64;
    if (how == ALWAYS_SHORT && sized && size > 1 && can_be_short((long)registers[REG_RDI]))
        size /= 2;
    if (how > 0)
        registers[REG_RAX] = -how;
    else
        registers[REG_RAX] = inject_call(about->si_syscall, (long)registers[REG_RDI],
                                         (long)registers[REG_RSI], size,
                                         (long)registers[REG_R10], (long)registers[REG_R8],
                                         (long)registers[REG_R9]);
    errno = before;
}

struct range {
    uintptr_t start, end;
};

static int find_libc(struct dl_phdr_info *object, size_t size, void *context)
{
    struct range *range = context;

    (void)size;
    if (!object->dlpi_name || !strstr(object->dlpi_name, "/libc.so"))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
            range->start = object->dlpi_addr + segment->p_vaddr;
            range->end = range->start + segment->p_memsz;
        }
    }
    return 1;
}

#define DATA(member) ((uint32_t)offsetof(struct seccomp_data, member))
#define HIGH 4 /* the upper half of a 64-bit word */
#define MOST_INSTRUCTIONS 192

struct filter {
    struct sock_filter instructions[MOST_INSTRUCTIONS];
    unsigned short count;
};

static void add(struct filter *filter, struct sock_filter instruction)
{
    if (filter->count == MOST_INSTRUCTIONS)
        die("the filter is too long");
    filter->instructions[filter->count++] = instruction;
}

#define LOAD(offset) (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define ANSWER(action) (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (action))
#define UNLESS(how, value) (struct sock_filter)BPF_JUMP(BPF_JMP | (how) | BPF_K, (value), 1, 0)

/* Traps the listed calls if they come from the C library, and allows all others. */
static void make_filter(struct filter *filter, const struct range *libc)
{
    add(filter, LOAD(DATA(arch)));
    add(filter, UNLESS(BPF_JEQ, AUDIT_ARCH_X86_64));
    add(filter, ANSWER(SECCOMP_RET_ALLOW));
    add(filter, LOAD(DATA(instruction_pointer) + HIGH));
    add(filter, UNLESS(BPF_JEQ, (uint32_t)(libc->start >> 32)));
    add(filter, ANSWER(SECCOMP_RET_ALLOW));
    add(filter, LOAD(DATA(instruction_pointer)));
    add(filter, UNLESS(BPF_JGE, (uint32_t)libc->start));
    add(filter, ANSWER(SECCOMP_RET_ALLOW));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)libc->end, 0, 1));
    add(filter, ANSWER(SECCOMP_RET_ALLOW));
    add(filter, LOAD(DATA(nr)));
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                 (uint32_t)calls[i].number, 0, 1));
        add(filter, ANSWER(SECCOMP_RET_TRAP));
    }
    add(filter, ANSWER(SECCOMP_RET_ALLOW));
}

void trap_calls(void)
{
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct filter filter = {.count = 0};
    struct range libc = {0};

    dl_iterate_phdr(find_libc, &libc);
    if (!libc.start || libc.start >> 32 != libc.end >> 32)
        die("the C library is not found, or crosses a border of 4 GB");
    make_filter(&filter, &libc);
    const struct sock_fprog program = {.len = filter.count, .filter = filter.instructions};
    if (sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        die("no filter can be installed");
}
