/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* perf_event_open(2), and the events that can be sampled. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "checks/look.h"
#include "kernel/cpus.h"
#include "kernel/perf.h"
#include "kernel/sampling.h"

static int open_tasks(void *context, unsigned cpu)
{
    int event = perf_open_tasks(cpu, 1, 0);

    (void)context;
    if (event < 0)
        return event;
    close(event);
    return 0;
}

static void check_perf_events(struct check *check)
{
    long paranoid = refusal_paranoid();

    check_decide(check, REFUSED_PROBES, cpus_each_online(open_tasks, NULL), 0);
    if (check->yes && paranoid >= 0)
        text_format(&check->detail, "kernel.perf_event_paranoid is %ld", paranoid);
}

static void check_sampling(struct check *check)
{
    if (check_rings) {
        check_decide(check, REFUSED_SAMPLING, check_ring_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK), 0);
        return;
    }
    struct sampling_wishes wishes = {
        .event = sampling_events,
        .frequency = 1,
        .cpu = -1,
        .program = check_load(BPF_PROG_TYPE_PERF_EVENT),
    };
    struct sampling sampling = {0};
    int result = wishes.program < 0 ? wishes.program : sampling_open(&sampling, &wishes);

    check_decide(check, REFUSED_SAMPLING, result, 0);
    sampling_close(&sampling);
    if (wishes.program >= 0)
        close(wishes.program);
}

static void check_hardware(struct check *check)
{
    struct text *detail = &check->detail;
    int refusal = 0;

    for (const struct sampling_event *event = sampling_events; event->name; event++) {
        int result = event->type == PERF_TYPE_HARDWARE ? sampling_try(event) : -ENOENT;
        if (!result)
            text_format(detail, "%s%s", detail->length ? ", " : "", event->name);
        else if (result != -ENOENT)
            refusal = result;
    }
    check->yes = detail->length;
    if (!check->yes && refusal)
        check_decide(check, REFUSED_SAMPLING, refusal, 0);
    else if (!check->yes)
        check_refuse(check, "the processor has no counters, or this virtual machine's host hides them: "
                            "profile's default, cpu-clock, needs none");
}

void check_events(struct checks *checks)
{
    check_perf_events(&checks->of[CHECK_PERF_EVENTS]);
    check_sampling(&checks->of[CHECK_SAMPLING]);
    check_hardware(&checks->of[CHECK_HARDWARE]);
}
