/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "sandbox/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/net.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "machine/machine.h"

/* By the compiler's numbers: no architecture has them all. */
static const int allowed[] = {
    SYS_read, SYS_write, SYS_pread64, SYS_close, SYS_readv, SYS_writev, SYS_sendmsg, SYS_recvmsg,
    SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_restart_syscall,
    SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_mprotect, SYS_getrandom,
    SYS_statx, SYS_gettid,
    SYS_getdents64, /* of directories that were opened for it */
#ifdef SYS_getpid
    SYS_getpid,
#endif
#ifdef SYS_newfstatat /* glibc's fstat(2) */
    SYS_newfstatat,
#endif
#ifdef SYS_fcntl
    SYS_fcntl,
#endif
#ifdef SYS_fcntl64
    SYS_fcntl64,
#endif
#ifdef SYS_mmap
    SYS_mmap,
#endif
#ifdef SYS_mmap2
    SYS_mmap2,
#endif
#ifdef SYS_fstat
    SYS_fstat,
#endif
#ifdef SYS_fstat64
    SYS_fstat64,
#endif
#ifdef SYS_lseek
    SYS_lseek,
#endif
#ifdef SYS__llseek
    SYS__llseek,
#endif
#ifdef SYS_llseek /* the 32-bit one that came late: riscv32 */
    SYS_llseek,
#endif
#ifdef SYS_futex
    SYS_futex,
#endif
#ifdef SYS_futex_time64
    SYS_futex_time64,
#endif
#ifdef SYS_clock_gettime
    SYS_clock_gettime,
#endif
#ifdef SYS_clock_gettime64
    SYS_clock_gettime64,
#endif
};

struct program {
    struct sock_filter *filter;
    unsigned short length;
};

static void add_load(struct program *program, size_t offset)
{
    program->filter[program->length++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* `so` and `not_so`: how many instructions to skip if the test holds, and if not. */
static void add_jump(struct program *program, unsigned short test, uint32_t value, unsigned char so,
                 unsigned char not_so)
{
    program->filter[program->length++] =
        (struct sock_filter)BPF_JUMP((unsigned short)(BPF_JMP | test | BPF_K), value, so, not_so);
}

static void add_end(struct program *program, uint32_t action)
{
    program->filter[program->length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
}

/* Kills a program that calls by another ABI of this kernel, whose system call numbers differ. */
static void kill_foreign(struct program *program, const struct machine *machine)
{
    add_load(program, offsetof(struct seccomp_data, arch));
    add_jump(program, BPF_JEQ, machine_audit(machine), 1, 0);
    add_end(program, SECCOMP_RET_KILL);
    add_load(program, offsetof(struct seccomp_data, nr));
    if (machine->foreign_calls) {
        add_jump(program, BPF_JSET, machine->foreign_calls, 0, 1);
        add_end(program, SECCOMP_RET_KILL);
    }
}

/* On i386 and s390x glibc supports kernels before 4.3, which have no sendmsg(2) of their own. */
static void allow_messages(struct program *program)
{
#ifdef SYS_socketcall
    /* socketcall(2) takes an int: the low half of 64 bits. */
    const size_t low = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint32_t) : 0;

    add_jump(program, BPF_JEQ, SYS_socketcall, 0, 4);
    add_load(program, offsetof(struct seccomp_data, args) + low);
    add_jump(program, BPF_JEQ, SYS_SENDMSG, 1, 0);
    add_jump(program, BPF_JEQ, SYS_RECVMSG, 0, 1);
    add_end(program, SECCOMP_RET_ALLOW);
#else
    (void)program;
#endif
}

unsigned short sandbox_filter_make(struct sock_filter filter[SANDBOX_FILTER_ROOM])
{
    const struct machine *machine = machine_ours();
    struct program program = {filter, 0};

    _Static_assert(2 * COUNT_OF(allowed) + 16 < SANDBOX_FILTER_ROOM, "room for all of them");
    if (!machine_audit(machine))
        return 0;
    kill_foreign(&program, machine);
    for (size_t i = 0; i < COUNT_OF(allowed); i++) {
        add_jump(&program, BPF_JEQ, (uint32_t)allowed[i], 0, 1);
        add_end(&program, SECCOMP_RET_ALLOW);
    }
    allow_messages(&program);
    add_end(&program, SECCOMP_RET_ERRNO | EPERM);
    return program.length;
}

#define NOBODY 65534
/*
 * No distribution or container hands out user ids from here on: we use one per pid (2^22 at most).
 */
#define UNUSED 0x7f000000u

/* Numbers above 65535 need newer calls on 32-bit machines. */
#ifdef SYS_setresuid32
#define SET_GROUPS SYS_setgroups32
#define SET_GROUP SYS_setresgid32
#define SET_USER SYS_setresuid32
#else
#define SET_GROUPS SYS_setgroups
#define SET_GROUP SYS_setresgid
#define SET_USER SYS_setresuid
#endif

/* ---- Capabilities ---- */

/* Only these of our capabilities stay. By capset(2), which changes one thread only. */
static int keep_capabilities(uint64_t wanted)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, data))
        return -errno;
    for (size_t i = 0; i < COUNT_OF(data); i++) {
        data[i].permitted &= (uint32_t)(wanted >> 32 * i);
        data[i].effective = data[i].permitted;
        data[i].inheritable = 0;
    }
    return syscall(SYS_capset, &header, data) ? -errno : 0;
}

#ifndef CAP_PERFMON /* 5.8 */
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE /* 5.9 */
#define CAP_CHECKPOINT_RESTORE 40
#endif

static int keep_listed(const int *capabilities, size_t count)
{
    uint64_t wanted = 0;

    for (size_t i = 0; i < count; i++)
        wanted |= (uint64_t)1 << capabilities[i];
    return keep_capabilities(wanted);
}

int privileges_keep_opening(void)
{
    /* CAP_KILL: what this process starts, and is another user's, must end with it. */
    static const int kept[] = {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_KILL};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -errno;
    return keep_listed(kept, COUNT_OF(kept));
}

/*
 * This drops modules, networks, devices, clocks, roots, and the kernel's log and addresses, which
 * we opened before. CAP_SYS_ADMIN stays, although it is powerful: on many kernels uprobes, events
 * on new CPUs, mappings of deleted files, and (before 5.8) bpf(2) need it.
 */
int privileges_keep_tracing(void)
{
    static const int kept[] = {
        CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN,            /* maps; events on new CPUs */
        CAP_IPC_LOCK, CAP_SYS_RESOURCE,                 /* their rings; limits */
        CAP_SYS_NICE,                                   /* to run first while maps are read */
        CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,            /* /proc and files of others */
        CAP_CHECKPOINT_RESTORE,                         /* their mappings, without CAP_SYS_ADMIN */
        CAP_DAC_OVERRIDE, CAP_CHOWN, CAP_FOWNER, CAP_FSETID, /* reports in others' files' place */
        CAP_KILL,                                       /* to signal a command with other rights */
        /* so that the reader can become another user */
        CAP_SETUID, CAP_SETGID,
    };

    return keep_listed(kept, COUNT_OF(kept));
}

/* By system calls: libc's functions would change all threads, and there is only this one. */
static bool become(unsigned id)
{
    return !syscall(SET_GROUPS, 0, NULL) && !syscall(SET_GROUP, id, id, id) &&
           !syscall(SET_USER, id, id, id);
}

/*
 * Root without capabilities still owns root's files, and processes of one user may kill each other:
 * so each gets a user of its own. A user namespace may lack high ids, or even nobody.
 */
int privileges_keep_none(void)
{
    const struct rlimit no_core = {0, 0};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -errno;
    prlimit(0, RLIMIT_CORE, &no_core, NULL);
    if (!become(UNUSED + (unsigned)getpid()))
        (void)become(NOBODY);
    /* Other processes of its user must not write to it. */
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
        return -errno;
    return keep_capabilities(0);
}

/* ---- System calls ---- */

int privileges_filter_calls(void)
{
#ifndef __SANITIZE_ADDRESS__ /* a sanitizer makes calls of its own */
    struct sock_filter filter[SANDBOX_FILTER_ROOM];
    const struct sock_fprog program = {sandbox_filter_make(filter), filter};

    /* EINVAL: a kernel without filters; ENOSYS: something that emulates a kernel. */
    if (program.len && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) &&
        errno != EINVAL && errno != ENOSYS)
        return -errno;
#endif
    return 0;
}
