/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "options/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/util.h"

int option_flag(const struct option *option, const char *text, void *destination,
                struct text *error)
{
    (void)option, (void)text, (void)error;
    *(bool *)destination = true;
    return 0;
}

static int refuse_number(const struct option *option, const char *text, int why, struct text *error)
{
    if (why == -EINVAL)
        text_format(error, "\"%s\" is not a whole number", text);
    else if (option->greatest == UINT64_MAX)
        text_format(error, "\"%s\" is out of range: it takes %u or more", text, option->least);
    else
        text_format(error, "\"%s\" is out of range: it takes %u to %llu", text, option->least,
                    (unsigned long long)option->greatest);
    return -EINVAL;
}

int option_number(const struct option *option, const char *text, void *destination,
                  struct text *error)
{
    int why = parse_number(text, option->least, option->greatest, destination);

    return why ? refuse_number(option, text, why, error) : 0;
}

int option_seconds(const struct option *option, const char *text, void *destination,
                   struct text *error)
{
    int why = parse_time(text, 1000000000, destination);

    (void)option;
    if (why == -EINVAL)
        text_format(error, "invalid duration \"%s\": it takes seconds, such as 5 or 0.5, or a "
                           "unit: 100ms, 2m", text);
    else if (why)
        text_format(error, "\"%s\" is out of range: it takes more than 0 seconds, at most %lld",
                    text, (long long)MOST_SECONDS);
    return why ? -EINVAL : 0;
}

/* Finer than a microsecond is less than the shortest wait. */
int option_microseconds(const struct option *option, const char *text, void *destination,
                        struct text *error)
{
    uint64_t nanoseconds = 1; /* 0 is out of range for a duration, not here */
    int why = parse_time(text, 1000, &nanoseconds);

    if (why == -ERANGE && !nanoseconds && !option->least)
        why = 0;
    if (!why && nanoseconds / 1000 > option->greatest)
        why = -ERANGE;
    if (why == -EINVAL)
        text_format(error, "invalid time \"%s\": it takes microseconds, such as 500, or a unit: "
                           "10ms, 1s", text);
    else if (why)
        text_format(error, "\"%s\" is out of range: it takes at most %llu us", text,
                    (unsigned long long)option->greatest);
    else
        *(uint64_t *)destination = nanoseconds / 1000;
    return why ? -EINVAL : 0;
}

int each_word(const struct option *option, const char *text, void *destination,
              struct text *error, option_parser *take)
{
    char *copy = strdup(text), *rest = copy;
    int result = copy ? 0 : -ENOMEM;

    while (rest && !result)
        result = take(option, strsep(&rest, ","), destination, error);
    free(copy);
    return result;
}

int option_numbers(const struct option *option, const char *word, void *destination,
                   struct text *error)
{
    struct number_list *list = destination;
    uint64_t number;

    if (strchr(word, ','))
        return each_word(option, word, destination, error, option_numbers);
    int why = parse_number(word, option->least, option->greatest, &number);

    if (why)
        return refuse_number(option, word, why, error);
    if (list->count == MOST_NUMBERS)
        text_format(error, "takes at most %d numbers", MOST_NUMBERS);
    else
        list->numbers[list->count++] = (uint32_t)number;
    return text_refusal(error);
}

int option_string(const struct option *option, const char *text, void *destination,
                  struct text *error)
{
    (void)option, (void)error;
    *(const char **)destination = text;
    return 0;
}

/* Added to those of earlier ones. */
int option_strings(const struct option *option, const char *text, void *destination,
                   struct text *error)
{
    struct string_list *list = destination;

    (void)option;
    if (list->count == MOST_STRINGS)
        return text_refuse(error, "may be given at most %d times", MOST_STRINGS);
    list->strings[list->count++] = text;
    return 0;
}

int option_ignore(const struct option *option, const char *text, void *destination,
                  struct text *error)
{
    (void)option, (void)text, (void)destination, (void)error;
    return 0;
}

int option_refuse(const struct option *option, const char *text, void *destination,
                  struct text *error)
{
    (void)text, (void)destination;
    return text_refuse(error, "%s", option->details);
}

int option_ask(const struct option *option, const char *text, void *destination, struct text *error)
{
    (void)text, (void)destination, (void)error;
    return (int)option->least;
}

int option_mark(const struct option *option, const char *text, void *destination,
                struct text *error)
{
    return option_ignore(option, text, destination, error);
}

int take_word(const char *begin, const char *words, const char *typed, unsigned *number,
              struct text *error)
{
    const size_t length = typed ? strlen(typed) : 0;
    unsigned count = 0;

    *number = 0;
    if (!typed)
        return 0;
    for (const char *at = words, *end; *at; at = end + strspn(end, ", ")) {
        end = at + strcspn(at, ",");
        count++;
        if ((size_t)(end - at) == length && !memcmp(at, typed, length)) {
            *number = count;
            return 0;
        }
    }
    return text_refuse(error, "%s\"%s\" is not one of %s", begin, typed, words);
}

struct answer_row {
    const char *typed, *answer;
};

static const struct answer_row applet_rows[] = {
    {"record", "-o FILE.sbx of the applets that count records: profile -o run.sbx 10"},
    {"top", "profile --live shows what runs now"},
    {"stat", "stackcount counts events"},
    {"trace", "stacksnoop prints events as they happen, stackcount counts them"},
    {"list", "stackcount --list PATTERN lists functions and tracepoints"},
    {"perf", "profile samples, stackcount counts events, report prints recordings"},
    {"diff", "report --diff and flamegraph --diff compare"},
    {"flame", "flamegraph draws folded stacks; -o FILE.svg of the other applets makes a picture "
              "at once"},
};

static const struct answer_row option_rows[] = {
    {"--call-graph", "stacks are always taken; --unwind fp or tables says how user stacks are "
                     "unwound"},
    {"-G", "stacks are always taken, --cgroup PATH names a cgroup; -f prints folded stacks"},
    {"--sort", "--by process, thread or name says what is told apart, --flat lists functions"},
    {"--pairs", "offwaketime --pairs shows who waits for whom"},
    {"--max", "stacksnoop --max N stops after N events; --top N prints only the greatest"},
    {"-n", "stacksnoop --max N stops after N events; --top N prints only the greatest"},
    {"-l", "--list lists what PATTERN matches"},
    {"-e", "events are patterns, without an option: stackcount t:sched:sched_switch"},
    {"--event", "events are patterns, without an option: stackcount t:sched:sched_switch"},
    {"--no-children", "--flat sorts functions by their own share (self%)"},
    {"--stdio", "text on stdout is the default"},
    {"--cgroupmap", "--cgroup PATH names a cgroup, without a map"},
    {"--mntnsmap", "-p and --cgroup say whom to trace, without a map"},
    {"--all-cpus", "all CPUs are traced unless -C names one"},
};

static const char *find_answer(const struct answer_row *rows, size_t count, const char *typed)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].typed, typed))
            return rows[i].answer;
    return NULL;
}

const char *answer_to_applet(const char *word)
{
    return find_answer(applet_rows, COUNT_OF(applet_rows), word);
}

/* ---- Finding rows ---- */

/* Is this the row of the option that has this whole name? */
static bool is_called(const struct option *row, const char *name, size_t length)
{
    return row->name && row->parse != option_mark && strlen(row->name) == length &&
           !memcmp(row->name, name, length);
}

/* Is `row` listed, with a name that begins like this? */
static bool begins(const struct option *row, const char *beginning, size_t length)
{
    return row->name && row->help && length && !strncmp(row->name, beginning, length);
}

/* By its whole name, or by an unambiguous beginning; *clashes is how many options have it. */
static const struct option *find_name(const struct option *const *tables, const char *name,
                                      size_t length, size_t *clashes)
{
    const struct option *found = NULL;

    *clashes = 0;
    EACH_OPTION(row, tables) {
        if (is_called(row, name, length))
            return row;
        if (begins(row, name, length)) {
            found = row;
            ++*clashes;
        }
    }
    return *clashes == 1 ? found : NULL;
}

static const struct option *find_letter(const struct option *const *tables, char letter)
{
    size_t clashes;

    EACH_OPTION(row, tables)
        if (row->letter == letter)
            return row->parse != option_mark
                ? row : find_name(tables, row->name, strlen(row->name), &clashes);
    return NULL;
}

static void add_clashes(const struct option *const *tables, const char *name, size_t length,
                        struct text *error)
{
    const char *between = ": ";

    EACH_OPTION(row, tables)
        if (begins(row, name, length)) {
            text_format(error, "%s--%s", between, row->name);
            between = ", ";
        }
}

/* "; near: --pid" */
static void add_near(const struct option *const *tables, const char *name, size_t length,
                     struct text *error)
{
    struct text wanted = {0}, offered = {0};

    text_format(&wanted, "--%.*s", (int)length, name);
    struct suggestions suggestions = {.wanted = wanted.data};
    EACH_OPTION(row, tables) {
        if (!row->name || !row->help || wanted.failed)
            continue;
        text_clear(&offered);
        text_format(&offered, "--%s", row->name);
        if (!offered.failed)
            suggest(&suggestions, offered.data);
    }
    suggestions_add(&suggestions, error);
    suggestions_free(&suggestions);
    text_free(&wanted);
    text_free(&offered);
}

/* ---- The walk through argv ---- */

struct walk {
    const struct option *const *tables;
    char **next; /* what follows the current word */
    void *settings;
    struct arguments *arguments;
    struct text *error;
};

static int parse_row(struct walk *walk, const struct option *row, const char *shown,
                     const char *text)
{
    struct text why = {0};
    int result = row->parse(row, text, (char *)walk->settings + row->offset, &why);

    if (result < 0)
        text_format(walk->error, "%s: %s", shown, text_or_error(&why, result));
    text_free(&why);
    return result;
}

/*
 * Takes the next word as an optional argument only if it is a number; as a file ([OLD]), unless it
 * is an option.
 */
static bool is_its_own(const struct option *row, const char *word)
{
    const char *digits = strcmp(row->argument, "[N]") ? "0123456789." : "0123456789";

    if (!strcmp(row->argument, "[OLD]"))
        return word && (*word != '-' || !word[1]);
    return word && *word && !word[strspn(word, digits)];
}

/* An argument that is not joined to the option is the next word, whatever it looks like. */
static int parse_with_next(struct walk *walk, const struct option *row, const char *shown)
{
    if (!row->argument || (row->argument[0] == '[' && !is_its_own(row, *walk->next)))
        return parse_row(walk, row, shown, NULL);
    if (!*walk->next)
        return text_refuse(walk->error, "%s: takes %s", shown, row->argument);
    if (row->argument[0] == '[' && !walk->next[1])
        walk->arguments->unsure = row;
    return parse_row(walk, row, shown, *walk->next++);
}

/* "; --by says ..." for an option of other tools. False: it is not one of those. */
static bool add_answer(struct text *error, const char *dashes, const char *name, size_t length)
{
    struct text typed = {0};

    text_format(&typed, "%s%.*s", dashes, (int)length, name);
    const char *answer = typed.failed ? NULL
        : find_answer(option_rows, COUNT_OF(option_rows), typed.data);
    if (answer)
        text_format(error, "; %s", answer);
    text_free(&typed);
    return answer;
}

static int refuse_long(struct walk *walk, const char *name, size_t length, size_t clashes)
{
    text_format(walk->error, "--%.*s: ", (int)length, name);
    if (clashes) {
        text_add(walk->error, "is ambiguous");
        add_clashes(walk->tables, name, length, walk->error);
    } else {
        text_add(walk->error, "unknown option");
        if (!add_answer(walk->error, "--", name, length))
            add_near(walk->tables, name, length, walk->error);
    }
    return -EINVAL;
}

static int parse_long(struct walk *walk, const char *name)
{
    size_t length = strcspn(name, "="), clashes;
    const struct option *row = find_name(walk->tables, name, length, &clashes);
    char shown[64];

    if (!row)
        return refuse_long(walk, name, length, clashes);
    snprintf(shown, sizeof(shown), "--%s", row->name);
    if (!name[length])
        return parse_with_next(walk, row, shown);
    if (!row->argument)
        return text_refuse(walk->error, "%s: takes no value", shown);
    return parse_row(walk, row, shown, name + length + 1);
}

/* "-folded" is -f, -o and so on: the user may have meant --folded. */
static int refuse_letter(struct walk *walk, const char *shown, const char *letters)
{
    text_format(walk->error, "%s: unknown option", shown);
    if (!add_answer(walk->error, "", shown, strlen(shown)) && strlen(letters) > 2)
        add_near(walk->tables, letters, strcspn(letters, "="), walk->error);
    return -EINVAL;
}

/* -KU5: flags, and at most one option with an argument, which is the rest, or the next word. */
static int parse_letters(struct walk *walk, const char *letters)
{
    size_t clashes;
    int result = 0;

    /* A long option after a single dash: "-folded" would be -f, and -o with a file named "lded". */
    if (strlen(letters) > 2 && find_name(walk->tables, letters, strcspn(letters, "="), &clashes)) {
        text_format(walk->error, "-%s: unknown option", letters);
        add_near(walk->tables, letters, strcspn(letters, "="), walk->error);
        return -EINVAL;
    }
    for (const char *at = letters; *at && !result;) {
        char shown[] = {'-', *at, '\0'};
        const struct option *row = find_letter(walk->tables, *at++);
        if (!row)
            return refuse_letter(walk, shown, letters);
        if (row->argument && *at)
            return parse_row(walk, row, shown, at);
        result = parse_with_next(walk, row, shown);
    }
    return result;
}

int options_parse(const struct option *const *tables, int argc, char **argv, void *settings,
                  struct arguments *arguments, struct text *error)
{
    struct walk walk = {tables, argv + 1, settings, arguments, error};
    int result = 0;

    *arguments = (struct arguments){
        .words = calloc((size_t)argc + 1, sizeof(char *)),
        .line = argv,
    };
    if (!arguments->words)
        return -ENOMEM;
    while (*walk.next && !result) {
        char *word = *walk.next++;
        if (!strcmp(word, "--")) {
            arguments->command = walk.next;
            break;
        }
        if (word[0] != '-' || !word[1])
            arguments->words[arguments->count++] = word;
        else if (word[1] == '-')
            result = parse_long(&walk, word + 2);
        else
            result = parse_letters(&walk, word + 1);
    }
    if (result) {
        free(arguments->words);
        arguments->words = NULL;
    }
    return result;
}
