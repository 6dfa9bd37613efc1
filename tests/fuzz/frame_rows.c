/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Unwind tables: rows in order, a table that passes its own check, and the same rules in it as in
 * the rows.
 */
#include "elf/frame_rows.h"

#include <string.h>

#include "fuzz.h"
#include "unwind/table.h"

#define LOOKS 64

static void try_rows(const struct frame_rows *rows, uint64_t size)
{
    ALWAYS(rows->row_count <= FRAME_ROWS_MOST && rows->rule_count >= 1);
    /* A one-byte instruction makes at most one row, and each function two. */
    ALWAYS(rows->row_count <= 3 * size + 16);
    for (size_t i = 0; i < rows->row_count; i++) {
        ALWAYS(rows->rows[i].rule < rows->rule_count);
        ALWAYS(!i || rows->rows[i - 1].offset < rows->rows[i].offset);
    }
}

static const struct unwind_rule *find_slowly(const struct frame_rows *rows, uint64_t offset)
{
    const struct unwind_rule *rule = NULL;

    for (size_t i = 0; i < rows->row_count && rows->rows[i].offset <= offset; i++)
        rule = &rows->rules[rows->rows[i].rule];
    return rule;
}

static void look(const struct table *table, const struct frame_rows *rows, uint64_t offset)
{
    const struct unwind_rule *wanted = find_slowly(rows, offset), *found = table_find(table, offset);

    if (found)
        ALWAYS(wanted ? !memcmp(found, wanted, sizeof(*found)) : found->cfa == UNWIND_UNKNOWN);
    else
        ALWAYS(!wanted || wanted->cfa == UNWIND_UNKNOWN);
}

static void try_table(const struct frame_rows *rows)
{
    struct table table;
    uint64_t state = 88172645463325252;

    if (!table_make(&table, rows)) {
        ALWAYS(!table_check(&table));
        for (int i = 0; i < LOOKS; i++) {
            const uint64_t near = rows->rows[fuzz_random(&state) % rows->row_count].offset;
            look(&table, rows, near);
            look(&table, rows, near - 1);
            look(&table, rows, near + fuzz_random(&state) % 8192);
        }
    }
    table_free(&table);
}

/* table_check() refuses a forged table, or every lookup in it stays within bounds. */
static void try_strange_table(const uint8_t *data, size_t size)
{
    static uint32_t words[2 * UNWIND_BLOCK_WORDS];
    struct table table = {.words = words, .blocks = 2};

    if (size < sizeof(table.object))
        return;
    memcpy(&table.object, data, sizeof(table.object));
    memset(words, 0, sizeof(words));
    memcpy(words, data, size < sizeof(words) ? size : sizeof(words));
    table.object.directory &= 0x1fff;
    table.object.pages &= 0xff;
    table.object.rules &= 0xff;
    if (table_check(&table))
        return;
    for (uint64_t i = 0; i < table.object.pages * UINT64_C(4096); i += 97) {
        const uint64_t offset = ((uint64_t)table.object.first_page << 12) + i;
        const struct unwind_rule *rule = table_find(&table, offset);
        ALWAYS(!rule || (rule->cfa < UNWIND_CFAS && rule->frame_kind < UNWIND_FRAMES));
    }
}

/* A row for each byte; Go's tables are read by the MB. A section in a hole is refused from 256 MB on. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {2 << 20, 100, 300 << 20},
    [FUZZ_READS] = {1000, 4, 2 << 17},
    [FUZZ_TIME] = {20000, 20, 2000000},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    struct frame_function *functions = NULL;
    struct frame_rows rows;
    struct elf elf;
    uint64_t whole;

    try_strange_table(data, size);
    if (elf_open(&elf, fuzz_sparse_file(data, size, &whole)))
        return;
    if (!frame_rows_read(&rows, &elf)) {
        try_rows(&rows, whole);
        try_table(&rows);
    }
    frame_rows_free(&rows);
    ALWAYS(frame_functions(&elf, &functions) <= (ssize_t)whole);
    free(functions);
    elf_close(&elf);
}
