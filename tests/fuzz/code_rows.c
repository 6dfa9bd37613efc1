/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rows from code without tables: in order, within the code, in a time that does not depend on the
 * instructions. The first byte chooses the machine.
 */
#include "base/util.h"
#include "elf/code_rows.h"
#include "machine/machine.h"

#include "fuzz.h"

/* Places, states, and what is tried and taken back */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {4 << 20, 200, 0},
    [FUZZ_READS] = {50, 0, 0},
    [FUZZ_TIME] = {20000, 20, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    static const struct code_machine *const machines[] = {&code_machine_x86_64, &code_machine_arm64,
                                                          &code_machine_riscv64, &code_machine_armv7,
                                                          &code_machine_loongarch64};
    static unsigned char file[65536];
    struct frame_rows rows;
    struct elf elf;

    if (size < 2 || size > sizeof(file) - 4096)
        return;
    code_machine = machines[data[0] % COUNT_OF(machines)];
    const uint16_t machine = code_machine->elf;
    const bool is_64 = code_machine->bits == 64;
    const uint64_t at = 4096, length = size - 1;
    memset(file, 0, at);
    if (is_64) {
        Elf64_Ehdr header = {.e_type = ET_EXEC, .e_machine = machine, .e_version = 1, .e_entry = at + length / 2,
                             .e_phoff = sizeof(header), .e_ehsize = sizeof(header),
                             .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1};
        const Elf64_Phdr segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = at, .p_vaddr = at,
                                    .p_filesz = length, .p_memsz = length, .p_align = 4096};
        memcpy(header.e_ident, "\177ELF\2\1\1", 7);
        memcpy(file, &header, sizeof(header));
        memcpy(file + sizeof(header), &segment, sizeof(segment));
    } else {
        Elf32_Ehdr header = {.e_type = ET_EXEC, .e_machine = machine, .e_version = 1,
                             .e_entry = (uint32_t)(at + length / 2), .e_phoff = sizeof(header),
                             .e_flags = 0x05000000, .e_ehsize = sizeof(header),
                             .e_phentsize = sizeof(Elf32_Phdr), .e_phnum = 1};
        const Elf32_Phdr segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = (uint32_t)at,
                                    .p_vaddr = (uint32_t)at, .p_filesz = (uint32_t)length,
                                    .p_memsz = (uint32_t)length, .p_align = 4096};
        memcpy(header.e_ident, "\177ELF\1\1\1", 7);
        memcpy(file, &header, sizeof(header));
        memcpy(file + sizeof(header), &segment, sizeof(segment));
    }
    memcpy(file + at, data + 1, (size_t)length);
    ALWAYS(!elf_open(&elf, fuzz_file(file, (size_t)(at + length))));
    /* Only LoongArch's own build has a walk of its stacks; riscv64's are alike. */
    struct machine row = *elf.row;
    if (!row.walk)
        row.walk = machine_riscv64.walk;
    elf.row = &row;
    if (!frame_rows_read(&rows, &elf)) {
        for (size_t i = 0; i < rows.row_count; i++) {
            ALWAYS(rows.rows[i].rule < rows.rule_count);
            ALWAYS(rows.rows[i].offset + 1 >= at && rows.rows[i].offset <= at + length);
            ALWAYS(!i || rows.rows[i - 1].offset < rows.rows[i].offset);
        }
        ALWAYS(rows.row_count <= 2 * length + 16);
    }
    frame_rows_free(&rows);
    elf_close(&elf);
}
