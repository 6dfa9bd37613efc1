/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 *     condition: all { || all }
 *     all: one { && one }
 *     one: ! one | ( condition ) | value comparison number | value comparison "text"
 *     value: name [ : type ]
 *
 * Tests are in the order in which they are typed. A part exits to TEST_HOLDS and TEST_FAILS until
 * it is combined: && leads the former on to the next part, || the latter, and ! swaps the two.
 */
#include "options/condition_words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

#define MOST_NESTED 32
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS  "0123456789"

struct parsing {
    const char *at;
    struct condition_words *condition;
    unsigned nested;
    struct text *error;
};

static int refuse(struct parsing *parsing, const char *wanted)
{
    if (*parsing->at)
        text_format(parsing->error, "at \"%s\": %s", parsing->at, wanted);
    else
        text_format(parsing->error, "at its end: %s", wanted);
    return -EINVAL;
}

static void skip_blanks(struct parsing *parsing)
{
    parsing->at += strspn(parsing->at, " \t\n");
}

static bool take(struct parsing *parsing, const char *token)
{
    skip_blanks(parsing);
    const char *next = starts_with(parsing->at, token);
    if (next)
        parsing->at = next;
    return next;
}

/* ---- Values ---- */

static int take_type(struct parsing *parsing, struct value_words *value)
{
    static const char *const types[] = {"8", "16", "32", "64"};
    const char *at = parsing->at;
    const size_t length = strspn(at, LETTERS DIGITS);

    for (unsigned i = 0; i < COUNT_OF(types) && (*at == 'i' || *at == 'u'); i++)
        if (length == 1 + strlen(types[i]) && !strncmp(at + 1, types[i], length - 1))
            value->bits = (uint8_t)(8 << i);
    if (!value->bits)
        return refuse(parsing, "expected a type, i8 to i64 or u8 to u64");
    value->is_signed = *at == 'i';
    parsing->at += length;
    return 0;
}

static int take_value(struct parsing *parsing, struct value_words *value)
{
    skip_blanks(parsing);
    const size_t length = strspn(parsing->at, LETTERS DIGITS);

    *value = (struct value_words){0};
    if (!length || strchr(DIGITS, *parsing->at) || length >= sizeof(value->name))
        return refuse(parsing, "expected a name");
    memcpy(value->name, parsing->at, length);
    parsing->at += length;
    return take(parsing, ":") ? take_type(parsing, value) : 0;
}

int value_words_parse(struct value_words *values, size_t most, size_t *count, const char *text,
                      struct text *error)
{
    struct parsing parsing = {.at = text, .error = error};
    int result;

    *count = 0;
    do {
        if (*count == most)
            return refuse(&parsing, "too many values");
        result = take_value(&parsing, &values[(*count)++]);
    } while (!result && take(&parsing, ","));
    if (!result && *parsing.at)
        return refuse(&parsing, most > 1 ? "expected a comma or the end" : "expected the end");
    return result;
}

/* ---- What is compared ---- */

static int take_text(struct parsing *parsing, struct event_test *test)
{
    const char *begin = parsing->at;
    const size_t length = strcspn(begin, "\"");

    if (!begin[length])
        return refuse(parsing, "a text lacks its closing \"");
    if (length >= sizeof(test->text))
        return refuse(parsing, "a text is longer than 15 bytes");
    if (test->comparison > IS_NOT_EQUAL)
        return refuse(parsing, "texts can only be compared by == or !=");
    memcpy(test->text, begin, length);
    test->is_text = true;
    parsing->at += length + 1;
    return 0;
}

/* 4096, 0x1000, 4K, -11. Negative numbers are stored as two's complement. */
static int take_number(struct parsing *parsing, struct test_words *words)
{
    static const char sizes[] = "KMGT";
    const char *begin = parsing->at;
    char digits[32] = "";

    words->is_negative = take(parsing, "-");
    const size_t length = strspn(parsing->at, LETTERS DIGITS);
    uint64_t number = 0;
    unsigned shift = 0;
    int result = length && length < sizeof(digits) ? 0 : -EINVAL;

    if (!result) {
        memcpy(digits, parsing->at, length);
        const char *size = strchr(sizes, digits[length - 1]);
        shift = size ? 10 * (unsigned)(size - sizes + 1) : 0;
        if (size)
            digits[length - 1] = '\0';
        result = parse_number(digits, 0, UINT64_MAX >> shift, &number);
    }
    number <<= shift;
    if (!result && words->is_negative && number > 1ull << 63)
        result = -ERANGE;
    if (result) {
        parsing->at = begin;
        return refuse(parsing, result == -ERANGE ? "a number has more than 64 bits"
                                                 : "expected a number or a \"text\"");
    }
    words->is_negative = words->is_negative && number;
    words->test.number = words->is_negative ? 0 - number : number;
    parsing->at += length;
    return 0;
}

static int take_test(struct parsing *parsing)
{
    static const char *const signs[] = { /* longer ones first */
        [IS_EQUAL] = "==",
        [IS_NOT_EQUAL] = "!=",
        [IS_LESS_OR_EQUAL] = "<=",
        [IS_LESS] = "<",
        [IS_GREATER_OR_EQUAL] = ">=",
        [IS_GREATER] = ">",
    };
    static const uint8_t order[] = {IS_EQUAL, IS_NOT_EQUAL, IS_LESS_OR_EQUAL, IS_GREATER_OR_EQUAL,
                                    IS_LESS, IS_GREATER};
    struct condition_words *condition = parsing->condition;
    size_t i = 0;

    if (condition->count == MOST_TESTS)
        return refuse(parsing, "too many comparisons");
    struct test_words *words = &condition->tests[condition->count];
    *words = (struct test_words){.test = {.yes = TEST_HOLDS, .no = TEST_FAILS}};
    int result = take_value(parsing, &words->value);
    if (result)
        return result;
    while (i < COUNT_OF(order) && !take(parsing, signs[order[i]]))
        i++;
    if (i == COUNT_OF(order))
        return refuse(parsing, "expected a comparison, such as == or <");
    words->test.comparison = (enum comparison)order[i];
    snprintf(words->test.label, sizeof(words->test.label), "test%u",
             (unsigned char)condition->count);
    condition->count++;
    return take(parsing, "\"") ? take_text(parsing, &words->test) : take_number(parsing, words);
}

/* ---- How tests are combined ---- */

/* Redirects the exits of tests [first, end) that lead to `from`: to `to`. */
static void lead(struct condition_words *condition, size_t first, size_t end, uint8_t from,
                 uint8_t to)
{
    for (size_t i = first; i < end; i++) {
        struct event_test *test = &condition->tests[i].test;
        if (test->yes == from)
            test->yes = to;
        if (test->no == from)
            test->no = to;
    }
}

static int take_any(struct parsing *parsing);
static int take_not(struct parsing *parsing);

static int take_one(struct parsing *parsing)
{
    int result;

    skip_blanks(parsing);
    if (*parsing->at != '!' && *parsing->at != '(')
        return take_test(parsing);
    if (parsing->nested++ == MOST_NESTED)
        return refuse(parsing, "nested too deeply");
    if (take(parsing, "!")) {
        result = take_not(parsing);
    } else {
        take(parsing, "(");
        result = take_any(parsing);
        if (!result && !take(parsing, ")"))
            result = refuse(parsing, "expected &&, || or )");
    }
    parsing->nested--;
    return result;
}

#define SWAPPING (TEST_FAILS + 1)

static int take_not(struct parsing *parsing)
{
    struct condition_words *condition = parsing->condition;
    const size_t first = condition->count;
    int result = take_one(parsing);

    lead(condition, first, condition->count, TEST_HOLDS, SWAPPING);
    lead(condition, first, condition->count, TEST_FAILS, TEST_HOLDS);
    lead(condition, first, condition->count, SWAPPING, TEST_FAILS);
    return result;
}

/* Parts separated by `sign`: exits to `end` go on to the next part, if there is one. */
static int take_parts(struct parsing *parsing, const char *sign, uint8_t end,
                      int (*take_part)(struct parsing *parsing))
{
    struct condition_words *condition = parsing->condition;
    const size_t first = condition->count;
    int result = take_part(parsing);

    while (!result && take(parsing, sign)) {
        lead(condition, first, condition->count, end, (uint8_t)condition->count);
        result = take_part(parsing);
    }
    return result;
}

static int take_all(struct parsing *parsing)
{
    return take_parts(parsing, "&&", TEST_HOLDS, take_one);
}

static int take_any(struct parsing *parsing)
{
    return take_parts(parsing, "||", TEST_FAILS, take_all);
}

int condition_words_parse(struct condition_words *condition, const char *text, struct text *error)
{
    struct parsing parsing = {.at = text, .condition = condition, .error = error};

    condition->count = 0;
    int result = take_any(&parsing);
    if (!result && *parsing.at)
        result = refuse(&parsing, "&&, || or expected the end");
    return result;
}
