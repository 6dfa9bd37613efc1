/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* profile: samples what each CPU is doing, and counts the stacks. */
#include <errno.h>
#include <stdlib.h>

#include "applets/applets.h"
#include "base/say.h"
#include "base/text.h"
#include "collect/bpf_counts.h"
#include "insns/programs.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "kernel/perf.h"
#include "kernel/sampling.h"
#include "options/applet.h"
#include "ptrace/ptrace_source.h"
#include "rings/ring_collectors.h"
#include "run/collecting.h"
#include "run/counting.h"
#include "run/sampled.h"
#include "run/session.h"

#define DEFAULT_FREQUENCY 49 /* not in lockstep with activity at round frequencies */
#define MOST_COUNT (1ULL << 62)
#define NS_PER_SECOND 1000000000

struct profile_options {
    struct trace_options trace;
    uint64_t frequency, count;
    const char *event;
    bool idle;
};

static struct profile_options settings;

#define AT(member) offsetof(struct profile_options, member)

static const struct option own_options[] = {
    OPTION_HEADING("Sampling"),
    {'F', "frequency", "HZ", option_number, AT(frequency), 1, NS_PER_SECOND,
     "samples per second on each CPU",
     " (default: 49; maximum: sysctl kernel.perf_event_max_sample_rate)"},
    {'c', "count", "COUNT", option_number, AT(count), 1, MOST_COUNT,
     "take a sample every COUNT events instead; clocks count nanoseconds"},
    {'e', "event", "EVENT", option_string, AT(event), 0, 0,
     "sample this event instead of cpu-clock", ": see above"},
    {'I', "include-idle", NULL, option_flag, AT(idle), 0, 0, "sample idle CPUs, too"},
    OPTION_LETTER('A', "verbose"),
    OPTION_LETTER('u', "uid"),
    {0},
};

static const struct option *const options[] = {own_options, trace_options, common_options, NULL};

static const struct manual_row events[] = {
    {"cpu-clock", "CPU time (default)"},
    {"task-clock", "the same, by another clock"},
    {"cycles, instructions", "hardware events: these four need the processor's counters"},
    {"cache-misses", "accesses that missed the last-level cache"},
    {"branch-misses", "mispredicted branches"},
    {"page-faults", "page faults"},
    {"context-switches", "context switches"},
    {0},
};

static const struct manual_section sections[] = {{"Events", events}, {0}};

static const struct manual_row examples[] = {
    {"profile 5", "sample all CPUs for five seconds"},
    {"profile -p 185 -F 997", "one process, until Ctrl-C"},
    {"profile -o out.svg 30", "a flame graph"},
    {"profile -U -C 0 5", "user stacks on one CPU"},
    {"profile -e page-faults -c 1 -p 185 5", "each page fault of a process"},
    {"profile -i 10 -T --top 5", "the top five stacks of every ten seconds"},
    {0},
};

static const struct manual_row notes[] = {
    {NULL, "Requires root, or CAP_BPF and CAP_PERFMON where kernel.perf_event_paranoid is at most "
     "2; nothing for your own programs (-p, -- COMMAND): see --collect."},
    {NULL, "Clocks tick at a fixed rate on every CPU, so samples are time: HZ samples are one "
     "second on a CPU. Time stolen by a hypervisor has no samples. For other events, the kernel "
     "adjusts to -F as best it can, and -c is exact."},
    {NULL, "For names see stackcount(1)."},
    {0},
};

struct profiling {
    struct bpf_counts counts;
    struct ring_counts rings; /* used instead if there is no bpf(2), */
    struct ptrace_counts traced; /* or no perf_event_open(2) either */
    struct counting counting;
    struct sampled sampled;
};

/* ---- The program ---- */

static void build_program(const struct session *session, const struct store *store,
                          struct program *program)
{
    struct capture capture = session_capture(session);

    store_capture(store, &capture);
    capture.without_idle = !settings.idle && !settings.trace.pids.count &&
        !settings.trace.tids.count;
    capture.filter.cpu = -1; /* no events of other CPUs arrive */
    emit_count(program, &capture);
}

/* ---- By rings ---- */

static int refuse_event(void);

/* Without kernel stacks, goes on as with -U, which the heading shows; but refuses -K. */
static int take_user_part(bool alone)
{
    if (alone && settings.trace.kernel_only)
        say("-K: kernel stacks need root or CAP_PERFMON at kernel.perf_event_paranoid above 1: "
            "run it as root, or without -K");
    else
        settings.trace.user_only |= alone;
    return alone && settings.trace.kernel_only ? EXIT_FAILURE : 0;
}

static int attach_to_rings(struct profiling *profiling)
{
    static const struct ring_place nowhere = {.flags = 0};
    const struct perf_sampled sampled = sampling_event_of(&profiling->sampled.config, 0);
    const struct rings_event event = {
        .type = sampled.type,
        .config = sampled.config,
        .by_frequency = sampled.by_frequency,
        .period = sampled.period,
        .leaves_idle_out = sampled.leaves_idle_out,
    };
    struct text why = {0};
    int result = ring_source_add(&profiling->rings.counter.source, &event, &nowhere);

    if (!result)
        return take_user_part(profiling->rings.counter.source.rings.user_part_alone);
    if (result == -ENOENT || result == -EOPNOTSUPP)
        return refuse_event();
    ring_source_explain(&profiling->rings.counter.source, result, &why);
    return say_cannot("sample", &why, result);
}

static struct collector *make_rings(struct profiling *profiling)
{
    struct ring_options rings = session_rings(&profiling->counting.session, &settings.trace);

    rings.few = !settings.count;
    rings.capture.without_idle = !settings.idle;
    ring_counts_init(&profiling->rings, &rings);
    return &profiling->rings.counter.source.collector;
}

/* ---- By ptrace ---- */

static struct collector *make_traced(struct profiling *profiling)
{
    const struct ptrace_options traced = session_ptrace(&profiling->counting.session,
                                                        &settings.trace, settings.frequency);

    ptrace_counts_init(&profiling->traced, &traced);
    return &profiling->traced.source.collector;
}

/* ptrace(2) interrupts threads by the clock, and sees no kernel stacks. */
static bool is_refused_traced(const struct sampling_event *event)
{
    if (!event->clock || settings.count)
        say("%s: without perf_event_open(2) only time can be sampled: use -F", settings.count ? "-c"
            : "-e");
    else
        return sampled_is_too_often(settings.frequency);
    return true;
}

/* ---- The run ---- */

static int refuse_event(void)
{
    struct text names = {0};

    sampling_add_available(&names);
    say("-e: this machine has no %s; it has %s", settings.event,
        names.length ? names.data : "none that can be sampled");
    text_free(&names);
    return EXIT_FAILURE;
}

static int open_sampling(struct profiling *profiling)
{
    int result = sampling_open(&profiling->sampled.sampling, &profiling->sampled.config);

    if (!result)
        return 0;
    if (result == -ENOENT)
        return refuse_event();
    if (result != -ENODEV)
        return sampled_refuse(result, &(struct text){0});
    return fail_saying("CPU %lld is offline: there is nothing to sample until it is brought online",
                       (long long)settings.trace.cpu);
}

static int attach_program(struct profiling *profiling)
{
    struct program program = {0};

    build_program(&profiling->counting.session, &profiling->counts.store, &program);
    int status = sampled_load(&profiling->sampled, &program, &settings.trace);
    return status ? status : open_sampling(profiling);
}

static void print_header(struct profiling *profiling)
{
    const struct trace_options *trace = &settings.trace;
    struct text line = {0};

    if (settings.count)
        text_format(&line, "Sampling every %llu events of ", (unsigned long long)settings.count);
    else
        text_format(&line, "Sampling at %llu Hertz of ", (unsigned long long)settings.frequency);
    heading_add_whose(&line, trace, "all threads");
    text_format(&line, " by %s stack", heading_stacks(trace));
    heading_add_cpu(&line, trace);
    if (!line.failed)
        session_header(&profiling->counting.session, line.data, trace->duration);
    text_free(&line);
}

static enum collect_way way_of(const struct profiling *profiling)
{
    return profiling->counting.session.config.collecting.way;
}

static void add_stops(struct profiling *profiling, struct losses *losses)
{
    const struct sampling_config *config = &profiling->sampled.config;
    const enum collect_way way = way_of(profiling);
    struct sampling_stops stops = {.samples = 0};

    if (way == COLLECT_PTRACE)
        return;
    if (way == COLLECT_RINGS) {
        rings_stopped(&profiling->rings.counter.source.rings, &stops.times, &stops.nanoseconds);
        stops.samples = config->event->clock ? stops.nanoseconds / sampling_clock_period(config)
            : 0;
    } else {
        sampling_stops(&profiling->sampled.sampling, &stops);
    }
    sampled_add_stops(&profiling->sampled, &stops, losses);
}

/* Samples that the kernel did not pass to the program. */
static void add_losses(void *context, struct losses *losses)
{
    struct profiling *profiling = context;
    struct bpf_program_info info;

    if (profiling->sampled.config.program >= 0 &&
        !bpf_program_info(profiling->sampled.config.program, &info))
        losses_add_recursion(losses, "events", info.recursion_misses);
    add_stops(profiling, losses);
}

/* What the kernel knows about the program that ran. */
static void say_account(const struct profiling *profiling)
{
    struct bpf_program_info info = {.id = 0};

    if (profiling->sampled.config.program >= 0 &&
        bpf_program_info(profiling->sampled.config.program, &info))
        return;
    if (settings.trace.debug)
        say_cost(profiling->sampled.config.program, NULL);
    counting_say_account(&profiling->counting, info.recursion_misses);
}

static int profile(struct profiling *profiling)
{
    const enum collect_way way = way_of(profiling);
    int status = way == COLLECT_PTRACE  ? 0
                 : way == COLLECT_RINGS ? attach_to_rings(profiling)
                                        : attach_program(profiling);

    if (!status)
        status = counting_start(&profiling->counting);
    if (!status) {
        profiling->counting.tick = way == COLLECT_BPF ? sampled_look : NULL;
        profiling->counting.ticking = &profiling->sampled;
        profiling->counting.add_losses = add_losses;
        profiling->counting.losing = profiling;
        print_header(profiling);
        status = counting_run(&profiling->counting);
        say_account(profiling);
        ptrace_source_say(&profiling->traced.source);
    }
    sampled_close(&profiling->sampled);
    return status;
}

/* ---- The command line ---- */

/* Are more samples asked for than the kernel allows? */
static void check_rate(const struct sampling_event *event, struct text *error)
{
    uint64_t limit = sampling_rate_limit();

    sampled_check_rate(settings.frequency, error);
    if (settings.count && event->clock && settings.count < NS_PER_SECOND / limit)
        text_format(error,
                    "-c: %llu ns of %s are less than this kernel allows: it takes %llu or more "
                    "(sysctl kernel.perf_event_max_sample_rate)",
                    (unsigned long long)settings.count, event->name,
                    (unsigned long long)(NS_PER_SECOND / limit));
}

static void refuse_unknown_event(struct text *error)
{
    text_format(error, "-e: \"%s\" is not one of", settings.event);
    for (const struct sampling_event *event = sampling_events; event->name; event++)
        text_format(error, "%s %s", event == sampling_events ? "" : ",", event->name);
}

/* Everything that can be checked without the kernel. 0, or -EINVAL with one line in `error`. */
static int check_usage(const struct arguments *arguments, const struct sampling_event **event,
                       struct text *error)
{
    *event = settings.event ? sampling_find_event(settings.event) : sampling_events;
    if (!trace_options_check(&settings.trace, arguments, error) &&
        !trace_options_choose_files(&settings.trace, error) &&
        !trace_options_take_duration(&settings.trace, arguments, error)) {
        if (settings.frequency && settings.count)
            text_add(error, "-F and -c cannot be combined: samples are taken by time or by events");
        else if (!*event)
            refuse_unknown_event(error);
    }
    if (error->length || error->failed)
        return applet_see_help(-EINVAL, error);
    if (!settings.frequency && !settings.count)
        settings.frequency = DEFAULT_FREQUENCY;
    check_rate(*event, error);
    return text_refusal(error);
}

/*
 * A sample stands for the time or events between two samples; unknown if the kernel adjusts the
 * period to a frequency.
 */
static struct report_measure measure_of(const struct sampling_config *config)
{
    struct report_measure measure = {.events = "samples"};

    if (config->event->clock) {
        measure.value = "cpu";
        measure.unit = "nanoseconds";
        measure.per_event = sampling_clock_period(config);
    } else if (config->count) {
        measure.value = config->event->name;
        measure.unit = "count";
        measure.per_event = config->count;
    }
    return measure;
}

static struct collector *make_counts(struct profiling *profiling)
{
    /*
     * Samples are rare and keep finding new stacks: when a stack recurs, its id is seldom settled.
     */
    const struct store_config config = {
        .stacks = settings.trace.storage,
        .depth = settings.trace.depth,
        .by_id = false,
    };

    bpf_counts_init(&profiling->counts, &config);
    return &profiling->counts.collector;
}

static int open_and_profile(struct profiling *profiling)
{
    const struct collecting_config config = {
        .takes_own = true,
        .traces = true,
        .own = !trace_options_of_all(&settings.trace),
    };

    struct session_config session = {.options = &settings.trace};
    int status = collecting_choose(&session.collecting, &settings.trace, &config);
    const enum collect_way way = session.collecting.way;
    if (status)
        return status;
    if (way == COLLECT_PTRACE && is_refused_traced(profiling->sampled.config.event))
        return EXIT_USAGE;
    struct collector *collector = way == COLLECT_PTRACE  ? make_traced(profiling)
                                  : way == COLLECT_RINGS ? make_rings(profiling)
                                                         : make_counts(profiling);
    status = counting_open(&profiling->counting, &session, collector);

    profiling->counting.report.layout = LAYOUT_PROFILE;
    profiling->counting.report.show_process = true;
    profiling->counting.report.measure = measure_of(&profiling->sampled.config);
    if (!status)
        status = profile(profiling);
    return counting_close(&profiling->counting, status);
}

static int run(const struct arguments *arguments)
{
    static struct profiling profiling; /* too large for a small stack */
    const struct sampling_event *event;
    struct text error = {0};
    int result = check_usage(arguments, &event, &error);

    if (result)
        return applet_refuse(result, &error, arguments->command);
    profiling.sampled.config.program = -1;
    profiling.sampled.config.event = event;
    profiling.sampled.config.frequency = settings.frequency;
    profiling.sampled.config.count = settings.count;
    profiling.sampled.config.cpu = settings.trace.cpu;
    profiling.sampled.config.idle = settings.idle;
    return open_and_profile(&profiling);
}

const struct applet profile_applet = {
    .name = "profile",
    .summary = "count the stacks that CPUs run, by sampling",
    .usage = "[options] [SECONDS] [-- COMMAND [ARG]...]",
    .about = "Samples each CPU 49 times a second and counts the stacks it finds. Runs until "
             "Ctrl-C, or for SECONDS (as with -D), then prints each stack, leaf first, with its "
             "process and count, the greatest last. Idle CPUs are left out.",
    .sections = sections,
    .examples = examples,
    .notes = notes,
    .options = options,
    .settings = &settings,
    .begin = trace_options_begin,
    .run = run,
};
