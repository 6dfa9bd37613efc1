/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which architecture a file, this program or the kernel is of: a row of insns/machine.h, and never NULL. Of
 * one that nobody knows it is a row without a number (elf), in which there is nothing.
 */
#ifndef STACKBOX_MACHINE_MACHINE_H
#define STACKBOX_MACHINE_MACHINE_H

#include "insns/machine.h"

/* All that are known, and NULL behind them. */
extern const struct machine *const machines[];

/* Of ELF files: what is the same for all rows of that e_machine, the first of which it is. */
const struct machine *machine_of(uint16_t elf);

/* That which this program was built for. */
const struct machine *machine_ours(void);

/*
 * Whose struct pt_regs this kernel hands to programs, whatever the binary is that loads them. Looks at
 * /proc/kallsyms where that is not certain.
 */
const struct machine *machine_of_kernel(void);

/* Can stacks of this kernel's programs, of its widest, be walked along tables by this one? */
bool machine_walks(void);

/* Can programs of that e_machine run here? */
bool machine_is_ours(uint16_t elf);

/* The level_of() of insns/machine.h, here. */
int machine_level_of(const char *path);

/* Is it in that list of any machine? They share no name that would mean two things. */
bool machines_have(enum machine_names list, const char *name);

#endif
