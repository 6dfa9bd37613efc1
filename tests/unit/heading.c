/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The parts of the line that says what is traced; the word that is a duration. */
#include "run/session.h"

#include "test.h"

static struct text line;

static const char *whose(const struct trace_options *options)
{
    text_clear(&line);
    heading_add_whose(&line, options, "all threads");
    return line.data;
}

TEST(names_whom)
{
    struct trace_options options = TRACE_OPTIONS_DEFAULTS;

    CHECK_STRING(whose(&options), "all threads");
    options.tids = (struct number_list){{3}, 1};
    CHECK_STRING(whose(&options), "TID 3");
    options.tids = (struct number_list){{3, 4194304}, 2};
    CHECK_STRING(whose(&options), "TIDs 3,4194304");
    options.pids = (struct number_list){{1}, 1};
    CHECK_STRING(whose(&options), "PID 1, TIDs 3,4194304");
    options.tids.count = 0;
    CHECK_STRING(whose(&options), "PID 1");
    options.pids = (struct number_list){{1, 2, 3}, 3};
    CHECK_STRING(whose(&options), "PIDs 1,2,3");
}

TEST(names_stacks_and_cpu)
{
    struct trace_options options = TRACE_OPTIONS_DEFAULTS;

    text_clear(&line);
    heading_add_cpu(&line, &options);
    CHECK_NUMBER(line.length, 0);
    options.cpu = 0;
    heading_add_cpu(&line, &options);
    CHECK_STRING(line.data, " on CPU#0");
    CHECK_STRING(heading_stacks(&options), "user + kernel");
    options.user_only = true;
    CHECK_STRING(heading_stacks(&options), "user");
    options.user_only = false;
    options.kernel_only = true;
    CHECK_STRING(heading_stacks(&options), "kernel");
}

static const char *end(uint64_t duration, bool by_enter)
{
    text_clear(&line);
    heading_add_end(&line, duration, by_enter);
    return line.data;
}

TEST(names_the_end)
{
    CHECK_STRING(end(0, false), "... Hit Ctrl-C to end.");
    CHECK_STRING(end(0, true), "... Hit Enter to end.");
    CHECK_STRING(end(5000000000, false), " for 5 secs.");
    CHECK_STRING(end(250000000, true), " for 0.25 secs.");
}

/* What was wrong with the arguments, or "": the duration is in `options`. */
static const char *take(struct trace_options *options, char **words, size_t count)
{
    const struct arguments arguments = {.words = words, .count = count};

    text_clear(&line);
    int result = trace_options_take_duration(options, &arguments, &line);
    CHECK_NUMBER(result, line.length ? -EINVAL : 0);
    return line.data ? line.data : "";
}

TEST(takes_a_duration)
{
    struct trace_options options = TRACE_OPTIONS_DEFAULTS;
    char *none[] = {NULL}, *half[] = {(char[]){"0.5"}}, *letters[] = {(char[]){"1d"}};
    char *two[] = {(char[]){"1"}, (char[]){"2"}}, *nothing[] = {(char[]){"0"}};

    CHECK_STRING(take(&options, none, 0), "");
    CHECK_NUMBER(options.duration, 0);
    CHECK_STRING(take(&options, two, 2), "unexpected argument \"2\": only a duration is accepted");
    CHECK_STRING(take(&options, letters, 1),
                 "invalid duration \"1d\": it is in seconds, such as 5 or 0.5, or has a unit: 100ms, 2m");
    CHECK_STRING(take(&options, nothing, 1),
                 "\"0\" is out of range: a duration is more than 0 seconds, at most 9223372035");
    CHECK_NUMBER(options.duration, 0);
    CHECK_STRING(take(&options, half, 1), "");
    CHECK_NUMBER(options.duration, 500000000);
    CHECK_STRING(take(&options, half, 1), "the duration is given twice: as \"0.5\" and by -D");
}

TEST_MAIN
