/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Conditions as typed: their result for all values, compared with C's own, and every refusal. */
#include "options/condition_words.h"

#include "find/event_values.h"
#include "kernel/tracefs.h"
#include "machine/machine.h"
#include "unit/test.h"

static struct condition_words words;

/* ---- Their results ---- */

/* The value of a, b, c or d. */
static bool test_holds(const struct test_words *test, const int64_t values[4])
{
    const int64_t value = values[test->value.name[0] - 'a'], number = (int64_t)test->test.number;

    switch (test->test.comparison) {
    case IS_EQUAL:
        return value == number;
    case IS_NOT_EQUAL:
        return value != number;
    case IS_LESS:
        return value < number;
    case IS_LESS_OR_EQUAL:
        return value <= number;
    case IS_GREATER:
        return value > number;
    case IS_GREATER_OR_EQUAL:
        return value >= number;
    }
    return false;
}

static bool condition_holds(const int64_t values[4])
{
    size_t at = 0;

    while (at < words.count) {
        const struct event_test *test = &words.tests[at].test;
        const uint8_t next = test_holds(&words.tests[at], values) ? test->yes : test->no;
        CHECK(next > at && (next < words.count || next == TEST_HOLDS || next == TEST_FAILS));
        at = next;
    }
    return at == TEST_HOLDS;
}

#define FOR_ALL(typed, expression)                                                             \
    do {                                                                                       \
        AUTO_TEXT error = {0};                                                                 \
        CHECK_NUMBER(condition_words_parse(&words, typed, &error), 0);                         \
        for (int i = 0; i < 4 * 4 * 4 * 4; i++) {                                              \
            const int64_t a = i % 4 - 1, b = i / 4 % 4 - 1, c = i / 16 % 4 - 1, d = i / 64 - 1; \
            (void)a, (void)b, (void)c, (void)d;                                                \
            CHECK_NUMBER(condition_holds((const int64_t[]){a, b, c, d}), expression);          \
        }                                                                                      \
    } while (0)

TEST(they_come_to_what_c_says)
{
    FOR_ALL("a==1", a == 1);
    FOR_ALL(" a != 0x1 ", a != 1);
    FOR_ALL("a<1&&b>0", a < 1 && b > 0);
    FOR_ALL("a <= 0 || b >= 1", a <= 0 || b >= 1);
    FOR_ALL("a == 1 || b == 1 && c == 1", a == 1 || (b == 1 && c == 1));
    FOR_ALL("a == 1 && b == 1 || c == 1", (a == 1 && b == 1) || c == 1);
    FOR_ALL("a == 1 && (b == 1 || c == 1)", a == 1 && (b == 1 || c == 1));
    FOR_ALL("(a == 1 || b == 1) && (c == 1 || d == 1)", (a == 1 || b == 1) && (c == 1 || d == 1));
    FOR_ALL("!(a == 1)", !(a == 1));
    FOR_ALL("!!(a == 1)", a == 1);
    FOR_ALL("!(a == 1 && b == 1) || !(c < 0 || d > -1)", !(a == 1 && b == 1) || !(c < 0 || d > -1));
    FOR_ALL("!(!(a == 1 || b == 2) && !(c == 1)) && d != -1", !(!(a == 1 || b == 2) && !(c == 1)) && d != -1);
    FOR_ALL("((((a == -1))))", a == -1);
    FOR_ALL("a == 0 && b == 0 && c == 0 && d == 0", a == 0 && b == 0 && c == 0 && d == 0);
    FOR_ALL("a == 1 || b == 1 || c == 1 || d == 1", a == 1 || b == 1 || c == 1 || d == 1);
}

/* ---- Numbers, texts and types ---- */

static void check_number(const char *text, uint64_t number, bool is_negative)
{
    AUTO_TEXT error = {0};

    CHECK_NUMBER(condition_words_parse(&words, text, &error), 0);
    CHECK_NUMBER(words.tests[0].test.number, number);
    CHECK_NUMBER(words.tests[0].is_negative, is_negative);
}

TEST(numbers_are_read)
{
    check_number("a > 4K", 4096, false);
    check_number("a > 3M", 3 << 20, false);
    check_number("a > 0x10G", 16ull << 30, false);
    check_number("a > 2T", 2ull << 40, false);
    check_number("a > -11", (uint64_t)-11, true);
    check_number("a > -0", 0, false);
    check_number("a > -4K", (uint64_t)-4096, true);
    check_number("a > 18446744073709551615", UINT64_MAX, false);
    check_number("a > -9223372036854775808", 1ull << 63, true);
    check_number("a == 0xFFFFffff", 0xffffffff, false);
}

TEST(texts_and_types_are_read)
{
    AUTO_TEXT error = {0};

    CHECK_NUMBER(condition_words_parse(&words, "comm==\"a && (b\" && prev_comm != \"\" && ret:i32<0", &error), 0);
    CHECK_NUMBER(words.count, 3);
    CHECK(words.tests[0].test.is_text && !strcmp(words.tests[0].test.text, "a && (b"));
    CHECK(words.tests[1].test.is_text && !words.tests[1].test.text[0]);
    CHECK(words.tests[1].test.comparison == IS_NOT_EQUAL && !strcmp(words.tests[1].value.name, "prev_comm"));
    CHECK(words.tests[2].value.bits == 32 && words.tests[2].value.is_signed && !words.tests[2].test.is_text);
    CHECK_NUMBER(condition_words_parse(&words, "arg2 : u8 == 3", &error), -EINVAL);
    text_clear(&error);
    CHECK_NUMBER(condition_words_parse(&words, "arg2:u8 == 3", &error), 0);
    CHECK(words.tests[0].value.bits == 8 && !words.tests[0].value.is_signed);
}

static void check_refused(const char *text, const char *said)
{
    AUTO_TEXT error = {0};

    CHECK_NUMBER(condition_words_parse(&words, text, &error), -EINVAL);
    if (!error.data || !strstr(error.data, said))
        printf("  of \"%s\" was said: %s\n", text, error.data ? error.data : "nothing");
    CHECK(error.data && strstr(error.data, said));
}

TEST(what_is_wrong_is_said)
{
    char many[64 * 16] = "a == 1", deep[128];

    check_refused("", "at its end: expected a name");
    check_refused("a", "at its end: expected a comparison");
    check_refused("a = 1", "at \"= 1\": expected a comparison");
    check_refused("a == ", "at its end: expected a number");
    check_refused("a == b", "at \"b\": expected a number");
    check_refused("a == 1K5", "expected a number");
    check_refused("a == K", "expected a number");
    check_refused("a == --1", "expected a number");
    check_refused("a == 0x", "expected a number");
    check_refused("1 == a", "at \"1 == a\": expected a name");
    check_refused("a == 1 b == 2", "at \"b == 2\": &&, || or expected the end");
    check_refused("a == 1 & b == 2", "at \"& b == 2\"");
    check_refused("a == 1 &&", "at its end: expected a name");
    check_refused("(a == 1", "at its end: expected &&, || or )");
    check_refused("a == 1)", "at \")\"");
    check_refused("a == 18446744073709551616", "more than 64 bits");
    check_refused("a == 16777216T", "more than 64 bits");
    check_refused("a == -9223372036854775809", "more than 64 bits");
    check_refused("a:f32 == 1", "at \"f32 == 1\": expected a type");
    check_refused("a:i7 == 1", "expected a type");
    check_refused("a: == 1", "expected a type");
    check_refused("comm == \"cc1", "lacks its closing \"");
    check_refused("comm == \"0123456789abcdef\"", "longer than 15 bytes");
    check_refused("comm < \"cc1\"", "== or !=");
    check_refused("a_name_that_is_so_long_that_no_kernel_has_such_a_field_anywhere == 1", "expected "
                                                                                          "a "
                                                                                          "name");
    for (int i = 1; i < MOST_TESTS; i++)
        strcat(many, " && a == 1");
    AUTO_TEXT error = {0};
    CHECK_NUMBER(condition_words_parse(&words, many, &error), 0);
    CHECK_NUMBER(words.count, MOST_TESTS);
    strcat(many, " && a == 1");
    check_refused(many, "too many");
    memset(deep, '(', sizeof(deep));
    deep[sizeof(deep) - 1] = '\0';
    check_refused(deep, "nested too deeply");
    memset(deep, '!', sizeof(deep) - 1);
    check_refused(deep, "nested too deeply");
}

TEST(lists_are_read)
{
    struct value_words values[3];
    AUTO_TEXT error = {0};
    size_t count;

    CHECK_NUMBER(value_words_parse(values, 3, &count, "arg1:i32, ret,bytes_req", &error), 0);
    CHECK_NUMBER(count, 3);
    CHECK(!strcmp(values[0].name, "arg1") && values[0].bits == 32 && !strcmp(values[2].name, "bytes_req"));
    CHECK_NUMBER(value_words_parse(values, 3, &count, "a,b,c,d", &error), -EINVAL);
    CHECK_NUMBER(value_words_parse(values, 3, &count, "a,", &error), -EINVAL);
    CHECK_NUMBER(value_words_parse(values, 3, &count, "", &error), -EINVAL);
    CHECK_NUMBER(value_words_parse(values, 1, &count, "a b", &error), -EINVAL);
}

/* ---- Where events have values ---- */

static struct event_values found;

/* 0, or an errno with `said` in the message. */
static void check_place(const struct place *place, const struct machine *machine, const char *condition,
                        const char *said)
{
    const struct values_where where = {-1, machine};
    struct asked_values asked = {0};
    AUTO_TEXT error = {0};

    CHECK_NUMBER(condition_words_parse(&asked.condition, condition, &error), 0);
    CHECK_NUMBER(event_values_find(&found, &asked, &where, place, &error), said ? -EINVAL : 0);
    if (said && !(error.data && strstr(error.data, said)))
        printf("  of \"%s\" was said: %s\n", condition, error.data ? error.data : "nothing");
    CHECK(!said || (error.data && strstr(error.data, said)));
}

static void check_value(int offset, int size, int bits, bool is_signed)
{
    const struct event_value *value = &found.condition.tests[0].value;

    CHECK_NUMBER(value->offset, offset);
    CHECK_NUMBER(value->size, size);
    CHECK_NUMBER(value->bits, bits);
    CHECK_NUMBER(value->is_signed, is_signed);
}

TEST(registers_are_found)
{
    const struct place start = {.kind = PLACE_KERNEL_FUNCTION, .name = (char *)"vfs_read"};
    const struct place end = {.kind = PLACE_KERNEL_FUNCTION, .name = (char *)"vfs_read", .at_return = true};
    const struct place call = {.kind = PLACE_KERNEL_FUNCTION, .name = (char *)"__x64_sys_read"};
    const struct place probe = {.kind = PLACE_USER, .name = (char *)"a:b:c", .is_usdt = true, .file = "/"};

    check_place(&start, &machine_x86_64, "arg1 > 4096", NULL);
    check_value(14 * 8, 8, 64, false);
    check_place(&start, &machine_x86_64, "arg6:i16 > -4096", NULL);
    check_value(8 * 8, 8, 16, true);
    check_place(&end, &machine_x86_64, "ret < 0", NULL);
    check_value(10 * 8, 8, 64, true);
    check_place(&start, &machine_s390x, "arg5:u32 > 1", NULL);
    check_value(9 * 8, 8, 32, false);
    check_place(&start, &machine_arm, "arg4 > 1", NULL);
    check_value(3 * 4, 4, 32, false);
    check_place(&start, &machine_arm, "arg5 > 1", "in no register");
    check_place(&start, &machine_arm, "arg1:i64 > 1", "has fewer than 64 bits");
    check_place(&start, &machine_x86_64, "arg7 > 1", "in no register");
    check_place(&start, &machine_x86_64, "arg0 > 1", "there are arg1");
    check_place(&start, &machine_x86_64, "arg12 > 1", "there are arg1");
    check_place(&start, &machine_x86_64, "ret > 1", "when a function returns");
    check_place(&end, &machine_x86_64, "arg1 > 1", "gone");
    check_place(&call, &machine_x86_64, "arg1 > 1", "sys_enter_");
    check_place(&call, &machine_aarch64, "arg1 > 1", NULL);
    check_place(&probe, &machine_x86_64, "arg1 > 1", "USDT");
    check_place(&start, &machine_alpha, "arg1 > 1", "cannot be read on this machine");
    check_place(&start, &machine_alpha, "comm == \"cc1\"", NULL);
    CHECK(found.condition.tests[0].value.is_comm);
    check_place(&start, &machine_x86_64, "arg1 < 0", "is unsigned");
    check_place(&start, &machine_x86_64, "arg1 >= 0", "is unsigned");
    check_place(&start, &machine_x86_64, "arg1 == -1", "is unsigned");
    check_place(&start, &machine_x86_64, "arg1:i32 == -1", NULL);
    check_place(&end, &machine_x86_64, "ret == 0xffffffffffffffff", "never that large");
    check_place(&start, &machine_x86_64, "arg1:u8 > 256", "never that large");
    check_place(&start, &machine_x86_64, "arg1:u8 > 255", NULL);
    check_place(&start, &machine_x86_64, "arg1:i16 == 32768", "never that large");
    check_place(&start, &machine_x86_64, "arg1:i16 == 32767", NULL);
    check_place(&start, &machine_x86_64, "arg1 == 0xffffffffffffffff", NULL);
    check_place(&start, &machine_x86_64, "comm == 1", "is a text");
    check_place(&start, &machine_x86_64, "comm:i32 == 1", "has fewer than 32 bits");
    check_place(&start, &machine_x86_64, "arg1 == \"cc1\"", "is a number");
}

/* ---- Fields ---- */

static const char format[] =
    "name: kmalloc\nID: 4\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:const void * ptr;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:s16 depth;\toffset:16;\tsize:2;\tsigned:1;\n"
    "\tfield:char name[16];\toffset:18;\tsize:16;\tsigned:0;\n"
    "\tfield:unsigned long args[2];\toffset:40;\tsize:16;\tsigned:0;\n"
    "\tfield:__data_loc char[] path;\toffset:56;\tsize:4;\tsigned:1;\n\n"
    "print fmt: \"ptr=%p\", REC->ptr\n";

TEST(fields_say_what_they_are)
{
    struct tracefs_field field;
    AUTO_TEXT names = {0};

    CHECK_NUMBER(tracefs_parse_field(format, "ptr", &field), 0);
    CHECK(field.is_address && !field.is_signed && !field.is_array);
    CHECK_NUMBER(tracefs_parse_field(format, "depth", &field), 0);
    CHECK(field.is_signed && !field.is_address && field.size == 2);
    CHECK_NUMBER(tracefs_parse_field(format, "name", &field), 0);
    CHECK(field.is_text && field.is_array && field.size == 16);
    CHECK_NUMBER(tracefs_parse_field(format, "args", &field), 0);
    CHECK(field.is_array && !field.is_text);
    CHECK_NUMBER(tracefs_parse_field(format, "path", &field), 0);
    CHECK(field.is_elsewhere);
    tracefs_add_fields(format, &names);
    CHECK(names.data && !strcmp(names.data, " ptr depth name args path"));
}

TEST_MAIN
