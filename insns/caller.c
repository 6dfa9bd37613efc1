/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is known of an architecture's struct pt_regs, and nothing else, is here. */
#include "insns/caller.h"

/* ---- x86-64 ---- */

#define X86_64_CS 136
#define X86_64_SP 152
#define CS_OF_64_BIT_CODE 0x33

/* The call has just pushed it: 8 bytes, or 4 in 32-bit code, at the stack pointer. */
static void emit_pushed(struct program *program, int16_t place)
{
    EMIT(program,
        LDX(DW, R3, R6, X86_64_SP),
        LDX(DW, R1, R6, X86_64_CS),
        MOV_IMM(R2, 8),
        JEQ_IMM(R1, CS_OF_64_BIT_CODE, "wide_caller"),
        MOV_IMM(R2, 4),
    LABEL("wide_caller"),
        MOV_REG(R1, R8),
        ADD_IMM(R1, place),
        CALL(BPF_FUNC_probe_read_user));
}

/* ---- Where it is in a register, still ---- */

#define AARCH64_X30 (30 * 8)
#define RISCV64_RA (1 * 8) /* behind the pc */
#define ARM_LR (14 * 4)

static void emit_from_register(struct program *program, int16_t at, int16_t place)
{
    EMIT(program,
        LDX(DW, R1, R6, at),
        STX(DW, R8, place, R1));
}

/* The lowest bit says that the caller is of Thumb instructions. */
static void emit_from_lr(struct program *program, int16_t place)
{
    EMIT(program,
        LDX(W, R1, R6, ARM_LR),
        AND_IMM(R1, -2),
        STX(DW, R8, place, R1));
}

void emit_load_caller(struct program *program, enum registers registers, int16_t place)
{
    switch (registers) {
    case REGISTERS_X86_64:
        emit_pushed(program, place);
        break;
    case REGISTERS_AARCH64:
        emit_from_register(program, AARCH64_X30, place);
        break;
    case REGISTERS_RISCV64:
        emit_from_register(program, RISCV64_RA, place);
        break;
    case REGISTERS_ARM:
        emit_from_lr(program, place);
        break;
    case REGISTERS_UNKNOWN:
        break;
    }
}
