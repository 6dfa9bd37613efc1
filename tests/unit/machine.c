/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The table of architectures: its rows are complete and unique, and this machine's row agrees with
 * this program's ELF header, the C library and the kernel.
 */
#include "machine/machine.h"

#include <elf.h>
#include <fcntl.h>
#if defined(__riscv) || defined(__mips__) || defined(__loongarch__)
#include <asm/ptrace.h>
#else
#include <sys/user.h>
#endif

#include "insns/fragments.h"
#include "insns/layout.h"
#include "test.h"

static const char *own_path;

#define CHECK_ROW(condition)                                                              \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            printf("  %s: not so: %s\n", row->multiarch, #condition);                     \
            test_failures_here++;                                                         \
        }                                                                                 \
    } while (0)

TEST(rows_are_whole)
{
    for (size_t i = 0; machines[i]; i++) {
        const struct machine *row = machines[i];
        CHECK(row->multiarch && *row->multiarch);
        CHECK_ROW(row->elf);
        CHECK_ROW(row->bits == 32 || row->bits == 64);
        CHECK_ROW(row->instruction == 1 || row->instruction == 2 || row->instruction == 4);
        CHECK_ROW(row->least_page >= 12 && row->least_page <= row->greatest_page && row->greatest_page <= 16);
        CHECK_ROW(memchr(row->call_prefix, '\0', sizeof(row->call_prefix)));
        CHECK_ROW(!row->marks.thumb || (row->marks.code && row->marks.data));
        CHECK_ROW((!row->plt_entry && !row->plt_pair.load) == !row->irelative);
        CHECK_ROW(!row->wide || (row->bits == 32 && row->wide->bits == 64 && row->family &&
                                 row->wide->family == row->family));
        CHECK_ROW(!row->family || machine_of(row->family)->family == row->family);
        CHECK_ROW(!row->fixed || (row->fixed->label && row->fixed->start < row->fixed->end));
        CHECK_ROW(row->is_ours || (!row->level_of && !row->unused_instruction));
        /* The machine that runs these tests has names and registers. */
        CHECK_ROW(!row->family || (row->names && row->names[MACHINE_INTERRUPTS] &&
                                   row->names[MACHINE_WAYS] && row->sp.dwarf && row->sp.word &&
                                   row->frame.dwarf && row->frame.word && row->link.dwarf &&
                                   row->pc.word != MACHINE_NOWHERE));
    }
}

TEST(each_is_there_once)
{
    for (size_t i = 0; machines[i]; i++)
        for (size_t other = 0; other < i; other++) {
            const struct machine *row = machines[i];
            CHECK_ROW(row->elf != machines[other]->elf || row->bits != machines[other]->bits);
            CHECK_ROW(strcmp(row->multiarch, machines[other]->multiarch));
            CHECK_ROW(!row->is_ours || !machines[other]->is_ours);
        }
}

TEST(those_of_files)
{
    CHECK(machine_of(EM_X86_64) == &machine_x86_64);
    CHECK(machine_of(EM_386) == &machine_i386);
    CHECK(machine_of(EM_AARCH64) == &machine_aarch64);
    CHECK(machine_of(EM_ARM) == &machine_arm);
    CHECK(machine_of(EM_RISCV) == &machine_riscv64);
    CHECK(machine_of(EM_MIPS) == &machine_mips64);
    CHECK(machine_of(0x7777) && !machine_of(0x7777)->elf);
    CHECK(machine_of(0) == machine_of(0x7777));
    CHECK_NUMBER(machine_audit(machine_of(0)), 0);
    CHECK(!machine_of(0)->plt_entry && machine_of(0)->instruction && machine_of(0)->multiarch);
}

/* AUDIT_ARCH_... of linux/audit.h. */
TEST(numbers_of_seccomp)
{
    CHECK_NUMBER(machine_audit(&machine_x86_64), 0xc000003e);
    CHECK_NUMBER(machine_audit(&machine_i386), 0x40000003);
    CHECK_NUMBER(machine_audit(&machine_aarch64), 0xc00000b7);
#ifndef __ARMEB__
    CHECK_NUMBER(machine_audit(&machine_arm), 0x40000028);
#endif
    CHECK_NUMBER(machine_audit(&machine_riscv64), 0xc00000f3);
    CHECK_NUMBER(machine_audit(&machine_riscv32), 0x400000f3);
    CHECK_NUMBER(machine_audit(&machine_s390x), 0x80000016);
    CHECK_NUMBER(machine_audit(&machine_loongarch64), 0xc0000102);
#if defined(__MIPSEB__)
    CHECK_NUMBER(machine_audit(&machine_mips64), 0x80000008);
    CHECK_NUMBER(machine_audit(&machine_mips), 0x00000008);
#else
    CHECK_NUMBER(machine_audit(&machine_mips64), 0xc0000008);
    CHECK_NUMBER(machine_audit(&machine_mips), 0x40000008);
#endif
}

/* This program's ELF header tells the machine. */
TEST(ours)
{
    unsigned char head[20];
    const struct machine *row = machine_ours();
    int fd = open(own_path, O_RDONLY | O_CLOEXEC);
    uint16_t elf;

    CHECK(fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head));
    close(fd);
    memcpy(&elf, head + offsetof(Elf32_Ehdr, e_machine), sizeof(elf));
    if (!row->elf) {
        printf("SKIP ours, in part: there is no row of this machine\n");
        CHECK(!machine_of(elf)->elf);
        return;
    }
    CHECK_NUMBER(row->elf, elf);
    CHECK_NUMBER(row->bits, head[EI_CLASS] == ELFCLASS64 ? 64 : 32);
    CHECK_NUMBER(row->is_big, head[EI_DATA] == ELFDATA2MSB);
    CHECK_NUMBER(row->bits, 8 * sizeof(long));
    CHECK(machine_is_ours(elf));
    CHECK(!row->family || !machine_is_ours(0x7777));
    CHECK(!machine_is_ours(0));
    const long page = sysconf(_SC_PAGESIZE);
    CHECK(page >= 1L << row->least_page && page <= 1L << row->greatest_page);
}

/* The kernel that runs our programs: our own machine, or the wider one, or an unknown one. */
TEST(of_the_kernel)
{
    const struct machine *kernel = machine_of_kernel(), *own = machine_ours();

    CHECK(kernel);
    CHECK(kernel == own || (own->bits == 32 && (kernel == own->wide || !kernel->elf)));
}

#define PLACE(field) (long)offsetof(struct user_regs_struct, field)

/* The C library's registers of a process are the kernel's struct pt_regs. */
TEST(places_of_registers)
{
    const struct machine *row = machine_ours();

#if defined(__x86_64__)
    CHECK_NUMBER(machine_place(row, row->pc), PLACE(rip));
    CHECK_NUMBER(machine_place(row, row->sp), PLACE(rsp));
    CHECK_NUMBER(machine_place(row, row->frame), PLACE(rbp));
    const long arguments[] = {PLACE(rdi), PLACE(rsi), PLACE(rdx), PLACE(rcx), PLACE(r8), PLACE(r9)};
    for (size_t i = 0; i < 6; i++)
        CHECK_NUMBER(row->args.words[i] * 8, arguments[i]);
    CHECK_NUMBER(row->args.result * 8, PLACE(rax));
    CHECK_NUMBER(row->link.word, MACHINE_NOWHERE);
#elif defined(__i386__)
    CHECK_NUMBER(machine_place(row, row->pc), PLACE(eip));
    CHECK_NUMBER(machine_place(row, row->sp), PLACE(esp));
    CHECK_NUMBER(machine_place(row, row->frame), PLACE(ebp));
    CHECK_NUMBER(row->link.word, MACHINE_NOWHERE);
#elif defined(__aarch64__)
    CHECK_NUMBER(machine_place(row, row->pc), PLACE(pc));
    CHECK_NUMBER(machine_place(row, row->sp), PLACE(sp));
    CHECK_NUMBER(machine_place(row, row->frame), PLACE(regs[29]));
    CHECK_NUMBER(row->args.words[5] * 8, PLACE(regs[5]));
    CHECK_NUMBER(machine_place(row, row->link), PLACE(regs[30]));
#elif defined(__arm__)
    CHECK_NUMBER(machine_place(row, row->pc), (long)offsetof(struct user_regs, uregs[15]));
    CHECK_NUMBER(machine_place(row, row->sp), (long)offsetof(struct user_regs, uregs[13]));
    CHECK_NUMBER(machine_place(row, row->frame), (long)offsetof(struct user_regs, uregs[7]));
    CHECK_NUMBER(machine_place(row, row->link), (long)offsetof(struct user_regs, uregs[14]));
#elif defined(__riscv)
    CHECK_NUMBER(machine_place(row, row->pc), PLACE(pc));
    CHECK_NUMBER(machine_place(row, row->sp), PLACE(sp));
    CHECK_NUMBER(machine_place(row, row->frame), PLACE(s0));
    CHECK_NUMBER(row->args.words[0] * 8, PLACE(a0));
    CHECK_NUMBER(row->args.result * 8, PLACE(a0));
    CHECK_NUMBER(machine_place(row, row->link), PLACE(ra));
#elif defined(__loongarch__)
    CHECK_NUMBER(machine_place(row, row->pc), (long)offsetof(struct user_pt_regs, csr_era));
    CHECK_NUMBER(machine_place(row, row->sp), (long)offsetof(struct user_pt_regs, regs[3]));
    CHECK_NUMBER(machine_place(row, row->frame), (long)offsetof(struct user_pt_regs, regs[22]));
    CHECK_NUMBER(machine_place(row, row->link), (long)offsetof(struct user_pt_regs, regs[1]));
    CHECK_NUMBER(row->args.words[5] * 8, (long)offsetof(struct user_pt_regs, regs[9]));
#elif defined(__mips__)
    /* ptrace(2) has registers of 64 bits, and not what o32 has before them. */
    const long before = row->bits == 32 ? 8 * 8 : 0, scale = 64 / row->bits;
    const uint8_t first = row->bits == 32 ? 8 : 0;
    CHECK_NUMBER(machine_place(row, row->sp) * scale, before + (long)offsetof(struct pt_regs, regs[29]));
    CHECK_NUMBER(machine_place(row, row->frame) * scale, before + (long)offsetof(struct pt_regs, regs[30]));
    CHECK_NUMBER(machine_place(row, row->link) * scale, before + (long)offsetof(struct pt_regs, regs[31]));
    CHECK_NUMBER(row->args.words[0], first + 4);
    CHECK_NUMBER(row->args.result, first + 2);
#else
    (void)row;
    printf("SKIP places_of_registers: nobody tells them here\n");
#endif
}

/* The emitted code reads the register that the row names. */
static void callers_at(uint32_t flags)
{
    for (size_t i = 0; machines[i]; i++) {
        const struct machine *row = machines[i];
        AUTO(program_free) struct program program = {0};
        emit_load_caller(&program, row, flags, 32);
        CHECK_NUMBER(program.failed, 0);
        const bool has_link = row->link.word && row->link.word != MACHINE_NOWHERE;
        CHECK_ROW(!program.count == !(row->emit_load_caller ||
                                      (has_link && (flags == KEY_KERNEL_START || !row->link_first))));
        CHECK_ROW(!row->walk == !row->caller_text); /* both or neither */
        if (program.count)
            CHECK_NUMBER(program.insns[0].code.off,
                         machine_place(row, row->link.word == MACHINE_NOWHERE ? row->sp : row->link));
    }
}

TEST(callers)
{
    callers_at(KEY_USER_PROBE);
    callers_at(KEY_KERNEL_START);
}

TEST(lists_of_names)
{
    static const char list[] = "one\0" "two_*\0" "o\0";

    CHECK(name_list_has(list, "one"));
    CHECK(name_list_has(list, "o"));
    CHECK(name_list_has(list, "two_"));
    CHECK(name_list_has(list, "two_more"));
    CHECK(!name_list_has(list, "two"));
    CHECK(!name_list_has(list, "ones"));
    CHECK(!name_list_has(list, "on"));
    CHECK(!name_list_has(list, ""));
    CHECK(!name_list_has("", ""));
    CHECK(!name_list_has("", "one"));
    CHECK(!name_list_has(NULL, "one"));
}

/* Names of each kind, for every machine, are known on all machines. */
TEST(names_of_kernels)
{
    CHECK(machines_have(MACHINE_INTERRUPTS, "asm_sysvec_reschedule_ipi"));
    CHECK(machines_have(MACHINE_INTERRUPTS, "el1h_64_irq"));
    CHECK(machines_have(MACHINE_INTERRUPTS, "__irq_usr"));
    CHECK(machines_have(MACHINE_INTERRUPTS, "riscv_intc_irq"));
    CHECK(!machines_have(MACHINE_INTERRUPTS, "el1h_64_sync"));
    CHECK(machines_have(MACHINE_TIMER, "arch_timer_handler_virt"));
    CHECK(machines_have(MACHINE_OTHER_CPU, "sysvec_call_function_single"));
    CHECK(machines_have(MACHINE_OWN_WORK, "do_work_pending"));
    CHECK(machines_have(MACHINE_WAYS, "do_el0_svc"));
    CHECK(machines_have(MACHINE_WAYS, "entry_SYSCALL_64_after_hwframe"));
    CHECK(!machines_have(MACHINE_WAYS, "do_syscall_6"));
}

int main(int argc, char **argv)
{
    if (argc < 1)
        return 1;
    own_path = argv[0];
    run_tests();
    return tests_done();
}
