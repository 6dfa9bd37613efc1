/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* stacksnoop: prints each event with its stack, as it comes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "applets/applets.h"
#include "base/say.h"
#include "base/text.h"
#include "collect/bpf_events.h"
#include "find/find.h"
#include "insns/programs.h"
#include "machine/machine.h"
#include "options/applet.h"
#include "rings/ring_collectors.h"
#include "run/attaching.h"
#include "run/collecting.h"
#include "run/event_printer.h"

#define SEE_HELP " (see stacksnoop -h)"

struct stacksnoop_options {
    struct trace_options trace;
    const char *attach, *buffer, *condition, *print;
    bool regex, force, list;
    uint64_t most, buffer_size;
};

static struct stacksnoop_options settings;

#define AT(member) offsetof(struct stacksnoop_options, member)

static const struct option own_options[] = {
    OPTION_HEADING("Events"),
    {'r', "regex", NULL, option_flag, AT(regex), 0, 0,
     "patterns are extended regular expressions that match anywhere in a name"},
    {0, "if", "CONDITION", option_string, AT(condition), 0, 0,
     "only events for which this is true", ": see Values"},
    {0, "print", "VALUE[,VALUE]", option_string, AT(print), 0, 0,
     "print these values of each event", ": see Values"},
    {0, "max", "N", option_number, AT(most), 1, UINT64_MAX, "stop after N events", ""},
    {0, "format", "FORMAT", option_string, AT(trace.format), 0, 0,
     "text (default); perf: like perf script, for tools that read it; or json: one line per "
     "event"},
    {'T', "timestamp", NULL, option_flag, AT(trace.timestamp), 0, 0,
     "print the time of day instead of the time since the first event"},
    {0, "buffer-size", "KB", option_number, AT(buffer_size), 1, 1 << 20,
     "buffer for events not printed yet (default: depends on free memory, at most 32768)"},
    {0, "buffer", "KIND", option_string, AT(buffer), 0, 0,
     "kind of buffer: ring or perf (default: the first this kernel has)"},
    {0, "list", NULL, option_flag, AT(list), 0, 0,
     "print what would be traced, one pattern per line, and exit", ""},
    {0, "force", NULL, option_flag, AT(force), 0, 0,
     "trace even if there are so many functions that attaching takes long, or all programs get "
     "slower"},
    {0, "attach-by", "WAY", option_string, AT(attach), 0, 0,
     "how to probe functions: multi, pmu or tracefs (default: the first that works)"},
    OPTION_LETTER('u', "uid"),
    /* There are no reports here: these are refused, and not listed. */
    {'i', "interval", "S", option_seconds, AT(trace.interval), 0, 0, NULL},
    {'f', "folded", NULL, option_flag, AT(trace.folded), 0, 0, NULL},
    {'o', "output", "FILE", option_strings, AT(trace.outputs), 0, 0, NULL},
    {0, "keep", "N", trace_option_keep, AT(trace.keep), 0, 0, NULL},
    {0, "inverted", NULL, option_flag, AT(trace.inverted), 0, 0, NULL},
    {0, "flat", "[N]", trace_option_flat, AT(trace), 1, UINT64_MAX, NULL},
    {0, "tree", "[PERCENT]", trace_option_tree, AT(trace), 0, 0, NULL},
    {0, "live", "[SECONDS]", trace_option_live, AT(trace), 0, 0, NULL},
    {0, "top", "N", option_number, AT(trace.top), 1, UINT64_MAX, NULL},
    {0, "stack-storage-size", "N", option_number, AT(trace.storage), 1, 1 << 24, NULL},
    {0, "by", "WHO", trace_option_by, AT(trace.by), 0, 0,
     "process or thread; has no effect, since each event shows both"},
    {0, "by-name", NULL, trace_option_by_name, AT(trace.by), 0, 0, NULL},
    {0},
};

static const struct option *const options[] = {own_options, trace_options, common_options, NULL};

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
     "each event: seconds since the first one (-T: the time of day), the "
     "thread, the CPU, and what was hit, after r: if it is a return; then its stack, leaf first, "
     "and an empty line"},
    {0},
};

static const struct manual_row notes[] = {
    {NULL, "Events are printed in the order of their times, whichever CPU they came from."},
    {NULL,
     "Events are dropped if the buffer is full; a line at the end tells how many: printed + lost "
     "= all events. For events that are faster than a terminal or disk, use stackcount(1), which "
     "counts them in the kernel."},
    {NULL, "Requires root, or CAP_BPF and CAP_PERFMON where tracefs is not needed. stackcount(1) "
     "says more on what can be traced and where names come from."},
    {0},
};

struct tracing {
    struct bpf_events events;
    struct ring_snoops rings; /* used instead if there is no bpf(2) */
    struct find find;
    enum attach_way way;
    enum recorder_kind buffer;
    enum record_format format;
    struct attachment attachment;
    struct predicates predicates;
    const char **names; /* of the traced functions, sorted */
};

/* ---- The programs ---- */

static void build_program(const struct session *session, const struct tracing *tracing,
                          enum attach_program which, struct program *program)
{
    const struct recorder *recorder = &tracing->events.recorder;
    const struct event_values *values = &tracing->predicates.found[which];
    struct capture capture = session_capture(session);

    attaching_capture(&capture, which, values);
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
static int snoop(struct event_printer *printer, struct tracing *tracing, uint32_t depth)
{
    struct text heading = {0};

    tracing->names = attaching_names(&tracing->find.places);
    printer->traced = tracing->names;
    printer->traced_count = tracing->names ? tracing->find.places.count : 0;
    attaching_add_heading(&heading, &tracing->attachment, &tracing->find);
    int status = event_printer_start(printer);
    if (!status && !heading.failed)
        session_header(&printer->session, heading.data);
    text_free(&heading);
    printer->values = &tracing->predicates;
    if (!status)
        status = event_printer_run(printer, &tracing->find.places, depth);
    if (!status && !printer->printed)
        attaching_say_alternatives(&tracing->find, &settings.trace);
    attaching_say_other_thread(&tracing->attachment, &printer->session.scope);
    event_printer_say_losses(printer, attach_missed(&tracing->attachment));
    return status;
}

static bool is_by_rings(const struct event_printer *printer)
{
    return printer->session.config.collecting.way == COLLECT_RINGS;
}

static int trace_with(struct event_printer *printer, struct tracing *tracing,
                      const struct attach_request *request)
{
    struct ring_source *rings = is_by_rings(printer) ? &tracing->rings.source : NULL;
    const bool debug = settings.trace.debug;
    int status = rings
        ? attaching_attach_to_rings(&tracing->attachment, rings, request, &tracing->find, debug)
                       : attaching_attach(&tracing->attachment, request, &tracing->find, debug);

    if (!status)
        status = snoop(printer, tracing, rings ? rings->depth : tracing->events.recorder.depth);
    attaching_detach(&tracing->attachment, settings.trace.debug);
    return status;
}

/* The instruction that tells the program which place was hit. */
static size_t find_number(const struct program *program)
{
    for (size_t i = 0; i < program->label_count; i++)
        if (!strcmp(program->labels[i].name, SNOOP_PLACE_LABEL))
            return program->labels[i].slot;
    return 0;
}

static int trace(struct event_printer *printer, struct tracing *tracing)
{
    struct program programs[ATTACH_PROGRAMS] = {0};
    struct attach_request request = {
        .program_name = "stacksnoop",
        .numbered = true,
        .tracefs = tracing->find.tracefs,
        .way = tracing->way,
        .pid = trace_options_probed(&settings.trace),
        .of_all = trace_options_of_all(&settings.trace),
        .force = settings.force,
        .stop = &run_stopped,
        .progress = attaching_show_progress,
    };
    const bool by_rings = is_by_rings(printer);
    struct text why = {0};
    int result = 0, status = EXIT_FAILURE;

    for (enum attach_program which = 0; which < ATTACH_PROGRAMS && !result; which++) {
        if (by_rings || !attaching_needs(which, &tracing->find.places))
            continue;
        build_program(&printer->session, tracing, which, &programs[which]);
        result = program_link(&programs[which], PROGRAM_LIMIT_OLD, &request.programs[which], &why);
        request.number_at[which] = find_number(&programs[which]);
        if (!result)
            attaching_say_program(&settings.trace, which, &programs[which],
                                  &request.programs[which]);
    }
    if (!result && !by_rings)
        result = attaching_watch_nested(&printer->session, &tracing->events.recorder.controls,
                                        &tracing->find.places, &programs[ATTACH_NESTED],
                                        &request.programs[ATTACH_NESTED], &why);
    if (result)
        say("cannot build the program: %s", why.data ? why.data : "out of memory");
    else
        status = trace_with(printer, tracing, &request);
    text_free(&why);
    for (size_t i = 0; i < ATTACH_PROGRAMS; i++)
        program_free(&programs[i]);
    return status;
}

/* ---- By rings ---- */

static struct collector *make_rings(struct tracing *tracing, struct session *session)
{
    struct ring_options rings = {
        .scope = &session->scope,
        .unwind = &session->user_stacks.rings,
        .capture = trace_options_capture(&settings.trace),
        .raw = true,
        .uninherited = attaching_uninherited(&tracing->find, tracing->way),
        .bytes = settings.buffer_size * 1024,
    };

    rings.capture.per_thread = true;
    ring_snoops_init(&tracing->rings, &rings);
    return &tracing->rings.source.collector;
}

/* ---- The command line ---- */

/* Reports at intervals or at the end do not exist here. */
static void refuse_reports(struct text *error)
{
    const struct trace_options *trace = &settings.trace;

    if (trace->folded)
        text_add(error, "-f: stacksnoop does not count; flame graph tools read --format "
                        "perf" SEE_HELP);
    else if (trace->outputs.count)
        text_add(error, "-o: stacksnoop prints events to stdout and writes no reports"
                 SEE_HELP);
    else if (trace->flat || trace->tree || trace->live)
        text_format(error, "--%s: stacksnoop prints events and does not count" SEE_HELP,
                    trace->flat ? "flat" : trace->tree ? "tree" : "live");
    else if (trace->interval || trace->inverted || retention_is_asked(&trace->keep))
        text_format(error, "%s: stacksnoop prints events and makes no reports" SEE_HELP,
                    trace->interval ? "-i" : trace->inverted ? "--inverted" : "--keep");
    else if (trace->top)
        text_add(error, "--top: stacksnoop does not count; --max stops after N events" SEE_HELP);
    else if (trace->by == GROUP_BY_NAME)
        text_add(error, "--by name: stacksnoop prints each event with its process and thread"
                 SEE_HELP);
    else if (trace->storage)
        text_add(error, "--stack-storage-size: stacksnoop keeps no stacks; use "
                        "--buffer-size" SEE_HELP);
}

static int parse_format(struct tracing *tracing, struct text *error)
{
    const char *format = settings.trace.format;

    if (!format || !strcmp(format, "text"))
        return 0;
    tracing->format = strcmp(format, "json") ? RECORD_PERF : RECORD_JSON;
    if (tracing->format == RECORD_JSON || !strcmp(format, "perf"))
        return 0;
    enum report_format report;
    if (format_by_name(format, &report))
        text_format(error, "--format: stacksnoop prints events: %s is a format of "
                    "reports", format);
    else
        text_format(error, "--format: \"%s\" is not one of text, perf, json", format);
    return -EINVAL;
}

static int parse_buffer(struct tracing *tracing, struct text *error)
{
    const char *buffer = settings.buffer;

    if (!buffer)
        return 0;
    tracing->buffer = !strcmp(buffer, "ring") ? RECORDER_RING : RECORDER_PERF;
    if (tracing->buffer == RECORDER_RING || !strcmp(buffer, "perf"))
        return 0;
    text_format(error, "--buffer: \"%s\" is not one of ring, perf", buffer);
    return -EINVAL;
}

/* Everything that can be checked without the kernel. 0, or -EINVAL with one line in `error`. */
static int check_usage(struct tracing *tracing, const struct arguments *arguments,
                       struct text *error)
{
    refuse_reports(error);
    if (error->length)
        return -EINVAL;
    if (trace_options_check(&settings.trace, arguments, error)) {
        text_add(error, SEE_HELP);
        return -EINVAL;
    }
    if (settings.list && arguments->command)
        text_add(error, "--list: traces nothing, so it takes no command" SEE_HELP);
    if (error->length || attaching_check_words(arguments, SEE_HELP, error))
        return -EINVAL;
    int result = parse_format(tracing, error);
    if (!result)
        result = parse_buffer(tracing, error);
    if (!result)
        result = attaching_parse_way(&tracing->way, settings.attach, error);
    if (!result)
        result = predicates_parse(&tracing->predicates, settings.condition, "--print",
                                  settings.print, MOST_VALUES, error);
    return result ? result
                  : find_parse(&tracing->find, arguments->words, arguments->count, settings.regex,
                               error);
}

static int open_and_trace(struct tracing *tracing)
{
    struct event_printer_config config = {
        .session = {.options = &settings.trace, .together = true, .data_on_stdout = true},
        .format = tracing->format,
        .most = settings.most,
    };
    const struct collecting_config collecting = {
        .kernel_only = predicates_any(&tracing->predicates),
    };
    const struct bpf_events_config events = {
        .buffer = tracing->buffer,
        .bytes = settings.buffer_size * 1024,
        .depth = settings.trace.depth,
        .kernel = !settings.trace.user_only,
        .user = !settings.trace.kernel_only,
        .values = tracing->predicates.asked.count,
        .condition = settings.condition != NULL,
    };
    struct event_printer printer;

    int status = collecting_choose(&config.session.collecting, &settings.trace, &collecting);
    if (status)
        return status;
    const bool by_rings = config.session.collecting.way == COLLECT_RINGS;
    if (by_rings && settings.buffer && tracing->buffer == RECORDER_RING) {
        say("--buffer ring: needs BPF programs; without them, events wait in perf's ring buffers");
        return EXIT_USAGE;
    }
    bpf_events_init(&tracing->events, &events);
    status = event_printer_open(&printer, &config,
                                by_rings ? make_rings(tracing, &printer.session)
                                         : &tracing->events.collector);

    if (!status)
        status = attaching_find(&tracing->find, printer.session.kallsyms,
                                trace_options_process(&settings.trace));
    if (!status)
        status = predicates_find(&tracing->predicates, &tracing->find, by_rings);
    if (!status)
        status = trace(&printer, tracing);
    return event_printer_close(&printer, status);
}

static int run(const struct arguments *arguments)
{
    struct tracing tracing = {.find = {.tracefs = -1, .kallsyms = -1}};
    struct text error = {0};
    int result = check_usage(&tracing, arguments, &error), status;

    if (!result)
        result = find_translate(&tracing.find);
    if (result) {
        status = applet_refuse(result, &error, arguments->command);
    } else {
        status = settings.list
                     ? attaching_list(&tracing.find, &settings.trace)
                     : open_and_trace(&tracing);
    }
    find_close(&tracing.find);
    free(tracing.names);
    text_free(&error);
    return status;
}

const struct applet stacksnoop_applet = {
    .name = "stacksnoop",
    .summary = "print each event with its stack as it happens",
    .usage = "[options] PATTERN... [-- COMMAND [ARG]...]",
    .about = "Prints each hit of a function of the kernel, a program or a library, of a "
             "tracepoint or of a USDT probe: the time, the thread, and the stack that led to it, "
             "leaf first. Runs until Ctrl-C, for -D seconds, for --max events, or until COMMAND "
             "exits.",
    .sections = sections,
    .examples = examples,
    .output = output,
    .notes = notes,
    .options = options,
    .settings = &settings,
    .begin = trace_options_begin,
    .run = run,
};
