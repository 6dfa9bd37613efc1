/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The BPF instruction set: one macro per instruction, with every operand, and above it what it
 * does, in C; and ADDRESS, XADD_IMM and RETURN, each for two that go together. So a program reads
 * like a listing:
 *
 *     EMIT(program,
 *         MOV_REG(R6, R1),                    r6 = context
 *         LDX(DW, R0, R6, 8),
 *         JEQ_IMM(R0, 0, "out"),
 *         LOAD_MAP(R1, counts),
 *         CALL(BPF_FUNC_map_lookup_elem),
 *     LABEL("out"),
 *         RETURN(0));
 *
 * Operands are in C's order: the target, then the source; a place in memory is size, base, offset.
 * In the comments `dst` is a 64-bit register and `it` the last operand:
 *
 *     _REG     it is a register
 *     _IMM     it is a 32-bit constant, sign-extended to 64 bits
 *     32       as in ADD32_REG: computes with the lower 32 bits, and the upper 32 of dst become 0;
 *              as in JEQ32_REG: compares only the lower 32 bits
 *     size     B u8, H u16, W u32, DW u64
 *
 * Encoded, an instruction is 64 bits; LD_IMM64 and the map loads are two of them:
 *
 *     | code: 8 | dst: 4 | src: 4 | off: 16 | imm: 32 |
 *
 * Each is an initializer for an array: if all operands are constant, the compiler turns an EMIT
 * into bytes, without code.
 *
 * A number that is known only at run time must already have its field's type (off is a short):
 * macros do not cast, so that the compiler reports one that does not fit.
 *
 * Anything newer than Linux 4.9 has its version beside it. Left out: LD_ABS and LD_IND, which read
 * the packets of socket filters and which tracing programs may not use; and what is newer than
 * 5.10, as programs do without it: sign-extending loads and moves, signed divisions, long jumps,
 * and all atomics but additions.
 */
#ifndef STACKBOX_INSNS_INSN_H
#define STACKBOX_INSNS_INSN_H

#include <linux/bpf.h>
#include <stdint.h>

#ifndef BPF_ATOMIC
#define BPF_ATOMIC 0xc0 /* 5.12, and BPF_XADD before: the same number */
#endif

/*
 * R0 returns a value, R1 to R5 pass arguments and are lost in a call, R6 to R9 are preserved, R10
 * is the end of the 512-byte stack and read-only.
 */
enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 };

/* After the code of a label, a jump or a 64-bit load comes the label, or the value. */
union insn {
    struct bpf_insn code;
    const char *label; /* kept by pointer: a string literal, or one that outlives the program */
    uint64_t value;
};

/* Codes of pseudo-instructions: loads that the kernel does not have. */
#define INSN_LABEL    (BPF_LD | BPF_IMM | BPF_B) /* names the next instruction */
#define INSN_FUNCTION (BPF_LD | BPF_IMM | BPF_H) /* the same, for a function called by others */

/* Any plain instruction, by its fields. Variables, too, fit into the registers' four bits. */
#define INSN(opcode, dst, src, offset, immediate) {.code = { \
    .code = (opcode), .dst_reg = (dst) & 0xf, .src_reg = (src) & 0xf, .off = (offset), \
    .imm = (immediate)}}
/* One with a label */
#define NAMED(opcode, dst, src, immediate, target) \
    INSN(opcode, dst, src, 0, immediate), {.label = (target)}
/* A single instruction, as the kernel takes it: INSN_CODE(EXIT()) */
#define INSN_CODE(...) ((const union insn)__VA_ARGS__.code)

/* ---- Arithmetic ---- */

#define ALU64_REG(operation, dst, src) INSN(BPF_ALU64 | (operation) | BPF_X, dst, src, 0, 0)
#define ALU64_IMM(operation, dst, imm) INSN(BPF_ALU64 | (operation) | BPF_K, dst, 0, 0, imm)
#define ALU32_REG(operation, dst, src) INSN(BPF_ALU | (operation) | BPF_X, dst, src, 0, 0)
#define ALU32_IMM(operation, dst, imm) INSN(BPF_ALU | (operation) | BPF_K, dst, 0, 0, imm)

/* dst = it */
#define MOV_REG(dst, src)       ALU64_REG(BPF_MOV, dst, src)
#define MOV_IMM(dst, imm)       ALU64_IMM(BPF_MOV, dst, imm)
#define MOV32_REG(dst, src)     ALU32_REG(BPF_MOV, dst, src)
#define MOV32_IMM(dst, imm)     ALU32_IMM(BPF_MOV, dst, imm)

/* dst += it */
#define ADD_REG(dst, src)       ALU64_REG(BPF_ADD, dst, src)
#define ADD_IMM(dst, imm)       ALU64_IMM(BPF_ADD, dst, imm)
#define ADD32_REG(dst, src)     ALU32_REG(BPF_ADD, dst, src)
#define ADD32_IMM(dst, imm)     ALU32_IMM(BPF_ADD, dst, imm)

/* dst -= it */
#define SUB_REG(dst, src)       ALU64_REG(BPF_SUB, dst, src)
#define SUB_IMM(dst, imm)       ALU64_IMM(BPF_SUB, dst, imm)
#define SUB32_REG(dst, src)     ALU32_REG(BPF_SUB, dst, src)
#define SUB32_IMM(dst, imm)     ALU32_IMM(BPF_SUB, dst, imm)

/* dst *= it */
#define MUL_REG(dst, src)       ALU64_REG(BPF_MUL, dst, src)
#define MUL_IMM(dst, imm)       ALU64_IMM(BPF_MUL, dst, imm)
#define MUL32_REG(dst, src)     ALU32_REG(BPF_MUL, dst, src)
#define MUL32_IMM(dst, imm)     ALU32_IMM(BPF_MUL, dst, imm)

/* dst = it ? dst / it : 0                 both without sign */
#define DIV_REG(dst, src)       ALU64_REG(BPF_DIV, dst, src)
#define DIV_IMM(dst, imm)       ALU64_IMM(BPF_DIV, dst, imm)
#define DIV32_REG(dst, src)     ALU32_REG(BPF_DIV, dst, src)
#define DIV32_IMM(dst, imm)     ALU32_IMM(BPF_DIV, dst, imm)

/* dst = it ? dst % it : dst               both without sign */
#define MOD_REG(dst, src)       ALU64_REG(BPF_MOD, dst, src)
#define MOD_IMM(dst, imm)       ALU64_IMM(BPF_MOD, dst, imm)
#define MOD32_REG(dst, src)     ALU32_REG(BPF_MOD, dst, src)
#define MOD32_IMM(dst, imm)     ALU32_IMM(BPF_MOD, dst, imm)

/* dst |= it */
#define OR_REG(dst, src)        ALU64_REG(BPF_OR, dst, src)
#define OR_IMM(dst, imm)        ALU64_IMM(BPF_OR, dst, imm)
#define OR32_REG(dst, src)      ALU32_REG(BPF_OR, dst, src)
#define OR32_IMM(dst, imm)      ALU32_IMM(BPF_OR, dst, imm)

/* dst &= it */
#define AND_REG(dst, src)       ALU64_REG(BPF_AND, dst, src)
#define AND_IMM(dst, imm)       ALU64_IMM(BPF_AND, dst, imm)
#define AND32_REG(dst, src)     ALU32_REG(BPF_AND, dst, src)
#define AND32_IMM(dst, imm)     ALU32_IMM(BPF_AND, dst, imm)

/* dst ^= it */
#define XOR_REG(dst, src)       ALU64_REG(BPF_XOR, dst, src)
#define XOR_IMM(dst, imm)       ALU64_IMM(BPF_XOR, dst, imm)
#define XOR32_REG(dst, src)     ALU32_REG(BPF_XOR, dst, src)
#define XOR32_IMM(dst, imm)     ALU32_IMM(BPF_XOR, dst, imm)

/* dst <<= it & 63                         32: it & 31 */
#define LSH_REG(dst, src)       ALU64_REG(BPF_LSH, dst, src)
#define LSH_IMM(dst, imm)       ALU64_IMM(BPF_LSH, dst, imm)
#define LSH32_REG(dst, src)     ALU32_REG(BPF_LSH, dst, src)
#define LSH32_IMM(dst, imm)     ALU32_IMM(BPF_LSH, dst, imm)

/* dst >>= it & 63                         zeros come in; 32: it & 31 */
#define RSH_REG(dst, src)       ALU64_REG(BPF_RSH, dst, src)
#define RSH_IMM(dst, imm)       ALU64_IMM(BPF_RSH, dst, imm)
#define RSH32_REG(dst, src)     ALU32_REG(BPF_RSH, dst, src)
#define RSH32_IMM(dst, imm)     ALU32_IMM(BPF_RSH, dst, imm)

/* dst = (s64)dst >> (it & 63)             the sign comes in; 32: (s32)dst >> (it & 31) */
#define ARSH_REG(dst, src)      ALU64_REG(BPF_ARSH, dst, src)
#define ARSH_IMM(dst, imm)      ALU64_IMM(BPF_ARSH, dst, imm)
#define ARSH32_REG(dst, src)    ALU32_REG(BPF_ARSH, dst, src)
#define ARSH32_IMM(dst, imm)    ALU32_IMM(BPF_ARSH, dst, imm)

/* dst = -dst */
#define NEG(dst)                ALU64_IMM(BPF_NEG, dst, 0)
#define NEG32(dst)              ALU32_IMM(BPF_NEG, dst, 0)

/* Converts the lower bits (16, 32, 64) of dst to little or big endian; the bits above become 0. */
#define TO_LE(bits, dst)        INSN(BPF_ALU | BPF_END | BPF_TO_LE, dst, 0, 0, bits)
#define TO_BE(bits, dst)        INSN(BPF_ALU | BPF_END | BPF_TO_BE, dst, 0, 0, bits)
/* Reverses the 8 bytes. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SWAP(dst)               TO_BE(64, dst)
#else
#define SWAP(dst)               TO_LE(64, dst)
#endif

/* ---- Constants of 64 bits, maps: two slots ---- */

#define LD_WIDE(dst, pseudo, number) \
    INSN(BPF_LD | BPF_IMM | BPF_DW, dst, pseudo, 0, 0), {.value = (number)}

/* dst = number */
#define LD_IMM64(dst, number)   LD_WIDE(dst, 0, number)
/* dst = the map open as fd, for a helper's argument */
#define LOAD_MAP(dst, fd)       LD_WIDE(dst, BPF_PSEUDO_MAP_FD, (uint32_t)(fd))
/* dst = (u8 *)the one value of the array map open as fd + offset; Linux 5.2 */
#define LOAD_MAP_VALUE(dst, fd, offset) \
    LD_WIDE(dst, BPF_PSEUDO_MAP_VALUE, (uint64_t)(uint32_t)(offset) << 32 | (uint32_t)(fd))

/* ---- Memory ---- */

/* dst = base + offset: where something is. Two instructions */
#define ADDRESS(dst, base, offset)     MOV_REG(dst, base), ADD_IMM(dst, offset)

/* dst = *(u8 *)(base + offset) */
#define LDX(size, dst, base, offset)   INSN(BPF_LDX | BPF_MEM | BPF_##size, dst, base, offset, 0)
/* The same of 8 bytes, or of 4 */
#define LDX_WIDE(is_wide, dst, base, offset) \
    INSN(BPF_LDX | BPF_MEM | ((is_wide) ? BPF_DW : BPF_W), dst, base, offset, 0)
/* *(u8 *)(base + offset) = src */
#define STX(size, base, offset, src)   INSN(BPF_STX | BPF_MEM | BPF_##size, base, src, offset, 0)
/* *(u8 *)(base + offset) = imm */
#define ST(size, base, offset, imm)    INSN(BPF_ST | BPF_MEM | BPF_##size, base, 0, offset, imm)

/* ---- Atomics: sizes W and DW ---- */

#define ATOMIC(size, operation, base, offset, src) \
    INSN(BPF_STX | BPF_ATOMIC | BPF_##size, base, src, offset, operation)

/* *(u64 *)(base + offset) += src */
#define XADD(size, base, offset, src)       ATOMIC(size, BPF_ADD, base, offset, src)
/* *(u64 *)(base + offset) += imm; r1 is lost. Two instructions */
#define XADD_IMM(base, offset, imm)         MOV_IMM(R1, imm), XADD(DW, base, offset, R1)

/* ---- Jumps ---- */

#define JUMP_REG(test, dst, src, label)   NAMED(BPF_JMP | (test) | BPF_X, dst, src, 0, label)
#define JUMP_IMM(test, dst, imm, label)   NAMED(BPF_JMP | (test) | BPF_K, dst, 0, imm, label)
/* All of these: Linux 5.1. */
#define JUMP32_REG(test, dst, src, label) NAMED(BPF_JMP32 | (test) | BPF_X, dst, src, 0, label)
#define JUMP32_IMM(test, dst, imm, label) NAMED(BPF_JMP32 | (test) | BPF_K, dst, 0, imm, label)

/* label: */
#define LABEL(name)             NAMED(INSN_LABEL, 0, 0, 0, name)

/*
 * name: a function of numbers (CALL_LABEL), after the program's end; its code ends with EXIT. The
 * verifier checks it once, by itself, so it looks up again what its caller has looked up.
 */
#define FUNCTION(name)          NAMED(INSN_FUNCTION, 0, 0, 0, name)

/* goto label */
#define JA(label)               NAMED(BPF_JMP | BPF_JA, 0, 0, 0, label)

/* if (dst == it) goto label */
#define JEQ_REG(dst, src, label)    JUMP_REG(BPF_JEQ, dst, src, label)
#define JEQ_IMM(dst, imm, label)    JUMP_IMM(BPF_JEQ, dst, imm, label)
#define JEQ32_REG(dst, src, label)  JUMP32_REG(BPF_JEQ, dst, src, label)
#define JEQ32_IMM(dst, imm, label)  JUMP32_IMM(BPF_JEQ, dst, imm, label)

/* if (dst != it) goto label */
#define JNE_REG(dst, src, label)    JUMP_REG(BPF_JNE, dst, src, label)
#define JNE_IMM(dst, imm, label)    JUMP_IMM(BPF_JNE, dst, imm, label)
#define JNE32_REG(dst, src, label)  JUMP32_REG(BPF_JNE, dst, src, label)
#define JNE32_IMM(dst, imm, label)  JUMP32_IMM(BPF_JNE, dst, imm, label)

/* if (dst & it) goto label */
#define JSET_REG(dst, src, label)   JUMP_REG(BPF_JSET, dst, src, label)
#define JSET_IMM(dst, imm, label)   JUMP_IMM(BPF_JSET, dst, imm, label)
#define JSET32_REG(dst, src, label) JUMP32_REG(BPF_JSET, dst, src, label)
#define JSET32_IMM(dst, imm, label) JUMP32_IMM(BPF_JSET, dst, imm, label)

/* if (dst > it) goto label                without sign */
#define JGT_REG(dst, src, label)    JUMP_REG(BPF_JGT, dst, src, label)
#define JGT_IMM(dst, imm, label)    JUMP_IMM(BPF_JGT, dst, imm, label)
#define JGT32_REG(dst, src, label)  JUMP32_REG(BPF_JGT, dst, src, label)
#define JGT32_IMM(dst, imm, label)  JUMP32_IMM(BPF_JGT, dst, imm, label)

/* if (dst >= it) goto label               without sign */
#define JGE_REG(dst, src, label)    JUMP_REG(BPF_JGE, dst, src, label)
#define JGE_IMM(dst, imm, label)    JUMP_IMM(BPF_JGE, dst, imm, label)
#define JGE32_REG(dst, src, label)  JUMP32_REG(BPF_JGE, dst, src, label)
#define JGE32_IMM(dst, imm, label)  JUMP32_IMM(BPF_JGE, dst, imm, label)

/* if (dst < it) goto label                without sign; Linux 4.14 */
#define JLT_REG(dst, src, label)    JUMP_REG(BPF_JLT, dst, src, label)
#define JLT_IMM(dst, imm, label)    JUMP_IMM(BPF_JLT, dst, imm, label)
#define JLT32_REG(dst, src, label)  JUMP32_REG(BPF_JLT, dst, src, label)
#define JLT32_IMM(dst, imm, label)  JUMP32_IMM(BPF_JLT, dst, imm, label)

/* if (dst <= it) goto label               without sign; Linux 4.14 */
#define JLE_REG(dst, src, label)    JUMP_REG(BPF_JLE, dst, src, label)
#define JLE_IMM(dst, imm, label)    JUMP_IMM(BPF_JLE, dst, imm, label)
#define JLE32_REG(dst, src, label)  JUMP32_REG(BPF_JLE, dst, src, label)
#define JLE32_IMM(dst, imm, label)  JUMP32_IMM(BPF_JLE, dst, imm, label)

/* if ((s64)dst > (s64)it) goto label      32: s32 */
#define JSGT_REG(dst, src, label)   JUMP_REG(BPF_JSGT, dst, src, label)
#define JSGT_IMM(dst, imm, label)   JUMP_IMM(BPF_JSGT, dst, imm, label)
#define JSGT32_REG(dst, src, label) JUMP32_REG(BPF_JSGT, dst, src, label)
#define JSGT32_IMM(dst, imm, label) JUMP32_IMM(BPF_JSGT, dst, imm, label)

/* if ((s64)dst >= (s64)it) goto label     32: s32 */
#define JSGE_REG(dst, src, label)   JUMP_REG(BPF_JSGE, dst, src, label)
#define JSGE_IMM(dst, imm, label)   JUMP_IMM(BPF_JSGE, dst, imm, label)
#define JSGE32_REG(dst, src, label) JUMP32_REG(BPF_JSGE, dst, src, label)
#define JSGE32_IMM(dst, imm, label) JUMP32_IMM(BPF_JSGE, dst, imm, label)

/* if ((s64)dst < (s64)it) goto label      32: s32; Linux 4.14 */
#define JSLT_REG(dst, src, label)   JUMP_REG(BPF_JSLT, dst, src, label)
#define JSLT_IMM(dst, imm, label)   JUMP_IMM(BPF_JSLT, dst, imm, label)
#define JSLT32_REG(dst, src, label) JUMP32_REG(BPF_JSLT, dst, src, label)
#define JSLT32_IMM(dst, imm, label) JUMP32_IMM(BPF_JSLT, dst, imm, label)

/* if ((s64)dst <= (s64)it) goto label     32: s32; Linux 4.14 */
#define JSLE_REG(dst, src, label)   JUMP_REG(BPF_JSLE, dst, src, label)
#define JSLE_IMM(dst, imm, label)   JUMP_IMM(BPF_JSLE, dst, imm, label)
#define JSLE32_REG(dst, src, label) JUMP32_REG(BPF_JSLE, dst, src, label)
#define JSLE32_IMM(dst, imm, label) JUMP32_IMM(BPF_JSLE, dst, imm, label)

/* ---- Calls ---- */

/* r0 = helper(r1, r2, r3, r4, r5)         helper: BPF_FUNC_... */
#define CALL(helper)            INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
/* r0 = label(r1, r2, r3, r4, r5)          a function of this program; Linux 4.16 */
#define CALL_LABEL(label)       NAMED(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, label)
/* return r0 */
#define EXIT()                  INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
/* return imm. Two instructions */
#define RETURN(imm)             MOV_IMM(R0, imm), EXIT()

/*
 * The return value of programs at tracepoints: if one returns 0, the kernel drops that event for
 * all perf events that are open there, including other tools'. To other program types the value may
 * mean something else.
 */
#define FOR_PERF_TOO 1

#endif
