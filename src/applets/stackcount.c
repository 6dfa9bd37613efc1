/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* stackcount: counts the stacks that lead to an event. */
#include <errno.h>
#include <string.h>

#include "applets/applets.h"
#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "collect/bpf_counts.h"
#include "find/find.h"
#include "insns/programs.h"
#include "options/applet.h"
#include "rings/ring_collectors.h"
#include "run/attaching.h"
#include "run/collecting.h"
#include "run/counting.h"


struct stackcount_options {
    struct probe_options probes;
    const char *unit;
};

static struct stackcount_options settings;

#define AT(member) offsetof(struct stackcount_options, member)

static const struct option own_options[] = {
    OPTION_HEADING("Counting"),
    OPTION_LETTER('c', "cpu"), /* as in bcc */
    OPTION_LETTER('u', "uid"),
    {'r', "regex", NULL, option_flag, AT(probes.regex), 0, 0,
     "patterns are extended regular expressions that match anywhere in a name", ""},
    {'P', "perpid", NULL, trace_option_by, AT(probes.trace.by), GROUP_BY_PROCESS, 0,
     "the same as --by process; without it -K alone does not tell processes apart"},
    {0, "if", "CONDITION", option_string, AT(probes.condition), 0, 0,
     "only events for which this is true", ": see Values"},
    {0, "sum", "VALUE", option_string, AT(probes.values), 0, 0,
     "sum up this value instead of counting events", ": see Values"},
    {0, "unit", "UNIT", option_string, AT(unit), 0, 0,
     "unit of the sum (default: bytes, if the value's name suggests it)"},
    {0},
};

static const struct option *const options[] = {
    own_options, probing_options, trace_options, common_options, NULL};

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
    {NULL, "Requires root, or CAP_BPF and CAP_PERFMON where tracefs is not needed; nothing for "
     "functions of your own programs (-p, -- COMMAND): see --collect. check(1) tells what works "
     "here. Kernel functions need CONFIG_KPROBE_EVENTS; tracepoints need tracefs."},
    {NULL, "Inlined functions and some of the kernel's cannot be traced: --list prints what can."},
    {NULL, "User frames are named by the file's symbol table, else its separate debug file (by "
     "build id or .gnu_debuglink, below /usr/lib/debug), else its exported symbols; JIT-compiled "
     "code by /tmp/perf-PID.map."},
    {0},
};

struct tracing {
    struct bpf_counts counts;
    struct ring_counts rings; /* used instead if there is no bpf(2), */
    struct ptrace_hits hits;  /* or no perf_event_open(2) either, */
    struct walk_counts walk;  /* or if the kernel keeps no stacks */
    struct probing probing;
    struct counting counting;
};

/* ---- The program ---- */

/* Are processes told apart? With -K, as in bcc, only if asked for. */
static bool per_process(void)
{
    return !settings.probes.trace.kernel_only || settings.probes.trace.by;
}

static void build(void *context, enum attach_program which, struct program *program)
{
    const struct tracing *tracing = context;
    const struct store *store = &tracing->counts.store;
    const struct event_values *values = &tracing->probing.predicates.found[which];
    const struct session *session = &tracing->counting.session;

    if (session->config.collecting.way == COLLECT_WALK) {
        walking_build(&tracing->walk, &session->scope, which, program);
        return;
    }
    struct capture capture = session_capture(session);
    probing_capture(&tracing->probing, &capture, which);
    store_capture(store, &capture);
    capture.per_process = per_process();
    capture.meets = find_programs_meet(&tracing->probing.find);
    capture.sum = values->count ? values->values : NULL;
    emit_count(program, &capture);
}

/* ---- The run ---- */

/* What the kernel knows about the programs that ran. */
static void say_account(const struct tracing *tracing)
{
    const struct attachment *attachment = &tracing->probing.attachment;
    uint64_t missed = attach_missed(attachment);

    for (size_t i = 0; i < ATTACH_PROGRAMS * ATTACH_KINDS && settings.probes.trace.debug; i++)
        say_cost(attachment->programs[i / ATTACH_KINDS][i % ATTACH_KINDS], NULL);
    counting_say_account(&tracing->counting, missed);
}

static void add_losses(void *context, struct losses *losses)
{
    const struct tracing *tracing = context;

    losses_add_recursion(losses, "events", attach_missed(&tracing->probing.attachment));
    losses_add_nested(losses, tracing->counts.store.sum.nested, settings.probes.condition != NULL);
}

static void end(void *context)
{
    attach_end(&((struct tracing *)context)->probing.attachment);
}

/* Counts and reports until the end; everything is attached. */
static int count(void *context)
{
    struct tracing *tracing = context;
    struct counting *counting = &tracing->counting;
    struct text heading = {0};

    probing_name(&tracing->probing, &heading);
    counting->traced = tracing->probing.names;
    counting->traced_count = counting->traced ? tracing->probing.find.places.count : 0;
    counting->add_losses = add_losses;
    counting->losing = tracing;
    counting->end = end;
    if (counting->report.measure.value)
        text_format(&heading, ", sum of %s (%s)", counting->report.measure.value,
                    counting->report.measure.unit);
    int status = counting_start(counting);
    if (!status && !heading.failed)
        session_header(&counting->session, heading.data, 0);
    text_free(&heading);
    if (!status)
        status = counting_run(counting);
    probing_say_missed(&tracing->probing, &counting->session, status ? 1 : counting->events);
    say_account(tracing);
    return !settings.probes.trace.files.plain || status ? status : session_detaching();
}

static int trace(struct tracing *tracing)
{
    const struct session *session = &tracing->counting.session;
    const struct controls *controls = &tracing->counts.store.controls;
    const struct probing_calls calls = {
        .applet = "stackcount",
        .session = session,
        .collector = tracing->counting.collector,
        .context = tracing,
        .controls = controls->control < 0 ? NULL : controls,
        .build = build,
        .trace = count,
    };

    if (session->config.collecting.way == COLLECT_WALK) {
        walking_tell_starts(&tracing->probing.find);
        tracing->walk.processes = session->processes;
    }
    return probing_trace(&tracing->probing, &calls);
}

/* ---- By rings ---- */

static struct collector *make_rings(struct tracing *tracing)
{
    struct ring_options rings = probing_rings(&tracing->probing, &tracing->counting.session);

    rings.capture.per_process = per_process();
    ring_counts_init(&tracing->rings, &rings);
    return &tracing->rings.counter.source.collector;
}

static struct collector *make_walk(struct tracing *tracing)
{
    struct capture capture = trace_options_capture(&settings.probes.trace);

    capture.per_process = per_process();
    walk_counts_init(&tracing->walk, &capture, settings.probes.trace.storage);
    return &tracing->walk.collector;
}

static struct collector *make_hits(struct tracing *tracing)
{
    struct ptrace_options hits = probing_ptrace(&tracing->probing, &tracing->counting.session);

    hits.capture.per_process = per_process();
    ptrace_hits_init(&tracing->hits, &hits, 0);
    return &tracing->hits.source.collector;
}

static struct collector *make_collector(struct tracing *tracing, enum collect_way way)
{
    return way == COLLECT_RINGS    ? make_rings(tracing)
           : way == COLLECT_WALK   ? make_walk(tracing)
           : way == COLLECT_PTRACE ? make_hits(tracing)
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
    struct trace_options *trace = &settings.probes.trace;
    const char *unit = settings.unit;

    if (trace_options_check(trace, arguments, error) || trace_options_choose_files(trace, error))
        return applet_see_help(-EINVAL, error);
    int result = probing_check(&tracing->probing, arguments, "--sum", 1, error);
    if (!result && unit && (!settings.probes.values || !*unit ||
                            unit[strspn(unit, "abcdefghijklmnopqrstuvwxyz")])) {
        text_add(error, "--unit: takes a lowercase word, and needs --sum");
        result = applet_see_help(-EINVAL, error);
    }
    return result;
}

static int open_and_trace(void *context)
{
    struct tracing *tracing = context;
    struct counting *counting = &tracing->counting;
    struct trace_options *typed = &settings.probes.trace;
    const struct find *find = &tracing->probing.find;
    const struct store_config config = {
        .stacks = typed->storage,
        .depth = typed->depth,
        .by_id = (find_any_of_kind(find, PATTERN_KERNEL_FUNCTION) ||
                  find_any_of_kind(find, PATTERN_TRACEPOINT)) && !find_programs_meet(find),
        .value_bytes = settings.probes.values ? sizeof(struct summed) : 0,
    };
    struct collecting_config collecting = probing_needs(&tracing->probing);
    struct session_config session = {.options = typed, .together = !per_process()};

    collecting.walks = walking_can(find, typed) && !collecting.kernel_only;
    int status = collecting_choose(&session.collecting, typed, &collecting);
    if (status)
        return status;
    bpf_counts_init(&tracing->counts, &config);
    status = counting_open(counting, &session, make_collector(tracing, session.collecting.way));

    counting->report.measure = measure_of(&tracing->probing.predicates.asked);
    counting->report.show_process = per_process();
    counting->report.one_process = trace_options_probed(typed) && !typed->by;
    counting->at_tracepoints = find_any_of_kind(find, PATTERN_TRACEPOINT) &&
                               !find_any_of_kind(find, PATTERN_KERNEL_FUNCTION);
    if (!status)
        status = probing_find(&tracing->probing, &counting->session);
    if (!status)
        status = trace(tracing);
    return counting_close(counting, status);
}

static int run(const struct arguments *arguments)
{
    static struct tracing tracing; /* too large for a small stack */
    struct text error = {0};

    tracing.probing = (struct probing)PROBING_NONE(&settings.probes);
    const int refused = check_usage(&tracing, arguments, &error);

    return probing_run(&tracing.probing, refused, &error, arguments, open_and_trace, &tracing);
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
