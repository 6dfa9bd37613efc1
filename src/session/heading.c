/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/heading.h"

#include "base/text.h"

static void add_numbers(struct text *line, const char *one, const struct number_list *list)
{
    text_format(line, "%s%s ", one, list->count > 1 ? "s" : "");
    for (size_t i = 0; i < list->count; i++)
        text_format(line, i ? ",%u" : "%u", list->numbers[i]);
}

void heading_add_whose(struct text *line, const struct trace_options *options,
                       const char *everybody)
{
    if (!options->pids.count && !options->tids.count)
        text_add(line, everybody);
    if (options->pids.count)
        add_numbers(line, "PID", &options->pids);
    if (options->follow)
        text_add(line, " and its children");
    if (options->pids.count && options->tids.count)
        text_add(line, ", ");
    if (options->tids.count)
        add_numbers(line, "TID", &options->tids);
    for (size_t i = 0; i < options->comms.count; i++)
        text_format(line, "%s\"%s\"", i ? ", " : " named ", options->comms.names[i]);
    if (options->uids.count)
        add_numbers(line, " of UID", &options->uids);
}

const char *heading_stacks(const struct trace_options *options)
{
    return options->user_only ? "user" : options->kernel_only ? "kernel" : "user + kernel";
}

void heading_add_cpu(struct text *line, const struct trace_options *options)
{
    if (options->cpu >= 0)
        text_format(line, " on CPU#%lld", (long long)options->cpu);
}

void heading_add_end(struct text *line, uint64_t duration, bool by_enter)
{
    if (duration)
        text_format(line, " for %g secs.", (double)duration / 1e9);
    else
        text_format(line, "... Hit %s to end.", by_enter ? "Enter" : "Ctrl-C");
}
