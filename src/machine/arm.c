/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* 32-bit ARM. */
#include <elf.h>

#include "machine/machine.h"

/* ---- An instruction of ours ---- */

#if defined(__arm__)

/* ARM code, whatever the rest is compiled to: see find/thumb.h. */
__attribute__((target("arm"), noinline, used)) static void unused_function(void)
{
    __asm__ volatile("");
}

static uintptr_t unused_instruction(void)
{
    return (uintptr_t)unused_function;
}

#define UNUSED_INSTRUCTION unused_instruction
#else
#define UNUSED_INSTRUCTION NULL
#endif

/* ---- The row ---- */

static const char *const kernel_names[MACHINE_NAMES] = {
    [MACHINE_INTERRUPTS] = "gic_handle_irq\0" "__irq_svc\0" "__irq_usr\0",
    [MACHINE_TIMER] = "arch_timer_handler_*\0",
    [MACHINE_OWN_WORK] = "do_work_pending\0",
    [MACHINE_WAYS] = "ret_fast_syscall\0" "__sys_trace_return\0",
    [MACHINE_LANDINGS] = "ret_fast_syscall\0" "__ret_fast_syscall\0" "__sys_trace_return\0",
};

/* Only for perf's rings: BPF programs walk 64-bit stacks. */
static const struct machine_walk walk = {
    .registers = 18,
    .call = 7, .mode = {16, 0x1f, 0x10},
    .numbered = 16, .sampled = 0xffff,
    .base = 11,
    .address = 0xfffffffe, /* without the Thumb bit */
    .signal = {.bytes = 64, .frame = 7 * 4, .sp = 13 * 4, .pc = 15 * 4, .link = 14 * 4,
               .base = 11 * 4},
};

/* Thumb code's frame pointer; ARM code's is `base`. */
const struct machine machine_arm = {
    .elf = EM_ARM, .bits = 32,
#if defined(__ARMEB__)
    .is_big = true,
#endif
#if defined(__arm__)
    .is_ours = true,
#endif
    .family = EM_AARCH64,
    .wide = &machine_aarch64, .in_wide = {.call = 7, .sp = 13, .mode = 0x10 /* USR */},
    .multiarch = "arm-linux-gnueabihf",
    .least_page = 12, .greatest_page = 12,
    .names = kernel_names,
    .pc = {15, 15}, .sp = {13, 13}, .frame = {7, 7}, .link = {14, 14},
    .args = {4, {0, 1, 2, 3}, 0},
    .caller_text = "%lr", .walk = &walk,
    .no_frames = true, .instruction = 4,
    .marks = {.code = 'a', .thumb = 't', .data = 'd'},
    .unused_instruction = UNUSED_INSTRUCTION,
};
