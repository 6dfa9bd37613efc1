/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "machine/registers.h"

#if defined(__arm__) || defined(__i386__)

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Bits of the kernel's addresses, by how many digits it writes them with, be they zeros; 0: not known.
 * What uname(2) says is made up for 32-bit programs.
 */
static unsigned kernel_bits(void)
{
    char line[32] = "";
    int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    (void)!read(fd, line, sizeof(line) - 1);
    close(fd);
    return 4 * (unsigned)strspn(line, "0123456789abcdef");
}

#endif

enum registers kernel_registers(void)
{
#if defined(__x86_64__)
    return REGISTERS_X86_64;
#elif defined(__aarch64__)
    return REGISTERS_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
    return REGISTERS_RISCV64;
#elif defined(__i386__)
    return kernel_bits() == 64 ? REGISTERS_X86_64 : REGISTERS_UNKNOWN;
#elif defined(__arm__)
    switch (kernel_bits()) {
    case 32: return REGISTERS_ARM;
    case 64: return REGISTERS_AARCH64;
    default: return REGISTERS_UNKNOWN;
    }
#else
    return REGISTERS_UNKNOWN;
#endif
}
