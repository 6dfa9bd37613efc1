/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Checks the words of an applet that takes patterns, before anything is looked up. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "session/attaching.h"
#include "session/command.h"

int attaching_parse_way(enum attach_way *way, const char *typed, struct text *error)
{
    static const struct {
        const char *name;
        enum attach_way way;
    } ways[] = {{"multi", ATTACH_MULTI}, {"pmu", ATTACH_PMU}, {"tracefs", ATTACH_TRACEFS}};

    *way = ATTACH_BEST;
    if (!typed)
        return 0;
    for (size_t i = 0; i < COUNT_OF(ways); i++)
        if (!strcmp(typed, ways[i].name)) {
            *way = ways[i].way;
            return 0;
        }
    text_format(error, "--attach-by: \"%s\" is not one of multi, pmu, tracefs", typed);
    return -EINVAL;
}

/* "5" or "0.5": the first word is not a duration. "." alone may be a regular expression. */
static bool is_number(const char *word)
{
    uint64_t nanoseconds;

    return parse_time(word, 1000000000, &nanoseconds) != -EINVAL;
}

static size_t first_number(const struct arguments *arguments)
{
    size_t i = 0;

    while (i < arguments->count && !is_number(arguments->words[i]))
        i++;
    return i;
}

/*
 * "c:malloc sleep 1": the index, among the first `count` words, where a command begins; `count`:
 * nowhere.
 */
static size_t first_command(char *const *words, size_t count)
{
    size_t i = 1;

    while (i < count && (strchr(words[i], ':') || !command_exists(words[i])))
        i++;
    return i < count ? i : count;
}

int attaching_check_words(const struct arguments *arguments, const char *see_help,
                          struct text *error)
{
    const size_t number = first_number(arguments);
    const size_t command = number < arguments->count && !arguments->command
                               ? first_command(arguments->words, number) : number;

    if (!arguments->count)
        text_format(error, "needs a PATTERN, such as vfs_read or "
                           "t:sched:sched_switch%s", see_help);
    else if (command < number) {
        text_format(error, "\"%s\" is not a pattern; ", arguments->words[command]);
        command_suggest(arguments->words + command, arguments->count - command, error);
    } else if (number < arguments->count)
        text_format(error, "\"%s\" is not a pattern; did you mean -D "
                           "%s?", arguments->words[number],
                    arguments->words[number]);
    return error->length || error->failed ? -EINVAL : 0;
}
