/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/refusal.h"
#include "ptrace/ptrace_source.h"
#include "run/collecting.h"
#include "run/sampled.h"

void sampled_check_rate(uint64_t frequency, struct text *error)
{
    const uint64_t limit = sampling_rate_limit();

    if (frequency > limit)
        text_format(error, "-F: \"%llu\" is more than this kernel allows: it takes 1 to %llu "
                    "(sysctl kernel.perf_event_max_sample_rate)", (unsigned long long)frequency,
                    (unsigned long long)limit);
}

bool sampled_is_too_often(uint64_t frequency)
{
    if (frequency <= PTRACE_MOST_FREQUENCY)
        return false;
    say("-F: \"%llu\" is more than threads can be interrupted: it takes 1 to %d",
        (unsigned long long)frequency, PTRACE_MOST_FREQUENCY);
    return true;
}

int sampled_refuse(int error, const struct text *log)
{
    struct text why = {0};

    refusal_explain_program(REFUSED_SAMPLING, error, log, &why);
    return say_cannot("sample", &why, error);
}

int sampled_load(struct sampled *sampled, struct program *program,
                 const struct trace_options *options)
{
    struct text log = {0};

    decisions_say_program(options, "the program", "", program);
    const int result = bpf_link_and_load(BPF_PROG_TYPE_PERF_EVENT, "profile", program, &log);
    sampled->config.program = result;
    program_free(program);
    if (result < 0 && options->debug && log.length)
        fprintf(stderr, "%s\n", log.data);
    const int status = result < 0 ? sampled_refuse(result, &log) : 0;
    text_free(&log);
    return status;
}

void sampled_look(void *context)
{
    struct sampled *sampled = context;
    int result = sampling_look(&sampled->sampling);

    if (!result || sampled->said)
        return;
    sampled->said = true;
    say("a CPU that came online is not sampled: %s", strerror(-result));
}

void sampled_add_stops(const struct sampled *sampled, const struct sampling_stops *stops,
                       struct losses *losses)
{
    const bool clock = sampled->config.event->clock;
    const struct loss loss = {
        .count = clock ? stops->samples : stops->times ? LOSSES_UNCOUNTED : 0,
        .events = "samples",
        .at_most = true,
        .beside = true,
    };

    losses_add(losses, &loss, "were missed: they were too frequent for the kernel (sysctl "
               "kernel.perf_event_max_sample_rate), which throttled %llu times, for %.3f s of "
               "CPU time; sample less (-F, -c)", (unsigned long long)stops->times,
               (double)stops->nanoseconds / 1e9);
}

void sampled_close(struct sampled *sampled)
{
    sampling_close(&sampled->sampling);
    close_fd(sampled->config.program);
}
