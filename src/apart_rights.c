/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "apart_rights.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util.h"

#define NOBODY 65534

/* ---- Capabilities ---- */

/* Of those that are held, these stay. By system calls alone: they are this thread's. */
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

int rights_keep_opening(void)
{
    /* CAP_KILL: what this process began, and is nobody's, is to end with it. */
    static const int kept[] = {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_KILL};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return keep_listed(kept, COUNT_OF(kept));
}

/*
 * What goes: modules, networks, devices, clocks, roots, the kernel's log and addresses, which were
 * opened before. CAP_SYS_ADMIN is much, and stays: uprobes and CPUs that come need it on many
 * kernels, and so do mappings of deleted files and bpf(2) before 5.8.
 */
int rights_keep_tracing(void)
{
    static const int kept[] = {
        CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN,            /* maps; events on CPUs that come */
        CAP_IPC_LOCK, CAP_SYS_RESOURCE,                 /* their rings; limits */
        CAP_SYS_NICE,                                   /* to be first in line while maps are read */
        CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,            /* /proc and files of others */
        CAP_CHECKPOINT_RESTORE,                         /* their mappings, without CAP_SYS_ADMIN */
        CAP_DAC_OVERRIDE, CAP_CHOWN, CAP_FOWNER, CAP_FSETID, /* reports in place of others' files */
        CAP_KILL,                                       /* a signal to a command that has other rights */
        CAP_SETUID, CAP_SETGID,                         /* for who reads to become nobody */
    };

    return keep_listed(kept, COUNT_OF(kept));
}

/* Root without capabilities still owns what is root's. In a container there may be no nobody. */
int rights_keep_none(void)
{
    const struct rlimit no_core = {0, 0};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    setrlimit(RLIMIT_CORE, &no_core);
    /* By system calls: libc's own would do it for all threads, of which there is one. */
    if (!syscall(SYS_setgroups, 0, NULL) && !syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY))
        (void)!syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
    return keep_capabilities(0);
}

/* ---- System calls ---- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCHITECTURE AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__arm__)
#define ARCHITECTURE AUDIT_ARCH_ARM
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

/* A sanitizer makes calls of its own. */
#if defined(ARCHITECTURE) && !defined(__SANITIZE_ADDRESS__)

static const int allowed[] = {
    SYS_read, SYS_write, SYS_pread64, SYS_lseek, SYS_close, SYS_sendmsg, SYS_recvmsg,
    SYS_readv, SYS_writev, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_rt_sigprocmask,
    SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_mprotect, SYS_getrandom,
    SYS_restart_syscall, SYS_statx, SYS_getpid, SYS_gettid,
#ifdef SYS_newfstatat /* glibc's fstat(2) */
    SYS_newfstatat,
#endif
    SYS_getdents64, /* of directories that were opened for it */
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
#ifdef SYS__llseek
    SYS__llseek,
#endif
#ifdef SYS_futex
    SYS_futex,
#endif
#ifdef SYS_clock_gettime
    SYS_clock_gettime,
#endif
#ifdef SYS_clock_gettime64
    SYS_clock_gettime64,
#endif
};

/* What a program of another architecture on the same kernel would number otherwise, it refuses. */
void rights_filter_calls(void)
{
    struct sock_filter filter[2 * COUNT_OF(allowed) + 8];
    unsigned short length = 0;

    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                    offsetof(struct seccomp_data, arch));
    filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL);
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                    offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < COUNT_OF(allowed); i++) {
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                        (uint32_t)allowed[i], 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    const struct sock_fprog program = {length, filter};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

#else

void rights_filter_calls(void)
{
}

#endif
