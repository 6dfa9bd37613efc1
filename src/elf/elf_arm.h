/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which instruction set a file for 32-bit ARM has where: ARM's, of four bytes, or Thumb's. Symbol
 * tables tell it twice: by mapping symbols ($a, $t, and $d for data) and by bit 0 of a function's
 * address.
 */
#ifndef STACKBOX_ELF_ELF_ARM_H
#define STACKBOX_ELF_ELF_ARM_H

#include "elf/elf.h"

enum arm_code {
    ARM_CODE_UNKNOWN, /* unknown */
    ARM_CODE_ARM,
    ARM_CODE_THUMB,
    ARM_CODE_DATA,
};

/*
 * codes[i] belongs to addresses[i], which are sorted, without duplicates. If mapping symbols and
 * functions contradict each other, it is not ARM_CODE_ARM. 0 or a negative errno.
 */
int elf_arm_codes(const struct elf *elf, const uint64_t *addresses, size_t count,
                  enum arm_code *codes);

#endif
