/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "apart/apart_rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apart/apart_filter.h"
#include "base/util.h"

#define NOBODY 65534
/* From here on no distribution or container gives numbers to users: one for each pid (2^22 at most). */
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

/* Only these of our capabilities stay. By system calls only: they are per thread. */
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
    /* CAP_KILL: what this process starts, and is another user's, must end with it. */
    static const int kept[] = {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_KILL};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -errno;
    return keep_listed(kept, COUNT_OF(kept));
}

/*
 * This drops modules, networks, devices, clocks, roots, the kernel's log and addresses, which were
 * opened before. CAP_SYS_ADMIN is a lot, and stays: on many kernels uprobes and new CPUs need it,
 * as do mappings of deleted files, and bpf(2) before 5.8.
 */
int rights_keep_tracing(void)
{
    static const int kept[] = {
        CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN,            /* maps; events on new CPUs */
        CAP_IPC_LOCK, CAP_SYS_RESOURCE,                 /* their rings; limits */
        CAP_SYS_NICE,                                   /* to run first while maps are read */
        CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,            /* /proc and files of others */
        CAP_CHECKPOINT_RESTORE,                         /* their mappings, without CAP_SYS_ADMIN */
        CAP_DAC_OVERRIDE, CAP_CHOWN, CAP_FOWNER, CAP_FSETID, /* reports in others' files' place */
        CAP_KILL,                                       /* to signal a command with other rights */
        CAP_SETUID, CAP_SETGID,                         /* so that the reader can become another user */
    };

    return keep_listed(kept, COUNT_OF(kept));
}

/* By system calls: libc's functions would do it for all threads, of which there is one. */
static bool become(unsigned id)
{
    return !syscall(SET_GROUPS, 0, NULL) && !syscall(SET_GROUP, id, id, id) &&
           !syscall(SET_USER, id, id, id);
}

/*
 * Root without capabilities still owns root's files. A user of its own, as processes of the same user
 * may kill each other. A user namespace may have only the lower numbers, or not even nobody.
 */
int rights_keep_none(void)
{
    const struct rlimit no_core = {0, 0};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -errno;
    setrlimit(RLIMIT_CORE, &no_core);
    if (!become(UNUSED + (unsigned)getpid()))
        (void)become(NOBODY);
    /* Other processes of its user must not write to it. */
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
        return -errno;
    return keep_capabilities(0);
}

/* ---- System calls ---- */

int rights_filter_calls(const struct machine *machine)
{
#ifndef __SANITIZE_ADDRESS__ /* a sanitizer makes calls of its own */
    struct sock_filter filter[APART_FILTER_ROOM];
    const struct sock_fprog program = {apart_filter_make(machine, filter), filter};

    /* EINVAL: a kernel without filters; ENOSYS: something that emulates a kernel. */
    if (program.len && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) &&
        errno != EINVAL && errno != ENOSYS)
        return -errno;
#else
    (void)machine;
#endif
    return 0;
}
