/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* An event's text, byte for byte, in each format; and the reader's safety for any bytes. */
#include "report/records.h"

#include <linux/perf_event.h>

#include "kernel/ring_buffers.h"
#include "report/blocks.h"
#include "store/recorder.h"
#include "test.h"

/* ---- Text ---- */

static struct symbol symbol_of(bool kernel, uint64_t address, const char *function,
                               const char *file, uint64_t offset)
{
    struct symbol symbol = {.kernel = kernel, .address = address, .offset = offset};

    if (function)
        text_add(&symbol.function, function);
    if (file)
        text_add(&symbol.file, file);
    return symbol;
}

/* The record of two kernel and two user frames. */
static char *print(const struct record *wanted, const struct record_options *options,
                   struct symbol *symbols, size_t kernel, size_t user)
{
    struct text lines[4] = {0}, out = {0};
    struct record_frame frames[4];
    struct record record = *wanted;

    for (size_t i = 0; i < kernel + user; i++) {
        records_add_frame(&lines[i], &symbols[i], options);
        CHECK(!lines[i].failed);
        frames[i] = (struct record_frame){&lines[i], labels_is_unknown(&symbols[i])};
    }
    record.frames = frames;
    record.kernel_count = kernel;
    record.user_count = user;
    records_add(&out, &record, options);
    CHECK(!out.failed);
    for (size_t i = 0; i < kernel + user; i++)
        text_free(&lines[i]);
    return out.data;
}

/* Prints and compares, and frees the symbols. */
static void expect(const struct record *record, const struct record_options *options,
                   struct symbol *symbols, size_t kernel, size_t user, const char *expected)
{
    char *printed = print(record, options, symbols, kernel, user);

    CHECK_STRING(printed, expected);
    free(printed);
    for (size_t i = 0; i < kernel + user; i++) {
        text_free(&symbols[i].function);
        text_free(&symbols[i].file);
    }
}

#define SYMBOLS                                                                      \
    {symbol_of(true, 0xffffffff81000010, "vfs_read", NULL, 0x10),                    \
     symbol_of(true, 0xffffffffc0000020, "ext4_read", "ext4", 0x20),                 \
     symbol_of(false, 0x401234, "main", "prog", 4),                                  \
     symbol_of(false, 0x7f0000001000, NULL, "libc.so.6", 0x2000)}

static const struct record some = {
    .time = 12345678901, .comm = "cat", .event = "vfs_read", .pid = 185, .tid = 186, .cpu = 3};

TEST(a_record_is_a_line_and_its_frames)
{
    const struct record_options options = {.kernel = true, .user = true};
    struct symbol symbols[] = SYMBOLS;

    expect(&some, &options, symbols, 2, 2,
           "12.345678901       cat             185     186     3   vfs_read\n"
           "\tvfs_read\n\text4_read\n\tmain\n\tlibc.so.6+0x2000\n\n");
}

/* An unsigned value as large as a kernel address is shown as an address. */
TEST(values_follow_the_event)
{
    static const struct record_value values[] = {
        {"arg1", 4096, false, false}, {"ret", (uint64_t)-11, true, false}, {"ptr", 4096, false, true},
        {"call_site", 0xffffffff81000010, false, false}};
    struct record_options options = {.kernel = true, .user = true};
    struct record with = some;
    struct symbol text[] = SYMBOLS, perf[] = SYMBOLS;

    with.values = values;
    with.value_count = COUNT_OF(values);
    expect(&with, &options, text, 1, 0,
           "12.345678901       cat             185     186     3   vfs_read arg1=4096 ret=-11 ptr=0x1000 "
           "call_site=0xffffffff81000010\n\tvfs_read\n\n");
    options.format = RECORD_PERF;
    with.value_count = 1;
    expect(&with, &options, perf, 1, 0,
           "cat 185/186 [003] 12.345678901: stackbox: arg1=4096\n"
           " ffffffff81000010 vfs_read ([kernel.kallsyms])\n\n");
    for (size_t i = 1; i < COUNT_OF(text); i++) {
        text_free(&text[i].function);
        text_free(&text[i].file);
        text_free(&perf[i].function);
        text_free(&perf[i].file);
    }
}

/* Several unknown frames are one line with their number, if addresses are not shown. */
TEST(unknown_frames_are_one_line)
{
    struct record_options text = {.kernel = true, .user = true};
#define UNKNOWN                                                                                 \
    {symbol_of(true, 0xffffffff81000010, NULL, NULL, 0), symbol_of(false, 0x1000, NULL, NULL, 0), \
     symbol_of(false, 0x2000, NULL, NULL, 0), symbol_of(false, 0x3000, "main", "prog", 4)}
    struct symbol shown[] = UNKNOWN, raw[] = UNKNOWN;
#undef UNKNOWN

    expect(&some, &text, shown, 1, 3,
           "12.345678901       cat             185     186     3   vfs_read\n"
           "\t[unknown]\n\t[unknown] (2 frames)\n\tmain\n\n");
    text.verbose = true;
    expect(&some, &text, raw, 1, 3,
           "12.345678901       cat             185     186     3   vfs_read\n"
           "\tffffffff81000010 [unknown]\n"
           "\t1000             [unknown]\n"
           "\t2000             [unknown]\n"
           "\t3000             main\n\n");
}

TEST(options_change_the_frames)
{
    const struct record_options options = {.kernel = true, .user = true, .delimited = true,
        .offset = true, .verbose = true, .annotations = true};
    struct symbol symbols[] = SYMBOLS;

    expect(&some, &options, symbols, 2, 2,
           "12.345678901       cat             185     186     3   vfs_read\n"
           "\tffffffff81000010 vfs_read+0x10_[k]\n"
           "\tffffffffc0000020 ext4_read+0x20 [ext4]_[k]\n"
           "\t--\n"
           "\t401234           main+0x4\n"
           "\t7f0000001000     libc.so.6+0x2000\n\n");
}

TEST(what_is_wide_shifts_and_is_not_cut)
{
    const struct record_options options = {.kernel = true, .user = true};
    const struct record record = {
        .time = 4000000000000000000, .comm = "fifteen letters", .event = "a", .pid = 4194304,
        .tid = 4194304, .cpu = 1234};

    expect(&record, &options, NULL, 0, 0,
           "4000000000.000000000 fifteen letters 4194304 4194304 1234 a\n\t[no stack]\n\n");
}

TEST(names_from_outside_are_made_harmless)
{
    const struct record_options options = {.kernel = true};
    const struct record record = {
        .comm = "a\033[1m\xff", .event = "e\n", .pid = 1, .tid = 2, .foreign = true};
    struct symbol symbols[] = {symbol_of(true, 1, "f\tg", NULL, 0)};

    expect(&record, &options, symbols, 1, 0,
           "0.000000000        a\\x1b[1m\\xff    [host 1] [host 2] 0   e\\x0a\n"
           "\tf\\x09g\n\n");
}

TEST(an_empty_stack_is_said)
{
    const struct record_options kernel = {.kernel = true}, user = {.user = true};
    const struct record nobody = {.comm = "", .event = "e"};

    expect(&nobody, &kernel, NULL, 0, 0,
           "0.000000000        [unknown]       0       0       0   e\n\t[no kernel stack]\n\n");
    expect(&nobody, &user, NULL, 0, 0,
           "0.000000000        [unknown]       0       0       0   e\n\t[no user stack]\n\n");
}

TEST(the_time_of_day)
{
    const struct record_options options = {.user = true, .wall_clock = true};
    struct record record = some;
    struct symbol symbols[] = {symbol_of(false, 1, "f", NULL, 0)};

    setenv("TZ", "UTC", 1);
    record.time = 86399000000001; /* 23:59:59 and a nanosecond */
    expect(&record, &options, symbols, 0, 1,
           "23:59:59.000000001 cat             185     186     3   vfs_read\n\tf\n\n");
}

TEST(the_header)
{
    AUTO_TEXT out = {0};

    records_add_header(&out, &(struct record_options){.format = RECORD_PERF});
    CHECK_NUMBER(out.length, 0);
    records_add_header(&out, &(struct record_options){.format = RECORD_TEXT});
    CHECK_STRING(out.data, "TIME(s)            COMM            PID     TID     CPU EVENT\n");
}

TEST(as_perf_prints_it)
{
    const struct record_options options = {.format = RECORD_PERF, .kernel = true, .user = true,
        .delimited = true, .annotations = true};
    struct record record = some;
    struct symbol symbols[] = SYMBOLS;

    record.comm = "two words";
    expect(&record, &options, symbols, 2, 2,
           "two_words 185/186 [003] 12.345678901: stackbox:\n"
           " ffffffff81000010 vfs_read ([kernel.kallsyms])\n"
           " ffffffffc0000020 ext4_read ([ext4])\n"
           "           401234 main (prog)\n"
           "     7f0000001000 [unknown] (libc.so.6)\n\n");
    record.comm = "x";
    symbols[0] = symbol_of(false, 1, "operator new(unsigned long)", "my (old) prog", 2);
    expect(&record, &options, symbols, 0, 1,
           "x_ 185/186 [003] 12.345678901: stackbox:\n"
           "                1 operator new(unsigned long) (my__old__prog)\n\n");
}

TEST(as_a_line_of_json)
{
    struct record_options options = {.format = RECORD_JSON, .kernel = true, .user = true,
        .delimited = true, .annotations = true, .offset = true};
    struct symbol symbols[] = SYMBOLS;
    struct record record = some;

    expect(&some, &options, symbols, 2, 2,
           "{\"time\":12.345678901,\"comm\":\"cat\",\"pid\":185,\"tid\":186,\"host_pids\":false,\"cpu\":3,"
           "\"event\":\"vfs_read\",\"kernel\":["
           "{\"name\":\"vfs_read\",\"file\":\"[kernel]\",\"offset\":16},"
           "{\"name\":\"ext4_read\",\"file\":\"[ext4]\",\"offset\":32}],\"user\":["
           "{\"name\":\"main\",\"file\":\"prog\",\"offset\":4},"
           "{\"name\":null,\"file\":\"libc.so.6\",\"offset\":8192}]}\n");
    record.comm = "\x01\"\\\xff\xc3\xa9</";
    record.event = "";
    record.foreign = true;
    options.kernel = false;
    options.verbose = true;
    symbols[0] = symbol_of(false, UINT64_MAX, NULL, NULL, 0);
    symbols[1] = symbol_of(false, 1, "a\n\"b\"", "\x7f\\x", UINT64_MAX);
    expect(&record, &options, symbols, 0, 2,
           "{\"time\":12.345678901,\"comm\":\"\\\\x01\\\"\\\\\\\\xff\xc3\xa9\\u003c/\",\"pid\":185,\"tid\":186,"
           "\"host_pids\":true,\"cpu\":3,\"event\":null,\"user\":["
           "{\"name\":null,\"file\":null,\"offset\":null,\"address\":\"0xffffffffffffffff\"},"
           "{\"name\":\"a\\\\x0a\\\"b\\\"\",\"file\":\"\\\\x7f\\\\x\",\"offset\":18446744073709551615,"
           "\"address\":\"0x1\"}]}\n");
    options.user = false;
    expect(&some, &options, NULL, 0, 0,
           "{\"time\":12.345678901,\"comm\":\"cat\",\"pid\":185,\"tid\":186,\"host_pids\":false,\"cpu\":3,"
           "\"event\":\"vfs_read\"}\n");
    const struct record_value values[] = {
        {"arg1", UINT64_MAX, false, true}, {"ret:i32", (uint64_t)-11, true, false}, {"len", 0, false, false}};
    record = some;
    record.values = values;
    record.value_count = 3;
    expect(&record, &options, NULL, 0, 0,
           "{\"time\":12.345678901,\"comm\":\"cat\",\"pid\":185,\"tid\":186,\"host_pids\":false,\"cpu\":3,"
           "\"event\":\"vfs_read\",\"values\":{\"arg1\":18446744073709551615,\"ret:i32\":-11,\"len\":0}}\n");
}

/* ---- Bytes of any kind ---- */

enum { DEPTH = 5 };

static const struct snoop_shape both = {DEPTH, true, true, 0};

static size_t take(const void *bytes, size_t size, struct snoop_record *record)
{
    /* Exactly as long as the bytes, so that sanitizers see overruns. */
    void *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    size_t used = snoop_record_take(copy, size, &both, record);
    free(copy);
    return used;
}

TEST(a_record_is_made_small)
{
    size_t size = SNOOP_RECORD_BYTES(2, DEPTH);
    struct snoop_record *raw = calloc(1, size), *record = calloc(1, size);

    raw->kernel_bytes = 16;
    raw->user_bytes = 24;
    for (uint64_t i = 0; i < 2 * DEPTH; i++)
        raw->frames[i] = 100 + i;
    CHECK_NUMBER(take(raw, size - 1, record), 0);
    CHECK_NUMBER(take(raw, size, record), offsetof(struct snoop_record, frames) + 5 * 8);
    CHECK_NUMBER(record->frames[1], 101);
    CHECK_NUMBER(record->frames[2], 100 + DEPTH);
    CHECK_NUMBER(record->frames[4], 102 + DEPTH);
    /* The first two words are values, which come after the frames. */
    size_t with_values = snoop_record_take(raw, size, &(struct snoop_shape){DEPTH - 1, true, true, 2}, record);
    CHECK_NUMBER(with_values, offsetof(struct snoop_record, frames) + 7 * 8);
    CHECK_NUMBER(record->frames[0], 102);
    CHECK_NUMBER(record->frames[2], 102 + DEPTH - 1);
    CHECK(snoop_record_values(record) == record->frames + 5);
    CHECK_NUMBER(record->frames[5], 100);
    CHECK_NUMBER(record->frames[6], 101);
    CHECK_NUMBER(snoop_record_take(raw, size - 1, &(struct snoop_shape){DEPTH - 1, true, true, 2}, record), 0);
    raw->kernel_bytes = -14;
    raw->user_bytes = INT32_MAX;
    CHECK_NUMBER(take(raw, size, record), offsetof(struct snoop_record, frames) + DEPTH * 8);
    CHECK_NUMBER(record->kernel_bytes, -14);
    CHECK_NUMBER(snoop_record_frames(record->kernel_bytes), 0);
    CHECK_NUMBER(snoop_record_frames(record->user_bytes), DEPTH);
    free(raw);
    free(record);
}

TEST(any_bytes_are_read_safely)
{
    char bytes[SNOOP_RECORD_BYTES(2, DEPTH) + 16];
    struct snoop_record *record = calloc(1, SNOOP_RECORD_BYTES(2, DEPTH));

    srandom(1);
    for (int i = 0; i < 20000; i++) {
        for (size_t at = 0; at < sizeof(bytes); at++)
            bytes[at] = (char)random();
        size_t used = take(bytes, (size_t)random() % (sizeof(bytes) + 1), record);
        CHECK(used <= SNOOP_RECORD_BYTES(2, DEPTH));
        CHECK(!used || strnlen(record->comm, sizeof(record->comm)) < sizeof(record->comm));
        CHECK(!used || snoop_record_frames(record->kernel_bytes) <= DEPTH);
        CHECK(!used || snoop_record_frames(record->user_bytes) <= DEPTH);
    }
    free(record);
}

TEST(any_ring_is_read_safely)
{
    char bytes[64];
    uint64_t lost = 0;
    size_t found;

    srandom(2);
    for (int i = 0; i < 20000; i++) {
        size_t size = (size_t)random() % (sizeof(bytes) + 1);
        for (size_t at = 0; at < size; at++)
            bytes[at] = (char)random();
        if (size > 12 && i & 1) {
            const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE};
            memcpy(bytes, &header, sizeof(header));
            bytes[10] = bytes[11] = 0;
        }
        char *copy = malloc(size ? size : 1);
        memcpy(copy, bytes, size);
        const char *at = perf_rings_parse(copy, size, &found, &lost);
        CHECK(!at || (at >= copy && found <= size && at + found <= copy + size));
        free(copy);
    }
}

TEST_MAIN
