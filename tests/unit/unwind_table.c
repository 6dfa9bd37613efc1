/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tables made from rows, checked against insns/unwind_layout.h. */
#include "unwind/table.h"

#include "test.h"

#define MOST_ROWS 40000
#define RULES 6

static struct unwind_rule rules[RULES] = {
    {.cfa = UNWIND_UNKNOWN},
    {.cfa = UNWIND_BY_SP, .offset = 8, .ret = -8},
    {.cfa = UNWIND_BY_SP, .offset = 16, .ret = -8},
    {.cfa = UNWIND_BY_FRAME, .offset = 16, .ret = -8, .frame_kind = UNWIND_FRAME_AT_CFA, .frame = -16},
    {.cfa = UNWIND_ROOT},
    {.cfa = UNWIND_FRAME_RECORD},
};
static struct frame_row rows[MOST_ROWS];
static struct frame_rows frames = {.rows = rows, .rules = rules, .rule_count = RULES};
static struct table table;
static uint64_t state = 88172645463325252;

static uint32_t random_below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % limit;
}

static void begin(void)
{
    table_free(&table);
    frames.row_count = 0;
    frames.rule_count = RULES;
}

static void add(uint64_t offset, uint32_t rule)
{
    rows[frames.row_count++] = (struct frame_row){offset, rule};
}

/* The number of the rule for an offset, by the rows; 0 if there is none. */
static uint32_t rule_at(uint64_t offset)
{
    size_t low = 0, high = frames.row_count;

    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (rows[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? rows[low - 1].rule : 0;
}

static bool is_right(uint64_t offset)
{
    const struct unwind_rule *found = table_find(&table, offset);
    const uint32_t wanted = rule_at(offset);

    return found ? !memcmp(found, &rules[wanted], sizeof(*found)) : !wanted;
}

/* Reads a table as unwind_layout.h specifies it, without table.c. */
static bool is_laid_out(void)
{
    const struct unwind_object *object = &table.object;
    const uint64_t words = (uint64_t)table.blocks * UNWIND_BLOCK_WORDS;

    if (object->directory % 2 || object->directory + object->pages * UINT64_C(2) > words)
        return false;
    for (uint32_t i = 0; i < object->pages; i++) {
        const uint32_t *page = table.words + object->directory + i * 2, first = page[0], count = page[1];
        if (!count)
            continue;
        if (first + (uint64_t)count > words || first / UNWIND_BLOCK_WORDS != (first + count - 1) / UNWIND_BLOCK_WORDS ||
            first < object->directory + object->pages * 2 || table.words[first] >> 20)
            return false;
        for (uint32_t row = 0; row < count; row++)
            if ((table.words[first + row] & 0xfffff) >= object->rules ||
                (row && table.words[first + row] >> 20 <= table.words[first + row - 1] >> 20))
                return false;
    }
    return true;
}

#define MAKE()                                                                            \
    do {                                                                                  \
        CHECK_NUMBER(table_make(&table, &frames), 0);                                     \
        CHECK_NUMBER(table_check(&table), 0);                                             \
        CHECK(is_laid_out());                                                             \
    } while (0)

TEST(test_small)
{
    begin();
    add(0x5010, 1);
    add(0x5014, 2);
    add(0x6ffe, 0); /* carried over a page boundary */
    add(0x9000, 3); /* at a page's start; one before it is empty */
    add(0x9001, 0);
    MAKE();
    CHECK_NUMBER(table.blocks, 1);
    CHECK_NUMBER(table.object.first_page, 5);
    CHECK_NUMBER(table.object.pages, 5);
    for (uint64_t offset = 0x4000; offset < 0xb000; offset++)
        CHECK(is_right(offset));
    CHECK(!table_find(&table, 0x8000)); /* the whole page is unknown */
    CHECK(!table_find(&table, 0x4fff) && !table_find(&table, 0xa000));
    CHECK(!table_find(&table, UINT64_MAX) && !table_find(&table, 0));
    CHECK(!table_find(&table, 0x5010 + (UINT64_C(1) << 44)));
}

/* A row for each byte of some pages, each of which is a block. */
TEST(test_dense)
{
    begin();
    add(0x1800, 1);
    for (uint32_t i = 0; i < 3 * 4096; i++)
        add(0x2000 + i, 1 + (i & 1));
    add(0x5000, 0);
    MAKE();
    CHECK_NUMBER(table.blocks, 4);
    for (uint64_t offset = 0x1000; offset < 0x6000; offset++)
        CHECK(is_right(offset));
}

TEST(test_random)
{
    for (int round = 0; round < rounds(40); round++) {
        begin();
        uint64_t offset = random_below(1 << 20);
        const uint32_t most = 1 + random_below(MOST_ROWS - 1);
        const uint32_t spread = 1u << random_below(12);
        for (uint32_t i = 0; i < most; i++) {
            add(offset, random_below(RULES));
            offset += 1 + random_below(spread);
        }
        add(offset, 0);
        MAKE();
        for (size_t i = 0; i < frames.row_count; i += 1 + random_below(16))
            for (uint64_t at = rows[i].offset - 1; at <= rows[i].offset + 1; at++)
                CHECK(is_right(at));
        for (int i = 0; i < 1000; i++)
            CHECK(is_right(rows[0].offset + random_below((uint32_t)(offset - rows[0].offset) + 8192)));
    }
}

TEST(test_none)
{
    begin();
    CHECK_NUMBER(table_make(&table, &frames), -ENOENT);
    table_free(&table);
    /* Gaps of more pages than any file has, and beyond what offsets can express. */
    begin();
    add(0x1000, 1);
    add(UINT64_C(1) << 36, 0);
    CHECK_NUMBER(table_make(&table, &frames), -E2BIG);
    table_free(&table);
    begin();
    add(UINT64_C(1) << 62, 1);
    add((UINT64_C(1) << 62) + 8, 0);
    CHECK_NUMBER(table_make(&table, &frames), -E2BIG);
    table_free(&table);
    begin();
    add(0x1000, 1);
    MAKE(); /* after the last row, its rule applies to the end of its page */
    CHECK(table_find(&table, 0x1fff) && !table_find(&table, 0x2000));
}

/* With any word of a table changed, the table is refused, or lookups stay inside it. */
TEST(test_damage)
{
    int refused = 0;

    begin();
    for (uint32_t i = 0; i < 600; i++)
        add(0x1000 + i * 20, 1 + i % 5);
    add(0x5000, 0);
    MAKE();
    const size_t used = table.object.directory + table.object.pages * 2 + 610;
    for (size_t i = 0; i < used; i++)
        for (int bit = 0; bit < 32; bit++) {
            table.words[i] ^= 1u << bit;
            if (table_check(&table))
                refused++;
            else
                for (uint64_t at = 0x0ff0; at < 0x6000; at += 509) {
                    const struct unwind_rule *found = table_find(&table, at);
                    CHECK(!found || (const uint32_t *)found < table.words + table.object.rules * 4);
                }
            table.words[i] ^= 1u << bit;
        }
    CHECK(refused > 2000);
    CHECK_NUMBER(table_check(&table), 0);

    const struct unwind_object good = table.object;
#define REFUSED(change)                                                                   \
    do {                                                                                  \
        table.object.change;                                                              \
        CHECK_NUMBER(table_check(&table), -EBADMSG);                                      \
        table.object = good;                                                              \
    } while (0)
    REFUSED(rules = 0);
    REFUSED(rules = UNWIND_MOST_RULES + 1);
    REFUSED(rules = UINT32_MAX);
    REFUSED(rules++); /* into the directory */
    REFUSED(directory = 1);
    REFUSED(directory = UINT32_MAX - 1);
    REFUSED(directory = UNWIND_BLOCK_WORDS - 2);
    REFUSED(pages = UINT32_MAX);
    REFUSED(pages = UNWIND_BLOCK_WORDS / 2 + 1);
    table.blocks = 65537;
    CHECK_NUMBER(table_check(&table), -EBADMSG);
    table.blocks = 0;
    CHECK_NUMBER(table_check(&table), -EBADMSG);
    table.blocks = 1;
    CHECK_NUMBER(table_check(&table), 0);
    table_free(&table);
}

TEST_MAIN
