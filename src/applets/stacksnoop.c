/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* stacksnoop: prints each event with its stack, as it comes. */
#include <errno.h>
#include <string.h>

#include "applets/applets.h"
#include "base/say.h"
#include "base/text.h"
#include "collect/bpf_events.h"
#include "find/find.h"
#include "insns/programs.h"
#include "options/applet.h"
#include "rings/ring_collectors.h"
#include "run/attaching.h"
#include "run/collecting.h"
#include "run/event_printer.h"

struct stacksnoop_options {
    struct probe_options probes;
    const char *buffer;
    uint64_t most, buffer_size;
};

static struct stacksnoop_options settings;

#define AT(member) offsetof(struct stacksnoop_options, member)

#define REFUSED(letter, name, argument, why) \
    {letter, name, argument, option_refuse, 0, 0, 0, NULL, why}
#define NO_REPORTS "stacksnoop prints events and makes no reports"
#define NO_COUNTS "stacksnoop prints events and does not count"

static const struct option own_options[] = {
    OPTION_HEADING("Events"),
    {'r', "regex", NULL, option_flag, AT(probes.regex), 0, 0,
     "patterns are extended regular expressions that match anywhere in a name"},
    {0, "if", "CONDITION", option_string, AT(probes.condition), 0, 0,
     "only events for which this is true", ": see Values"},
    {0, "print", "VALUE[,VALUE]", option_string, AT(probes.values), 0, 0,
     "print these values of each event", ": see Values"},
    {0, "max", "N", option_number, AT(most), 1, UINT64_MAX, "stop after N events", ""},
    {0, "format", "FORMAT", option_string, AT(probes.trace.format), 0, 0,
     "text (default); perf: like perf script, for tools that read it; or json: one line per event"},
    {'T', "timestamp", NULL, option_flag, AT(probes.trace.timestamp), 0, 0,
     "print the time of day instead of the time since the first event"},
    {0, "buffer-size", "KB", option_number, AT(buffer_size), 1, 1 << 20,
     "buffer for events not printed yet (default: depends on free memory, at most 32768)"},
    {0, "buffer", "KIND", option_string, AT(buffer), 0, 0,
     "kind of buffer: ring or perf (default: the first this kernel has)"},
    OPTION_LETTER('u', "uid"),
    {0},
};

/* stacksnoop makes no reports: refuses these options, and does not list them. */
static const struct option refused_options[] = {
    REFUSED('i', "interval", "S", NO_REPORTS),
    REFUSED('f', "folded", NULL, "stacksnoop does not count; flame graph tools read --format perf"),
    REFUSED('o', "output", "FILE", "stacksnoop prints events to stdout and writes no reports"),
    REFUSED(0, "keep", "N", NO_REPORTS),
    REFUSED(0, "inverted", NULL, NO_REPORTS),
    REFUSED(0, "flat", "[N]", NO_COUNTS),
    REFUSED(0, "tree", "[PERCENT]", NO_COUNTS),
    REFUSED(0, "live", "[SECONDS]", NO_COUNTS),
    REFUSED(0, "top", "N", "stacksnoop does not count; --max stops after N events"),
    REFUSED(0, "stack-storage-size", "N", "stacksnoop keeps no stacks; use --buffer-size"),
    {0, "by", "WHO", trace_option_by, AT(probes.trace.by), 0, 0,
     "process or thread; has no effect, since each event shows both"},
    REFUSED(0, "by-name", NULL, "stacksnoop prints each event with its process and thread"),
    {0},
};

static const struct option *const options[] = {
    own_options, probing_options, refused_options, trace_options, common_options, NULL};

static const struct manual_section sections[] = {
    {"Patterns", attaching_patterns}, {"Values", predicates_values}, {0}};

static const struct manual_row examples[] = {
    {"stacksnoop -p 185 c:malloc", "each allocation of a process"},
    {"stacksnoop --max 10 'tcp_connect*'", "who opens the next ten connections"},
    {"stacksnoop -T t:sched:sched_process_exec", "each exec, with the time of day"},
    {"stacksnoop --print arg1 --if 'arg1>=1M' c:malloc",
     "large allocations, and how large they are"},
    {"stacksnoop -K -d -s r::vfs_unlink", "returns from a function, with offsets"},
    {"stacksnoop t:sched:sched_process_exec -- make -j4", "each program that a build runs"},
    {"stacksnoop --format perf -D 5 t:block:block_rq_insert > out.perf",
     "for tools that read perf script"},
    {"stacksnoop --format json --max 10 c:malloc", "one line per event, for jq and programs"},
    {0},
};

static const struct manual_row output[] = {
    {"TIME(s) COMM PID TID CPU EVENT",
     "each event: seconds since the first one (-T: the time of day), the thread, the CPU, and what "
     "was hit, after r: if it is a return; then its stack, leaf first, and an empty line"},
    {0},
};

static const struct manual_row notes[] = {
    {NULL, "Events are printed in the order of their times, whichever CPU they came from."},
    {NULL,
     "Events are dropped if the buffer is full; a line at the end tells how many. stackcount(1) "
     "counts those that are faster than a terminal or disk."},
    {NULL, "Requires root, or CAP_BPF and CAP_PERFMON where tracefs is not needed. stackcount(1) "
     "says more on what can be traced and where names come from."},
    {0},
};

#define HITS_KB 4096 /* for events by ptrace(2) that wait to be printed, if not asked for */

struct tracing {
    struct bpf_events events;
    struct ring_snoops rings; /* used instead if there is no bpf(2) */
    struct ptrace_hits hits;  /* or no perf_event_open(2) either */
    struct probing probing;
    struct event_printer printer;
    enum recorder_kind buffer;
    enum record_format format;
};

/* ---- The programs ---- */

static void build(void *context, enum attach_program which, struct program *program)
{
    const struct tracing *tracing = context;
    const struct recorder *recorder = &tracing->events.recorder;
    const struct event_values *values = &tracing->probing.predicates.found[which];
    struct capture capture = session_capture(&tracing->printer.session);

    probing_capture(&tracing->probing, &capture, which);
    capture.values = values->values;
    capture.value_count = values->count;
    capture.depth = recorder->depth;
    capture.to_ring = recorder->kind == RECORDER_RING;
    capture.buffer = recorder_buffer(recorder);
    capture.control = recorder->controls.control;
    capture.account = recorder->controls.account;
    capture.slots = recorder->controls.slots;
    emit_snoop(program, &capture);
}

/* ---- The run ---- */

/* Prints until the end; everything is attached. */
static int snoop(void *context)
{
    struct tracing *tracing = context;
    struct event_printer *printer = &tracing->printer;
    const struct places *places = &tracing->probing.find.places;
    struct text heading = {0};

    probing_name(&tracing->probing, &heading);
    printer->traced = tracing->probing.names;
    printer->traced_count = printer->traced ? places->count : 0;
    int status = event_printer_start(printer);
    if (!status && !heading.failed)
        session_header(&printer->session, heading.data, 0);
    text_free(&heading);
    printer->values = &tracing->probing.predicates;
    if (!status)
        status = event_printer_run(printer, places);
    attach_end(&tracing->probing.attachment);
    probing_say_missed(&tracing->probing, &printer->session, status ? 1 : printer->printed);
    event_printer_say_losses(printer, attach_missed(&tracing->probing.attachment));
    return status;
}

/* ---- By rings ---- */

static struct collector *make_rings(struct tracing *tracing, struct session *session)
{
    struct ring_options rings = probing_rings(&tracing->probing, session);

    rings.bytes = settings.buffer_size * 1024;
    rings.capture.per_thread = true;
    ring_snoops_init(&tracing->rings, &rings);
    return &tracing->rings.source.collector;
}

static struct collector *make_hits(struct tracing *tracing)
{
    struct ptrace_options hits = probing_ptrace(&tracing->probing, &tracing->printer.session);

    ptrace_hits_init(&tracing->hits, &hits,
                     (size_t)(settings.buffer_size ? settings.buffer_size : HITS_KB) * 1024);
    return &tracing->hits.source.collector;
}

/* ---- The command line ---- */

static int parse_format(struct tracing *tracing, struct text *error)
{
    const char *format = settings.probes.trace.format;
    enum report_format report;
    unsigned number;

    if (format && strcmp(format, "text") && format_by_name(format, &report))
        return text_refuse(error, "--format: stacksnoop prints events: %s is a format of reports",
                           format);
    const int result = take_word("--format: ", "text, perf, json", format, &number, error);
    tracing->format = number ? (enum record_format)(number - 1) : RECORD_TEXT;
    return result;
}

/* Everything that can be checked without the kernel. 0, or -EINVAL with one line in `error`. */
static int check_usage(struct tracing *tracing, const struct arguments *arguments,
                       struct text *error)
{
    if (settings.probes.trace.by == GROUP_BY_NAME)
        text_add(error, "--by name: stacksnoop prints each event with its process and thread");
    if (error->length || trace_options_check(&settings.probes.trace, arguments, error))
        return applet_see_help(-EINVAL, error);
    unsigned buffer = RECORDER_BEST;
    int result = parse_format(tracing, error);
    if (!result)
        result = take_word("--buffer: ", "ring, perf", settings.buffer, &buffer, error);
    tracing->buffer = (enum recorder_kind)buffer;
    return result ? result : probing_check(&tracing->probing, arguments, "--print", MOST_VALUES,
                                           error);
}

static int trace(struct tracing *tracing)
{
    const bool by_bpf = tracing->printer.session.config.collecting.way == COLLECT_BPF;
    const struct probing_calls calls = {
        .applet = "stacksnoop",
        .session = &tracing->printer.session,
        .collector = tracing->printer.collector,
        .context = tracing,
        .controls = by_bpf ? &tracing->events.recorder.controls : NULL,
        .numbered = true,
        .build = build,
        .trace = snoop,
    };
    int status = probing_find(&tracing->probing, &tracing->printer.session);

    return status ? status : probing_trace(&tracing->probing, &calls);
}

static int open_and_trace(void *context)
{
    struct tracing *tracing = context;
    struct trace_options *typed = &settings.probes.trace;
    struct event_printer *printer = &tracing->printer;
    struct event_printer_config config = {
        .session = {.options = typed, .together = true, .data_on_stdout = true},
        .format = tracing->format,
        .most = settings.most,
    };
    const struct collecting_config collecting = probing_needs(&tracing->probing);
    const struct bpf_events_config events = {
        .buffer = tracing->buffer,
        .bytes = settings.buffer_size * 1024,
        .depth = typed->depth,
        .kernel = !typed->user_only,
        .user = !typed->kernel_only,
        .values = tracing->probing.predicates.asked.count,
        .condition = settings.probes.condition != NULL,
    };

    int status = collecting_choose(&config.session.collecting, typed, &collecting);
    if (status)
        return status;
    const enum collect_way way = config.session.collecting.way;
    if (way == COLLECT_RINGS && settings.buffer && tracing->buffer == RECORDER_RING) {
        say("--buffer ring: needs BPF programs; without them, events wait in perf's ring buffers");
        return EXIT_USAGE;
    }
    bpf_events_init(&tracing->events, &events);
    status = event_printer_open(printer, &config,
                                way == COLLECT_RINGS    ? make_rings(tracing, &printer->session)
                                : way == COLLECT_PTRACE ? make_hits(tracing)
                                                        : &tracing->events.collector);
    if (!status)
        status = trace(tracing);
    return event_printer_close(printer, status);
}

static int run(const struct arguments *arguments)
{
    static struct tracing tracing; /* too large for a small stack */
    struct text error = {0};

    tracing.probing = (struct probing)PROBING_NONE(&settings.probes);
    const int refused = check_usage(&tracing, arguments, &error);

    return probing_run(&tracing.probing, refused, &error, arguments, open_and_trace, &tracing);
}

const struct applet stacksnoop_applet = {
    .name = "stacksnoop",
    .summary = "print each event with its stack as it happens",
    .usage = "[options] PATTERN... [-- COMMAND [ARG]...]",
    .about = "Prints each hit of a function of the kernel, a program or a library, of a tracepoint "
             "or of a USDT probe: the time, the thread, and the stack that led to it, leaf first. "
             "Runs until Ctrl-C, for -D seconds, for --max events, or until COMMAND exits.",
    .sections = sections,
    .examples = examples,
    .output = output,
    .notes = notes,
    .options = options,
    .settings = &settings,
    .begin = trace_options_begin,
    .run = run,
};
