/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What frame_exidx.c, which reads tables, and frame_exidx_code.c, which reads code, share. */
#ifndef STACKBOX_ELF_FRAME_EXIDX_PARTS_H
#define STACKBOX_ELF_FRAME_EXIDX_PARTS_H

#include "elf/frame_entries.h"

enum { R7 = 7, R11 = 11, SP = 13, LR = 14, PC = 15 };

/* How far above a register the caller's stack pointer is, and how far above it registers were saved. */
struct recipe {
    unsigned reg;
    int64_t at;
    int64_t places[16];
    uint16_t saved; /* a bit for each register that has a place */
};

/* UNWIND_UNKNOWN: no rule can express it. */
struct unwind_rule exidx_rule(const struct recipe *recipe);

struct exidx_rows {
    struct frame_entry_row *items; /* the caller's to free */
    size_t count, room;
};

/* 0 or -ENOMEM, like the functions below. */
int exidx_add_row(struct exidx_rows *rows, uint64_t address, const struct unwind_rule *rule);

/* The code of an entry: one function, or several that share it. */
struct exidx_code {
    const unsigned char *bytes;
    size_t size;
    uint64_t address;
    bool is_arm; /* not Thumb */
};

/*
 * Adds `rule` for each instruction that follows a system call, if the function's code up to there has done
 * exactly what the rule says; and after that instruction `at_calls` again.
 */
int exidx_add_calls(struct exidx_rows *rows, const struct exidx_code *code, const struct unwind_rule *rule,
                    const struct unwind_rule *at_calls);

/* Adds a root at the code that ends a thread after its first function, if it is in this entry. */
int exidx_add_thread_exit(struct exidx_rows *rows, const struct exidx_code *code);

#endif
