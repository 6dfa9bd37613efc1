/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Conditions as typed: each path through an accepted one ends, and it links as a BPF program. */
#include "options/condition_words.h"

#include <string.h>

#include "fuzz.h"

/* Each test leads to an end or to a later test, so every path ends. */
static void look_at_tests(const struct condition_words *words)
{
    ALWAYS(words->count && words->count <= MOST_TESTS);
    for (size_t i = 0; i < words->count; i++) {
        const struct event_test *test = &words->tests[i].test;
        const uint8_t ends[] = {test->yes, test->no};
        for (size_t end = 0; end < 2; end++)
            ALWAYS(ends[end] == TEST_HOLDS || ends[end] == TEST_FAILS ||
                   (ends[end] > i && ends[end] < words->count));
        ALWAYS(test->yes != test->no && words->tests[i].value.name[0]);
        ALWAYS(strnlen(test->text, sizeof(test->text)) < sizeof(test->text));
    }
}

static void make_program(const struct condition_words *words)
{
    struct event_condition condition = {.count = words->count};
    struct program program = {0};
    struct linked linked;
    struct text why = {0};

    for (size_t i = 0; i < words->count; i++) {
        const uint8_t bits = words->tests[i].value.bits;
        condition.tests[i] = words->tests[i].test;
        condition.tests[i].value = (struct event_value){
            .offset = 8, .size = 8, .bits = bits ? bits : 64, .is_signed = words->tests[i].value.is_signed,
            .is_comm = words->tests[i].test.is_text};
        if (condition.tests[i].is_text)
            condition.tests[i].value.size = COMM_BYTES;
    }
    emit_event_condition(&program, &condition, -32);
    EMIT(&program, MOV_IMM(R0, 1), LABEL("filtered"), EXIT());
    ALWAYS(!program_link(&program, &linked, &why));
    ALWAYS(linked.count < PROGRAM_LIMIT / 2);
    program_free(&program);
    text_free(&why);
}

/* Words, and a program of as many instructions. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {4096, 16, 0},
    [FUZZ_READS] = {1, 0, 0},
    [FUZZ_TIME] = {10000, 5, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    static struct condition_words words;
    struct value_words values[4];
    struct text error = {0};
    char *text = malloc(size + 1);
    size_t count;

    ALWAYS(text);
    memcpy(text, data, size);
    text[size] = '\0';
    int result = condition_words_parse(&words, text, &error);
    ALWAYS(!result == !error.length);
    if (!result) {
        look_at_tests(&words);
        make_program(&words);
    }
    text_clear(&error);
    result = value_words_parse(values, 4, &count, text, &error);
    ALWAYS(count <= 4 && !result == !error.length);
    text_free(&error);
    free(text);
}
