/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* 64-bit RISC-V, and the parts that apply to 32-bit RISC-V. */
#include <elf.h>

#include "insns/unwind_layout.h"
#include "machine/machine.h"

static const char *const kernel_names[MACHINE_NAMES] = {
    [MACHINE_INTERRUPTS] = "handle_riscv_irq\0" "riscv_intc_irq\0",
    [MACHINE_OWN_WORK] = "ret_from_exception\0",
    [MACHINE_WAYS] = "do_trap_ecall_u\0" "handle_exception\0",
};

static const struct machine_walk walk = {
    .registers = 33,
    .call = 17, .execs = {221, 281},
    .mode = {32, 0x100, 0}, /* status: user mode */
    .numbered = 32, .sampled = 0xffffffff,
    .record = -16,
    .signal = {.at = 304, .bytes = 72, .pc = 0, .link = 8, .sp = 16, .frame = 64},
    .thread_exit = 0x0000007305d00893, /* li a7, 93; ecall */
    .context_end = 0x00090463854a9482, .context_table = 9, /* jalr s1; mv a0, s2; beqz s2, 1f */
    .trampoline = {0x8082014160a2, 6, UNWIND_FRAME_SAME}, /* ld ra, 8(sp); addi sp, sp, 16; ret */
    .is_sparse = true,
};

const struct machine machine_riscv64 = {
    .elf = EM_RISCV, .bits = 64,
#if defined(__riscv) && __riscv_xlen == 64
    .is_ours = true,
#endif
    .family = EM_RISCV,
    .multiarch = "riscv64-linux-gnu",
    .least_page = 12, .greatest_page = 12,
    .call_prefix = "__riscv_", .names = kernel_names,
    .entry_patch = 8, .links_lack_stacks = true,
    .pc = {MACHINE_NOWHERE, 0}, .sp = {2, 2}, .frame = {8, 8}, .link = {1, 1},
    .link_first = true,
    .args = {6, {10, 11, 12, 13, 14, 15}, 10},
    .caller_text = "%ra", .walk = &walk,
    .instruction = 2,
    .marks = {.code = 'x', .data = 'd'},
    /* auipc t3, N; ld t3, N(t3) */
    .plt_pair = {0xe17, 0xe3e03, 12, 20, 12, true}, .irelative = 58,
};

const struct machine machine_riscv32 = {
    .elf = EM_RISCV, .bits = 32,
#if defined(__riscv) && __riscv_xlen == 32
    .is_ours = true,
#endif
    .family = EM_RISCV, .wide = &machine_riscv64,
    .multiarch = "riscv32-linux-gnu",
    .least_page = 12, .greatest_page = 12,
    .call_prefix = "__riscv_", .names = kernel_names,
    .pc = {MACHINE_NOWHERE, 0}, .sp = {2, 2}, .frame = {8, 8}, .link = {1, 1},
    .instruction = 2,
    .marks = {.code = 'x', .data = 'd'},
};
