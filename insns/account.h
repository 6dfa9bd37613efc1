/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The fragments that begin an account of an event, and that count in it. */
#ifndef STACKBOX_INSNS_ACCOUNT_H
#define STACKBOX_INSNS_ACCOUNT_H

#include "insns/layout.h"
#include "insns/program.h"

/*
 * r9 = this CPU's account of the bank that events are counted into. Where they are not counted now,
 * the program goes on at `paused`. 4 bytes from r10 + index are free for it. r0 to r5 are lost.
 */
void emit_load_account(struct program *program, int control, int account, int16_t index,
                       const char *paused);

/* One more in this word of the account at r9. r1 is lost. */
#define emit_account(program, member) \
    emit_account_word(program, (int16_t)offsetof(struct account, member))
void emit_account_word(struct program *program, int16_t offset);

#endif
