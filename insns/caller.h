/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * At the first instruction of a user's function its frame is not made yet, and a walk along frame
 * pointers goes from the function straight to its caller's caller. The caller is where the function
 * would return to, which at that moment is where the architecture says. Where that is a register, or the
 * kernel walks along frame pointers itself, the same is true of the kernel's own functions. Where the kernel
 * puts that register into each stack of a program (link_first) there is nothing to add to these.
 */
#ifndef STACKBOX_INSNS_CALLER_H
#define STACKBOX_INSNS_CALLER_H

#include "insns/machine.h"
#include "insns/program.h"

/*
 * At places of these KEY_...: the emit_load_caller() of the machine, or its like for the kernel's functions. The
 * machine is the kernel's, whatever the binary is that loads it.
 */
void emit_load_caller(struct program *program, const struct machine *machine, uint32_t flags, int16_t place);

#endif
