/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rows themselves, for code that needs a certain one; machine.c has the table of all. */
#ifndef STACKBOX_MACHINE_ROWS_H
#define STACKBOX_MACHINE_ROWS_H

#include "insns/machine.h"

extern const struct machine machine_x86_64, machine_i386, machine_aarch64, machine_arm,
    machine_riscv64, machine_riscv32, machine_s390x, machine_ppc64, machine_loongarch64,
    machine_alpha;

#endif
