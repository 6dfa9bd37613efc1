/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * At the first instruction of a user's function its frame is not made yet, and a walk along frame
 * pointers goes from the function straight to its caller's caller. The caller is where the function
 * would return to, which at that moment is where the architecture says.
 */
#ifndef STACKBOX_INSNS_CALLER_H
#define STACKBOX_INSNS_CALLER_H

#include "insns/program.h"

/* Whose struct pt_regs a program gets: the kernel's, whatever the binary is that loads it. */
enum registers {
    REGISTERS_UNKNOWN,
    REGISTERS_X86_64,
    REGISTERS_AARCH64,
    REGISTERS_ARM,
    REGISTERS_RISCV64,
};

/*
 * *(u64 *)(r8 + place) = where the function at whose first instruction we are returns to; left as
 * it is where that cannot be told. r6 = struct pt_regs. r0 to r5 are lost.
 */
void emit_load_caller(struct program *program, enum registers registers, int16_t place);

#endif
