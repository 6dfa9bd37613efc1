/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The architecture of a file, of this program or of the kernel: a row of insns/machine.h, never
 * NULL. An unknown one is an empty row without a number (elf).
 */
#ifndef STACKBOX_MACHINE_MACHINE_H
#define STACKBOX_MACHINE_MACHINE_H

#include "insns/machine.h"

/* The rows, for code that needs a certain one. */
extern const struct machine machine_x86_64, machine_i386, machine_aarch64, machine_arm,
    machine_riscv64, machine_riscv32, machine_s390x, machine_ppc64, machine_loongarch64,
    machine_mips64, machine_mips, machine_alpha;
/* All known machines, followed by NULL. */
extern const struct machine *const machines[];

/* For ELF files: the first row of that e_machine; for files, all of its rows are the same. */
const struct machine *machine_of(uint16_t elf);

/* The one that this program was built for. */
const struct machine *machine_ours(void);

/*
 * The machine whose struct pt_regs this kernel passes to programs, whatever binary loads them.
 * Reads /proc/kallsyms if the kernel's word size is in doubt.
 */
const struct machine *machine_of_kernel(void);

/* Can this program walk stacks of this kernel's widest processes by unwind tables? */
bool machine_walks(void);

/* Can programs of that e_machine run here? */
bool machine_is_ours(uint16_t elf);

/* level_of() of insns/machine.h, for this machine. */
int machine_level_of(const char *path);

/* Is the name in this list of any machine? No name has two meanings on different machines. */
bool machines_have(enum machine_names list, const char *name);

#endif
