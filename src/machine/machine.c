/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "machine/machine.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool machine_is_ours(uint16_t machine)
{
#if defined(__x86_64__) || defined(__i386__)
    return machine == EM_X86_64 || machine == EM_386;
#elif defined(__aarch64__) || defined(__arm__)
    return machine == EM_AARCH64 || machine == EM_ARM;
#elif defined(__riscv)
    return machine == EM_RISCV;
#else
    return machine;
#endif
}

int machine_class_of(int fd)
{
    unsigned char head[20];

    if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG))
        return 0;
    bool is_big = head[EI_DATA] == ELFDATA2MSB;
    int machine = is_big ? head[18] << 8 | head[19] : head[19] << 8 | head[18];
    return machine_is_ours((uint16_t)machine) ? head[EI_CLASS] : 0;
}

#if defined(__x86_64__)
static bool has_all(unsigned flags, unsigned wanted)
{
    return (flags & wanted) == wanted;
}

/* The greatest level of the x86-64 ABI that processor and kernel give. */
static int greatest_level(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0, more = 0, states = 0, high;

    /* SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT */
    if (!__get_cpuid(1, &a, &b, &c, &d) || !has_all(c, 0x00982201))
        return 1;
    /* FMA, MOVBE, OSXSAVE, AVX, F16C; LZCNT; AVX2, BMI1, BMI2 */
    if (!has_all(c, 0x38401000) || !__get_cpuid(0x80000001, &a, &b, &more, &d) ||
        !has_all(more, 0x20) || !__get_cpuid_count(7, 0, &a, &b, &more, &d) || !has_all(b, 0x128))
        return 2;
    __asm__("xgetbv" : "=a"(states), "=d"(high) : "c"(0)); /* what the kernel saves */
    if (!has_all(states, 0x06))
        return 2;
    /* AVX512 F, DQ, CD, BW, VL */
    return has_all(states, 0xe6) && has_all(b, 0xd0030000) ? 4 : 3;
}
#endif

int machine_level_of(const char *path)
{
#if defined(__x86_64__)
    static const char directory[] = "/glibc-hwcaps/x86-64-v";
    const char *found = strstr(path, directory);
    int level = found ? found[sizeof(directory) - 1] - '0' : 0;

    return level > 1 && level <= greatest_level() ? level : 0;
#else
    (void)path;
    return 0;
#endif
}
