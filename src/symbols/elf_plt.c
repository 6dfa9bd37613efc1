/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbols/elf_plt.h"

int elf_plt_find(const struct elf *elf, const uint64_t *addresses, size_t count,
                 struct elf_found *found)
{
    (void)elf, (void)addresses, (void)count, (void)found;
    return 0;
}
