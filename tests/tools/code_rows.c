/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * code_rows [-v] FILE [WHOLE]: makes rows from FILE's code alone, as if it had no tables, and
 * judges them by its tables at each instruction. Prints how many there are, at how many the CFA is
 * the same, unknown to us, wrong, or by another register, and where the frame pointer is wrong.
 * `flat`, not in the total: hand-written CFI omits the move of the stack pointer: one row for a
 * function that pushes, or the same row before and after the move. -v prints each but the same
 * ones. WHOLE is FILE before it was stripped: its symbols tell ARM from Thumb code.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "elf/code_rows.h"
#include "elf/elf_symbols.h"
#include "unwind/table.h"

static const struct code_machine *const machines[] = {
    &code_machine_x86_64, &code_machine_arm64, &code_machine_riscv64, &code_machine_armv7};

enum verdict { SAME, UNKNOWN, WRONG, OTHER, FRAME, FLAT, VERDICTS };

static const char *const words[] = {"same", "unknown", "wrong", "other", "frame", "flat"};

static size_t (*step)(const unsigned char *, size_t, uint64_t, struct code_state *, struct code_flow *);

static size_t row_at(const struct frame_rows *frames, uint64_t offset)
{
    const size_t behind =
        first_key_above(&frames->rows->offset, sizeof(*frames->rows), frames->row_count, offset);

    return behind ? behind - 1 : 0;
}

static const struct unwind_rule *rule_at(const struct frame_rows *frames, uint64_t offset)
{
    return &frames->rules[frames->rows[row_at(frames, offset)].rule];
}

static bool is_flat(const struct frame_rows *tables, const struct frame_function *function)
{
    return row_at(tables, function->offset) == row_at(tables, function->offset + function->size - 1);
}

/* lea N(%rsp), %rsp, for which hand-written CFI lacks a row. */
static bool is_lea_of_stack(const unsigned char *code, size_t length)
{
    static const unsigned char far[] = {0x48, 0x8d, 0xa4, 0x24}, near[] = {0x48, 0x8d, 0x64, 0x24};

    return code_machine == &code_machine_x86_64 &&
           ((length == 8 && !memcmp(code, far, 4)) || (length == 5 && !memcmp(code, near, 4)));
}

/*
 * Right after a save, and right after a restore, a register's value is in both places: tables name
 * one of them, and switch to the other later.
 */
static bool has_both(const struct frame_rows *tables, const struct frame_function *function, size_t place, int16_t at)
{
    for (size_t i = 0; i < tables->row_count && tables->rows[i].offset < function->offset + function->size; i++)
        if (tables->rows[i].offset >= function->offset &&
            !memcmp((const char *)&tables->rules[tables->rows[i].rule] + place, &at, sizeof(at)))
            return true;
    return false;
}

static bool same_return(const struct frame_rows *tables, const struct frame_function *function,
                        const struct unwind_rule *table, const struct unwind_rule *code)
{
    if (table->return_kind == UNWIND_RETURN_AT_CFA && code->return_kind == UNWIND_RETURN_AT_CFA)
        return table->ret == code->ret;
    if (table->return_kind == UNWIND_RETURN_IN_LINK && code->return_kind == UNWIND_RETURN_AT_CFA)
        return has_both(tables, function, offsetof(struct unwind_rule, ret), code->ret);
    return code->return_kind == UNWIND_RETURN_IN_LINK && table->return_kind != UNWIND_RETURN_IN_REGISTER;
}

static bool same_frame(const struct frame_rows *tables, const struct frame_function *function,
                       const struct unwind_rule *table, const struct unwind_rule *code)
{
    if (table->frame_kind == code->frame_kind)
        return table->frame == code->frame;
    if (table->frame_kind == UNWIND_FRAME_SAME && code->frame_kind == UNWIND_FRAME_AT_CFA)
        return has_both(tables, function, offsetof(struct unwind_rule, frame), code->frame);
    return code->frame_kind == UNWIND_FRAME_SAME || code->frame_kind == UNWIND_FRAME_LOST;
}

static enum verdict judge(const struct frame_rows *tables, const struct frame_function *function,
                          const struct unwind_rule *table, const struct unwind_rule *code)
{
    if (code->cfa == UNWIND_UNKNOWN)
        return UNKNOWN;
    if (code->cfa != table->cfa || (code->cfa == UNWIND_BY_REGISTER && code->reg != table->reg))
        return OTHER;
    /* glibc's vfork() has pushed its return address again, and still has it in the register. */
    if (table->return_kind == UNWIND_RETURN_IN_REGISTER && code->ret == -code->offset)
        return SAME;
    if (code->offset != table->offset || !same_return(tables, function, table, code))
        return WRONG;
    return same_frame(tables, function, table, code) ? SAME : FRAME;
}

/* The kind of 32-bit ARM code at each two bytes (the caller frees it); NULL: another machine. */
static enum arm_code *codes_of(const struct elf *elf, uint64_t address, uint64_t size)
{
    const size_t count = (size_t)(size + 1) / 2;
    uint64_t *addresses = calloc(count, sizeof(*addresses));
    enum arm_code *codes = calloc(count, sizeof(*codes));

    for (size_t i = 0; i < count && addresses; i++)
        addresses[i] = address + 2 * i;
    if (!code_machine->choose || !addresses || !codes || elf_arm_codes(elf, addresses, count, codes)) {
        free(codes);
        codes = NULL;
    }
    free(addresses);
    return codes;
}

static void hide(struct elf *elf)
{
    static const char *const names[] = {".eh_frame", ".eh_frame_hdr", ".debug_frame", ".ARM.exidx"};

    elf->frames = (struct elf_segment){0};
    for (size_t i = 0; i < 4; i++) {
        struct elf_section *section = (struct elf_section *)(uintptr_t)elf_section(elf, names[i]);
        if (section)
            section->type = SHT_NOBITS;
    }
}

static double cpu_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    const bool all = argc > 2 && !strcmp(argv[1], "-v");
    const char *const name = argv[1 + all], *const whole_name = argv[argc - 1];
    uint64_t counts[VERDICTS] = {0}, total = 0, address, lost = 0, instructions = 0;
    struct frame_function *functions;
    struct frame_rows tables, rows;
    struct elf elf, whole;

    const int fd = open(name, O_RDONLY | O_CLOEXEC), whole_fd = open(whole_name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || elf_open(&elf, fd) || elf_open(&whole, whole_fd) || frame_rows_read(&tables, &elf))
        return fprintf(stderr, "%s: cannot be read\n", name), 2;
    code_machine = NULL;
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i]->elf == elf.machine && machines[i]->bits == (elf.is_64 ? 64 : 32))
            code_machine = machines[i];
    if (!code_machine)
        return fprintf(stderr, "%s: of an unknown machine\n", name), 2;
    const ssize_t count = frame_functions(&elf, &functions);
    hide(&elf);
    const double begun = cpu_ms();
    const int result = frame_rows_read(&rows, &elf);
    const double spent = cpu_ms() - begun;
    if (result || count < 0)
        return fprintf(stderr, "%s: %s\n", name, strerror(-result)), 2;
    step = code_machine->step;
    for (ssize_t i = 0; step && i < count; i++) {
        unsigned char *bytes = malloc((size_t)functions[i].size);
        elf_renew_budget(&elf);
        elf_renew_budget(&whole);
        size_t length;
        if (!bytes || !elf_address_of(&elf, functions[i].offset, &address) ||
            elf_read(&elf, functions[i].offset, bytes, (size_t)functions[i].size))
            return fprintf(stderr, "%s: a function cannot be read\n", name), 2;
        enum arm_code *codes = codes_of(&whole, address, functions[i].size);
        size_t stale = SIZE_MAX; /* the table's row that ignores such a move */
        for (uint64_t at = 0; at < functions[i].size; at += length) {
            struct code_state state = {0};
            struct code_flow flow = {0};
            if (codes && codes[at / 2] == ARM_CODE_DATA) {
                length = 2;
                continue;
            }
            length = step(bytes + at, (size_t)(functions[i].size - at),
                          (address + at) | (codes && codes[at / 2] != ARM_CODE_ARM), &state, &flow);
            instructions++;
            if (!length) {
                length = code_machine->alignment;
                if (all)
                    printf("undecoded %llx\n", (unsigned long long)(address + at));
                continue;
            }
            const size_t row = row_at(&tables, functions[i].offset + at);
            const bool is_left_out = row == stale || is_flat(&tables, &functions[i]);
            if (is_lea_of_stack(bytes + at, length))
                stale = row;
            const struct unwind_rule *table = rule_at(&tables, functions[i].offset + at),
                                     *code = rule_at(&rows, functions[i].offset + at);
            if (table->cfa != UNWIND_BY_SP && table->cfa != UNWIND_BY_FRAME)
                continue;
            enum verdict verdict = judge(&tables, &functions[i], table, code);
            if ((verdict == WRONG || verdict == OTHER) && is_left_out && code->offset > table->offset)
                verdict = FLAT;
            /* Padding between jumps never runs. */
            if (verdict == UNKNOWN && flow.is_padding)
                continue;
            counts[verdict]++;
            total += verdict != FLAT;
            lost += verdict == SAME && code->frame_kind == UNWIND_FRAME_LOST &&
                    table->frame_kind != UNWIND_FRAME_LOST;
            if (all && verdict != SAME)
                printf("%s %llx in %llx: %d%+d frame %d/%d ret %d, table %d%+d frame %d/%d ret %d\n", words[verdict],
                       (unsigned long long)(address + at), (unsigned long long)address, code->cfa, code->offset,
                       code->frame_kind, code->frame, code->ret, table->cfa, table->offset, table->frame_kind,
                       table->frame, table->ret);
        }
        free(bytes);
        free(codes);
    }
    printf("total %llu", (unsigned long long)total);
    for (int i = 0; i < VERDICTS; i++)
        printf(" %s %llu %.3f", words[i], (unsigned long long)counts[i],
               total ? (double)counts[i] * 100 / (double)total : 0);
    printf(" lost %llu expressions %llu functions %zd rows %zu/%zu cpu_ms %.1f %s\n", (unsigned long long)lost,
           (unsigned long long)(instructions - total - counts[FLAT]), count, rows.row_count, tables.row_count, spent, name);
    free(functions);
    frame_rows_free(&rows);
    frame_rows_free(&tables);
    elf_close(&elf);
    elf_close(&whole);
    close(fd);
    close(whole_fd);
    return 0;
}
