/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/elf_arm.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/util.h"
#include "elf/elf_tables.h"

#define MARKS_KNOWN 4

/* The nearest mark or function at or before an address. */
struct sight {
    uint64_t start, end;
    enum arm_code code;
};

struct looking {
    const uint64_t *addresses;
    size_t count;
    struct sight *marks, *functions;
    /* A file has thousands of marks, most of which share their names. */
    uint32_t known[MARKS_KNOWN]; /* places of names; 0: none */
    enum arm_code known_codes[MARKS_KNOWN];
    size_t next_known;
};

static void note(const struct looking *looking, struct sight *sights, const struct sight *seen)
{
    size_t at = first_not_below(looking->addresses, looking->count, seen->start);

    if (at == looking->count || looking->addresses[at] >= seen->end)
        return;
    struct sight *sight = &sights[at];
    if (sight->code && sight->start > seen->start)
        return;
    /* If two begin at the same place, the one that forbids probes wins. */
    if (!sight->code || sight->start < seen->start || seen->code != ARM_CODE_ARM)
        *sight = *seen;
}

/* A result holds for the addresses after it, up to something nearer. */
static void spread(const struct looking *looking, struct sight *sights)
{
    for (size_t i = 1; i < looking->count; i++)
        if ((!sights[i].code || sights[i].start < sights[i - 1].start) && sights[i - 1].code &&
            looking->addresses[i] < sights[i - 1].end)
            sights[i] = sights[i - 1];
}

/* "$t", "$a.1" */
static enum arm_code code_of_mark(const struct elf *elf, const char *name)
{
    const struct machine *row = elf->row;

    if (name[0] != '$' || !name[1] || (name[2] && name[2] != '.'))
        return ARM_CODE_UNKNOWN;
    return name[1] == row->marks.code    ? ARM_CODE_ARM
           : name[1] == row->marks.thumb ? ARM_CODE_THUMB
           : name[1] == row->marks.data  ? ARM_CODE_DATA
                                         : ARM_CODE_UNKNOWN;
}

static int read_mark(struct looking *looking, const struct elf_symbol_table *table, uint32_t place,
                     struct text *name, enum arm_code *code)
{
    for (size_t i = 0; i < MARKS_KNOWN; i++)
        if (looking->known[i] == place) {
            *code = looking->known_codes[i];
            return 0;
        }
    int result = elf_read_name(table, place, name);
    *code = result ? ARM_CODE_UNKNOWN : code_of_mark(table->elf, name->data);
    if (*code) {
        looking->known[looking->next_known] = place;
        looking->known_codes[looking->next_known++] = *code;
        looking->next_known %= MARKS_KNOWN;
    }
    return result == -ENOEXEC ? 0 : result;
}

static int take_entry(struct looking *looking, const struct elf_symbol_table *table,
                      const struct elf_entry *entry, struct text *name)
{
    struct sight seen = {.start = entry->address};
    int result = 0;

    if (!elf_is_code(table->elf, entry, &seen.end))
        return 0;
    if (entry->type == STT_NOTYPE) {
        result = read_mark(looking, table, entry->name, name, &seen.code);
        if (seen.code)
            note(looking, looking->marks, &seen);
        return result;
    }
    seen.code = entry->is_thumb ? ARM_CODE_THUMB : ARM_CODE_ARM;
    seen.end = entry->address + (entry->size ? entry->size : 1);
    note(looking, looking->functions, &seen);
    return 0;
}

static int take_table(struct looking *looking, const struct elf_symbol_table *table)
{
    struct elf_pieces pieces;
    struct text name = {0};
    struct elf_entry entry;
    int result = elf_pieces_open(&pieces, table->elf, &table->symbols);

    if (result)
        return result;
    for (size_t i = 0; i < MARKS_KNOWN; i++)
        looking->known[i] = 0; /* the names of another table */
    while (!result && elf_pieces_next(&pieces))
        for (size_t i = 0; i < pieces.count && !result; i++)
            if (elf_get_entry(table->elf, pieces.bytes + i * pieces.left.entry_size, &entry))
                result = take_entry(looking, table, &entry, &name);
    if (!result && pieces.error != -ENOEXEC)
        result = pieces.error;
    elf_pieces_close(&pieces);
    text_free(&name);
    return result;
}

static enum arm_code judge(const struct elf *elf, uint64_t address, enum arm_code mark,
                           enum arm_code function)
{
    if (mark == ARM_CODE_DATA)
        return ARM_CODE_DATA;
    if (mark == ARM_CODE_THUMB || function == ARM_CODE_THUMB || address % elf->row->instruction)
        return ARM_CODE_THUMB;
    return mark ? mark : function;
}

int elf_arm_codes(const struct elf *elf, const uint64_t *addresses, size_t count,
                  enum arm_code *codes)
{
    struct looking looking = {
        .addresses = addresses, .count = count,
        .marks = calloc(count + 1, sizeof(*looking.marks)),
        .functions = calloc(count + 1, sizeof(*looking.functions)),
    };
    struct elf_symbol_tables tables;
    int result = looking.marks && looking.functions ? 0 : -ENOMEM;

    elf_symbol_tables_open(elf, &tables);
    for (size_t i = 0; i < tables.count && !result; i++)
        result = take_table(&looking, &tables.items[i]);
    elf_symbol_tables_close(&tables);
    if (!result) {
        spread(&looking, looking.marks);
        spread(&looking, looking.functions);
        for (size_t i = 0; i < count; i++)
            codes[i] = judge(elf, addresses[i], looking.marks[i].code,
                             looking.functions[i].code);
    }
    free(looking.marks);
    free(looking.functions);
    return result;
}
