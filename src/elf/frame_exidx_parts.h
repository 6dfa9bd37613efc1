/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What frame_exidx.c, which reads tables, and frame_exidx_code.c, which reads code, share. */
#ifndef STACKBOX_ELF_FRAME_EXIDX_PARTS_H
#define STACKBOX_ELF_FRAME_EXIDX_PARTS_H

#include "elf/frame_entries.h"

enum { R7 = 7, R11 = 11, SP = 13, LR = 14, PC = 15 };

/* Where the caller's stack pointer is above a register, and where its registers were saved above that. */
struct recipe {
    unsigned reg;
    int64_t at;
    int64_t places[16];
    uint16_t saved; /* a bit for each of them that has a place */
};

/* UNWIND_UNKNOWN: nothing that a rule can say. */
struct unwind_rule exidx_rule(const struct recipe *recipe);

struct exidx_rows {
    struct frame_entry_row *items; /* the caller's to free */
    size_t count, room;
};

/* 0 or -ENOMEM. So are the others. */
int exidx_add_row(struct exidx_rows *rows, uint64_t address, const struct unwind_rule *rule);

/* Of one function; or of several, of which one entry tells. */
struct exidx_code {
    const unsigned char *bytes;
    size_t size;
    uint64_t address;
    bool is_arm; /* not Thumb's */
};

/*
 * Where the kernel is called, and the function has come to the rule: there it holds for the next instruction, which
 * the call returns to. Behind it is what holds at calls of functions.
 */
int exidx_add_calls(struct exidx_rows *rows, const struct exidx_code *code, const struct unwind_rule *rule,
                    const struct unwind_rule *at_calls);

/* Where a thread ends, if it does here: once what it was begun with returns, it is over. */
int exidx_add_thread_exit(struct exidx_rows *rows, const struct exidx_code *code);

#endif
