/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Fragments that begin an event's account, and count in it. */
#ifndef STACKBOX_INSNS_ACCOUNT_H
#define STACKBOX_INSNS_ACCOUNT_H

#include "insns/layout.h"
#include "insns/program.h"

/*
 * r9 = this CPU's account of the bank that events are counted into. If they are not counted now,
 * the program goes on at `paused`. Uses 4 bytes at r10 + index. r0 to r5 are lost.
 */
void emit_load_account(struct program *program, int control, int account, int16_t index,
                       const char *paused);

/* Increments this word of the account at r9. r1 is lost. */
#define emit_account(program, member) \
    emit_account_word(program, (int16_t)offsetof(struct account, member))
void emit_account_word(struct program *program, int16_t offset);

#endif
