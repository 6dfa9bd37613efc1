/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * exidx FILE: what each entry in its .ARM.exidx means: the function's address, and where its caller's stack pointer,
 * r14, r7 and r11 are (-: unchanged). `unknown`: there is no rule. `signal N`: the registers that a signal interrupted
 * are that far above the stack pointer. `root`: where a thread ends.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "elf/frame_entries.h"

static bool is_told;

static void print_place(const char *name, bool is_saved, int place)
{
    if (is_saved)
        printf(" %s%+d", name, place);
    else
        printf(" %s-", name);
}

static void print_row(const struct frame_entry_row *row)
{
    const struct unwind_rule *rule = &row->rule;

    if (rule->cfa == UNWIND_ROOT)
        printf("root %" PRIx64 "\n", row->address);
    else if (rule->cfa == UNWIND_SIGNAL)
        printf("%" PRIx64 " signal %d\n", row->address, rule->offset);
    else {
        const char *reg = rule->cfa == UNWIND_BY_SP ? "sp" : rule->cfa == UNWIND_BY_FRAME ? "r7" : "r11";
        printf("%" PRIx64 " %s%+d", row->address, reg, rule->offset);
        print_place("r14", rule->return_kind == UNWIND_RETURN_AT_CFA, rule->ret);
        print_place("r7", rule->frame_kind == UNWIND_FRAME_AT_CFA, rule->frame);
        print_place("r11", rule->base != UNWIND_BASE_SAME, rule->base);
        printf("\n");
    }
}

static int print(void *context, const struct frame_entry *entry)
{
    (void)context;
    print_row(entry->row);
    is_told = entry->row->rule.cfa != UNWIND_ROOT;
    return 0;
}

static int print_all(const struct elf *elf, const struct elf_section *section)
{
    struct frame_section index = {.elf = elf, .size = (size_t)section->size, .address = section->address};
    uint64_t start;

    index.bytes = malloc(index.size + 1);
    int result = index.bytes ? elf_read(elf, section->offset, index.bytes, index.size) : 1;
    for (size_t at = 0; at < index.size && !result; at += FRAME_EXIDX_BYTES) {
        is_told = false;
        result = frame_exidx_see(&index, at, print, NULL);
        if (!result && !is_told && frame_exidx_start(&index, at, &start))
            printf("%" PRIx64 " unknown\n", start);
    }
    free(index.bytes);
    return result;
}

int main(int argc, char **argv)
{
    struct elf elf;
    const int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0 || elf_open(&elf, fd)) {
        fprintf(stderr, "exidx: an ELF file is wanted\n");
        return 2;
    }
    const struct elf_section *section = elf_section(&elf, ".ARM.exidx");
    const int result = section ? print_all(&elf, section) : 1;
    elf_close(&elf);
    return result ? 1 : 0;
}
