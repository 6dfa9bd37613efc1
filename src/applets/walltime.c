/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* walltime: where all of threads' time goes: running, waiting for a CPU, and blocked. */
#include "applets/applets.h"
#include "base/text.h"
#include "base/util.h"
#include "options/applet.h"
#include "run/blocked_time.h"

#define MOST_US ((uint64_t)MOST_SECONDS * 1000000)

struct wall_options {
    struct trace_options trace;
    uint64_t frequency;
    uint64_t least; /* us */
};

static struct wall_options settings;

#define AT(member) offsetof(struct wall_options, member)

static const struct option own_options[] = {
    OPTION_HEADING("Times"),
    {'F', "frequency", "HZ", option_number, AT(frequency), 1, 1000000000,
     "samples per second on each CPU", " (default: 499; by ptrace 49)"},
    {'m', "min-block-time", "US", option_microseconds, AT(least), 0, MOST_US,
     "only stacks that were off the CPU for at least US microseconds",
     "; the rest are summed up as [no stack]"},
    OPTION_LETTER('u', "uid"),
    {0},
};

static const struct option *const options[] = {own_options, trace_options, common_options, NULL};
static const struct manual_section sections[] = {{0}};

static const struct manual_row examples[] = {
    {"walltime -p 185 10", "where a process spends its time, for ten seconds"},
    {"walltime --tree -- make", "a command and its children, as a tree"},
    {"walltime --by thread -p 185 5", "each thread on its own"},
    {"walltime -o out.svg -p 185 10", "a flame graph"},
    {0},
};

static const struct manual_row output[] = {
    {"[running]",
     "on a CPU, by sampled stacks; [running, not sampled] is the time that no sample hit"},
    {"[runnable]", "waiting for a CPU, by the stack with which the thread left it"},
    {"[blocked]", "waiting for anything else, by that stack; [blocked all along] never ran"},
    {0},
};

static const struct manual_row notes[] = {
    {NULL, "Times are exact; samples only divide up the running time among stacks."},
    {NULL, "A stopped thread is blocked. A wait that began before the run has the stack from "
     "/proc/TID/stack: kernel frames only."},
    {NULL, "Requires root, or CAP_BPF and CAP_PERFMON where kernel.perf_event_paranoid is at most "
     "2; nothing for your own programs (-p, -- COMMAND): see --collect."},
    {0},
};

/* Everything that can be checked without the kernel. 0, or -EINVAL with one line in `error`. */
static int check_usage(const struct arguments *arguments, struct text *error)
{
    const struct trace_options *trace = &settings.trace;

    if (!trace_options_check(&settings.trace, arguments, error) &&
        !trace_options_choose_files(&settings.trace, error) &&
        !trace_options_take_duration(&settings.trace, arguments, error)) {
        if (!trace->pids.count && !trace->tids.count && !trace->cgroup && !trace->command &&
            !trace->comms.count && !trace->uids.count)
            text_add(error,
                     "no threads selected: give -p, -t, --comm, --uid, --cgroup or -- COMMAND");
        else if (trace->cpu >= 0)
            text_add(error, "-C: blocked threads are on no CPU: leave it out");
        else
            sampled_check_rate(settings.frequency, error);
    }
    return applet_see_help(text_refusal(error), error);
}

static int run(const struct arguments *arguments)
{
    struct text error = {0};
    const struct blocked_time_config config = {
        .trace = &settings.trace,
        .view = VIEW_WALL,
        .states = STATE_BLOCKED,
        .letters = "SDTtPI",
        .least = settings.least * 1000,
        .most = UINT64_MAX,
        .frequency = settings.frequency,
    };
    int result = check_usage(arguments, &error);

    return result ? applet_refuse(result, &error, arguments->command) : blocked_time_run(&config);
}

const struct applet walltime_applet = {
    .name = "walltime",
    .summary = "sum up all of threads' time: running, waiting for a CPU, blocked",
    .usage = "[options] [SECONDS] -p PID | -- COMMAND [ARG]...",
    .about = "Sums up where threads spend their time, in microseconds, by their stacks: running, "
             "waiting for a CPU, or blocked. The total is how long the threads existed during the "
             "run.",
    .sections = sections,
    .examples = examples,
    .output = output,
    .notes = notes,
    .options = options,
    .settings = &settings,
    .begin = trace_options_begin,
    .run = run,
};
