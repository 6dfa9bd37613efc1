/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Stacks that BPF programs copied for a later walk: walked at once, later or never, dropped, and damaged. */
#include "unwind/deferred.h"

#include "machine/machine.h"
#include "test.h"

#define DEPTH 8
#define CODE 0x400000ull   /* an object whose functions all have stack frames of 16 bytes */
#define SLOW 0x500000ull   /* another, whose table is made later */
#define NONE 0x600000ull   /* one that never has a table */
#define MAPPED 0x10000ull
#define STACK 0x7ffc00001000ull
#define ROOT_AT 0xf000 /* from this offset on, functions have no caller */
#define MOST_BYTES (256u << 10)

static struct deferred *deferred;
static bool is_slow_made;
static size_t finds;
static uint32_t expected_pid;

/* Any offset has its function's rule, by hand-made rows of one page each. */
static uint32_t *words;
static struct table table;

static void make_table(void)
{
    static const struct unwind_rule rules[] = {
        {.cfa = UNWIND_BY_SP, .offset = 16, .ret = -8},
        {.cfa = UNWIND_ROOT},
    };
    const uint32_t pages = MAPPED >> UNWIND_PAGE_BITS;

    words = calloc(1, UNWIND_BLOCK_BYTES);
    memcpy(words, rules, sizeof(rules));
    for (uint32_t i = 0; i < pages; i++) {
        const struct unwind_page page = {64 + i, 1};
        memcpy(words + 8 + i * 2, &page, sizeof(page));
        words[64 + i] = UNWIND_ROW(0, i == ROOT_AT >> UNWIND_PAGE_BITS);
    }
    table = (struct table){
        .words = words,
        .blocks = 1,
        .object = {.directory = 8, .pages = pages, .rules = 2},
    };
    CHECK_NUMBER(table_check(&table), 0);
}

static bool find(void *context, const struct unwind_state *walk, uint64_t pc, struct walk_object *object)
{
    (void)context;
    finds++;
    CHECK_NUMBER(walk->pid, expected_pid);
    *object = (struct walk_object){.end = UNWIND_END_UNMAPPED};
    if (pc - CODE < MAPPED) {
        *object = (struct walk_object){.table = &table, .bias = CODE};
    } else if (pc - SLOW < MAPPED) {
        *object = (struct walk_object){.table = is_slow_made ? &table : NULL, .end = UNWIND_END_DEFERRED, .bias = SLOW};
        return is_slow_made;
    } else if (pc - NONE < MAPPED) {
        *object = (struct walk_object){.end = UNWIND_END_NO_TABLE};
    }
    return true;
}

/* ---- The records of a BPF program ---- */

static union {
    struct unwind_state state;
    unsigned char bytes[UNWIND_RECORD_BYTES(UNWIND_MOST_KEPT)];
} record;
static uint64_t next_serial, number;

/*
 * Makes a record of a walk that stopped at `pc`, after `prior` frames, with the stack pointer at
 * this byte of `pages` pages of zeros.
 */
static void keep(uint64_t pc, uint32_t prior, size_t sp, uint64_t pages)
{
    memset(&record, 0, sizeof(record));
    number = UNWIND_DEFERRED_FRAME(++next_serial << 19);
    record.state.number = number;
    record.state.pc = pc;
    record.state.sp = STACK + sp;
    record.state.count = prior + 1;
    record.state.exact = record.state.first = !prior;
    record.state.pid = expected_pid = (uint32_t)next_serial;
    record.state.kept = pages * UNWIND_PAGE_BYTES - sp;
}

static void put_word(size_t at, uint64_t word)
{
    memcpy(record.bytes + UNWIND_KEPT_HEAD + (STACK + at - record.state.sp), &word, sizeof(word));
}

/* The return addresses of the frames from sp on. */
static void put_returns(size_t sp, const uint64_t *returns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_word(sp + 8 + i * 16, returns[i]);
}
#define RETURNS(sp, ...) \
    put_returns(sp, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void take(void)
{
    CHECK_NUMBER(deferred_take(deferred, &record, UNWIND_RECORD_BYTES(record.state.kept)), 0);
}

static void begin(void)
{
    const struct deferred_options config = {
        .machine = &machine_x86_64, .find = find, .depth = DEPTH, .most_bytes = MOST_BYTES};

    deferred_close(deferred);
    CHECK_NUMBER(deferred_open(&deferred, &config), 0);
    is_slow_made = false;
}

/* ---- The walks ---- */

static void check(const uint64_t *expected, size_t expected_count, const uint64_t *frames, size_t frame_count,
                  bool for_good)
{
    uint64_t whole[DEPTH + 1] = {[DEPTH] = 0x55};
    size_t count = deferred_complete(deferred, frames, frame_count, for_good, whole);

    CHECK_NUMBER(count, expected_count);
    for (size_t i = 0; i < count && i < expected_count; i++)
        CHECK_NUMBER(whole[i], expected[i]);
    CHECK_NUMBER(whole[DEPTH], 0x55);
}
#define LIST(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define END(end) UNWIND_END_FRAME(UNWIND_END_##end)

TEST(at_once)
{
    begin();
    keep(CODE + 0x10, 0, 0x100, 1);
    RETURNS(0x100, CODE + 0x2000, CODE + ROOT_AT + 5);
    take();
    CHECK_NUMBER(deferred_waiting(deferred), 0);
    check(LIST(CODE + 0x10, CODE + 0x2000, CODE + ROOT_AT + 5), LIST(CODE + 0x10, number), false);
    /* And again: a later record may have the same frame word. */
    check(LIST(CODE + 0x10, CODE + 0x2000, CODE + ROOT_AT + 5), LIST(CODE + 0x10, number), true);
    CHECK_NUMBER(deferred_figures(deferred).taken, 1);
}

TEST(behind_others)
{
    begin();
    keep(CODE + 0x3001, 2, 0xf00, 2);
    RETURNS(0xf00, CODE + ROOT_AT + 1);
    take();
    check(LIST(1, 2, CODE + 0x3001, CODE + ROOT_AT + 1), LIST(1, 2, CODE + 0x3001, number), true);
}

TEST(over_pages)
{
    begin();
    keep(CODE + 0x10, 0, 0xff8, 2);
    RETURNS(0xff8, CODE + 0x2000, CODE + ROOT_AT + 5);
    take();
    check(LIST(CODE + 0x10, CODE + 0x2000, CODE + ROOT_AT + 5), LIST(CODE + 0x10, number), true);
    /* A stack without a record is unknown. */
    keep(CODE + 0x10, 0, 0xff8, 1);
    take();
    check(LIST(CODE + 0x10, END(DEFERRED)), LIST(CODE + 0x10, number), true);
}

TEST(later)
{
    begin();
    keep(CODE + 0x10, 0, 0x100, 1);
    RETURNS(0x100, SLOW + 0x2000, CODE + ROOT_AT + 5);
    take();
    CHECK_NUMBER(deferred_waiting(deferred), 1);
    CHECK(deferred_is_waiting(deferred, number) && !deferred_is_waiting(deferred, number + 1) && !deferred_is_waiting(deferred, CODE));
    check(NULL, 0, LIST(CODE + 0x10, number), false);
    check(LIST(CODE + 0x10, SLOW + 0x2000, END(DEFERRED)), LIST(CODE + 0x10, number), true);
    deferred_walk(deferred);
    CHECK_NUMBER(deferred_waiting(deferred), 1);
    is_slow_made = true;
    deferred_walk(deferred);
    CHECK_NUMBER(deferred_waiting(deferred), 0);
    CHECK(!deferred_is_waiting(deferred, number));
    check(LIST(CODE + 0x10, SLOW + 0x2000, CODE + ROOT_AT + 5), LIST(CODE + 0x10, number), false);
    finds = 0;
    deferred_walk(deferred);
    CHECK_NUMBER(finds, 0);
}

TEST(ends)
{
    begin();
    keep(NONE + 1, 1, 0, 1);
    take();
    check(LIST(5, NONE + 1, END(NO_TABLE)), LIST(5, NONE + 1, number), true);
    /* No known mapping: the BPF program counted this frame, but its caller is unknown. */
    keep(0x1234, 1, 0, 1);
    take();
    check(LIST(5, 0x1234, END(UNKNOWN)), LIST(5, 0x1234, number), true);
    keep(CODE + 0x1010, 1, 0, 1);
    RETURNS(0, 0x1234);
    take();
    check(LIST(5, CODE + 0x1010, END(UNKNOWN)), LIST(5, CODE + 0x1010, number), true);
}

/* As many frames as there is room for, including the one for the end. */
TEST(depths)
{
    begin();
    for (uint32_t prior = 0; prior < DEPTH; prior++)
        for (size_t more = 0; more < DEPTH + 2; more++) {
            uint64_t frames[DEPTH + 1], whole[DEPTH + 1] = {[DEPTH] = 0x55};
            keep(CODE + 0x1010, prior, 0, 1);
            for (size_t i = 0; i < more; i++)
                put_word(8 + i * 16, CODE + (i + 1 == more ? ROOT_AT + 1 : 0x2000));
            if (!more)
                put_word(8, 0);
            take();
            for (uint32_t i = 0; i < prior; i++)
                frames[i] = i + 1;
            frames[prior] = CODE + 0x1010;
            const size_t length = prior + 1u < DEPTH ? prior + 2u : DEPTH;
            frames[length - 1] = number;
            const size_t count = deferred_complete(deferred, frames, length, true, whole);
            const size_t all = prior + 1 + more;
            CHECK_NUMBER(count, all < DEPTH ? all : DEPTH);
            CHECK_NUMBER(whole[DEPTH], 0x55);
            if (all > DEPTH)
                CHECK(whole[DEPTH - 1] == END(DEPTH));
            else
                CHECK(!UNWIND_IS_END_FRAME(whole[count - 1]));
        }
}

TEST(unknown)
{
    begin();
    const uint64_t other = UNWIND_DEFERRED_FRAME(999 << 19);
    check(NULL, 0, LIST(CODE, other), false);
    check(LIST(CODE, END(DEFERRED)), LIST(CODE, other), true);
    check(LIST(END(DEFERRED)), LIST(other), true);
}

/* Data that our BPF programs never write. */
TEST(damaged)
{
    begin();
    keep(CODE, 0, 0, 1);
    for (size_t size = 0; size < UNWIND_RECORD_BYTES(UNWIND_PAGE_BYTES); size += 8)
        CHECK_NUMBER(deferred_take(deferred, &record, size), 0);
    record.state.kept = UINT64_MAX;
    CHECK_NUMBER(deferred_take(deferred, &record, sizeof(record)), 0);
    record.state.kept = UNWIND_MOST_KEPT + 1;
    CHECK_NUMBER(deferred_take(deferred, &record, sizeof(record)), 0);
    record.state.kept = UNWIND_PAGE_BYTES;
    record.state.count = 0;
    take();
    record.state.count = DEPTH + 1;
    take();
    CHECK_NUMBER(deferred_figures(deferred).taken, 0);
    /* The record has more prior frames than the requested stack. */
    keep(CODE, 5, 0, 1);
    take();
    check(LIST(1, END(DEFERRED)), LIST(1, number), true);
    /* The BPF program could read nothing of the stack. */
    keep(CODE, 0, 0, 0);
    take();
    check(LIST(CODE, END(DEFERRED)), LIST(CODE, number), true);
}

/*
 * The records that have waited longest are truncated, then the oldest are dropped; the newest one always stays.
 */
TEST(bounded)
{
    begin();
    for (int i = 0; i < 20000; i++) {
        keep(SLOW + 0x10, 0, 0, i % 2 ? (UNWIND_MOST_KEPT / UNWIND_PAGE_BYTES) : 1);
        expected_pid = record.state.pid = 7;
        take();
        check(LIST(SLOW + 0x10, END(DEFERRED)), LIST(SLOW + 0x10, number), true);
    }
    CHECK(deferred_waiting(deferred) > 0 && deferred_waiting(deferred) <= MOST_BYTES / UNWIND_RECORD_BYTES(UNWIND_PAGE_BYTES));
    CHECK(deferred_figures(deferred).forgotten > 10000 && deferred_figures(deferred).forgotten < 20000);
    is_slow_made = true;
    deferred_walk(deferred);
    CHECK_NUMBER(deferred_waiting(deferred), 0);
    deferred_close(deferred);
    deferred = NULL;
}

int main(void)
{
    make_table();
    run_tests();
    return tests_done();
}
