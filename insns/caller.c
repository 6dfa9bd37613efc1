/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is known of an architecture's struct pt_regs, and nothing else, is here. */
#include "insns/caller.h"

#if defined(__x86_64__)

#define REGS_CS 136
#define REGS_SP 152
#define CS_OF_64_BIT_CODE 0x33

/* The call has just pushed it: 8 bytes, or 4 in 32-bit code, at the stack pointer. */
void emit_load_caller(struct program *program, int16_t place)
{
    EMIT(program,
        LDX(DW, R3, R6, REGS_SP),
        LDX(DW, R1, R6, REGS_CS),
        MOV_IMM(R2, 8),
        JEQ_IMM(R1, CS_OF_64_BIT_CODE, "wide_caller"),
        MOV_IMM(R2, 4),
    LABEL("wide_caller"),
        MOV_REG(R1, R8),
        ADD_IMM(R1, place),
        CALL(BPF_FUNC_probe_read_user));
}

#elif defined(__aarch64__) || defined(__riscv)

#ifdef __aarch64__
#define REGS_RETURN (30 * 8) /* x30 */
#else
#define REGS_RETURN (1 * 8)  /* x1, ra */
#endif

/* In a register, still. */
void emit_load_caller(struct program *program, int16_t place)
{
    EMIT(program,
        LDX(DW, R1, R6, REGS_RETURN),
        STX(DW, R8, place, R1));
}

#else

void emit_load_caller(struct program *program, int16_t place)
{
    (void)program, (void)place;
}

#endif
