/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which calls the sandbox may make: an interpreter here runs seccomp's program, since qemu-user has
 * no seccomp. The ELF header of this test tells the architecture.
 */
#include "sandbox/privileges.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/net.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "machine/machine.h"
#include "test.h"

#define ALLOW SECCOMP_RET_ALLOW
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define KILL SECCOMP_RET_KILL

static struct sock_filter filter[SANDBOX_FILTER_ROOM];
static size_t length;
static uint32_t own;

/*
 * Runs the program as the kernel does; ~0 if the kernel would refuse it: an unknown instruction, or
 * a jump out of the program.
 */
static uint32_t judge(uint32_t architecture, long number, uint64_t argument)
{
    const struct seccomp_data data = {
        .nr = (int)number, .arch = architecture, .args = {argument, 1, 2, 3, 4, 5},
    };
    uint32_t value = 0;

    for (size_t at = 0; at < length; at++) {
        const struct sock_filter *insn = &filter[at];
        switch (insn->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (insn->k % 4 || insn->k + 4 > sizeof(data))
                return ~0u;
            memcpy(&value, (const char *)&data + insn->k, sizeof(value));
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            at += value == insn->k ? insn->jt : insn->jf;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            at += value & insn->k ? insn->jt : insn->jf;
            break;
        case BPF_RET | BPF_K:
            return insn->k;
        default:
            return ~0u;
        }
    }
    return ~0u;
}

TEST(calls)
{
    static const long allowed[] = {
        SYS_read, SYS_write, SYS_pread64, SYS_sendmsg, SYS_recvmsg, SYS_exit_group, SYS_brk, SYS_munmap,
    };
    static const long refused[] = {
        SYS_openat, SYS_execve, SYS_clone, SYS_socket, SYS_connect, SYS_kill, SYS_ptrace, SYS_bpf,
        SYS_fchmodat, SYS_process_vm_readv, SYS_prctl, SYS_setns, SYS_unlinkat, SYS_ioctl,
    };

    for (size_t i = 0; i < COUNT_OF(allowed); i++)
        CHECK_NUMBER(judge(own, allowed[i], 0), ALLOW);
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        CHECK_NUMBER(judge(own, refused[i], 0), REFUSE);
}

/* Numbers mean other calls on other architectures: the filter allows none of those. */
TEST(foreign)
{
    static const uint32_t others[] = {
        0x40000003, 0xc000003e, 0x40000028, 0xc00000b7, 0xc00000f3, 0x400000f3, 0x80000016, 0x00000016,
        0x80000015, 0xc0000015, 0xc0000102, 0x00000014, 0,
    };

    for (size_t i = 0; i < COUNT_OF(others); i++)
        for (long number = 0; number < 600; number++)
            if (others[i] != own && judge(others[i], number, 0) != KILL)
                CHECK_NUMBER(judge(others[i], number, 0), KILL);
}

TEST(x32)
{
#if defined(__x86_64__) && !defined(__ILP32__)
    for (long number = 0; number < 600; number++)
        if (judge(own, number | 0x40000000, 0) != KILL)
            CHECK_NUMBER(judge(own, number | 0x40000000, 0), KILL);
#endif
}

/* Only the commands for messages are allowed, of 20 in all. */
TEST(socketcall)
{
#ifdef SYS_socketcall
    for (uint64_t call = 0; call < 24; call++)
        CHECK_NUMBER(judge(own, SYS_socketcall, call),
                     call == SYS_SENDMSG || call == SYS_RECVMSG ? ALLOW : REFUSE);
#endif
}

/* 1: not to be read. */
static int read_own(const char *path)
{
    unsigned char ident[EI_NIDENT];
    uint16_t machine;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || pread(fd, ident, sizeof(ident), 0) != sizeof(ident) ||
        pread(fd, &machine, sizeof(machine), offsetof(Elf32_Ehdr, e_machine)) != sizeof(machine))
        return 1;
    close(fd);
    own = machine | (ident[EI_CLASS] == ELFCLASS64 ? 0x80000000 : 0) |
          (ident[EI_DATA] == ELFDATA2LSB ? 0x40000000 : 0);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 1 || read_own(argv[0]))
        return 1;
    length = sandbox_filter_make(filter);
    if (!length) {
        printf("SKIP there is no filter for this architecture\n");
        return 0;
    }
    run_tests();
    return tests_done();
}
