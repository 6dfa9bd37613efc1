/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "apart/apart_filter.h"

#include <errno.h>
#include <linux/net.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "base/util.h"

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

static void load(struct program *program, size_t offset)
{
    program->filter[program->length++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* How many instructions to skip, if it is so and if not. */
static void jump(struct program *program, unsigned short test, uint32_t value, unsigned char so,
                 unsigned char not_so)
{
    program->filter[program->length++] =
        (struct sock_filter)BPF_JUMP((unsigned short)(BPF_JMP | test | BPF_K), value, so, not_so);
}

static void end(struct program *program, uint32_t action)
{
    program->filter[program->length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
}

/* A program of another architecture on the same kernel, whose numbers differ, is killed. */
static void kill_foreign(struct program *program, const struct machine *machine)
{
    load(program, offsetof(struct seccomp_data, arch));
    jump(program, BPF_JEQ, machine_audit(machine), 1, 0);
    end(program, SECCOMP_RET_KILL);
    load(program, offsetof(struct seccomp_data, nr));
    if (machine->foreign_calls) {
        jump(program, BPF_JSET, machine->foreign_calls, 0, 1);
        end(program, SECCOMP_RET_KILL);
    }
}

/* glibc for i386 and s390x, which supports kernels before 4.3, has no other way to a socket. */
static void allow_messages(struct program *program)
{
#ifdef SYS_socketcall
    /* The kernel takes an int: the low half of 64 bits. */
    const size_t low = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint32_t) : 0;

    jump(program, BPF_JEQ, SYS_socketcall, 0, 4);
    load(program, offsetof(struct seccomp_data, args) + low);
    jump(program, BPF_JEQ, SYS_SENDMSG, 1, 0);
    jump(program, BPF_JEQ, SYS_RECVMSG, 0, 1);
    end(program, SECCOMP_RET_ALLOW);
#else
    (void)program;
#endif
}

unsigned short apart_filter_make(const struct machine *machine,
                                 struct sock_filter filter[APART_FILTER_ROOM])
{
    struct program program = {filter, 0};

    _Static_assert(2 * COUNT_OF(allowed) + 16 < APART_FILTER_ROOM, "room for all of them");
    if (!machine_audit(machine))
        return 0;
    kill_foreign(&program, machine);
    for (size_t i = 0; i < COUNT_OF(allowed); i++) {
        jump(&program, BPF_JEQ, (uint32_t)allowed[i], 0, 1);
        end(&program, SECCOMP_RET_ALLOW);
    }
    allow_messages(&program);
    end(&program, SECCOMP_RET_ERRNO | EPERM);
    return program.length;
}
