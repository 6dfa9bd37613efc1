/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What instructions do with the few registers and words of memory that code_state follows, for
 * decoders of machines whose registers have numbers. Part of code_rows.
 */
#ifndef STACKBOX_ELF_CODE_VALUES_H
#define STACKBOX_ELF_CODE_VALUES_H

#include "elf/code_rows.h"

/* The state while an instruction is applied, and the numbers of the registers that it follows. */
struct code_values {
    struct code_state *state;
    uint8_t sp, frame, link;
    uint8_t base; /* or CODE_NONE */
    /* Registers in which compilers put frame sizes that are too large for an instruction, */
    uint32_t others;
    uint16_t least; /* of at least this many bytes; smaller numbers are other things */
    uint8_t copy;   /* in which they keep the stack pointer; or CODE_NONE */
};
#define CODE_NONE 32 /* no register, which is what the numbers that follow mean, too */

/* register = unknown; = constant; = from + addend; = from + sign * other */
void code_set_unknown(struct code_values *values, unsigned reg);
void code_set(struct code_values *values, unsigned reg, int64_t constant);
void code_set_sum(struct code_values *values, unsigned reg, unsigned from, int64_t addend);
void code_set_sums(struct code_values *values, unsigned reg, unsigned from, unsigned other,
                   int sign);

/* The constant in a register. False: it holds none, or an unknown one. */
bool code_constant(const struct code_values *values, unsigned reg, int32_t *constant);

/* The whole register is stored at, or loaded from, from + offset. */
void code_store(struct code_values *values, unsigned reg, unsigned from, int64_t offset);
void code_load(struct code_values *values, unsigned reg, unsigned from, int64_t offset);

/* A function was called, which may have changed registers that are not preserved. */
void code_called(struct code_values *values);
/*
 * A jump through a register, to flow->target if known, sets the link register `link`, or none (0).
 * With another link register than the ABI's it calls code that saves registers for a function.
 */
void code_jumped(struct code_values *values, struct code_flow *flow, unsigned link, bool returns);

/* The lowest `bits` of it, with their sign. */
static inline int64_t code_signed(uint64_t bits, unsigned count)
{
    return (int64_t)(bits << (64 - count)) >> (64 - count);
}

#endif
