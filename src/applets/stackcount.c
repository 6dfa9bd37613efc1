/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* stackcount: counts the stacks that lead to an event. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "applets/applets.h"
#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "collect/bpf_counts.h"
#include "find/find.h"
#include "insns/programs.h"
#include "kernel/bpf.h"
#include "machine/machine.h"
#include "options/applet.h"
#include "rings/ring_collectors.h"
#include "run/attaching.h"
#include "run/collecting.h"
#include "run/counting.h"

#define SEE_HELP " (see stackcount -h)"

struct stackcount_options {
    struct trace_options trace;
    bool regex, force, list;
    const char *attach, *condition, *sum, *unit;
};

static struct stackcount_options settings;

#define AT(member) offsetof(struct stackcount_options, member)

static const struct option own_options[] = {
    OPTION_HEADING("Counting"),
    OPTION_LETTER('c', "cpu"), /* as in bcc */
    OPTION_LETTER('u', "uid"),
    {'r', "regex", NULL, option_flag, AT(regex), 0, 0,
     "patterns are extended regular expressions that match anywhere in a name", ""},
    {'P', "perpid", NULL, trace_option_by_process, AT(trace.by), 0, 0,
     "the same as --by process; without it -K alone does not tell processes apart"},
    {0, "if", "CONDITION", option_string, AT(condition), 0, 0,
     "only events for which this is true", ": see Values"},
    {0, "sum", "VALUE", option_string, AT(sum), 0, 0,
     "sum up this value instead of counting events", ": see Values"},
    {0, "unit", "UNIT", option_string, AT(unit), 0, 0,
     "unit of the sum (default: bytes, if the value's name suggests it)"},
    {0, "list", NULL, option_flag, AT(list), 0, 0,
     "print what would be traced, one pattern per line, and exit", ""},
    {0, "force", NULL, option_flag, AT(force), 0, 0,
     "trace even if there are so many functions that attaching takes long, or all programs get "
     "slower"},
    {0, "attach-by", "WAY", option_string, AT(attach), 0, 0,
     "how to probe functions: multi, pmu or tracefs (default: the first that works)"},
    {0},
};

static const struct option *const options[] = {own_options, trace_options, common_options, NULL};

static const struct manual_section sections[] = {
    {"Patterns", attaching_patterns}, {"Values", predicates_values}, {0}};

static const struct manual_row examples[] = {
    {"stackcount -D 5 vfs_read", "who reads files, for five seconds"},
    {"stackcount -K 'tcp_send*'", "kernel stacks leading to any of these functions"},
    {"stackcount -p 185 t:syscalls:sys_enter_futex", "where a process waits for locks"},
    {"stackcount -i 1 -T r::vfs_read", "returns from a function, every second"},
    {"stackcount -p 185 c:malloc", "who allocates in one process"},
    {"stackcount c:malloc -- make", "who allocates in a command and its children"},
    {"stackcount --sum arg1 --unit bytes c:malloc", "how many bytes are allocated"},
    {"stackcount --if 'ret < 0' r::vfs_read", "which reads fail"},
    {"stackcount --list 'u:stdc++:*'", "the USDT probes of the C++ library"},
    {"stackcount -o out.svg t:block:block_rq_insert", "a flame graph"},
    {0},
};

static const struct manual_row notes[] = {
    {NULL, "Requires root, or CAP_BPF and CAP_PERFMON where tracefs is not needed: check(1) tells "
     "what works here. Kernel functions need CONFIG_KPROBE_EVENTS; tracepoints need tracefs."},
    {NULL, "Inlined functions cannot be traced, nor can those that the kernel protects from "
     "probes. --list prints what can."},
    {NULL, "User frames are named by the file's symbol table, else its separate debug file (by "
     "build id or .gnu_debuglink, below /usr/lib/debug), else its exported symbols; JIT-compiled "
     "code by /tmp/perf-PID.map."},
    {NULL, "Processes that exit before the report have names, too, even if their files were "
     "deleted or replaced: mappings are tracked during the run."},
    {NULL, "User stacks are unwound by the unwind tables of their files (Linux 5.10 and BTF), "
     "else by frame pointers; then code compiled without them hides its callers."},
    {NULL, "--hash-storage-size of bcc's stackcount is accepted and ignored."},
    {0},
};

struct tracing {
    struct bpf_counts counts;
    struct ring_counts rings; /* used instead if there is no bpf(2), */
    struct walk_counts walk;  /* or if the kernel keeps no stacks */
    struct find find;
    enum attach_way way;
    struct attachment attachment;
    struct predicates predicates;
    const char **names; /* of the traced functions, sorted */
};

/* ---- The program ---- */

/* Are processes told apart? With -K, as in bcc, only if asked for. */
static bool per_process(void)
{
    return !settings.trace.kernel_only || settings.trace.by;
}

static void build_program(const struct session *session, const struct tracing *tracing,
                          enum attach_program which, bool meets, struct program *program)
{
    const struct store *store = &tracing->counts.store;
    const struct event_values *values = &tracing->predicates.found[which];
    struct capture capture = session_capture(session);

    attaching_capture(&capture, which, values);
    store_capture(store, &capture);
    capture.per_process = per_process();
    capture.meets = meets;
    capture.sum = values->count ? values->values : NULL;
    emit_count(program, &capture);
}

/* ---- Attaching ---- */

/* Without programs, by rings. */
static int attach(struct tracing *tracing, const struct linked *linked)
{
    struct attach_request request = {
        .program_name = "stackcount",
        .tracefs = tracing->find.tracefs,
        .way = tracing->way,
        .pid = trace_options_probed(&settings.trace),
        .of_all = trace_options_of_all(&settings.trace),
        .force = settings.force,
        .stop = &run_stopped,
        .progress = attaching_show_progress,
    };

    if (!linked)
        return attaching_attach_to_rings(&tracing->attachment, &tracing->rings.counter.source,
                                         &request, &tracing->find, settings.trace.debug);
    memcpy(request.programs, linked, sizeof(request.programs));
    return attaching_attach(&tracing->attachment, &request, &tracing->find, settings.trace.debug);
}

/* ---- The run ---- */

/* What each program cost, if the kernel keeps that. */
static void debug_costs(const struct attachment *attachment)
{
    for (size_t i = 0; i < ATTACH_PROGRAMS * ATTACH_KINDS; i++) {
        struct bpf_program_info info;
        int program = attachment->programs[i / ATTACH_KINDS][i % ATTACH_KINDS];
        if (program >= 0 && !bpf_program_info(program, &info) && info.run_count)
            say("program %u: %llu runs, ns per event: %llu", info.id,
                (unsigned long long)info.run_count,
                (unsigned long long)(info.run_time_ns / info.run_count));
    }
}

/* What the kernel knows about the programs that ran. */
static void say_account(const struct counting *counting, const struct tracing *tracing)
{
    uint64_t missed = attach_missed(&tracing->attachment);

    if (settings.trace.debug)
        debug_costs(&tracing->attachment);
    counting_say_account(counting, missed);
}

static void add_losses(void *context, struct losses *losses)
{
    const struct tracing *tracing = context;

    losses_add_recursion(losses, "events", attach_missed(&tracing->attachment));
    losses_add_nested(losses, tracing->counts.store.sum.nested, settings.condition != NULL);
}

/* Counts and reports until the end; everything is attached. */
static int count(struct counting *counting, struct tracing *tracing)
{
    struct text heading = {0};

    tracing->names = attaching_names(&tracing->find.places);
    counting->traced = tracing->names;
    counting->traced_count = tracing->names ? tracing->find.places.count : 0;
    counting->add_losses = add_losses;
    counting->losing = tracing;
    attaching_add_heading(&heading, &tracing->attachment, &tracing->find);
    if (counting->report.measure.value)
        text_format(&heading, ", sum of %s (%s)", counting->report.measure.value,
                    counting->report.measure.unit);
    int status = counting_start(counting);
    if (!status && !heading.failed)
        session_header(&counting->session, heading.data);
    text_free(&heading);
    if (!status)
        status = counting_run(counting);
    if (!status && !counting->events)
        attaching_say_alternatives(&tracing->find, &settings.trace);
    attaching_say_other_thread(&tracing->attachment, &counting->session.scope);
    say_account(counting, tracing);
    return !settings.trace.files.plain || status ? status : session_detaching();
}

static int trace_with(struct counting *counting, struct tracing *tracing,
                      const struct linked *linked)
{
    int status = attach(tracing, linked);

    if (!status)
        status = count(counting, tracing);
    attaching_detach(&tracing->attachment, settings.trace.debug);
    return status;
}

static int trace(struct counting *counting, struct tracing *tracing)
{
    struct program programs[ATTACH_PROGRAMS] = {0};
    struct linked linked[ATTACH_PROGRAMS] = {0};
    struct text why = {0};
    int result = 0, status = EXIT_FAILURE;
    bool meet = find_programs_meet(&tracing->find);
    const bool walks = counting->session.config.collecting.way == COLLECT_WALK;

    if (walks) {
        walking_tell_starts(&tracing->find);
        tracing->walk.processes = counting->session.processes;
    }
    for (enum attach_program which = 0; which < ATTACH_PROGRAMS && !result; which++) {
        if (!attaching_needs(which, &tracing->find.places))
            continue;
        if (walks)
            walking_build(&tracing->walk, &counting->session.scope, which, &programs[which]);
        else
            build_program(&counting->session, tracing, which, meet, &programs[which]);
        result = program_link(&programs[which], PROGRAM_LIMIT_OLD, &linked[which], &why);
        if (!result)
            attaching_say_program(&settings.trace, which, &programs[which], &linked[which]);
    }
    if (!result && tracing->counts.store.controls.control >= 0)
        result = attaching_watch_nested(&counting->session, &tracing->counts.store.controls,
                                        &tracing->find.places, &programs[ATTACH_NESTED],
                                        &linked[ATTACH_NESTED], &why);
    if (result)
        say("cannot build the program: %s", why.data ? why.data : "out of memory");
    else
        status = trace_with(counting, tracing, linked);
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
        .stacks = settings.trace.storage,
    };

    rings.capture.per_process = per_process();
    ring_counts_init(&tracing->rings, &rings);
    return &tracing->rings.counter.source.collector;
}

static struct collector *make_walk(struct tracing *tracing)
{
    struct capture capture = trace_options_capture(&settings.trace);

    capture.per_process = per_process();
    walk_counts_init(&tracing->walk, &capture, settings.trace.storage);
    return &tracing->walk.collector;
}

static struct collector *make_collector(struct tracing *tracing, enum collect_way way,
                                        struct session *session)
{
    return way == COLLECT_RINGS  ? make_rings(tracing, session)
           : way == COLLECT_WALK ? make_walk(tracing)
                                 : &tracing->counts.collector;
}

/* ---- The command line ---- */

/* Fields that hold bytes have such names: bytes_req, nr_bytes, size, len. */
static const char *unit_of(const char *name)
{
    static const char *const words[] = {"bytes", "size", "len"};

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strstr(name, words[i]))
            return "bytes";
    return "count";
}

static struct report_measure measure_of(const struct asked_values *asked)
{
    struct report_measure measure = {.events = "events"};

    if (asked->count) {
        measure.value = asked->values[0].name;
        measure.unit = settings.unit ? settings.unit : unit_of(measure.value);
    }
    return measure;
}

/* Everything that can be checked without the kernel. 0, or -EINVAL with one line in `error`. */
static int check_usage(struct tracing *tracing, const struct arguments *arguments,
                       struct text *error)
{
    if (trace_options_check(&settings.trace, arguments, error) ||
        trace_options_choose_files(&settings.trace, error)) {
        text_add(error, SEE_HELP);
        return -EINVAL;
    }
    if (settings.list && arguments->command) {
        text_add(error, "--list: traces nothing, so it takes no command" SEE_HELP);
        return -EINVAL;
    }
    if (attaching_check_words(arguments, SEE_HELP, error))
        return -EINVAL;
    int result = attaching_parse_way(&tracing->way, settings.attach, error);
    if (!result)
        result = predicates_parse(&tracing->predicates, settings.condition, "--sum", settings.sum,
                                  1, error);
    if (!result && settings.unit &&
        (!settings.sum || !*settings.unit ||
         settings.unit[strspn(settings.unit, "abcdefghijklmnopqrstuvwxyz")])) {
        text_add(error, "--unit: takes a lowercase word, and needs --sum" SEE_HELP);
        result = -EINVAL;
    }
    return result ? result
                  : find_parse(&tracing->find, arguments->words, arguments->count, settings.regex,
                               error);
}

static int open_and_trace(struct tracing *tracing)
{
    const struct find *find = &tracing->find;
    const struct store_config config = {
        .stacks = settings.trace.storage,
        .depth = settings.trace.depth,
        .by_id = (find_any_of_kind(find, PATTERN_KERNEL_FUNCTION) ||
                  find_any_of_kind(find, PATTERN_TRACEPOINT)) && !find_programs_meet(find),
        .value_bytes = settings.sum ? sizeof(struct summed) : 0,
    };
    struct counting counting;

    const bool values = predicates_any(&tracing->predicates);
    const struct collecting_config collecting = {
        .walks = walking_can(find, &settings.trace) && !values,
        .kernel_only = values,
    };
    struct session_config session = {.options = &settings.trace, .together = !per_process()};
    int status = collecting_choose(&session.collecting, &settings.trace, &collecting);
    if (status)
        return status;
    const enum collect_way way = session.collecting.way;
    bpf_counts_init(&tracing->counts, &config);
    status = counting_open(&counting, &session, make_collector(tracing, way, &counting.session));

    counting.report.measure = measure_of(&tracing->predicates.asked);
    counting.report.show_process = per_process();
    counting.report.one_process = trace_options_probed(&settings.trace) && !settings.trace.by;
    counting.at_tracepoints = find_any_of_kind(find, PATTERN_TRACEPOINT) &&
                              !find_any_of_kind(find, PATTERN_KERNEL_FUNCTION);
    if (!status)
        status = attaching_find(&tracing->find, counting.session.kallsyms,
                                trace_options_process(&settings.trace));
    if (!status)
        status = predicates_find(&tracing->predicates, &tracing->find, way == COLLECT_RINGS);
    if (!status)
        status = way == COLLECT_RINGS ? trace_with(&counting, tracing, NULL)
            : trace(&counting, tracing);
    return counting_close(&counting, status);
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

const struct applet stackcount_applet = {
    .name = "stackcount",
    .summary = "count stacks that lead to an event",
    .usage = "[options] PATTERN... [-- COMMAND [ARG]...]",
    .about = "Counts the stacks that lead to a function of the kernel, a program or a library, to "
             "a tracepoint or to a USDT probe. Runs until Ctrl-C, for -D seconds, or until "
             "COMMAND exits, then prints each stack, leaf first, with its process and count, the "
             "greatest last.",
    .sections = sections,
    .examples = examples,
    .notes = notes,
    .options = options,
    .settings = &settings,
    .begin = trace_options_begin,
    .run = run,
};
