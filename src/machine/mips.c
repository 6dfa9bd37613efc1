/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* MIPS: 64-bit (n64), and 32-bit (o32), in both byte orders. */
#include <elf.h>

#include "machine/machine.h"

#define RA 31

/* ---- Names ---- */

static const char *const kernel_names[MACHINE_NAMES] = {
    [MACHINE_INTERRUPTS] = "handle_int\0" "plat_irq_dispatch\0" "do_IRQ\0",
    [MACHINE_OWN_WORK] = "work_resched\0",
    [MACHINE_WAYS] = "handle_sys\0" "handle_sys64\0" "syscall_common\0",
};

/* ---- Stacks: of use only there ---- */

#if defined(__mips__)
#include <asm/unistd.h>

/* PERF_REG_MIPS_...: the pc, and all but the kernel's two. The words are perf's, too. */
#define SAMPLED 0xf3ffffff
static const char sampled_words[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
                                     15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 28, 29, 30, 31};

/* By its number as the target of an instruction of either kind; or stored, to be safe. */
static bool moves_sp(uint32_t instruction)
{
    return (instruction >> 16 & 31) == 29 ||
           (instruction >> 26 == 0 && (instruction >> 11 & 31) == 29);
}

/*
 * The vDSO's li v0, NUMBER; syscall: of programs like this one, as files have the first row of
 * both. It is only looked for in little endian.
 */
#if defined(__MIPSEB__)
#define SIGRETURN 0
#define LOW_HALF 4
#else
#define SIGRETURN (0x0000000c24020000 | __NR_rt_sigreturn)
#define LOW_HALF 0
#endif

/* o32's handlers without siginfo_t have only struct sigframe. */
#if _MIPS_SIM == _ABIO32
#define PLAIN -152
#else
#define PLAIN 0
#endif

#define FOR_RINGS                                                                         \
    .numbered = 32,                                                                       \
    .sampled = SAMPLED, .sampled_words = sampled_words,                                   \
    .address = ~(uint64_t)1, /* without the bit of compressed code */                     \
    .sigreturn = SIGRETURN, .plain = PLAIN, .moves_sp = moves_sp

/* struct rt_sigframe of n64, from its registers on. */
static const struct machine_walk walk = {
    FOR_RINGS,
    .signal = {.at = 192, .sp = 29 * 8, .frame = 30 * 8, .link = RA * 8, .pc = 576},
};

/* And of o32, whose registers have 64 bits, too. */
static const struct machine_walk walk_narrow = {
    FOR_RINGS,
    .signal = {.at = 192 + LOW_HALF, .sp = 29 * 8, .frame = 30 * 8, .link = RA * 8, .pc = -8},
};

#define WALK(which) .walk = &(which), .caller_text = "%r31"
#else
#define WALK(which) .walk = NULL
#endif

/* ---- The rows ---- */

#define OF_BOTH                                                                           \
    .elf = EM_MIPS,                                                                       \
    .family = EM_MIPS,                                                                    \
    .least_page = 12, .greatest_page = 16,                                                \
    .names = kernel_names,                                                                \
    .pc = {MACHINE_NOWHERE, 0}, .sp = {29, 29}, .frame = {30, 30}, .link = {RA, RA},      \
    .no_frames = true, .no_user_walk = true, .calls_lack_frame = true,                    \
    .instruction = 4, .compressed = 0x06000000, /* microMIPS, MIPS16 */                   \
    .plt_pair = {0x3c0f0000, 0x8df90000, 0, 0, 16}, /* o32's: lui $t7, N; lw $t9, N($t7) */ \
    .irelative = 128

const struct machine machine_mips64 = {
    OF_BOTH, .bits = 64,
#if defined(__MIPSEB__)
    .is_big = true, .multiarch = "mips64-linux-gnuabi64",
#else
    .multiarch = "mips64el-linux-gnuabi64",
#endif
#if defined(__mips__) && _MIPS_SIM == _ABI64
    .is_ours = true,
#endif
    .args = {6, {4, 5, 6, 7, 8, 9}, 2},
    WALK(walk),
};

const struct machine machine_mips = {
    OF_BOTH, .bits = 32,
#if defined(__MIPSEB__)
    .is_big = true, .multiarch = "mips-linux-gnu",
#else
    .multiarch = "mipsel-linux-gnu",
#endif
#if defined(__mips__) && _MIPS_SIM == _ABIO32
    .is_ours = true,
#endif
    .wide = &machine_mips64,
    .before = 8, /* arguments */
    .args = {4, {12, 13, 14, 15}, 10},
    WALK(walk_narrow),
};
