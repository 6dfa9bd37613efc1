/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <elf.h>

#include "insns/unwind_layout.h"
#include "machine/machine.h"

/* ---- PLT: [bti c] adrp x16, PAGE; ldr x17, [x16, #N]; add; [autia1716]; br x17 ---- */

#define BTI_C 0xd503245f

static bool find_entry(const struct machine_plt *plt, uint64_t address,
                       struct machine_plt_entry *entry)
{
    if (plt->size < 8)
        return false;
    /* The entry's adrp is the last at or before the address, or follows a bti at the address. */
    for (int back = -1; back <= 5; back++) {
        unsigned char code[8];
        const uint64_t at = (address & ~(uint64_t)3) - (uint64_t)(int64_t)back * 4;
        if (at < plt->address || at - plt->address > plt->size - 8 ||
            !plt->read(plt, at - plt->address, code, sizeof(code)))
            continue;
        const uint32_t first = machine_little32(code), second = machine_little32(code + 4);
        if ((first & 0x9f00001f) != 0x90000010 || (second & 0xffc003ff) != 0xf9400211)
            continue;
        entry->start = at;
        if (at - plt->address >= 4 && plt->read(plt, at - plt->address - 4, code, 4) &&
            machine_little32(code) == BTI_C)
            entry->start -= 4;
        if (entry->start > address)
            continue;
        const uint32_t pages = (first >> 29 & 3) | (first >> 3 & 0x1ffffc);
        entry->word = (at & ~(uint64_t)4095) +
                      (uint64_t)((int64_t)((uint64_t)pages << 43) >> 43) * 4096 +
                      (second >> 10 & 0xfff) * 8;
        return true;
    }
    return false;
}

/* ---- The row ---- */

static const char *const kernel_names[MACHINE_NAMES] = {
    [MACHINE_LOCAL] = "hyp_stub_el2t_sync_invalid\0",
    /* since 5.12; before */
    [MACHINE_INTERRUPTS] =
        "el1h_64_irq\0" "el0t_64_irq\0" "el0t_32_irq\0" "el1_interrupt\0" "el0_interrupt\0"
        "el1_irq\0" "el0_irq\0" "gic_handle_irq\0",
    [MACHINE_TIMER] = "arch_timer_handler_*\0",
    [MACHINE_WAYS] = "el0t_*\0" "el0_*\0" "do_el0_svc*\0" "invoke_syscall*\0",
};

/* ---- Stacks ---- */

/* add, sub; ldr, str and their pair forms, that change their base register. */
static bool moves_sp(uint32_t instruction)
{
    const bool by_sp = (instruction >> 5 & 31) == 31;

    return ((instruction & 0xbf000000) == 0x91000000 && (instruction & 31) == 31) ||
           (by_sp && (instruction & 0x3a800000) == 0x28800000) ||
           (by_sp && (instruction & 0x3b200400) == 0x38000400);
}

static const struct machine_walk walk = {
    .registers = 34,
    .call = 8, .execs = {221, 281},
    .mode = {33, 0x1f, 0}, /* pstate: EL0 of AArch64 */
    .numbered = 31,
    .sampled = 0x1ffffffff,
    .address = 0xffffffffffff, /* pointer authentication uses the others */
    .record = 0, .sp_unknown = true,
    .signal = {.at = 544, .bytes = 32, .frame = 0, .link = 8, .sp = 16, .pc = 24},
    .sigreturn = 0xd4000001d2801168,   /* mov x8, #139; svc #0 */
    .moves_sp = moves_sp,
    .thread_exit = 0xd4000001d2800ba8, /* mov x8, #93; svc #0 */
    .context_end = 0xaa1303e0d503201f, .context_spare = 0x440, /* nop, or bti c; mov x0, x19 */
    .trampoline = {0xd65f03c0a8c17bfd, 8, UNWIND_FRAME_AT_CFA}, /* ldp x29, x30, [sp], 16; ret */
};

const struct machine machine_aarch64 = {
    .elf = EM_AARCH64, .bits = 64, /* of the other byte order, for seccomp, too */
#if defined(__aarch64__)
    .is_ours = true,
#endif
    .family = EM_AARCH64,
    .multiarch = "aarch64-linux-gnu",
    .least_page = 12, .greatest_page = 16,
    .call_prefix = "__arm64_", .names = kernel_names, .probes_wide_alone = true,
    .pc = {32, 32}, .sp = {31, 31}, .frame = {29, 29}, .link = {30, 30},
    .args = {6, {0, 1, 2, 3, 4, 5}, 0},
    .caller_text = "%x30", .walk = &walk,
    .instruction = 4,
    .marks = {.code = 'x', .data = 'd'},
    .plt_entry = find_entry, .irelative = 1032, /* not every <elf.h> has it */
};
