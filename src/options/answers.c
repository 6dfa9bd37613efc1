/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "options/answers.h"

#include <string.h>

#include "base/util.h"

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
    {"flame", "flamegraph draws folded stacks; -o FILE.svg of the other applets makes a picture at once"},
};

static const struct answer_row option_rows[] = {
    {"--call-graph", "stacks are always taken; --unwind fp or tables says how user stacks are unwound"},
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
    {"--all-cpus", "all CPUs are traced unless -C names one"},
};

static const char *find(const struct answer_row *rows, size_t count, const char *typed)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].typed, typed))
            return rows[i].answer;
    return NULL;
}

const char *answer_to_applet(const char *word)
{
    return find(applet_rows, COUNT_OF(applet_rows), word);
}

const char *answer_to_option(const char *shown)
{
    return find(option_rows, COUNT_OF(option_rows), shown);
}
