/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The parser of command lines: every form, every refusal, every limit; and the tables in use. */
#include "unit/test.h"

#include <errno.h>
#include <stdlib.h>

#include "applet.h"
#include "options.h"
#include "trace_options.h"

struct settings {
    bool all, brief, color;
    uint64_t number, any, time;
    int64_t cpu;
    struct number_list pids;
    const char *file;
};

#define AT(member) offsetof(struct settings, member)

static const struct option first[] = {
    OPTION_HEADING("First"),
    {'a', 0, "all", NULL, option_flag, AT(all), 0, 0, "all"},
    {'b', 'B', "brief", NULL, option_flag, AT(brief), 0, 0, "brief"},
    {'n', 0, "number", "N", option_number, AT(number), 3, 7, "a number"},
    {0, 0, "any", "N", option_number, AT(any), 0, UINT64_MAX, "any number"},
    {'C', 0, "cpu", "CPU", option_signed, AT(cpu), 0, 65535, "a CPU"},
    {0},
};

static const struct option second[] = {
    {'i', 0, "interval", "S", option_seconds, AT(time), 0, 0, "a time"},
    {'p', 'P', "pid", "PID[,PID]", option_numbers, AT(pids), 1, 4194304, "pids"},
    {'o', 0, "file", "FILE", option_string, AT(file), 0, 0, "a file"},
    {0, 0, "color", NULL, option_flag, AT(color), 0, 0, NULL},
    {0, 0, "fixed", "N", option_ignore, 0, 0, 0, NULL},
    {'c', 0, NULL, "CPU", option_signed, AT(cpu), 0, 65535, NULL},
    {'h', 0, "help", NULL, option_help, 0, 0, 0, "help"},
    {0, 0, "man", NULL, option_man, 0, 0, 0, "man"},
    {0},
};

static const struct option *const tables[] = {first, second, NULL};

static struct settings settings;
static struct arguments arguments;
static struct text error;

/* Parses these words, up to a NULL. */
static int parse(const char *const *words)
{
    char *argv[16] = {(char *)"program"};
    int argc = 1;

    free(arguments.words);
    text_clear(&error);
    settings = (struct settings){.cpu = -1};
    for (; words[argc - 1] && argc < 15; argc++)
        argv[argc] = (char *)words[argc - 1];
    int result = options_parse(tables, argc, argv, &settings, &arguments, &error);
    /* What is after "--" is a part of argv, which ends here. */
    if (!result && arguments.command)
        CHECK_NUMBER(arguments.command - argv <= argc, 1);
    return result;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

#define REFUSES(message, ...)                            \
    do {                                                 \
        CHECK_NUMBER(PARSE(__VA_ARGS__), -EINVAL);       \
        CHECK_STRING(error.data, message);               \
        CHECK(!arguments.words);                         \
    } while (0)

static void nothing_is_fine(void)
{
    CHECK_NUMBER(parse((const char *const[]){NULL}), 0);
    CHECK_NUMBER(arguments.count, 0);
    CHECK(!arguments.command);
    CHECK(!settings.all && !settings.number && settings.cpu == -1);
}

static void every_form_of_a_value(void)
{
    CHECK_NUMBER(PARSE("-n5"), 0);
    CHECK_NUMBER(settings.number, 5);
    CHECK_NUMBER(PARSE("-n", "5"), 0);
    CHECK_NUMBER(settings.number, 5);
    CHECK_NUMBER(PARSE("--number=5"), 0);
    CHECK_NUMBER(settings.number, 5);
    CHECK_NUMBER(PARSE("--number", "5"), 0);
    CHECK_NUMBER(settings.number, 5);
    CHECK_NUMBER(PARSE("--num", "5"), 0);
    CHECK_NUMBER(settings.number, 5);
    CHECK_NUMBER(PARSE("--nu=0x5"), 0);
    CHECK_NUMBER(settings.number, 5);
    CHECK_NUMBER(PARSE("-n", "3", "-n", "4"), 0);
    CHECK_NUMBER(settings.number, 4);
}

static void letters_are_joined(void)
{
    CHECK_NUMBER(PARSE("-ab"), 0);
    CHECK(settings.all && settings.brief);
    CHECK_NUMBER(PARSE("-aBn5"), 0);
    CHECK(settings.all && settings.brief && settings.number == 5);
    CHECK_NUMBER(PARSE("-abn", "6", "word"), 0);
    CHECK(settings.all && settings.brief && settings.number == 6);
    CHECK_NUMBER(arguments.count, 1);
    CHECK_NUMBER(PARSE("-aa"), 0);
    CHECK(settings.all && !settings.brief);
    CHECK_NUMBER(PARSE("-c3"), 0);
    CHECK_NUMBER(settings.cpu, 3);
}

static void words_and_options_are_mixed(void)
{
    CHECK_NUMBER(PARSE("one", "-a", "-", "two", "--brief", ""), 0);
    CHECK(settings.all && settings.brief);
    CHECK_NUMBER(arguments.count, 4);
    CHECK_STRING(arguments.words[0], "one");
    CHECK_STRING(arguments.words[1], "-");
    CHECK_STRING(arguments.words[2], "two");
    CHECK_STRING(arguments.words[3], "");
}

static void two_dashes_end_the_options(void)
{
    CHECK_NUMBER(PARSE("one", "--", "-a", "--", "-x"), 0);
    CHECK(!settings.all);
    CHECK_NUMBER(arguments.count, 1);
    CHECK_STRING(arguments.command[0], "-a");
    CHECK_STRING(arguments.command[1], "--");
    CHECK_STRING(arguments.command[2], "-x");
    CHECK(!arguments.command[3]);
    CHECK_NUMBER(PARSE("--"), 0);
    CHECK(arguments.command && !arguments.command[0]);
    /* Taken as a value it ends nothing. */
    CHECK_NUMBER(PARSE("-o", "--", "-a"), 0);
    CHECK_STRING(settings.file, "--");
    CHECK(settings.all && !arguments.command);
}

static void texts_are_taken_as_they_are(void)
{
    CHECK_NUMBER(PARSE("--file="), 0);
    CHECK_STRING(settings.file, "");
    CHECK_NUMBER(PARSE("--file=a=b"), 0);
    CHECK_STRING(settings.file, "a=b");
    CHECK_NUMBER(PARSE("-o", "-a"), 0);
    CHECK_STRING(settings.file, "-a");
    CHECK(!settings.all);
    CHECK_NUMBER(PARSE("-ao-b"), 0);
    CHECK_STRING(settings.file, "-b");
    CHECK(settings.all && !settings.brief);
}

static void numbers_have_limits(void)
{
    CHECK_NUMBER(PARSE("-n3"), 0);
    CHECK_NUMBER(PARSE("-n7"), 0);
    REFUSES("-n: \"2\" is out of range: it takes 3 to 7", "-n2");
    REFUSES("-n: \"8\" is out of range: it takes 3 to 7", "-n", "8");
    REFUSES("--number: \"18446744073709551621\" is out of range: it takes 3 to 7",
            "--number=18446744073709551621"); /* 2^64 + 5 */
    CHECK_NUMBER(PARSE("--any=18446744073709551615"), 0);
    CHECK(settings.any == UINT64_MAX);
    CHECK_NUMBER(PARSE("--any=0"), 0);
    CHECK_NUMBER(PARSE("--any=0xffffffffffffffff"), 0);
    CHECK(settings.any == UINT64_MAX);
    CHECK_NUMBER(PARSE("--any=18446744073709551616"), -EINVAL);
    CHECK_NUMBER(PARSE("-C0"), 0);
    CHECK_NUMBER(settings.cpu, 0);
    CHECK_NUMBER(PARSE("-C65535"), 0);
    CHECK_NUMBER(settings.cpu, 65535);
    REFUSES("-C: \"65536\" is out of range: it takes 0 to 65535", "-C65536");
}

static void numbers_are_parsed_whole(void)
{
    static const char *const wrong[] = {"",   "-1", "+5", " 5", "5 ", "5x", "0x",
                                        "x5", "5.0", "0x5g", "5\n", "five"};

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        char message[64];
        snprintf(message, sizeof(message), "-n: \"%s\" is not a whole number", wrong[i]);
        REFUSES(message, "-n", wrong[i]);
        CHECK_NUMBER(PARSE("-C", wrong[i]), -EINVAL);
        CHECK_NUMBER(PARSE("-p", wrong[i]), -EINVAL);
    }
    CHECK_NUMBER(settings.number, 0);
}

static void seconds(void)
{
    static const struct {
        const char *text;
        uint64_t nanoseconds;
    } right[] = {{"5", 5000000000}, {"0.25", 250000000}, {".5", 500000000}, {"1.", 1000000000},
                 {"0.000000001", 1}, {"00001.5", 1500000000}, {"1.0000000009", 1000000000}};
    static const char *const wrong[] = {"",   "0",   "0.0", "-1",  "1s", ".",  "1.2.3", "1e3",
                                        "1,5", "0x5", " 1",  "inf", "nan", "0.0000000001",
                                        "99999999999999999999"};

    for (size_t i = 0; i < COUNT_OF(right); i++) {
        CHECK_NUMBER(PARSE("-i", right[i].text), 0);
        CHECK_NUMBER(settings.time, right[i].nanoseconds);
    }
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        char message[128];
        snprintf(message, sizeof(message), "-i: \"%s\" is no time: it takes seconds, more than 0, "
                 "such as 5 or 0.5", wrong[i]);
        REFUSES(message, "-i", wrong[i]);
    }
}

static void lists_add_up(void)
{
    CHECK_NUMBER(PARSE("-p", "12,13", "-P14", "--pid=4194304"), 0);
    CHECK_NUMBER(settings.pids.count, 4);
    CHECK_NUMBER(settings.pids.numbers[0], 12);
    CHECK_NUMBER(settings.pids.numbers[1], 13);
    CHECK_NUMBER(settings.pids.numbers[2], 14);
    CHECK_NUMBER(settings.pids.numbers[3], 4194304);
    REFUSES("-p: \"12x\" is not a whole number", "-p", "12x");
    REFUSES("-p: \"\" is not a whole number", "-p", "12,,13");
    REFUSES("-p: \"\" is not a whole number", "-p", "12,");
    REFUSES("-p: \"\" is not a whole number", "-p", ",");
    REFUSES("-p: \"0\" is out of range: it takes 1 to 4194304", "-p", "12,0");
    REFUSES("-P: \"4194305\" is out of range: it takes 1 to 4194304", "-P4194305");
}

static void lists_have_an_end(void)
{
    struct text list = {0};

    for (int i = 1; i <= MOST_NUMBERS; i++)
        text_format(&list, "%s%d", i > 1 ? "," : "", i);
    CHECK_NUMBER(PARSE("-p", list.data), 0);
    CHECK_NUMBER(settings.pids.count, MOST_NUMBERS);
    CHECK_NUMBER(settings.pids.numbers[MOST_NUMBERS - 1], MOST_NUMBERS);
    REFUSES("-p: takes 256 numbers at most", "-p", list.data, "-p", "1");
    text_add(&list, ",1");
    REFUSES("-p: takes 256 numbers at most", "-p", list.data);
    text_free(&list);
}

static void flags_take_no_value(void)
{
    REFUSES("--all: takes no value", "--all=yes");
    REFUSES("--all: takes no value", "--al=");
    REFUSES("--help: takes no value", "--help=me");
}

static void values_are_missing(void)
{
    REFUSES("-n: takes N", "-n");
    REFUSES("-p: takes PID[,PID]", "-abp");
    REFUSES("--interval: takes S", "--int");
}

static void names_cut_short(void)
{
    CHECK_NUMBER(PARSE("--al", "--b"), 0);
    CHECK(settings.all && settings.brief);
    REFUSES("--a: is the beginning of several options: --all, --any", "--a");
    REFUSES("--a: is the beginning of several options: --all, --any", "--a=5");
    /* What is not listed goes by its whole name, and is in nobody's way. */
    CHECK_NUMBER(PARSE("--c=3"), 0);
    CHECK_NUMBER(settings.cpu, 3);
    CHECK_NUMBER(PARSE("--fi=x"), 0);
    CHECK_STRING(settings.file, "x");
    CHECK_NUMBER(PARSE("--color", "--fixed=7", "--fixed", "8"), 0);
    CHECK(settings.color && !arguments.count);
    REFUSES("--colo: there is no such option", "--colo");
}

static void unknown_options(void)
{
    REFUSES("-x: there is no such option", "-x");
    REFUSES("-x: there is no such option", "-ax");
    REFUSES("--zebra-crossing: there is no such option", "--zebra-crossing");
    REFUSES("--intreval: there is no such option; near: --interval", "--intreval=5");
    REFUSES("--pids: there is no such option; near: --pid", "--pids", "5");
    REFUSES("-r: there is no such option; near: --brief", "-breif");
    REFUSES("--: there is no such option", "--=5");
    REFUSES("--allx: there is no such option; near: --all", "--allx");
    REFUSES("-\xc3: there is no such option", "-\xc3\xa9");
}

static void long_words(void)
{
    static char word[100000];

    memset(word, 'a', sizeof(word) - 1);
    CHECK_NUMBER(PARSE(word), 0);
    CHECK_NUMBER(PARSE("-o", word), 0);
    CHECK(settings.file == word);
    CHECK_NUMBER(PARSE("-n", word), -EINVAL);
    CHECK_NUMBER(PARSE("-p", word), -EINVAL);
    word[0] = '-';
    CHECK_NUMBER(PARSE(word), 0);
    CHECK(settings.all);
    word[1] = '-';
    CHECK_NUMBER(PARSE(word), -EINVAL);
    memset(word + 2, '9', sizeof(word) - 3);
    CHECK_NUMBER(PARSE("-i", word + 2), -EINVAL);
    CHECK_NUMBER(PARSE("-n", word + 2), -EINVAL);
}

/* Any words at all are taken or refused in one line. */
static void any_words(void)
{
    static const char *const pieces[] = {"-", "--", "=", "a", "n", "p", "i", "h", "5", "0", ",", ".",
                                         "all", "number", "pid", "interval", "man", "x", "\xff", ""};

    srand(1);
    for (int round = 0; round < 20000; round++) {
        char words[3][64] = {"", "", ""};
        for (int i = 0; i < 3; i++)
            for (int length = rand() % 6; length; length--)
                strcat(words[i], pieces[(size_t)rand() % COUNT_OF(pieces)]);
        int result = PARSE(words[0], words[1], words[2]);
        bool right = result == 0 || result == ASKED_HELP || result == ASKED_MAN;
        if (result == -EINVAL)
            right = error.length && !strchr(error.data, '\n') && error.data[0] == '-';
        if (!right)
            printf("  %s %s %s: %d\n", words[0], words[1], words[2], result);
        CHECK(right);
    }
}

static void help_ends_the_parsing(void)
{
    CHECK_NUMBER(PARSE("-h"), ASKED_HELP);
    CHECK_NUMBER(PARSE("word", "-ah", "--what", "-n"), ASKED_HELP);
    CHECK_NUMBER(PARSE("--man", "-h"), ASKED_MAN);
    REFUSES("--what: there is no such option", "--what", "-h");
    CHECK_NUMBER(PARSE("--", "-h"), 0);
}

static void user_and_kernel_stacks_only(void)
{
    struct trace_options options = TRACE_OPTIONS_DEFAULTS;

    CHECK_NUMBER(trace_options_check(&options, &error), 0);
    options.user_only = true;
    CHECK_NUMBER(trace_options_check(&options, &error), 0);
    options.kernel_only = true;
    text_clear(&error);
    CHECK_NUMBER(trace_options_check(&options, &error), -EINVAL);
    CHECK_STRING(error.data, "-U and -K exclude each other: without either both stacks are shown");
}

/* A row of a real table: what is listed has a name, help and, with an argument, a parser of one. */
static void check_row(const char *applet, const struct option *row)
{
    bool takes_none = row->parse == option_flag || row->parse == option_help ||
                      row->parse == option_man;
    size_t length = row->help ? strlen(row->help) : 1;
    bool heading = row->parse == option_heading;
    bool right = length && (heading || ((row->name || !row->help) && takes_none == !row->argument));

    if (right && row->parse == option_number)
        right = row->least <= row->greatest && row->greatest;
    if (!right)
        printf("  %s: the row of -%c --%s is not right\n", applet,
               row->letter ? row->letter : ' ', row->name ? row->name : "");
    CHECK(right);
}

static bool letters_clash(const struct option *one, const struct option *other)
{
    char letters[] = {one->letter, one->other_letter, other->letter, other->other_letter};

    for (int i = 0; i < 2; i++)
        for (int j = 2; j < 4; j++)
            if (letters[i] && letters[i] == letters[j])
                return true;
    return false;
}

static void check_tables(const char *name, const struct option *const *all)
{
    const struct option *rows[128];
    size_t count = 0;

    for (; *all; all++)
        for (const struct option *row = *all; row->parse && count < COUNT_OF(rows); row++)
            rows[count++] = row;
    CHECK(count && count < COUNT_OF(rows));
    for (size_t i = 0; i < count; i++) {
        check_row(name, rows[i]);
        for (size_t j = 0; j < i; j++) {
            bool clash = letters_clash(rows[i], rows[j]) ||
                         (rows[i]->name && rows[j]->name && !strcmp(rows[i]->name, rows[j]->name));
            if (clash)
                printf("  %s: -%c --%s is there twice\n", name, rows[i]->letter, rows[i]->name);
            CHECK(!clash);
        }
    }
}

static void tables_in_use(void)
{
    CHECK(trace_options[0].parse);
    CHECK(applets[0]);
    for (size_t i = 0; applets[i]; i++)
        check_tables(applets[i]->name, applets[i]->options);
}

int main(void)
{
    TEST(nothing_is_fine);
    TEST(every_form_of_a_value);
    TEST(letters_are_joined);
    TEST(words_and_options_are_mixed);
    TEST(two_dashes_end_the_options);
    TEST(texts_are_taken_as_they_are);
    TEST(numbers_have_limits);
    TEST(numbers_are_parsed_whole);
    TEST(seconds);
    TEST(lists_add_up);
    TEST(lists_have_an_end);
    TEST(flags_take_no_value);
    TEST(values_are_missing);
    TEST(names_cut_short);
    TEST(unknown_options);
    TEST(long_words);
    TEST(any_words);
    TEST(help_ends_the_parsing);
    TEST(user_and_kernel_stacks_only);
    TEST(tables_in_use);
    free(arguments.words);
    text_free(&error);
    return tests_done();
}
