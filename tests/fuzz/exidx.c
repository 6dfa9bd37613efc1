/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* .ARM.exidx: each row is within its function, and tables accept its rule. */
#include "elf/frame_entries.h"

#include <errno.h>

#include "fuzz.h"

static int look(void *context, const struct frame_entry *entry)
{
    (void)context;
    ALWAYS(entry->row && entry->start < entry->end && entry->is_debug);
    const struct unwind_rule *rule = &entry->row->rule;
    ALWAYS(entry->row->address >= entry->start && entry->row->address <= entry->end);
    ALWAYS(rule->cfa == UNWIND_BY_SP || rule->cfa == UNWIND_BY_FRAME || rule->cfa == UNWIND_BY_REGISTER ||
           rule->cfa == UNWIND_SIGNAL || rule->cfa == UNWIND_ROOT);
    ALWAYS(rule->offset >= 0 && rule->frame_kind < UNWIND_FRAMES && rule->return_kind < UNWIND_RETURNS);
    return 0;
}

/* Each function is read once; of a hole what reading_budget() allows. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {256 << 10, 64, 80 << 20},
    [FUZZ_READS] = {1000, 4, 2 << 17},
    [FUZZ_TIME] = {20000, 10, 2000000},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    struct frame_section index;
    struct elf elf;
    uint64_t whole;

    if (elf_open(&elf, fuzz_sparse_file(data, size, &whole)))
        return;
    const struct elf_section *section = elf_section(&elf, ".ARM.exidx");
    if (section && section->offset <= size && section->size <= size - section->offset) {
        index = (struct frame_section){
            .elf = &elf,
            .bytes = (unsigned char *)data + section->offset,
            .size = (size_t)section->size,
            .address = section->address,
        };
        for (size_t at = 0; at < index.size; at += FRAME_EXIDX_BYTES) {
            const int result = frame_exidx_see(&index, at, look, NULL);
            ALWAYS(!result || result == -EBADMSG);
        }
    }
    elf_close(&elf);
}
