/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * frame_rows FILE: the rows of its unwind tables as `readelf --debug-dump=frames-interp` words
 * them: the address, the CFA, the caller's frame pointer and return address (u: unchanged).
 * frame_rows -c FILE: `cpu_ms N`, the CPU time to make the table.
 * frame_rows -t FILE: the same rows from a table, which is looked up at each row's address and just before the next.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "unwind/table.h"

static const struct machine *machine;

static void print_cfa(unsigned reg, int32_t offset)
{
    static const char *const x86[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
                                      "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};
    static const char *const riscv[] = {"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2",
                                        "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5"};

    if (reg < 16 && (machine->elf == EM_X86_64 || machine->elf == EM_RISCV))
        printf("%s%+d", machine->elf == EM_RISCV ? riscv[reg] : x86[reg], offset);
    else if (reg == machine->sp.dwarf)
        printf("sp%+d", offset);
    else
        printf("x%u%+d", reg, offset);
}

static void print_rule(uint64_t address, const struct unwind_rule *rule)
{
    printf("%016llx ", (unsigned long long)address);
    switch (rule ? rule->cfa : UNWIND_UNKNOWN) {
    case UNWIND_UNKNOWN:
        printf("unknown\n");
        return;
    case UNWIND_UNSUPPORTED:
        printf("unsupported\n");
        return;
    case UNWIND_SIGNAL:
        printf("signal\n");
        return;
    case UNWIND_ROOT:
        printf("root\n");
        return;
    case UNWIND_FRAME_RECORD:
    case UNWIND_FAR_RECORD:
        printf("record\n");
        return;
    case UNWIND_BY_SP:
        print_cfa(machine->sp.dwarf, rule->offset);
        break;
    case UNWIND_BY_FRAME:
        print_cfa(machine->frame.dwarf, rule->offset);
        break;
    case UNWIND_BY_REGISTER:
        print_cfa(rule->reg, rule->offset);
        break;
    default:
        printf("exp");
    }
    if (rule->frame_kind == UNWIND_FRAME_AT_CFA)
        printf(" c%+d", rule->frame);
    else
        printf(" %s", rule->frame_kind == UNWIND_FRAME_AT_FRAME ? "exp"
                      : rule->frame_kind == UNWIND_FRAME_SAME   ? "u"
                                                                : "lost");
    if (rule->return_kind == UNWIND_RETURN_IN_LINK)
        printf(" u\n");
    else if (rule->return_kind == UNWIND_RETURN_IN_REGISTER)
        printf(" r%d\n", rule->ret);
    else
        printf(" c%+d\n", rule->ret);
}

/* Not 0: the table differs from the rows, which is a bug of ours. */
static int check(const struct table *table, const struct frame_rows *rows)
{
    if (table_check(table))
        return fprintf(stderr, "the table is none\n");
    for (size_t i = 0; i < rows->row_count; i++) {
        const struct unwind_rule *wanted = &rows->rules[rows->rows[i].rule];
        const uint64_t last = i + 1 < rows->row_count ? rows->rows[i + 1].offset - 1 : rows->rows[i].offset;
        const uint64_t places[] = {rows->rows[i].offset, last};
        for (int at = 0; at < 2; at++) {
            const struct unwind_rule *found = table_find(table, places[at]);
            if (found ? memcmp(found, wanted, sizeof(*found)) : wanted->cfa != UNWIND_UNKNOWN)
                return fprintf(stderr, "%llx is another row\n", (unsigned long long)places[at]);
        }
    }
    return 0;
}

static double cpu_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    const bool costs = argc == 3 && !strcmp(argv[1], "-c");
    const bool tables = costs || (argc == 3 && !strcmp(argv[1], "-t"));
    const double begun = cpu_ms();
    struct frame_rows rows;
    struct table table = {0};
    struct elf elf;
    uint64_t address;

    if (argc != 2 + tables)
        return 2;
    int fd = open(argv[argc - 1], O_RDONLY | O_CLOEXEC);
    int result = fd < 0 ? -1 : elf_open(&elf, fd);
    if (!result)
        result = frame_rows_read(&rows, &elf);
    if (!result && tables)
        result = table_make(&table, &rows);
    if (result) {
        fprintf(stderr, "%s: %s\n", argv[argc - 1], strerror(-result));
        return 1;
    }
    machine = elf.row;
    if (costs)
        return printf("cpu_ms %.2f\n", cpu_ms() - begun) < 0;
    if (tables)
        return check(&table, &rows) != 0;
    for (size_t i = 0; i < rows.row_count; i++) {
        if (!elf_address_of(&elf, rows.rows[i].offset, &address))
            address = 0; /* the last function may end with its segment */
        print_rule(address, &rows.rules[rows.rows[i].rule]);
    }
    return 0;
}
