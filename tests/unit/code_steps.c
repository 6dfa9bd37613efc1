/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The effects of arm64, riscv64, LoongArch and armv7 instructions on the stack, by GNU as's bytes
 * for the source beside them; and x86-64's code addresses. The expected text is hand-written: how
 * far sp and fp are below the CFA, where fp and the return address were saved (= in place,
 * ? unknown); behind a bar the same of r11; then the jump's target, relative to the instruction.
 */
#include <stdarg.h>

#include "elf/code_rows.h"
#include "elf/frame_entries.h"
#include "elf_image.h"
#include "test.h"

/* A title begins another function; all others are its instructions, one after another. */
static const struct line {
    code_step *step;
    unsigned is_thumb;
    const char *source, *bytes;
    size_t length;
    const char *expected;
} lines[] = {
    {code_x86_64, 0, "x86-64: addresses of code", NULL, 0, NULL},
    {NULL, 0, "movabs $0x11000, %rdi", "\x48\xbf\x00\x10\x01\x00\x00\x00\x00\x00", 10, "0 ? = = takes +4096"},
    {NULL, 0, "movabs $0x11000, %r15", "\x49\xbf\x00\x10\x01\x00\x00\x00\x00\x00", 10, "0 ? = = takes +4086"},
    {NULL, 0, "movabs 0x11000, %rax", "\x48\xa1\x00\x10\x01\x00\x00\x00\x00\x00", 10, "0 ? = ="},
    {NULL, 0, "mov $0x11000, %r9d", "\x41\xb9\x00\x10\x01\x00", 6, "0 ? = = takes +4066"},
    {NULL, 0, "movq $0x11000, (%rsp)", "\x48\xc7\x04\x24\x00\x10\x01\x00", 8, "0 ? = = takes +4060"},
    {NULL, 0, "push $0x11000", "\x68\x00\x10\x01\x00", 5, "8 ? = = takes +4052"},
    {code_x86_64, 0, "x86-64: relative addresses of code", NULL, 0, NULL},
    {NULL, 0, "lea 17(%rip), %rsi", "\x48\x8d\x35\x11\x00\x00\x00", 7, "0 ? = = takes +24"},
    {code_arm64, 0, "arm64: frame", NULL, 0, NULL},
    {NULL, 0, "stp x29, x30, [sp, #-48]!", "\xfd\x7b\xbd\xa9", 4, "48 ? -48 -40"},
    {NULL, 0, "mov x29, sp", "\xfd\x03\x00\x91", 4, "48 48 -48 -40"},
    {NULL, 0, "str x19, [sp, #16]", "\xf3\x0b\x00\xf9", 4, "48 48 -48 -40"},
    {NULL, 0, "bl .+64", "\x10\x00\x00\x94", 4, "48 48 -48 -40 call +64"},
    {NULL, 0, "sub sp, sp, x1", "\xff\x63\x21\xcb", 4, "? 48 -48 -40"},
    {NULL, 0, "mov sp, x29", "\xbf\x03\x00\x91", 4, "48 48 -48 -40"},
    {NULL, 0, "ldp x29, x30, [sp], #48", "\xfd\x7b\xc3\xa8", 4, "0 ? = ="},
    {NULL, 0, "ret", "\xc0\x03\x5f\xd6", 4, "0 ? = = return"},
    {code_arm64, 0, "arm64: large frame", NULL, 0, NULL},
    {NULL, 0, "sub sp, sp, #16", "\xff\x43\x00\xd1", 4, "16 ? = ="},
    {NULL, 0, "mov x12, #13952", "\x0c\xd0\x86\xd2", 4, "16 ? = ="},
    {NULL, 0, "sub sp, sp, x12", "\xff\x63\x2c\xcb", 4, "13968 ? = ="},
    {NULL, 0, "str x30, [sp, #8]", "\xfe\x07\x00\xf9", 4, "13968 ? = -13960"},
    {NULL, 0, "stp x28, x29, [sp, #32]", "\xfc\x77\x02\xa9", 4, "13968 ? -13928 -13960"},
    {NULL, 0, "add x29, sp, #32", "\xfd\x83\x00\x91", 4, "13968 13936 -13928 -13960"},
    {NULL, 0, "ldr x30, [sp, #8]", "\xfe\x07\x40\xf9", 4, "13968 13936 -13928 ="},
    {NULL, 0, "mov x16, #16", "\x10\x02\x80\xd2", 4, "13968 13936 -13928 ="},
    {NULL, 0, "mov x12, #13952", "\x0c\xd0\x86\xd2", 4, "13968 13936 -13928 ="},
    {NULL, 0, "add sp, sp, x12", "\xff\x63\x2c\x8b", 4, "16 13936 -13928 ="},
    {NULL, 0, "add sp, sp, #4096", "\xff\x07\x40\x91", 4, "-4080 13936 -13928 ="},
    {NULL, 0, "sub sp, x29, #32", "\xbf\x83\x00\xd1", 4, "13968 13936 -13928 ="},
    {code_arm64, 0, "arm64: signed addresses", NULL, 0, NULL},
    {NULL, 0, "paciasp", "\x3f\x23\x03\xd5", 4, "0 ? = ="},
    {NULL, 0, "stp x29, x30, [sp, #-16]!", "\xfd\x7b\xbf\xa9", 4, "16 ? -16 -8"},
    {NULL, 0, "ldp x29, x30, [sp], #16", "\xfd\x7b\xc1\xa8", 4, "0 ? = ="},
    {NULL, 0, "autiasp", "\xbf\x23\x03\xd5", 4, "0 ? = ="},
    {NULL, 0, "retaa", "\xff\x0b\x5f\xd6", 4, "0 ? = = return"},
    {code_arm64, 0, "arm64: ways", NULL, 0, NULL},
    {NULL, 0, "b .+8", "\x02\x00\x00\x14", 4, "0 ? = = jump +8"},
    {NULL, 0, "b.ne .-4", "\xe1\xff\xff\x54", 4, "0 ? = = branch -4"},
    {NULL, 0, "cbz x0, .+16", "\x80\x00\x00\xb4", 4, "0 ? = = branch +16"},
    {NULL, 0, "tbnz w0, #3, .-8", "\xc0\xff\x1f\x37", 4, "0 ? = = branch -8"},
    {NULL, 0, "br x1", "\x20\x00\x1f\xd6", 4, "0 ? = = indirect"},
    {NULL, 0, "brk #1", "\x20\x00\x20\xd4", 4, "0 ? = = stop"},
    {NULL, 0, "svc #0", "\x01\x00\x00\xd4", 4, "0 ? = ="},
    {NULL, 0, "nop", "\x1f\x20\x03\xd5", 4, "0 ? = = padding"},
    {NULL, 0, "adr x1, .+32", "\x01\x01\x00\x10", 4, "0 ? = = takes +32"},
    {NULL, 0, "blr x2", "\x40\x00\x3f\xd6", 4, "0 ? = ? call"},
    {code_arm64, 0, "arm64: registers lost", NULL, 0, NULL},
    {NULL, 0, "fmov s30, w1", "\x3e\x00\x27\x1e", 4, "0 ? = ="},
    {NULL, 0, "ldr d29, [x0]", "\x1d\x00\x40\xfd", 4, "0 ? = ="},
    {NULL, 0, "str x30, [x0]", "\x1e\x00\x00\xf9", 4, "0 ? = ="},
    {NULL, 0, "add x29, sp, #16", "\xfd\x43\x00\x91", 4, "0 -16 ? ="},
    {NULL, 0, "ldr x29, [x1]", "\x3d\x00\x40\xf9", 4, "0 ? ? ="},
    {NULL, 0, "fmov x30, d0", "\x1e\x00\x66\x9e", 4, "0 ? ? ?"},
    {NULL, 0, "and sp, x9, #-32", "\x3f\xe9\x7b\x92", 4, "? ? ? ?"},
    {code_arm64, 0, "arm64: vectors on the stack", NULL, 0, NULL},
    {NULL, 0, "stp d8, d9, [sp, #-32]!", "\xe8\x27\xbe\x6d", 4, "32 ? = ="},
    {NULL, 0, "str q0, [sp, #-16]!", "\xe0\x0f\x9f\x3c", 4, "48 ? = ="},
    {NULL, 0, "st1 {v0.16b}, [sp], #16", "\xe0\x73\x9f\x4c", 4, "? ? = ="},
    {code_riscv64, 0, "riscv64: frame", NULL, 0, NULL},
    {NULL, 0, "addi sp, sp, -32", "\x01\x11", 2, "32 ? = ="},
    {NULL, 0, "sd ra, 24(sp)", "\x06\xec", 2, "32 ? = -8"},
    {NULL, 0, "sd s0, 16(sp)", "\x22\xe8", 2, "32 ? -16 -8"},
    {NULL, 0, "addi s0, sp, 32", "\x00\x10", 2, "32 0 -16 -8"},
    {NULL, 0, "sub sp, sp, a0", "\x33\x01\xa1\x40", 4, "? 0 -16 -8"},
    {NULL, 0, "jal ra, .+64", "\xef\x00\x00\x04", 4, "? 0 -16 -8 call +64"},
    {NULL, 0, "addi sp, s0, -32", "\x13\x01\x04\xfe", 4, "32 0 -16 -8"},
    {NULL, 0, "ld ra, 24(sp)", "\xe2\x60", 2, "32 0 -16 ="},
    {NULL, 0, "ld s0, 16(sp)", "\x42\x64", 2, "32 ? = ="},
    {NULL, 0, "addi sp, sp, 32", "\x05\x61", 2, "0 ? = ="},
    {NULL, 0, "ret", "\x82\x80", 2, "0 ? = = return"},
    {code_riscv64, 0, "riscv64: large frame, 32 bits", NULL, 0, NULL},
    {NULL, 0, "addi sp, sp, -2032", "\x13\x01\x01\x81", 4, "2032 ? = ="},
    {NULL, 0, "sd ra, 2024(sp)", "\x23\x34\x11\x7e", 4, "2032 ? = -8"},
    {NULL, 0, "sd s0, 2016(sp)", "\x23\x30\x81\x7e", 4, "2032 ? -16 -8"},
    {NULL, 0, "lui t0, 0xfffff", "\xfd\x72", 2, "2032 ? -16 -8"},
    {NULL, 0, "lui s3, 1", "\x85\x69", 2, "2032 ? -16 -8"},
    {NULL, 0, "addi t0, t0, -16", "\xc1\x12", 2, "2032 ? -16 -8"},
    {NULL, 0, "add sp, sp, t0", "\x33\x01\x51\x00", 4, "6144 ? -16 -8"},
    {NULL, 0, "li t0, 4096", "\x85\x62", 2, "6144 ? -16 -8"},
    {NULL, 0, "add sp, sp, t0", "\x16\x91", 2, "2048 ? -16 -8"},
    {NULL, 0, "addi sp, sp, 16", "\x13\x01\x01\x01", 4, "2032 ? -16 -8"},
    {NULL, 0, "ld ra, 2024(sp)", "\x83\x30\x81\x7e", 4, "2032 ? -16 ="},
    {NULL, 0, "andi sp, sp, -16", "\x13\x71\x01\xff", 4, "? ? -16 ="},
    {code_riscv64, 0, "riscv64: ways", NULL, 0, NULL},
    {NULL, 0, "j .+8", "\x21\xa0", 2, "0 ? = = jump +8"},
    {NULL, 0, "j .-16", "\x6f\xf0\x1f\xff", 4, "0 ? = = jump -16"},
    {NULL, 0, "beqz a0, .+6", "\x19\xc1", 2, "0 ? = = branch +6"},
    {NULL, 0, "bne a0, a1, .-8", "\xe3\x1c\xb5\xfe", 4, "0 ? = = branch -8"},
    {NULL, 0, "jr a5", "\x82\x87", 2, "0 ? = = indirect"},
    {NULL, 0, "ebreak", "\x02\x90", 2, "0 ? = = stop"},
    {NULL, 0, "ebreak", "\x73\x00\x10\x00", 4, "0 ? = = stop"},
    {NULL, 0, "ecall", "\x73\x00\x00\x00", 4, "0 ? = ="},
    {NULL, 0, "nop", "\x01\x00", 2, "0 ? = = padding"},
    {NULL, 0, "feq.d a0, fs0, fs1", "\x53\x25\x94\xa2", 4, "0 ? = ="},
    {NULL, 0, "fadd.d fs0, fs0, fs1", "\x53\x74\x94\x02", 4, "0 ? = ="},
    {NULL, 0, "ld s0, 8(a0)", "\x00\x65", 2, "0 ? ? ="},
    {NULL, 0, "jalr a5", "\x82\x97", 2, "0 ? ? ? call"},
    {code_riscv64, 0, "riscv64: calls of other functions, far away", NULL, 0, NULL},
    {NULL, 0, "auipc t1, 1; jalr x0, 8(t1)", "\x17\x13\x00\x00\x67\x00\x83\x00", 8, "0 ? = = takes +4104 length 4"},
    {NULL, 0, "jalr x0, 8(t1)", "\x67\x00\x83\x00", 4, "0 ? = = jump +4100"},
    {NULL, 0, "jal t0, .+32", "\xef\x02\x00\x02", 4, "? ? = ? call +32"},
    {code_loongarch64, 0, "loongarch64: frame", NULL, 0, NULL},
    {NULL, 0, "addi.d $sp, $sp, -32", "\x63\x80\xff\x02", 4, "32 ? = ="},
    {NULL, 0, "st.d $ra, $sp, 24", "\x61\x60\xc0\x29", 4, "32 ? = -8"},
    {NULL, 0, "st.d $fp, $sp, 16", "\x76\x40\xc0\x29", 4, "32 ? -16 -8"},
    {NULL, 0, "addi.d $fp, $sp, 32", "\x76\x80\xc0\x02", 4, "32 0 -16 -8"},
    {NULL, 0, "sub.d $sp, $sp, $a0", "\x63\x90\x11\x00", 4, "? 0 -16 -8"},
    {NULL, 0, "bl .+64", "\x00\x40\x00\x54", 4, "? 0 -16 -8 call +64"},
    {NULL, 0, "addi.d $sp, $fp, -32", "\xc3\x82\xff\x02", 4, "32 0 -16 -8"},
    {NULL, 0, "ld.d $ra, $sp, 24", "\x61\x60\xc0\x28", 4, "32 0 -16 ="},
    {NULL, 0, "ld.d $fp, $sp, 16", "\x76\x40\xc0\x28", 4, "32 ? = ="},
    {NULL, 0, "addi.d $sp, $sp, 32", "\x63\x80\xc0\x02", 4, "0 ? = ="},
    {NULL, 0, "ret", "\x20\x00\x00\x4c", 4, "0 ? = = return"},
    {code_loongarch64, 0, "loongarch64: large frame, 32 bits", NULL, 0, NULL},
    {NULL, 0, "addi.d $sp, $sp, -2032", "\x63\x40\xe0\x02", 4, "2032 ? = ="},
    {NULL, 0, "st.d $ra, $sp, 2024", "\x61\xa0\xdf\x29", 4, "2032 ? = -8"},
    {NULL, 0, "stptr.d $fp, $sp, 2016", "\x76\xe0\x07\x27", 4, "2032 ? -16 -8"},
    {NULL, 0, "lu12i.w $t0, -2", "\xcc\xff\xff\x15", 4, "2032 ? -16 -8"},
    {NULL, 0, "ori $t0, $t0, 4080", "\x8c\xc1\xbf\x03", 4, "2032 ? -16 -8"},
    {NULL, 0, "add.d $sp, $sp, $t0", "\x63\xb0\x10\x00", 4, "6144 ? -16 -8"},
    {NULL, 0, "lu12i.w $t0, 1", "\x2c\x00\x00\x14", 4, "6144 ? -16 -8"},
    {NULL, 0, "add.d $sp, $sp, $t0", "\x63\xb0\x10\x00", 4, "2048 ? -16 -8"},
    {NULL, 0, "addi.d $sp, $sp, 16", "\x63\x40\xc0\x02", 4, "2032 ? -16 -8"},
    {NULL, 0, "ldptr.d $fp, $sp, 2016", "\x76\xe0\x07\x26", 4, "2032 ? = -8"},
    {NULL, 0, "ld.w $ra, $sp, 2024", "\x61\xa0\x9f\x28", 4, "2032 ? = -8"},
    {NULL, 0, "bstrins.d $sp, $zero, 4, 0", "\x03\x00\x84\x00", 4, "? ? = -8"},
    {code_loongarch64, 0, "loongarch64: ways", NULL, 0, NULL},
    {NULL, 0, "b .+8", "\x00\x08\x00\x50", 4, "0 ? = = jump +8"},
    {NULL, 0, "b .-16", "\xff\xf3\xff\x53", 4, "0 ? = = jump -16"},
    {NULL, 0, "beqz $a0, .+4096", "\x80\x00\x10\x40", 4, "0 ? = = branch +4096"},
    {NULL, 0, "bnez $a0, .-8", "\x9f\xf8\xff\x47", 4, "0 ? = = branch -8"},
    {NULL, 0, "bceqz $fcc0, .+12", "\x00\x0c\x00\x48", 4, "0 ? = = branch +12"},
    {NULL, 0, "bgeu $a0, $a1, .-8", "\x85\xf8\xff\x6f", 4, "0 ? = = branch -8"},
    {NULL, 0, "jr $a5", "\x20\x01\x00\x4c", 4, "0 ? = = indirect"},
    {NULL, 0, "break 0", "\x00\x00\x2a\x00", 4, "0 ? = = stop"},
    {NULL, 0, "syscall 0", "\x00\x00\x2b\x00", 4, "0 ? = ="},
    {NULL, 0, "nop", "\x00\x00\x40\x03", 4, "0 ? = = padding"},
    {NULL, 0, "pcaddi $a0, 8", "\x04\x01\x00\x18", 4, "0 ? = = takes +32"},
    {NULL, 0, "pcalau12i $a0, 1; addi.d $a0, $a0, 8", "\x24\x00\x00\x1a\x84\x20\xc0\x02", 8, "0 ? = = takes +4060 length 4"},
    {NULL, 0, "jirl $ra, $a5, 0", "\x21\x01\x00\x4c", 4, "0 ? = ? call"},
    {code_loongarch64, 0, "loongarch64: registers lost", NULL, 0, NULL},
    {NULL, 0, "movgr2fr.d $fa0, $fp", "\xc0\xaa\x14\x01", 4, "0 ? = ="},
    {NULL, 0, "fld.d $fs6, $sp, 0", "\x7e\x00\x80\x2b", 4, "0 ? = ="},
    {NULL, 0, "st.d $ra, $a0, 0", "\x81\x00\xc0\x29", 4, "0 ? = ="},
    {NULL, 0, "stx.d $fp, $a0, $a1", "\x96\x14\x1c\x38", 4, "0 ? = ="},
    {NULL, 0, "sc.w $fp, $a0, 0", "\x96\x00\x00\x21", 4, "0 ? ? ="},
    {NULL, 0, "movfr2gr.d $ra, $fa0", "\x01\xb8\x14\x01", 4, "0 ? ? ?"},
    {code_loongarch64, 0, "loongarch64: registers lost otherwise", NULL, 0, NULL},
    {NULL, 0, "vpickve2gr.d $fp, $vr0, 1", "\x16\xf4\xef\x72", 4, "0 ? ? ="},
    {NULL, 0, "amswap.d $ra, $a0, $a1", "\xa1\x90\x60\x38", 4, "0 ? ? ?"},
    {NULL, 0, "move $fp, $sp", "\x76\x00\x15\x00", 4, "0 0 ? ?"},
    {NULL, 0, "move $sp, $fp", "\xc3\x02\x15\x00", 4, "0 0 ? ?"},
    {NULL, 0, "ldx.d $fp, $a0, $a1", "\x96\x14\x0c\x38", 4, "0 ? ? ?"},
    {NULL, 0, "dbar 0", "\x00\x00\x72\x38", 4, "0 ? ? ?"},
    {code_loongarch64, 0, "loongarch64: calls of other functions, far away", NULL, 0, NULL},
    {NULL, 0, "pcaddu18i $t0, 1", "\x2c\x00\x00\x1e", 4, "0 ? = ="},
    {NULL, 0, "jirl $zero, $t0, 8", "\x80\x09\x00\x4c", 4, "0 ? = = jump +262148"},
    {NULL, 0, "pcaddu18i $ra, -1", "\xe1\xff\xff\x1f", 4, "0 ? = ?"},
    {NULL, 0, "jirl $ra, $ra, 4", "\x21\x04\x00\x4c", 4, "0 ? = ? call -262144"},
    {code_armv7, 1, "thumb: frame", NULL, 0, NULL},
    {NULL, 0, "push {r4, r7, lr}", "\x90\xb5", 2, "12 ? -8 -4"},
    {NULL, 0, "sub sp, #12", "\x83\xb0", 2, "24 ? -8 -4"},
    {NULL, 0, "add r7, sp, #8", "\x02\xaf", 2, "24 16 -8 -4"},
    {NULL, 0, "sub.w sp, sp, #4096", "\xad\xf5\x80\x5d", 4, "4120 16 -8 -4"},
    {NULL, 0, "sub sp, r3", "\xad\xeb\x03\x0d", 4, "? 16 -8 -4"},
    {NULL, 0, "adds r7, #4", "\x04\x37", 2, "? 12 -8 -4"},
    {NULL, 0, "mov sp, r7", "\xbd\x46", 2, "12 12 -8 -4"},
    {NULL, 0, "it eq; popeq {r4, r7, pc}", "\x08\xbf\x90\xbd", 4, "12 12 -8 -4"},
    {NULL, 0, "pop {r4, r7, pc}", "\x90\xbd", 2, "0 ? = -4 return"},
    {code_armv7, 1, "thumb: saved otherwise", NULL, 0, NULL},
    {NULL, 0, "str lr, [sp, #-4]!", "\x4d\xf8\x04\xed", 4, "4 ? = -4"},
    {NULL, 0, "vpush {d8, d9}", "\x2d\xed\x04\x8b", 4, "20 ? = -4"},
    {NULL, 0, "strd r4, r7, [sp, #-8]!", "\x6d\xe9\x02\x47", 4, "28 ? -24 -4"},
    {NULL, 0, "push.w {r8, r11}", "\x2d\xe9\x00\x09", 4, "36 ? -24 -4 | ? -32"},
    {NULL, 0, "movw ip, #4660", "\x41\xf2\x34\x2c", 4, "36 ? -24 -4 | ? -32"},
    {NULL, 0, "sub.w sp, sp, ip", "\xad\xeb\x0c\x0d", 4, "4696 ? -24 -4 | ? -32"},
    {NULL, 0, "add r11, sp, #8", "\x0d\xf1\x08\x0b", 4, "4696 ? -24 -4 | 4688 -32"},
    {NULL, 0, "add sp, ip", "\xe5\x44", 2, "36 ? -24 -4 | 4688 -32"},
    {NULL, 0, "pop.w {r8, r11}", "\xbd\xe8\x00\x09", 4, "28 ? -24 -4"},
    {NULL, 0, "ldrd r4, r7, [sp], #8", "\xfd\xe8\x02\x47", 4, "20 ? = -4"},
    {NULL, 0, "vpop {d8, d9}", "\xbd\xec\x04\x8b", 4, "4 ? = -4"},
    {NULL, 0, "ldr pc, [sp], #4", "\x5d\xf8\x04\xfb", 4, "0 ? = -4 return"},
    {code_armv7, 1, "thumb: ways", NULL, 0, NULL},
    {NULL, 0, "b.n .+8", "\x02\xe0", 2, "0 ? = = jump +8"},
    {NULL, 0, "b.w .-64", "\xff\xf7\xde\xbf", 4, "0 ? = = jump -64"},
    {NULL, 0, "bne.n .-4", "\xfc\xd1", 2, "0 ? = = branch -4"},
    {NULL, 0, "bne.w .+1024", "\x40\xf0\xfe\x81", 4, "0 ? = = branch +1024"},
    {NULL, 0, "cbz r0, .+6", "\x08\xb1", 2, "0 ? = = branch +6"},
    {NULL, 0, "it ne; bne.w .+32", "\x18\xbf\x00\xf0\x0e\xb8", 6, "0 ? = = branch +34"},
    {NULL, 0, "bx lr", "\x70\x47", 2, "0 ? = = return"},
    {NULL, 0, "bx r3", "\x18\x47", 2, "0 ? = = indirect"},
    {NULL, 0, "mov pc, lr", "\xf7\x46", 2, "0 ? = = return"},
    {NULL, 0, "udf #0", "\x00\xde", 2, "0 ? = = stop"},
    {NULL, 0, "svc #0", "\x00\xdf", 2, "0 ? = ="},
    {NULL, 0, "nop", "\x00\xbf", 2, "0 ? = = padding"},
    {NULL, 0, "tbb [pc, r0]; .byte 3, 5, 4, 0; nop; bx lr", "\xdf\xe8\x00\xf0\x03\x05\x04\x00\x00\xbf\x70\x47", 12, "0 ? = = indirect length 10"},
    {NULL, 0, "itt ne; movne r0, r1; blxne r3", "\x1c\xbf\x08\x46\x98\x47", 6, "0 ? = ? call"},
    {code_armv7, 1, "thumb: calls", NULL, 0, NULL},
    {NULL, 0, "push {r3, lr}", "\x08\xb5", 2, "8 ? = -4"},
    {NULL, 0, ".inst.w 0xf000f820", "\x00\xf0\x20\xf8", 4, "8 ? = -4 call +68"},
    {NULL, 0, ".inst.w 0xf000e820", "\x00\xf0\x20\xe8", 4, "8 ? = -4 call arm +66"},
    {NULL, 0, "blx r3", "\x98\x47", 2, "8 ? = -4 call"},
    {NULL, 0, "ldr.w ip, [pc, #4]; b.n .+8; nop; .word 8192", "\xdf\xf8\x04\xc0\x02\xe0\x00\xbf\x00\x20\x00\x00", 12, "8 ? = -4 data +8 length 4"},
    {NULL, 0, "sub.w sp, sp, ip", "\xad\xeb\x0c\x0d", 4, "8200 ? = -4"},
    {NULL, 0, "ldmia.w r0, {r1, r7}", "\x90\xe8\x82\x00", 4, "8200 ? ? -4"},
    {NULL, 0, "bfc r7, #0, #4", "\x6f\xf3\x03\x07", 4, "8200 ? ? -4"},
    {code_armv7, 0, "arm: frame of r11", NULL, 0, NULL},
    {NULL, 0, "mov ip, sp", "\x0d\xc0\xa0\xe1", 4, "0 ? = ="},
    {NULL, 0, "push {fp, ip, lr, pc}", "\x00\xd8\x2d\xe9", 4, "16 ? = -8 | ? -16"},
    {NULL, 0, "sub fp, ip, #4", "\x04\xb0\x4c\xe2", 4, "16 ? = -8 | 4 -16"},
    {NULL, 0, "sub sp, sp, #16", "\x10\xd0\x4d\xe2", 4, "32 ? = -8 | 4 -16"},
    {NULL, 0, "sub sp, sp, r2", "\x02\xd0\x4d\xe0", 4, "? ? = -8 | 4 -16"},
    {NULL, 0, "sub sp, fp, #12", "\x0c\xd0\x4b\xe2", 4, "16 ? = -8 | 4 -16"},
    {NULL, 0, "ldm sp, {fp, sp, pc}", "\x00\xa8\x9d\xe8", 4, "? ? = -8 return"},
    {code_armv7, 0, "arm: under a condition", NULL, 0, NULL},
    {NULL, 0, "push {r4, lr}", "\x10\x40\x2d\xe9", 4, "8 ? = -4"},
    {NULL, 0, "popeq {r4, pc}", "\x10\x80\xbd\x08", 4, "8 ? = -4"},
    {NULL, 0, "addne sp, sp, #24; movne r0, #1; popne {r4, pc}", "\x18\xd0\x8d\x12\x01\x00\xa0\x13\x10\x80\xbd\x18", 12,
     "8 ? = -4"},
    {NULL, 0, "addne sp, sp, #8; bne .+16", "\x08\xd0\x8d\x12\x02\x00\x00\x1a", 8, "8 ? = -4"},
    {NULL, 0, "addne sp, sp, #24; moveq r0, #1; popne {r4, pc}", "\x18\xd0\x8d\x12\x01\x00\xa0\x03\x10\x80\xbd\x18", 12,
     "? ? = -4 length 4"},
    {NULL, 0, "subne sp, sp, #8", "\x08\xd0\x4d\x12", 4, "? ? = -4"},
    {code_armv7, 0, "arm: constants in code", NULL, 0, NULL},
    {NULL, 0, "vldr d7, [pc]; b .+12; .word 0, 0",
     "\x00\x7b\x9f\xed\x01\x00\x00\xea\x00\x00\x00\x00\x00\x00\x00\x00", 16, "0 ? = = data +8 to +16 length 4"},
    {NULL, 0, "ldr r0, [pc, #2]; .word 0, 0, 0", "\x02\x00\x9f\xe5\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 16,
     "0 ? = = length 4"},
    {code_armv7, 0, "arm: ways", NULL, 0, NULL},
    {NULL, 0, "b .+16", "\x02\x00\x00\xea", 4, "0 ? = = jump +16"},
    {NULL, 0, "bne .-8", "\xfc\xff\xff\x1a", 4, "0 ? = = branch -8"},
    {NULL, 0, "bx lr", "\x1e\xff\x2f\xe1", 4, "0 ? = = return"},
    {NULL, 0, "mov pc, lr", "\x0e\xf0\xa0\xe1", 4, "0 ? = = return"},
    {NULL, 0, "addls pc, pc, r3, lsl #2", "\x03\xf1\x8f\x90", 4, "0 ? = = indirect"},
    {NULL, 0, "ldr pc, [r3]", "\x00\xf0\x93\xe5", 4, "0 ? = = indirect"},
    {NULL, 0, "udf #0", "\xf0\x00\xf0\xe7", 4, "0 ? = = stop"},
    {NULL, 0, "svc #0", "\x00\x00\x00\xef", 4, "0 ? = ="},
    {NULL, 0, "str lr, [sp, #-4]!", "\x04\xe0\x2d\xe5", 4, "4 ? = -4"},
    {NULL, 0, "strd r6, r7, [sp, #-8]!", "\xf8\x60\x6d\xe1", 4, "12 ? -8 -4"},
    {NULL, 0, "vpush {d8}", "\x02\x8b\x2d\xed", 4, "20 ? -8 -4"},
    {NULL, 0, ".inst 0xeb000010", "\x10\x00\x00\xeb", 4, "20 ? -8 -4 call +72"},
    {NULL, 0, ".inst 0xfb000010", "\x10\x00\x00\xfb", 4, "20 ? -8 -4 call thumb +74"},
    {NULL, 0, "movw ip, #4660", "\x34\xc2\x01\xe3", 4, "20 ? -8 -4"},
    {NULL, 0, "sub sp, sp, ip", "\x0c\xd0\x4d\xe0", 4, "4680 ? -8 -4"},
    {NULL, 0, "bic sp, sp, #7", "\x07\xd0\xcd\xe3", 4, "? ? -8 -4"},
};

static char text[200];

__attribute__((format(printf, 1, 2))) static void say_more(const char *format, ...)
{
    const size_t used = strlen(text);
    va_list list;

    va_start(list, format);
    vsnprintf(text + used, sizeof(text) - used, format, list);
    va_end(list);
}

static void say_distance(int32_t distance)
{
    if (distance == CODE_LOST)
        say_more("? ");
    else
        say_more("%d ", distance);
}

static void say_place(int32_t place)
{
    if (place == CODE_IN_PLACE)
        say_more("= ");
    else
        say_distance(place);
}

static void say_address(const char *name, uint64_t address, uint64_t from)
{
    if (address)
        say_more("%s%+lld ", name, (long long)((address & ~UINT64_C(1)) - (from & ~UINT64_C(1))));
}

/* In the form of `expected`. */
static void describe(const struct code_state *state, const struct code_flow *flow, uint64_t at, size_t length,
                     size_t whole)
{
    static const char *const kinds[] = {"", "jump ", "branch ", "call ", "return ", "indirect ", "stop "};

    text[0] = '\0';
    say_distance(state->sp);
    say_distance(state->fp);
    say_place(state->fp_at);
    say_place(state->ra_at);
    if (state->base != CODE_LOST || state->base_at != CODE_IN_PLACE) {
        say_more("| ");
        say_distance(state->base);
        say_place(state->base_at);
    }
    say_more("%s%s", kinds[flow->kind], flow->is_padding ? "padding " : "");
    if (flow->target && (flow->target ^ at) & 1)
        say_more(flow->target & 1 ? "thumb " : "arm ");
    say_address("", flow->target, at);
    say_address("takes ", flow->taken, at);
    say_address("data ", flow->data, at);
    if (flow->data && flow->data_size != 4)
        say_address("to ", flow->data + flow->data_size, at);
    if (length != whole)
        say_more("length %zu ", length);
    text[strlen(text) - 1] = '\0';
}

TEST(instructions_do)
{
    const struct line *title = NULL;
    struct code_state state;
    uint64_t at = 0;

    for (const struct line *line = lines; line < lines + sizeof(lines) / sizeof(lines[0]); line++) {
        if (!line->bytes) {
            title = line;
            state = (struct code_state){.fp = CODE_LOST, .base = CODE_LOST};
            at = 0x10000 | title->is_thumb;
            continue;
        }
        struct code_flow flow = {0};
        const unsigned char *bytes = (const unsigned char *)line->bytes;
        const size_t length = title->step(bytes, line->length, at, &state, &flow);
        describe(&state, &flow, at, length, line->length);
        if (strcmp(text, line->expected)) {
            printf("  %s: %s: \"%s\", should be \"%s\"\n", title->source, line->source, text, line->expected);
            WRONG("an instruction");
        }
        at += length;
    }
}

/* The decoder does not read beyond the end of a truncated instruction. */
TEST(cut_off)
{
    const struct line *title = NULL;

    for (const struct line *line = lines; line < lines + sizeof(lines) / sizeof(lines[0]); line++) {
        if (!line->bytes)
            title = line;
        for (size_t size = 0; line->bytes && size < line->length; size++) {
            struct code_state state = {.fp = CODE_LOST, .base = CODE_LOST};
            struct code_flow flow = {0};
            unsigned char *bytes = malloc(size);
            memcpy(bytes, line->bytes, size);
            CHECK(title->step(bytes, size, 0x10000 | title->is_thumb, &state, &flow) <= size);
            free(bytes);
        }
    }
}

/* A known rule at calls that contradicts the code's own drops all rows of that code. */
TEST(calls_tell)
{
    static const uint32_t words[] = {0xe92d4010, 0xe1a00001, 0xebfffffc, 0xe8bd8010}; /* push, mov, bl, pop */
    static const struct {
        struct unwind_rule known;
        bool is_there;
    } cases[] = {
        {{.cfa = UNWIND_UNKNOWN}, true},
        {{.cfa = UNWIND_BY_SP, .offset = 8, .ret = -4}, true},
        {{.cfa = UNWIND_BY_FRAME, .offset = 16, .ret = -4}, true}, /* another register */
        {{.cfa = UNWIND_BY_SP, .offset = 16, .ret = -4}, false},
        {{.cfa = UNWIND_BY_SP, .offset = 8, .ret = -8}, false},
        {{.cfa = UNWIND_BY_SP, .offset = 8, .return_kind = UNWIND_RETURN_IN_LINK}, false},
    };
    const struct image_segment segment = {1, 0x1000, 0x11000, sizeof(words)};
    const struct code_machine *const own = code_machine;
    struct image image;
    AUTO(elf_close) struct elf elf;

    image_make(&image, false, false, 52, 32, &segment, 1, 0x2000);
    image_put(&image, 18, 2, 40);      /* ARM */
    image_put(&image, 24, 4, 0x11000); /* it begins there */
    for (size_t i = 0; i < sizeof(words) / 4; i++)
        image_put(&image, 0x1000 + 4 * i, 4, words[i]);
    CHECK(!elf_open(&elf, image_file(&image, 0x2000)));
    code_machine = &code_machine_armv7;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct code_gap gap = {0x1000, sizeof(words), 0x11000, cases[i].known};
        AUTO(code_rows_free) struct code_rows code;
        bool has_call = false;
        CHECK_NUMBER(code_rows_find(&code, &elf, &gap, 1), 0);
        for (size_t row = 0; row < code.count; row++)
            has_call |= code.rows[row].offset <= 0x1008 && code.rules[code.rows[row].rule].rule.offset == 8;
        CHECK_NUMBER(has_call, cases[i].is_there || !HAS_EXIDX);
    }
    code_machine = own;
}

/* Code without a caller, a return or a function's look is a function if its address is taken. */
TEST(addresses_tell)
{
    static const char bytes[] = "\x48\xbf\0\0\0\0\0\0\0\0\xc3" /* movabs $?, %rdi; ret */
                                "\xcc\xcc\xcc\xcc\xcc\xcc"         /* unaligned from here on: */
                                "\x48\x83\xec\x18\x0f\x0b";        /* sub $24, %rsp; ud2 */
    static const uint64_t function = 17, trap = 21;
    const struct image_segment segment = {1, 0x1000, 0x11000, sizeof(bytes) - 1};
    const struct code_gap gap = {0x1000, sizeof(bytes) - 1, 0x11000, {.cfa = UNWIND_UNKNOWN}};
    const struct code_machine *const own = code_machine;

    for (int taken = 0; taken < 2; taken++) {
        struct image image;
        AUTO(elf_close) struct elf elf;
        AUTO(code_rows_free) struct code_rows code;
        bool has_frame = false;
        image_make(&image, true, false, 64, 56, &segment, 1, 0x2000);
        image_put(&image, 18, 2, 62);      /* x86-64 */
        image_put(&image, 24, 8, 0x11000); /* it begins there */
        for (size_t i = 0; i < sizeof(bytes) - 1; i++)
            image_put(&image, 0x1000 + i, 1, (unsigned char)bytes[i]);
        image_put(&image, 0x1002, 8, taken ? 0x11000 + function : 0);
        CHECK(!elf_open(&elf, image_file(&image, 0x2000)));
        code_machine = &code_machine_x86_64;
        CHECK_NUMBER(code_rows_find(&code, &elf, &gap, 1), 0);
        for (size_t row = 0; row < code.count; row++)
            has_frame |= code.rows[row].offset == 0x1000 + trap && code.rules[code.rows[row].rule].rule.offset == 32;
        CHECK_NUMBER(has_frame, taken);
    }
    code_machine = own;
}

TEST_MAIN
