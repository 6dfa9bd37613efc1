/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "machine/machine.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

const struct machine *const machines[] = {
    &machine_x86_64, &machine_i386, &machine_aarch64, &machine_arm,
    &machine_riscv64, &machine_riscv32, &machine_s390x, &machine_ppc64, &machine_loongarch64,
    &machine_mips64, &machine_mips, &machine_alpha, NULL,
};

static const struct machine unknown = {.instruction = 1, .multiarch = "."};

const struct machine *machine_of(uint16_t elf)
{
    for (size_t i = 0; machines[i]; i++)
        if (machines[i]->elf == elf)
            return machines[i];
    return &unknown;
}

const struct machine *machine_ours(void)
{
    for (size_t i = 0; machines[i]; i++)
        if (machines[i]->is_ours)
            return machines[i];
    return &unknown;
}

bool machine_is_ours(uint16_t elf)
{
    const struct machine *ours = machine_ours();

    if (ours->family)
        return machine_of(elf)->family == ours->family;
    return ours->elf ? elf == ours->elf : elf != 0;
}

int machine_level_of(const char *path)
{
    const struct machine *ours = machine_ours();

    return ours->level_of ? ours->level_of(path) : 0;
}

bool machines_have(enum machine_names list, const char *name)
{
    for (size_t i = 0; machines[i]; i++)
        if (machines[i]->names && name_list_has(machines[i]->names[list], name))
            return true;
    return false;
}

/*
 * Bits of kernel addresses, by how many digits the kernel prints, even zeros; 0: unknown. uname(2)
 * pretends for 32-bit programs.
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

const struct machine *machine_of_kernel(void)
{
    const struct machine *ours = machine_ours();

    if (sizeof(long) == 8 || ours->bits == 64)
        return ours;
    const unsigned bits = kernel_bits();
    if (bits == 64 && ours->wide)
        return ours->wide;
    return bits == ours->bits ? ours : &unknown;
}

bool machine_walks(void)
{
    const struct machine *kernel = machine_of_kernel(), *ours = machine_ours();

    return kernel->walk && (kernel == ours || ours->in_wide.sp);
}
