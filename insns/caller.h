/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * At a user function's first instruction its frame is not made yet, and a walk by frame pointers
 * goes from the function straight to its caller's caller. The caller is where the function would
 * return to, which at that moment is where the architecture says. If that is a register, or if the
 * kernel itself walks by frame pointers, the same is true of the kernel's own functions. If the
 * kernel adds that register to each user stack (link_first), nothing needs to be added to these.
 */
#ifndef STACKBOX_INSNS_CALLER_H
#define STACKBOX_INSNS_CALLER_H

#include "insns/machine.h"
#include "insns/program.h"

/*
 * For places with these KEY_...: the machine's emit_load_caller(), or its equivalent for kernel
 * functions. The machine is the kernel's, whatever binary loads the program.
 */
void emit_load_caller(struct program *program, const struct machine *machine, uint32_t flags, int16_t place);

#endif
