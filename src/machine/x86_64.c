/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* x86-64, and i386, whose programs x86-64 kernels run. */
#include <elf.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "insns/program.h"
#include "insns/unwind_layout.h"
#include "machine/machine.h"

/* ---- The caller at a function's first instruction ---- */

#define CS 136
#define SP 152
#define CS_OF_64_BIT_CODE 0x33
#define CS_OF_32_BIT_CODE 0x23

/* The call has just pushed it: 8 bytes, or 4 in 32-bit code, at the stack pointer. */
static void emit_load_caller_pushed(struct program *program, int16_t place)
{
    EMIT(program,
        LDX(DW, R3, R6, SP),
        LDX(DW, R1, R6, CS),
        MOV_IMM(R2, 8),
        JEQ_IMM(R1, CS_OF_64_BIT_CODE, "wide_caller"),
        MOV_IMM(R2, 4),
    LABEL("wide_caller"),
        ADDRESS(R1, R8, place),
        CALL(BPF_FUNC_probe_read_user));
}

/* ---- PLT: [endbr] [mov $n,%r11d] [bnd] jmp *WORD, at a multiple of 16 or 8 bytes ---- */

/* As much of an entry as the section has, which may end with a short one. */
static size_t read_entry(const struct machine_plt *plt, uint64_t skip, size_t size,
                         unsigned char *code)
{
    if (plt->size - skip < size)
        size = (size_t)(plt->size - skip);
    memset(code, 0, 16);
    return plt->read(plt, skip, code, size) ? size : 0;
}

static bool find_entry(const struct machine_plt *plt, uint64_t address,
                       struct machine_plt_entry *entry)
{
    const bool is_wide = plt->machine->elf == EM_X86_64;
    const uint64_t distance = address - plt->address;
    uint64_t skip = distance & ~(uint64_t)15;
    unsigned char code[24] = {0};
    size_t at = 0, size = read_entry(plt, skip, 16, code);

    /* With only a jump and padding, entries have eight bytes. */
    if (plt->entry_size == 8 ||
        (!memcmp(code, "\xff\x25", 2) && !memcmp(code + 6, "\x66\x90", 2))) {
        skip = distance & ~(uint64_t)7;
        size = read_entry(plt, skip, 8, code);
    }
    if (!memcmp(code, "\xf3\x0f\x1e", 3))
        at += 4;
    if (!memcmp(code + at, "\x41\xbb", 2))
        at += 6;
    if (code[at] == 0xf2)
        at++;
    const bool by_register = code[at + 1] == 0xa3 && !is_wide;
    if (at + 6 > size || code[at] != 0xff || (code[at + 1] != 0x25 && !by_register))
        return false;
    const uint32_t to = machine_little32(code + at + 2);
    entry->start = plt->address + skip;
    if (is_wide)
        entry->word = entry->start + at + 6 + (uint64_t)(int64_t)(int32_t)to;
    else
        entry->word = (uint32_t)(to + (by_register ? plt->table : 0));
    return true;
}

/* ---- The processor levels that libraries require ---- */

#if defined(__x86_64__)

static bool has_all(unsigned flags, unsigned wanted)
{
    return (flags & wanted) == wanted;
}

/* The highest level of the x86-64 ABI that processor and kernel support. */
static int greatest_level(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0, more = 0, states = 0, high;

    /* SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT */
    if (!__get_cpuid(1, &a, &b, &c, &d) || !has_all(c, 0x00982201))
        return 1;
    /* FMA, MOVBE, OSXSAVE, AVX, F16C; LZCNT; AVX2, BMI1, BMI2 */
    if (!has_all(c, 0x38401000) || !__get_cpuid(0x80000001, &a, &b, &more, &d) ||
        !has_all(more, 0x20) || !__get_cpuid_count(7, 0, &a, &b, &more, &d) || !has_all(b, 0x128))
        return 2;
    __asm__("xgetbv" : "=a"(states), "=d"(high) : "c"(0)); /* what the kernel saves */
    if (!has_all(states, 0x06))
        return 2;
    /* AVX512 F, DQ, CD, BW, VL */
    return has_all(states, 0xe6) && has_all(b, 0xd0030000) ? 4 : 3;
}

static int level_of(const char *path)
{
    static const char directory[] = "/glibc-hwcaps/x86-64-v";
    const char *found = strstr(path, directory);
    int level = found ? found[sizeof(directory) - 1] - '0' : 0;

    return level > 1 && level <= greatest_level() ? level : 0;
}

#define LEVEL_OF level_of
#else
#define LEVEL_OF NULL
#endif

/* ---- The rows ---- */

#define PUSH_FRAME_POINTER 0x55
#define ENDBR64 0xfa1e0ff3

static const char *const kernel_names[MACHINE_NAMES] = {
    [MACHINE_BARE_CALLS] =
        "fork\0" "vfork\0" "pause\0" "sync\0" "getpid\0" "getppid\0" "gettid\0" "getuid*\0"
        "geteuid*\0" "getgid*\0" "getegid*\0" "getpgrp\0" "setsid\0" "sched_yield\0" "vhangup\0"
        "munlockall\0" "inotify_init\0" "restart_syscall\0" "rt_sigreturn\0" "sgetmask\0"
        "ni_syscall\0" "uretprobe\0" "uprobe\0",
    [MACHINE_LOCAL] = "common_interrupt_return\0__do_compat_sys_*\0",
    /* since 5.8; before; with FRED; Xen */
    [MACHINE_INTERRUPTS] =
        "asm_common_interrupt\0" "asm_sysvec_*\0" "common_interrupt\0" "sysvec_*\0"
        "__sysvec_*\0" "asm_spurious_interrupt\0" "apic_timer_interrupt\0"
        "smp_apic_timer_interrupt\0" "do_IRQ\0" "ret_from_intr\0" "reschedule_interrupt\0"
        "call_function_interrupt\0" "call_function_single_interrupt\0" "irq_work_interrupt\0"
        "fred_extint\0" "asm_exc_xen_hypervisor_callback\0" "xen_evtchn_do_upcall\0",
    [MACHINE_TIMER] =
        "asm_sysvec_apic_timer_interrupt\0" "sysvec_apic_timer_interrupt\0"
        "apic_timer_interrupt\0" "smp_apic_timer_interrupt\0",
    [MACHINE_OTHER_CPU] = "sysvec_call_function*\0" "sysvec_reschedule_ipi\0",
    [MACHINE_OWN_WORK] = "prepare_exit_to_usermode\0" "exit_to_usermode_loop\0",
    [MACHINE_WAYS] =
        "entry_SYSCALL*\0" "entry_SYSENTER*\0" "entry_INT80*\0" "do_syscall_64\0"
        "x64_sys_call\0" "do_fast_syscall_32\0" "do_int80_*\0" "__do_fast_syscall_32\0"
        "tracesys*\0" "int_ret_from_sys_call\0" /* before 4.6 */
        "asm_*\0" "prepare_exit_to_usermode\0" "exit_to_usermode_loop\0",
};

static const struct machine_fixed vsyscall = {
    "[vsyscall]", 0xffffffffff600000, 0xffffffffff601000,
};

static const struct machine_walk walk = {
    .registers = 21,
    .call = 15, .execs = {59, 322},
    .mode = {17, UINT64_MAX, CS_OF_64_BIT_CODE},
    .numbered = 16,
    .words = 0x0123678904ed5bca, /* rax, rdx, rcx, rbx ... */
    .sampled = 0xff01ff, .sampled_words = "\12\5\13\14\15\16\4\23\20\11\10\7\6\3\2\1", /* and 0 */
    .base = UNWIND_BASE,
    /* struct rt_sigframe, without the return address, which the handler has taken */
    .signal = {.at = 120, .bytes = 56, .frame = 0, .sp = 40, .pc = 48},
    .thread_exit = 0x050f3cb0c031c789, /* mov %eax,%edi; xor %eax,%eax; mov $60,%al; syscall */
    .context_end = 0x48243c8b48dc8948, /* mov %rbx,%rsp; mov (%rsp),%rdi; and of test %rdi,%rdi */
    .trampoline = {0xc308c48348, 5, UNWIND_FRAME_SAME}, /* add $8,%rsp; ret */
};

const struct machine machine_x86_64 = {
    .elf = EM_X86_64, .bits = 64,
#if defined(__x86_64__)
    .is_ours = true,
#endif
    .family = EM_X86_64,
    .multiarch = "x86_64-linux-gnu",
    .least_page = 12, .greatest_page = 12,
#if !defined(__x86_64__) || !defined(__ILP32__)
    .foreign_calls = 0x40000000,
#endif
    .call_prefix = "__x64_", .names = kernel_names, .fixed = &vsyscall,
    .kernel_tables = "unwind_init", .interprets_all = true,
    .unsaved = "entry_SYSCALL_64_fastpath", .kernel_stack = 14, .kernel_code = INT32_MIN,
    .pc = {16, 16}, .sp = {7, SP / 8}, .frame = {6, 4}, .link = {16, MACHINE_NOWHERE},
    .restarts_late = true,
    .args = {6, {14, 13, 12, 11, 9, 8}, 10},
    .emit_load_caller = emit_load_caller_pushed, .caller_text = "$stack0", .walk = &walk,
    .instruction = 1,
    .push = PUSH_FRAME_POINTER, .mark = ENDBR64,
    .plt_entry = find_entry, .irelative = R_X86_64_IRELATIVE,
    .level_of = LEVEL_OF,
};

/* Whether its own kernels have the caller has not been tried yet. */
const struct machine machine_i386 = {
    .elf = EM_386, .bits = 32,
#if defined(__i386__)
    .is_ours = true,
#endif
    .family = EM_X86_64,
    .wide = &machine_x86_64, .in_wide = {.call = 15, .sp = 19, .mode = CS_OF_32_BIT_CODE},
    .multiarch = "i386-linux-gnu",
    .least_page = 12, .greatest_page = 12,
    .names = kernel_names,
    .pc = {8, 12}, .sp = {4, 15}, .frame = {5, 5}, .link = {8, MACHINE_NOWHERE},
    .instruction = 1,
    .push = PUSH_FRAME_POINTER, .mark = ENDBR64,
    .plt_entry = find_entry, .irelative = R_386_IRELATIVE,
};
