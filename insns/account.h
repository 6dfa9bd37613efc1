/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The fragment that counts in the per-CPU account: what was lost, and what fills tables. */
#ifndef STACKBOX_ACCOUNT_H
#define STACKBOX_ACCOUNT_H

#include "insns/layout.h"
#include "insns/program.h"

/*
 * account[which] += 1. `index` is where 4 bytes are free on the stack, `counted` a label that the
 * program has only here. r0 to r5 are lost.
 */
void emit_account(struct program *program, int account, int16_t index, enum account_index which,
                  const char *counted);

#endif
