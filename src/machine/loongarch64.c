/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* 64-bit LoongArch. */
#include "machine/machine.h"

#define LOONGARCH 258 /* EM_LOONGARCH, which older versions of <elf.h> lack */

static const char *const kernel_names[MACHINE_NAMES] = {
    [MACHINE_INTERRUPTS] = "handle_vint\0" "do_vint\0",
    [MACHINE_WAYS] = "handle_syscall\0" "do_syscall\0",
};

/* ---- Stacks: of use only there ---- */

#if defined(__loongarch__) && __loongarch_grlen == 64

static const struct machine_walk walk = {
    .registers = 34,
    .call = 11, .execs = {221, 281},
    .mode = {33, 0, 0}, /* all programs have 64 bits; only kernel threads have a pc of 0 */
    .numbered = 32,
    .sampled = 0xffffffff, .sampled_words = "\41\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21\22"
                                            "\23\24\25\26\27\30\31\32\33\34\35\36\37",
    .record = -16,
    .signal = {.at = 304, .bytes = 192, .pc = 0, .link = 16, .sp = 32, .frame = 184},
    .thread_exit = 0x002b00000281740b, /* li.w $a7, 93; syscall 0 */
};

#define WALK .walk = &walk, .caller_text = "%r1"
#else
#define WALK .walk = NULL
#endif

/* ---- The row ---- */

const struct machine machine_loongarch64 = {
    .elf = LOONGARCH, .bits = 64,
#if defined(__loongarch__) && __loongarch_grlen == 64
    .is_ours = true,
#endif
    .family = LOONGARCH,
    .multiarch = "loongarch64-linux-gnu",
    .least_page = 12, .greatest_page = 16,
    .names = kernel_names,
    .pc = {MACHINE_NOWHERE, 33}, .sp = {3, 3}, .frame = {22, 22}, .link = {1, 1},
    .args = {6, {4, 5, 6, 7, 8, 9}, 4},
    WALK,
    .instruction = 4,
    /* pcaddu12i $t3, N; ld.d $t3, $t3, N */
    .plt_pair = {0x1c00000f, 0x28c001ef, 5, 10, 12, true}, .irelative = 12,
};
