/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The command line parser: every form, every refusal, every limit; and the tables in use. */
#include "unit/test.h"

#include "applets/applets.h"
#include "options/applet.h"
#include "options/options.h"
#include "run/trace_options.h"

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
    {'a', "all", NULL, option_flag, AT(all), 0, 0, "all"},
    OPTION_LETTER('B', "brief"),
    OPTION_LETTER('P', "pid"), /* in the other table */
    {'b', "brief", NULL, option_flag, AT(brief), 0, 0, "brief"},
    {'n', "number", "N", option_number, AT(number), 3, 7, "a number"},
    {0, "any", "N", option_number, AT(any), 0, UINT64_MAX, "any number"},
    {'C', "cpu", "CPU", option_number, AT(cpu), 0, 65535, "a CPU"},
    {0},
};

static const struct option second[] = {
    {'i', "interval", "S", option_seconds, AT(time), 0, 0, "a time"},
    {'p', "pid", "PID[,PID]", option_numbers, AT(pids), 1, 4194304, "pids"},
    {'o', "file", "FILE", option_string, AT(file), 0, 0, "a file"},
    {0, "color", NULL, option_flag, AT(color), 0, 0, NULL},
    {0, "fixed", "N", option_ignore, 0, 0, 0, NULL},
    OPTION_LETTER('c', "cpu"),
    {'h', "help", NULL, option_ask, 0, ASKED_HELP, 0, "help"},
    {0, "man", NULL, option_ask, 0, ASKED_MAN, 0, "man"},
    {0},
};

static const struct option *const tables[] = {first, second, NULL};

static struct settings settings;
static struct arguments arguments;
static struct text error;

/* Parses these words, up to a NULL. What is after "--" stays in argv. */
static int parse(const char *const *words)
{
    static char *argv[16];
    int argc = 1;

    free(arguments.words);
    text_clear(&error);
    settings = (struct settings){.cpu = -1};
    argv[0] = (char *)"program";
    for (; words[argc - 1] && argc < 15; argc++)
        argv[argc] = (char *)words[argc - 1];
    argv[argc] = NULL;
    int result = options_parse(tables, argc, argv, &settings, &arguments, &error);
    if (!result && arguments.command)
        CHECK_NUMBER(arguments.command - argv <= argc, 1);
    return result;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

#define TAKES(member, value, ...)                        \
    do {                                                 \
        CHECK_NUMBER(PARSE(__VA_ARGS__), 0);             \
        CHECK_NUMBER(settings.member, value);            \
    } while (0)

#define TAKES_FILE(name, ...)                            \
    do {                                                 \
        CHECK_NUMBER(PARSE(__VA_ARGS__), 0);             \
        CHECK_STRING(settings.file, name);               \
    } while (0)

#define REFUSES(message, ...)                            \
    do {                                                 \
        CHECK_NUMBER(PARSE(__VA_ARGS__), -EINVAL);       \
        CHECK_STRING(error.data, message);               \
        CHECK(!arguments.words);                         \
    } while (0)

TEST(nothing_is_fine)
{
    CHECK_NUMBER(parse((const char *const[]){NULL}), 0);
    CHECK_NUMBER(arguments.count, 0);
    CHECK(!arguments.command);
    CHECK(!settings.all && !settings.number && settings.cpu == -1);
}

TEST(every_form_of_a_value)
{
    TAKES(number, 5, "-n5");
    TAKES(number, 5, "-n", "5");
    TAKES(number, 5, "--number=5");
    TAKES(number, 5, "--number", "5");
    TAKES(number, 5, "--num", "5");
    TAKES(number, 5, "--nu=0x5");
    TAKES(number, 4, "-n", "3", "-n", "4");
}

TEST(letters_are_joined)
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
    TAKES(cpu, 3, "-c3");
}

TEST(more_letters_for_an_option)
{
    CHECK_NUMBER(PARSE("-aB", "-P", "7", "-c", "3"), 0);
    CHECK(settings.all && settings.brief && settings.cpu == 3);
    CHECK_NUMBER(settings.pids.count, 1);
    CHECK_NUMBER(settings.pids.numbers[0], 7);
    REFUSES("-c: takes CPU", "-c");
    REFUSES("-c: \"x\" is not a whole number", "-cx");
}

TEST(words_and_options_are_mixed)
{
    CHECK_NUMBER(PARSE("one", "-a", "-", "two", "--brief", ""), 0);
    CHECK(settings.all && settings.brief);
    CHECK_NUMBER(arguments.count, 4);
    CHECK_STRING(arguments.words[0], "one");
    CHECK_STRING(arguments.words[1], "-");
    CHECK_STRING(arguments.words[2], "two");
    CHECK_STRING(arguments.words[3], "");
}

TEST(two_dashes_end_the_options)
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
    /* As the value of an option it does not end the options. */
    TAKES_FILE("--", "-o", "--", "-a");
    CHECK(settings.all && !arguments.command);
}

TEST(texts_are_taken_as_they_are)
{
    TAKES_FILE("", "--file=");
    TAKES_FILE("a=b", "--file=a=b");
    TAKES_FILE("-a", "-o", "-a");
    CHECK(!settings.all);
    TAKES_FILE("-b", "-ao-b");
    CHECK(settings.all && !settings.brief);
}

TEST(numbers_have_limits)
{
    CHECK_NUMBER(PARSE("-n3"), 0);
    CHECK_NUMBER(PARSE("-n7"), 0);
    REFUSES("-n: \"2\" is out of range: it takes 3 to 7", "-n2");
    REFUSES("-n: \"8\" is out of range: it takes 3 to 7", "-n", "8");
    REFUSES("--number: \"18446744073709551621\" is out of range: it takes 3 to 7",
            "--number=18446744073709551621"); /* 2^64 + 5 */
    TAKES(any, UINT64_MAX, "--any=18446744073709551615");
    CHECK_NUMBER(PARSE("--any=0"), 0);
    TAKES(any, UINT64_MAX, "--any=0xffffffffffffffff");
    CHECK_NUMBER(PARSE("--any=18446744073709551616"), -EINVAL);
    TAKES(cpu, 0, "-C0");
    TAKES(cpu, 65535, "-C65535");
    REFUSES("-C: \"65536\" is out of range: it takes 0 to 65535", "-C65536");
}

TEST(numbers_are_parsed_whole)
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

TEST(seconds)
{
    static const struct {
        const char *text;
        uint64_t nanoseconds;
    } right[] = {{"5", 5000000000}, {"0.25", 250000000}, {".5", 500000000}, {"1.", 1000000000},
                 {"0.000000001", 1}, {"00001.5", 1500000000}, {"1.0000000009", 1000000000}, {"5ms", 5000000}, {"2m", 120000000000}};
    static const char *const wrong[] = {"",    "-1",  "1d", ".",   "1.2.3", "1e3",
                                        "1,5", "0x5", " 1", "inf", "nan",   "--"};
    static const char *const outside[] = {"0", "0.0", "0.0000000001", "9223372036",
                                          "99999999999999999999"};

    for (size_t i = 0; i < COUNT_OF(right); i++) {
        CHECK_NUMBER(PARSE("-i", right[i].text), 0);
        CHECK_NUMBER(settings.time, right[i].nanoseconds);
    }
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        char message[128];
        snprintf(message, sizeof(message), "-i: invalid duration \"%s\": it takes seconds, such as 5 or "
                 "0.5, or a unit: 100ms, 2m", wrong[i]);
        REFUSES(message, "-i", wrong[i]);
    }
    for (size_t i = 0; i < COUNT_OF(outside); i++) {
        char message[128];
        snprintf(message, sizeof(message), "-i: \"%s\" is out of range: it takes more than 0 "
                 "seconds, at most 9223372035", outside[i]);
        REFUSES(message, "-i", outside[i]);
    }
    TAKES(time, 9223372035999999999, "-i", "9223372035.999999999");
}

TEST(lists_add_up)
{
    TAKES(pids.count, 4, "-p", "12,13", "-P14", "--pid=4194304");
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

TEST(lists_have_an_end)
{
    AUTO_TEXT list = {0};

    for (int i = 1; i <= MOST_NUMBERS; i++)
        text_format(&list, "%s%d", i > 1 ? "," : "", i);
    TAKES(pids.count, MOST_NUMBERS, "-p", list.data);
    CHECK_NUMBER(settings.pids.numbers[MOST_NUMBERS - 1], MOST_NUMBERS);
    REFUSES("-p: takes at most 256 numbers", "-p", list.data, "-p", "1");
    text_add(&list, ",1");
    REFUSES("-p: takes at most 256 numbers", "-p", list.data);
}

TEST(flags_take_no_value)
{
    REFUSES("--all: takes no value", "--all=yes");
    REFUSES("--all: takes no value", "--al=");
    REFUSES("--help: takes no value", "--help=me");
}

TEST(values_are_missing)
{
    REFUSES("-n: takes N", "-n");
    REFUSES("-p: takes PID[,PID]", "-abp");
    REFUSES("--interval: takes S", "--int");
}

TEST(names_cut_short)
{
    CHECK_NUMBER(PARSE("--al", "--b"), 0);
    CHECK(settings.all && settings.brief);
    REFUSES("--a: is ambiguous: --all, --any", "--a");
    REFUSES("--a: is ambiguous: --all, --any", "--a=5");
    /* An unlisted option needs its full name, and does not make other prefixes ambiguous. */
    TAKES(cpu, 3, "--c=3");
    TAKES_FILE("x", "--fi=x");
    CHECK_NUMBER(PARSE("--color", "--fixed=7", "--fixed", "8"), 0);
    CHECK(settings.color && !arguments.count);
    REFUSES("--colo: unknown option", "--colo");
}

TEST(unknown_options)
{
    REFUSES("-x: unknown option", "-x");
    REFUSES("-x: unknown option", "-ax");
    REFUSES("--zebra-crossing: unknown option", "--zebra-crossing");
    REFUSES("--intreval: unknown option; near: --interval", "--intreval=5");
    REFUSES("--pids: unknown option; near: --pid", "--pids", "5");
    REFUSES("-r: unknown option; near: --brief", "-breif");
    REFUSES("--: unknown option", "--=5");
    REFUSES("--allx: unknown option; near: --all", "--allx");
    REFUSES("-\xc3: unknown option", "-\xc3\xa9");
}

TEST(long_words)
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

/* The kernel accepts command lines of 2 MB, with words of 128 KB. */
TEST(many_and_large_words)
{
    enum { WORDS = 10000, LARGE = 1 << 20 };
    char **argv = calloc(WORDS + 2, sizeof(*argv));
    char *large = malloc(LARGE + 1);

    if (!argv || !large) {
        CHECK(argv && large);
        free(argv);
        free(large);
        return;
    }
    argv[0] = (char *)"program";
    for (int i = 1; i <= WORDS; i++)
        argv[i] = (char *)(i % 3 == 0 ? "word" : i % 3 == 1 ? "-abB" : "--number=5");
    free(arguments.words);
    settings = (struct settings){.cpu = -1};
    CHECK_NUMBER(options_parse(tables, WORDS + 1, argv, &settings, &arguments, &error), 0);
    CHECK_NUMBER(arguments.count, WORDS / 3);
    CHECK(settings.all && settings.brief && settings.number == 5);
    memset(large, 'a', LARGE);
    large[LARGE] = '\0';
    CHECK_NUMBER(PARSE(large, "-o", large), 0);
    CHECK(arguments.count == 1 && arguments.words[0] == large && settings.file == large);
    CHECK_NUMBER(PARSE("-p", large), -EINVAL);
    memset(large, ',', LARGE);
    CHECK_NUMBER(PARSE("-p", large), -EINVAL);
    memset(large, '9', LARGE);
    CHECK_NUMBER(PARSE("-n", large), -EINVAL);
    CHECK_NUMBER(PARSE("-i", large), -EINVAL);
    memset(large, '-', 2);
    CHECK_NUMBER(PARSE(large), -EINVAL);
    CHECK(error.length > LARGE);
    free(argv);
    free(large);
}

/* ---- Random command lines ---- */

/* The same numbers in every run: a failure can be repeated. */
static uint32_t chance(uint32_t below)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)(state >> 33) % below;
}

static void put_flag(const char *const *forms, uint32_t count, char *word)
{
    strcpy(word, forms[chance(count)]);
}

/* An option with its value in one word or two. Returns how many. */
static int put_value(char letter, const char *name, const char *value, char words[2][64])
{
    switch (chance(4)) {
    case 0:
        snprintf(words[0], 64, "-%c%s", letter, value);
        return 1;
    case 1:
        snprintf(words[0], 64, "--%s=%s", name, value);
        return 1;
    case 2:
        snprintf(words[0], 64, "-%c", letter);
        break;
    default:
        snprintf(words[0], 64, "--%s", name);
    }
    strcpy(words[1], value);
    return 2;
}

/* Adds a random option to `words` and its meaning to `meant`. */
static int put_option(struct settings *meant, char words[2][64])
{
    static const char *const all[] = {"-a", "--all", "--al"};
    static const char *const brief[] = {"-b", "-B", "--brief", "--b", "-bB"};
    uint32_t number = chance(5) + 3;
    char value[32];

    switch (chance(6)) {
    case 0:
        meant->all = true;
        put_flag(all, COUNT_OF(all), words[0]);
        return 1;
    case 1:
        meant->brief = true;
        put_flag(brief, COUNT_OF(brief), words[0]);
        return 1;
    case 2:
        meant->number = number;
        snprintf(value, sizeof(value), chance(2) ? "%u" : "0x%x", number);
        return put_value('n', chance(2) ? "number" : "num", value, words);
    case 3:
        meant->cpu = number;
        snprintf(value, sizeof(value), "%u", number);
        return put_value(chance(2) ? 'C' : 'c', "cpu", value, words);
    case 4:
        meant->time = (uint64_t)number * 1500000000;
        snprintf(value, sizeof(value), "%u.%u", number * 3 / 2, number % 2 * 5);
        return put_value('i', chance(2) ? "interval" : "in", value, words);
    default:
        meant->pids.numbers[meant->pids.count++] = number;
        meant->pids.numbers[meant->pids.count++] = number * 1000;
        snprintf(value, sizeof(value), "%u,%u000", number, number);
        return put_value(chance(2) ? 'p' : 'P', "pid", value, words);
    }
}

/* A command line made from options must parse to these options. */
TEST(right_words)
{
    bool right = true;

    for (int round = 0, most = rounds(50000); round < most && right; round++) {
        struct settings meant = {.cpu = -1};
        char words[12][64];
        const char *argv[13];
        int count = 0;
        size_t plain = 0;
        while (count < 10) {
            if (chance(5) == 0) {
                strcpy(words[count++], chance(2) ? "-" : "word");
                plain++;
            } else {
                count += put_option(&meant, words + count);
            }
        }
        for (int i = 0; i < count; i++)
            argv[i] = words[i];
        argv[count] = NULL;
        right = !parse(argv) && arguments.count == plain && settings.all == meant.all &&
                settings.brief == meant.brief && settings.number == meant.number &&
                settings.cpu == meant.cpu && settings.time == meant.time &&
                settings.pids.count == meant.pids.count &&
                !memcmp(settings.pids.numbers, meant.pids.numbers, sizeof(meant.pids.numbers));
        for (int i = 0; i < count && !right; i++)
            printf("  %s\n", words[i]);
    }
    CHECK(right);
}

/* A word of meaningful pieces, or of random bytes. */
static void put_pieces(char *word)
{
    static const char *const pieces[] = {
        "-",   "--",   "=",    "p",     "t",       "L",        "C",       "c",        "U",
        "K",   "d",    "s",    "v",     "a",       "f",        "i",       "T",        "D",
        "r",   "P",    "h",    "x",     "0",       "5",        "9",       ",",        ".",
        "0x",  " ",    "\n",   "\x1b[", "\xff",    "\xc3\xa9", "%s",      "%n",       "all",
        "pid", "tid",  "cpu",  "top",   "depth",   "duration", "interval", "folded",  "debug",
        "man", "help", "regex", "force", "number", "stack-storage-size", "hash-storage-size",
        "cgroupmap", "4194304", "4194305", "18446744073709551616", "0.000000001", "vfs_read"};

    *word = '\0';
    for (uint32_t left = chance(6); left; left--) {
        char byte[2] = {(char)(1 + chance(255)), '\0'};
        strcat(word, chance(16) ? pieces[chance(COUNT_OF(pieces))] : byte);
    }
}

/* Parses `argv` by these tables into that much memory. The applets' tables share their first one. */
static bool parses_or_refuses(const struct option *const *these, size_t size, int argc, char **argv)
{
    void *memory = calloc(1, size); /* of its own, so that out-of-bounds writes are found */
    struct arguments words = {0};
    AUTO_TEXT why = {0};

    if (!memory)
        return false;
    int result = options_parse(these, argc, argv, memory, &words, &why);
    bool right = result == ASKED_BRIEF || result == ASKED_HELP || result == ASKED_MAN;
    if (result == -EINVAL)
        right = why.length && !why.failed && why.data[0] == '-' && strstr(why.data, ": ");
    if (result == 0)
        right = words.count < (size_t)argc && !why.length;
    free(words.words);
    free(memory);
    return right;
}

/* Any words are accepted, or refused by one line that begins with the option. */
TEST(any_words)
{
    static const struct option *const trace_tables[] = {trace_options, common_options, NULL};
    bool right = true;

    for (int round = 0, most = rounds(200000); round < most && right; round++) {
        char words[4][256];
        char *argv[6] = {(char *)"program"};
        int argc = 1;
        for (uint32_t count = chance(5); count; count--, argc++) {
            put_pieces(words[argc - 1]);
            argv[argc] = words[argc - 1];
        }
        right = parses_or_refuses(tables, sizeof(settings), argc, argv) &&
                parses_or_refuses(trace_tables, sizeof(struct trace_options), argc, argv);
        for (size_t i = 0; applets[i] && right; i++)
            right = parses_or_refuses(applets[i]->options, 16384, argc, argv);
        for (int i = 1; i < argc && !right; i++)
            printf("  round %d: %s\n", round, argv[i]);
    }
    CHECK(right);
}

TEST(help_ends_the_parsing)
{
    CHECK_NUMBER(PARSE("-h"), ASKED_HELP);
    CHECK_NUMBER(PARSE("word", "-ah", "--what", "-n"), ASKED_HELP);
    CHECK_NUMBER(PARSE("--man", "-h"), ASKED_MAN);
    REFUSES("--what: unknown option", "--what", "-h");
    CHECK_NUMBER(PARSE("--", "-h"), 0);
}

TEST(user_and_kernel_stacks_only)
{
    struct trace_options options = TRACE_OPTIONS_DEFAULTS;
    const struct arguments none = {0};

    CHECK_NUMBER(trace_options_check(&options, &none, &error), 0);
    options.user_only = true;
    CHECK_NUMBER(trace_options_check(&options, &none, &error), 0);
    options.kernel_only = true;
    text_clear(&error);
    CHECK_NUMBER(trace_options_check(&options, &none, &error), -EINVAL);
    CHECK_STRING(error.data, "-U and -K cannot be combined: without either, both stacks are "
                             "shown");
}

/*
 * A row of a real table: a listed option has a name, help and, if it takes an argument, a parser.
 * An unlisted one may be accepted and ignored, or refused; -h has no other name.
 */
static void check_row(const char *applet, const struct option *row)
{
    bool takes_none = row->parse == option_flag || row->parse == option_ask ||
                      (row->parse == trace_option_by && row->least);
    size_t length = row->help ? strlen(row->help) : 1;
    bool marks = row->parse == option_mark ||
                 (row->parse == option_ask && !row->name);
    bool listed_wrong = row->help && takes_none != !row->argument;
    bool right = length && (marks || (row->name && !listed_wrong));

    if (right && row->parse == option_number)
        right = row->least <= row->greatest && row->greatest;
    if (!right)
        printf("  %s: the row of -%c --%s is not right\n", applet,
               row->letter ? row->letter : ' ', row->name ? row->name : "");
    CHECK(right);
}

/* Two rows with one letter, or with one name if both are options. */
static bool rows_clash(const struct option *one, const struct option *other)
{
    if (one->letter && one->letter == other->letter)
        return true;
    return one->parse != option_mark && other->parse != option_mark && one->name &&
           other->name && !strcmp(one->name, other->name);
}

/* Does this additional letter stand for an option of the table? */
static bool stands_for_one(const struct option *letter, const struct option *const *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i]->parse != option_mark && rows[i]->name && rows[i]->help &&
            !strcmp(rows[i]->name, letter->name))
            return true;
    return false;
}

/* An applet's row may replace a common one for the same option, or refuse it with a reason. */
static bool stands_in_its_stead(const struct option *own, const struct option *shared)
{
    const bool refuses = !own->help && own->details;
    const bool is_same = own->parse == shared->parse && own->offset == shared->offset &&
                         own->least == shared->least && own->greatest == shared->greatest;

    return own->letter == shared->letter && own->name && shared->name && !strcmp(own->name, shared->name) &&
           !own->argument == !shared->argument && (is_same || refuses);
}

static void check_tables(const char *name, const struct option *const *all)
{
    const struct option *rows[128];
    size_t count = 0, own = 0;

    for (; *all; all++) {
        if (!own && (*all == trace_options || *all == common_options))
            own = count;
        for (const struct option *row = *all; row->parse && count < COUNT_OF(rows); row++)
            rows[count++] = row;
    }
    CHECK(count && count < COUNT_OF(rows));
    for (size_t i = 0; i < count; i++) {
        check_row(name, rows[i]);
        for (size_t j = 0; j < i; j++) {
            bool clash = rows_clash(rows[i], rows[j]) &&
                         !(j < own && i >= own && stands_in_its_stead(rows[j], rows[i]));
            if (clash)
                printf("  %s: -%c --%s is there twice\n", name,
                       rows[i]->letter ? rows[i]->letter : ' ', rows[i]->name);
            CHECK(!clash);
        }
        CHECK(rows[i]->parse != option_mark || !rows[i]->name || stands_for_one(rows[i], rows, count));
    }
}

TEST(tables_in_use)
{
    CHECK(trace_options[0].parse);
    CHECK(applets[0]);
    for (size_t i = 0; applets[i]; i++)
        check_tables(applets[i]->name, applets[i]->options);
}

TEST_MAIN
