/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Every form of every instruction: its macro, its bytes on a little-endian machine as RFC 9669 lays
 * them out (code, src and dst, off, imm), and its text in the dump. insns/ made none of the bytes
 * and texts: tests/unit/insns.c holds insns/ to them, and tests/unit/llvm.c holds both to LLVM.
 *
 * YOUNG marks what LLVM 14 (Debian 12) cannot assemble, or not disassemble; 19 knows them all.
 * OTHER is as young, and has LLVM's text where it differs from ours, or "" if LLVM has none.
 */
#ifndef STACKBOX_TEST_FORMS_H
#define STACKBOX_TEST_FORMS_H

#include <stdbool.h>
#include <stddef.h>

#include "insns/insn.h"

struct form {
    const char *macro;
    union insn insn[2];
    size_t words; /* of them */
    const char *bytes, *text;
    bool young;
    const char *llvm; /* NULL: as `text` */
};

#define WORDS(...) {__VA_ARGS__}, sizeof((union insn[]){__VA_ARGS__}) / sizeof(union insn)
#define FORM(macro, bytes, text) {#macro, WORDS(macro), bytes, text, false, NULL}
#define YOUNG(macro, bytes, text) {#macro, WORDS(macro), bytes, text, true, NULL}
#define OTHER(macro, bytes, text, llvm) {#macro, WORDS(macro), bytes, text, true, llvm}

static const struct form forms[] = {
    /* Arithmetic: the class is 7 (64 bits) or 4 (32), the source bit 8. */
    FORM(ADD_REG(R0, R1), "0f 10 00 00 00 00 00 00", "r0 += r1"),
    FORM(ADD_IMM(R0, 5), "07 00 00 00 05 00 00 00", "r0 += 5"),
    FORM(ADD32_REG(R0, R1), "0c 10 00 00 00 00 00 00", "w0 += w1"),
    FORM(ADD32_IMM(R0, 5), "04 00 00 00 05 00 00 00", "w0 += 5"),
    FORM(SUB_REG(R1, R4), "1f 41 00 00 00 00 00 00", "r1 -= r4"),
    FORM(SUB_IMM(R1, -7), "17 01 00 00 f9 ff ff ff", "r1 -= -7"),
    FORM(SUB32_REG(R1, R4), "1c 41 00 00 00 00 00 00", "w1 -= w4"),
    FORM(SUB32_IMM(R1, -7), "14 01 00 00 f9 ff ff ff", "w1 -= -7"),
    FORM(MUL_REG(R2, R7), "2f 72 00 00 00 00 00 00", "r2 *= r7"),
    FORM(MUL_IMM(R2, 1000), "27 02 00 00 e8 03 00 00", "r2 *= 1000"),
    FORM(MUL32_REG(R2, R7), "2c 72 00 00 00 00 00 00", "w2 *= w7"),
    FORM(MUL32_IMM(R2, 1000), "24 02 00 00 e8 03 00 00", "w2 *= 1000"),
    FORM(DIV_REG(R3, R0), "3f 03 00 00 00 00 00 00", "r3 /= r0"),
    FORM(DIV_IMM(R3, 2147483647), "37 03 00 00 ff ff ff 7f", "r3 /= 2147483647"),
    FORM(DIV32_REG(R3, R0), "3c 03 00 00 00 00 00 00", "w3 /= w0"),
    FORM(DIV32_IMM(R3, 2147483647), "34 03 00 00 ff ff ff 7f", "w3 /= 2147483647"),
    FORM(OR_REG(R4, R3), "4f 34 00 00 00 00 00 00", "r4 |= r3"),
    FORM(OR_IMM(R4, 240), "47 04 00 00 f0 00 00 00", "r4 |= 0xf0"),
    FORM(OR32_REG(R4, R3), "4c 34 00 00 00 00 00 00", "w4 |= w3"),
    FORM(OR32_IMM(R4, 240), "44 04 00 00 f0 00 00 00", "w4 |= 0xf0"),
    FORM(AND_REG(R5, R6), "5f 65 00 00 00 00 00 00", "r5 &= r6"),
    FORM(AND_IMM(R5, -16), "57 05 00 00 f0 ff ff ff", "r5 &= -16"),
    FORM(AND32_REG(R5, R6), "5c 65 00 00 00 00 00 00", "w5 &= w6"),
    FORM(AND32_IMM(R5, -16), "54 05 00 00 f0 ff ff ff", "w5 &= -16"),
    FORM(LSH_REG(R6, R9), "6f 96 00 00 00 00 00 00", "r6 <<= r9"),
    FORM(LSH_IMM(R6, 31), "67 06 00 00 1f 00 00 00", "r6 <<= 31"),
    FORM(LSH32_REG(R6, R9), "6c 96 00 00 00 00 00 00", "w6 <<= w9"),
    FORM(LSH32_IMM(R6, 31), "64 06 00 00 1f 00 00 00", "w6 <<= 31"),
    FORM(RSH_REG(R7, R2), "7f 27 00 00 00 00 00 00", "r7 >>= r2"),
    FORM(RSH_IMM(R7, 1), "77 07 00 00 01 00 00 00", "r7 >>= 1"),
    FORM(RSH32_REG(R7, R2), "7c 27 00 00 00 00 00 00", "w7 >>= w2"),
    FORM(RSH32_IMM(R7, 1), "74 07 00 00 01 00 00 00", "w7 >>= 1"),
    YOUNG(MOD_REG(R8, R5), "9f 58 00 00 00 00 00 00", "r8 %= r5"),
    YOUNG(MOD_IMM(R8, 10), "97 08 00 00 0a 00 00 00", "r8 %= 10"),
    YOUNG(MOD32_REG(R8, R5), "9c 58 00 00 00 00 00 00", "w8 %= w5"),
    YOUNG(MOD32_IMM(R8, 10), "94 08 00 00 0a 00 00 00", "w8 %= 10"),
    FORM(XOR_REG(R9, R8), "af 89 00 00 00 00 00 00", "r9 ^= r8"),
    FORM(XOR_IMM(R9, 65535), "a7 09 00 00 ff ff 00 00", "r9 ^= 0xffff"),
    FORM(XOR32_REG(R9, R8), "ac 89 00 00 00 00 00 00", "w9 ^= w8"),
    FORM(XOR32_IMM(R9, 65535), "a4 09 00 00 ff ff 00 00", "w9 ^= 0xffff"),
    FORM(MOV_REG(R0, R1), "bf 10 00 00 00 00 00 00", "r0 = r1"),
    FORM(MOV_IMM(R0, -1), "b7 00 00 00 ff ff ff ff", "r0 = -1"),
    FORM(MOV32_REG(R0, R1), "bc 10 00 00 00 00 00 00", "w0 = w1"),
    FORM(MOV32_IMM(R0, -1), "b4 00 00 00 ff ff ff ff", "w0 = -1"),
    FORM(ARSH_REG(R1, R4), "cf 41 00 00 00 00 00 00", "r1 s>>= r4"),
    FORM(ARSH_IMM(R1, 3), "c7 01 00 00 03 00 00 00", "r1 s>>= 3"),
    FORM(ARSH32_REG(R1, R4), "cc 41 00 00 00 00 00 00", "w1 s>>= w4"),
    FORM(ARSH32_IMM(R1, 3), "c4 01 00 00 03 00 00 00", "w1 s>>= 3"),
    /* Negation and byte order: imm is the number of bits. */
    FORM(NEG(R9), "87 09 00 00 00 00 00 00", "r9 = -r9"),
    FORM(NEG32(R4), "84 04 00 00 00 00 00 00", "w4 = -w4"),
    FORM(TO_LE(16, R6), "d4 06 00 00 10 00 00 00", "r6 = le16 r6"),
    FORM(TO_LE(32, R6), "d4 06 00 00 20 00 00 00", "r6 = le32 r6"),
    FORM(TO_LE(64, R6), "d4 06 00 00 40 00 00 00", "r6 = le64 r6"),
    FORM(TO_BE(16, R6), "dc 06 00 00 10 00 00 00", "r6 = be16 r6"),
    FORM(TO_BE(32, R6), "dc 06 00 00 20 00 00 00", "r6 = be32 r6"),
    FORM(TO_BE(64, R6), "dc 06 00 00 40 00 00 00", "r6 = be64 r6"),
    /* Constants of 64 bits and maps: the upper half is the imm of a second slot. */
    FORM(LD_IMM64(R1, 5), "18 01 00 00 05 00 00 00 00 00 00 00 00 00 00 00", "r1 = 0x5 ll"),
    FORM(LD_IMM64(R8, 0x123456789abcdef0), "18 08 00 00 f0 de bc 9a 00 00 00 00 78 56 34 12",
          "r8 = 0x123456789abcdef0 ll"),
    OTHER(LD_IMM64(R0, -1), "18 00 00 00 ff ff ff ff 00 00 00 00 ff ff ff ff",
          "r0 = 0xffffffffffffffff ll", "r0 = -1 ll"),
    FORM(LD_IMM64(R0, 0x80000000), "18 00 00 00 00 00 00 80 00 00 00 00 00 00 00 00",
          "r0 = 0x80000000 ll"),
    OTHER(LOAD_MAP(R1, 7), "18 11 00 00 07 00 00 00 00 00 00 00 00 00 00 00",
          "r1 = map fd 7", "ld_pseudo r1, 1, 7"),
    OTHER(LOAD_MAP_VALUE(R2, 7, 16), "18 22 00 00 07 00 00 00 00 00 00 00 10 00 00 00",
          "r2 = map fd 7 value + 16", ""),
    /* Loads: sizes W 61, H 69, B 71, DW 79. */
    FORM(LDX(B, R0, R6, 8), "71 60 08 00 00 00 00 00", "r0 = *(u8 *)(r6 + 8)"),
    FORM(LDX(H, R0, R6, -8), "69 60 f8 ff 00 00 00 00", "r0 = *(u16 *)(r6 - 8)"),
    FORM(LDX(W, R0, R6, 0), "61 60 00 00 00 00 00 00", "r0 = *(u32 *)(r6 + 0)"),
    FORM(LDX(DW, R0, R6, 32767), "79 60 ff 7f 00 00 00 00", "r0 = *(u64 *)(r6 + 32767)"),
    /* Stores: of a register 63 and its sizes, of a constant 62. */
    FORM(STX(B, R10, -1, R3), "73 3a ff ff 00 00 00 00", "*(u8 *)(r10 - 1) = r3"),
    FORM(STX(H, R10, 2, R3), "6b 3a 02 00 00 00 00 00", "*(u16 *)(r10 + 2) = r3"),
    FORM(STX(W, R10, -4, R3), "63 3a fc ff 00 00 00 00", "*(u32 *)(r10 - 4) = r3"),
    FORM(STX(DW, R10, -32768, R3), "7b 3a 00 80 00 00 00 00", "*(u64 *)(r10 - 32768) = r3"),
    YOUNG(ST(B, R10, -1, 1), "72 0a ff ff 01 00 00 00", "*(u8 *)(r10 - 1) = 1"),
    YOUNG(ST(H, R10, 2, -2), "6a 0a 02 00 fe ff ff ff", "*(u16 *)(r10 + 2) = -2"),
    YOUNG(ST(W, R10, -4, 100000), "62 0a fc ff a0 86 01 00", "*(u32 *)(r10 - 4) = 100000"),
    YOUNG(ST(DW, R10, -512, 0), "7a 0a 00 fe 00 00 00 00", "*(u64 *)(r10 - 512) = 0"),
    /* Atomics: c3 (32 bits) and db (64), the operation in imm, plus 1 to fetch. */
    FORM(XADD(DW, R0, 8, R1), "db 10 08 00 00 00 00 00", "lock *(u64 *)(r0 + 8) += r1"),
    FORM(XADD(W, R0, 8, R1), "c3 10 08 00 00 00 00 00", "lock *(u32 *)(r0 + 8) += w1"),
    /* Jumps over five instructions: the class is 5 (64 bits) or 6 (32). */
    FORM(JA("there"), "05 00 05 00 00 00 00 00", "goto pc+5"),
    FORM(JEQ_REG(R0, R2, "there"), "1d 20 05 00 00 00 00 00", "if r0 == r2 goto pc+5"),
    FORM(JEQ_IMM(R0, 0, "there"), "15 00 05 00 00 00 00 00", "if r0 == 0 goto pc+5"),
    FORM(JEQ32_REG(R0, R2, "there"), "1e 20 05 00 00 00 00 00", "if w0 == w2 goto pc+5"),
    FORM(JEQ32_IMM(R0, 0, "there"), "16 00 05 00 00 00 00 00", "if w0 == 0 goto pc+5"),
    FORM(JGT_REG(R1, R9, "there"), "2d 91 05 00 00 00 00 00", "if r1 > r9 goto pc+5"),
    FORM(JGT_IMM(R1, 1, "there"), "25 01 05 00 01 00 00 00", "if r1 > 1 goto pc+5"),
    FORM(JGT32_REG(R1, R9, "there"), "2e 91 05 00 00 00 00 00", "if w1 > w9 goto pc+5"),
    FORM(JGT32_IMM(R1, 1, "there"), "26 01 05 00 01 00 00 00", "if w1 > 1 goto pc+5"),
    FORM(JGE_REG(R2, R6, "there"), "3d 62 05 00 00 00 00 00", "if r2 >= r6 goto pc+5"),
    FORM(JGE_IMM(R2, -1, "there"), "35 02 05 00 ff ff ff ff", "if r2 >= -1 goto pc+5"),
    FORM(JGE32_REG(R2, R6, "there"), "3e 62 05 00 00 00 00 00", "if w2 >= w6 goto pc+5"),
    FORM(JGE32_IMM(R2, -1, "there"), "36 02 05 00 ff ff ff ff", "if w2 >= -1 goto pc+5"),
    YOUNG(JSET_REG(R3, R3, "there"), "4d 33 05 00 00 00 00 00", "if r3 & r3 goto pc+5"),
    YOUNG(JSET_IMM(R3, 32, "there"), "45 03 05 00 20 00 00 00", "if r3 & 0x20 goto pc+5"),
    YOUNG(JSET32_REG(R3, R3, "there"), "4e 33 05 00 00 00 00 00", "if w3 & w3 goto pc+5"),
    YOUNG(JSET32_IMM(R3, 32, "there"), "46 03 05 00 20 00 00 00", "if w3 & 0x20 goto pc+5"),
    FORM(JNE_REG(R4, R0, "there"), "5d 04 05 00 00 00 00 00", "if r4 != r0 goto pc+5"),
    FORM(JNE_IMM(R4, 7, "there"), "55 04 05 00 07 00 00 00", "if r4 != 7 goto pc+5"),
    FORM(JNE32_REG(R4, R0, "there"), "5e 04 05 00 00 00 00 00", "if w4 != w0 goto pc+5"),
    FORM(JNE32_IMM(R4, 7, "there"), "56 04 05 00 07 00 00 00", "if w4 != 7 goto pc+5"),
    FORM(JSGT_REG(R5, R7, "there"), "6d 75 05 00 00 00 00 00", "if r5 s> r7 goto pc+5"),
    FORM(JSGT_IMM(R5, -128, "there"), "65 05 05 00 80 ff ff ff", "if r5 s> -128 goto pc+5"),
    FORM(JSGT32_REG(R5, R7, "there"), "6e 75 05 00 00 00 00 00", "if w5 s> w7 goto pc+5"),
    FORM(JSGT32_IMM(R5, -128, "there"), "66 05 05 00 80 ff ff ff", "if w5 s> -128 goto pc+5"),
    FORM(JSGE_REG(R6, R4, "there"), "7d 46 05 00 00 00 00 00", "if r6 s>= r4 goto pc+5"),
    FORM(JSGE_IMM(R6, 65536, "there"), "75 06 05 00 00 00 01 00", "if r6 s>= 65536 goto pc+5"),
    FORM(JSGE32_REG(R6, R4, "there"), "7e 46 05 00 00 00 00 00", "if w6 s>= w4 goto pc+5"),
    FORM(JSGE32_IMM(R6, 65536, "there"), "76 06 05 00 00 00 01 00", "if w6 s>= 65536 goto pc+5"),
    FORM(JLT_REG(R7, R1, "there"), "ad 17 05 00 00 00 00 00", "if r7 < r1 goto pc+5"),
    FORM(JLT_IMM(R7, 100, "there"), "a5 07 05 00 64 00 00 00", "if r7 < 100 goto pc+5"),
    FORM(JLT32_REG(R7, R1, "there"), "ae 17 05 00 00 00 00 00", "if w7 < w1 goto pc+5"),
    FORM(JLT32_IMM(R7, 100, "there"), "a6 07 05 00 64 00 00 00", "if w7 < 100 goto pc+5"),
    FORM(JLE_REG(R8, R8, "there"), "bd 88 05 00 00 00 00 00", "if r8 <= r8 goto pc+5"),
    FORM(JLE_IMM(R8, 3, "there"), "b5 08 05 00 03 00 00 00", "if r8 <= 3 goto pc+5"),
    FORM(JLE32_REG(R8, R8, "there"), "be 88 05 00 00 00 00 00", "if w8 <= w8 goto pc+5"),
    FORM(JLE32_IMM(R8, 3, "there"), "b6 08 05 00 03 00 00 00", "if w8 <= 3 goto pc+5"),
    FORM(JSLT_REG(R9, R5, "there"), "cd 59 05 00 00 00 00 00", "if r9 s< r5 goto pc+5"),
    FORM(JSLT_IMM(R9, INT32_MIN, "there"), "c5 09 05 00 00 00 00 80",
          "if r9 s< -2147483648 goto pc+5"),
    FORM(JSLT32_REG(R9, R5, "there"), "ce 59 05 00 00 00 00 00", "if w9 s< w5 goto pc+5"),
    FORM(JSLT32_IMM(R9, INT32_MIN, "there"), "c6 09 05 00 00 00 00 80",
          "if w9 s< -2147483648 goto pc+5"),
    FORM(JSLE_REG(R0, R2, "there"), "dd 20 05 00 00 00 00 00", "if r0 s<= r2 goto pc+5"),
    FORM(JSLE_IMM(R0, INT32_MAX, "there"), "d5 00 05 00 ff ff ff 7f",
          "if r0 s<= 2147483647 goto pc+5"),
    FORM(JSLE32_REG(R0, R2, "there"), "de 20 05 00 00 00 00 00", "if w0 s<= w2 goto pc+5"),
    FORM(JSLE32_IMM(R0, INT32_MAX, "there"), "d6 00 05 00 ff ff ff 7f",
          "if w0 s<= 2147483647 goto pc+5"),
    /* Calls and exit. */
    OTHER(CALL(BPF_FUNC_get_stackid), "85 00 00 00 1b 00 00 00", "call get_stackid", "call 27"),
    OTHER(CALL(9999), "85 00 00 00 0f 27 00 00", "call helper#9999", "call 9999"),
    OTHER(CALL_LABEL("there"), "85 10 00 00 05 00 00 00", "call local pc+5", ""),
    FORM(EXIT(), "95 00 00 00 00 00 00 00", "exit"),
};

#endif
