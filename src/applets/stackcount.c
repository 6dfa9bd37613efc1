/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* stackcount: counts the stacks that lead to an event. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "applet.h"
#include "counting.h"
#include "insns/count.h"
#include "insns/dump.h"
#include "kernel/bpf.h"
#include "kernel/refusal.h"
#include "kernel/tracefs.h"
#include "probes/attach.h"
#include "probes/kernel_functions.h"
#include "probes/tracepoints.h"

#define MOST_LISTED 5 /* functions that could not be traced */

struct stackcount_options {
    struct trace_options trace;
    bool regex, per_process, force;
    const char *attach;
};

static struct stackcount_options settings = {.trace = TRACE_OPTIONS_DEFAULTS};

#define AT(member) offsetof(struct stackcount_options, member)

static const struct option own_options[] = {
    OPTION_HEADING("Counting"),
    {'c', 0, NULL, "CPU", option_signed, AT(trace.cpu), 0, 65535, NULL}, /* as bcc has it */
    {'r', 0, "regex", NULL, option_flag, AT(regex), 0, 0,
     "patterns are extended regular expressions, found anywhere in a name"},
    {'P', 0, "perpid", NULL, option_flag, AT(per_process), 0, 0,
     "processes apart, under -K too"},
    {0, 0, "force", NULL, option_flag, AT(force), 0, 0,
     "trace, however long attaching and detaching so many functions takes"},
    {0, 0, "attach-by", "WAY", option_string, AT(attach), 0, 0,
     "how kernel functions are probed: multi, pmu or tracefs (default: the first that works)"},
    {0},
};

static const struct option *const options[] = {own_options, trace_options, common_options, NULL};

static const struct manual_row patterns[] = {
    {"vfs_read, p::vfs_read", "a kernel function"},
    {"vfs_read+0x10", "an instruction of it"},
    {"r::vfs_read", "its return"},
    {"tcp_*", "all whose whole name matches; * is the only wildcard"},
    {"t:sched:sched_switch", "a tracepoint; t:sched:* all of a category"},
    {NULL, "What cannot be traced is skipped and said. With -r names are extended regular "
     "expressions, found anywhere as grep -E does."},
    {0},
};

static const struct manual_section sections[] = {{"Patterns", patterns}, {0}};

static const struct manual_row examples[] = {
    {"stackcount -D 5 vfs_read", "who reads files, for five seconds"},
    {"stackcount -K 'tcp_send*'", "kernel stacks to any of these functions"},
    {"stackcount -p 185 t:syscalls:sys_enter_futex", "one process's waits for locks"},
    {"stackcount -i 1 -T r::vfs_read", "returns from a function, every second"},
    {"stackcount -f t:block:block_rq_insert > out.folded", "input for a flame graph"},
    {0},
};

static const struct manual_row notes[] = {
    {NULL, "It needs root. Probes of kernel functions need a kernel with CONFIG_KPROBES; "
     "tracepoints need tracefs, which is used without being mounted for others if it is not "
     "mounted."},
    {NULL, "A function that the compiler put into its callers cannot be traced, and some the "
     "kernel keeps probes out of. /proc/kallsyms and, in tracefs, available_filter_functions tell "
     "what there is."},
    {NULL, "Frames of user programs are shown as file+0xADDR: addr2line(1) takes the address, with "
     "-e and the file."},
    {NULL, "Stacks of user programs are found by frame pointers: code that was compiled without "
     "them hides its callers."},
    {NULL, "As in bcc's stackcount -c is taken for -C; --hash-storage-size is taken and ignored."},
    {0},
};

/* ---- From patterns to places ---- */

struct tracing {
    struct pattern *patterns;
    size_t count;
    size_t *matched;
    enum attach_way way;
    int tracefs; /* open or below 0: why not */
    struct places places;
    struct attachment attachment;
    const char **names; /* of the traced functions, sorted */
};

/* "5": stackcount's first word is no duration. */
static bool is_number(const char *word)
{
    return *word && !word[strspn(word, "0123456789.")];
}

static int parse_patterns(struct tracing *tracing, const struct arguments *arguments)
{
    struct text error = {0};

    tracing->patterns = calloc(arguments->count + 1, sizeof(*tracing->patterns));
    tracing->matched = calloc(arguments->count + 1, sizeof(*tracing->matched));
    if (!tracing->patterns || !tracing->matched) {
        say("out of memory");
        return EXIT_FAILURE;
    }
    for (; tracing->count < arguments->count; tracing->count++) {
        const char *word = arguments->words[tracing->count];
        if (is_number(word)) {
            say("\"%s\" is no pattern; did you mean -D %s?", word, word);
            return EXIT_USAGE;
        }
        if (pattern_parse(&tracing->patterns[tracing->count], word, settings.regex, &error)) {
            say("%s", error.data ? error.data : "out of memory");
            text_free(&error);
            return EXIT_USAGE;
        }
    }
    return 0;
}

static bool any_of_kind(const struct tracing *tracing, enum pattern_kind kind)
{
    for (size_t i = 0; i < tracing->count; i++)
        if (tracing->patterns[i].kind == kind)
            return true;
    return false;
}

static int say_unmatched(const struct counting *counting, const struct tracing *tracing, size_t i,
                         struct text *near)
{
    const struct pattern *pattern = &tracing->patterns[i];
    bool function = pattern->kind == PATTERN_KERNEL_FUNCTION;

    if (function && pattern->name.kind == MATCH_PLAIN)
        (void)kernel_functions_near(counting->kallsyms, pattern->name.text, near);
    say("0 %s matched by \"%s\"%s", function ? "functions" : "tracepoints", pattern->typed,
        near->data ? near->data : "");
    return EXIT_FAILURE;
}

static int say_no_tracefs(int error)
{
    struct text why = {0};

    refusal_explain(REFUSED_TRACEFS, error, 0, &why);
    say("%s", why.data ? why.data : strerror(-error));
    text_free(&why);
    return EXIT_FAILURE;
}

static int say_no_kallsyms(int error)
{
    say("cannot read /proc/kallsyms, which tells the kernel's functions: %s%s", strerror(-error),
        error == -ENOENT || error == -EBADF ? " (is /proc mounted?)" : "");
    return EXIT_FAILURE;
}

static int find_tracepoints(const struct counting *counting, struct tracing *tracing)
{
    struct text near = {0};
    int status = 0;

    for (size_t i = 0; i < tracing->count && !status; i++) {
        if (tracing->patterns[i].kind != PATTERN_TRACEPOINT)
            continue;
        int result = tracing->tracefs < 0 ? tracing->tracefs
                                          : tracepoints_find(tracing->tracefs, &tracing->patterns[i],
                                                             &tracing->places,
                                                             &tracing->matched[i], &near);
        if (result)
            status = say_no_tracefs(result);
        else if (!tracing->matched[i])
            status = say_unmatched(counting, tracing, i, &near);
    }
    text_free(&near);
    return status;
}

static int find_functions(const struct counting *counting, struct tracing *tracing)
{
    struct text near = {0};
    int status = 0;

    if (!any_of_kind(tracing, PATTERN_KERNEL_FUNCTION))
        return 0;
    int result = counting->kallsyms < 0
        ? -ENOENT
        : kernel_functions_find(counting->kallsyms, tracing->patterns, tracing->count,
                                &tracing->places, tracing->matched);
    if (result)
        return say_no_kallsyms(result);
    for (size_t i = 0; i < tracing->count && !status; i++)
        if (tracing->patterns[i].kind == PATTERN_KERNEL_FUNCTION && !tracing->matched[i])
            status = say_unmatched(counting, tracing, i, &near);
    text_free(&near);
    return status;
}

/* ---- The program ---- */

/* Is each process shown apart? */
static bool per_process(void)
{
    return !settings.trace.kernel_only || settings.per_process;
}

static void build_program(const struct counting *counting, struct program *program)
{
    const struct store *store = &counting->store;
    const struct count_wishes wishes = {
        .filter = counting->filter,
        .kernel_stack = !settings.trace.user_only,
        .user_stack = !settings.trace.kernel_only,
        .per_process = per_process(),
        .depth = store->depth,
        .control = store->control,
        .account = store->account,
        .scratch = store->scratch,
        .counts = {store->main.counts, store->stand_in.counts},
        .stacks = {store->main.stacks, store->stand_in.stacks},
        .spilled = {store->main.spilled, store->stand_in.spilled},
    };

    emit_count(program, &wishes);
}

static void debug_program(const struct program *program, const struct linked *linked)
{
    struct text dump = {0};

    dump_insns(&dump, linked->insns, linked->count, program);
    say("the program, %zu instructions:", linked->count);
    if (!dump.failed)
        fprintf(stderr, "%s", dump.data);
    text_free(&dump);
}

/* ---- Attaching ---- */

/* A line on a terminal, for as long as slow attaching goes on. */
static void show_progress(size_t done, size_t total)
{
    static uint64_t shown;
    uint64_t now = now_ns();

    if (!shown)
        shown = now;
    if (now - shown < 500000000 || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\rattaching: %zu of %zu functions%s", done, total, done == total ? "\n" : "");
    if (done < total)
        shown = now - 300000000;
}

static int parse_way(struct tracing *tracing)
{
    static const struct {
        const char *name;
        enum attach_way way;
    } ways[] = {{"multi", ATTACH_MULTI}, {"pmu", ATTACH_PMU}, {"tracefs", ATTACH_TRACEFS}};

    if (!settings.attach)
        return 0;
    for (size_t i = 0; i < COUNT_OF(ways); i++)
        if (!strcmp(settings.attach, ways[i].name)) {
            tracing->way = ways[i].way;
            return 0;
        }
    say("--attach-by: \"%s\" is none of multi, pmu, tracefs", settings.attach);
    return EXIT_USAGE;
}

static void say_skipped(const struct tracing *tracing)
{
    size_t failed = tracing->attachment.failed, listed = 0;
    struct text names = {0};

    if (!failed)
        return;
    for (size_t i = 0; i < tracing->places.count && listed < MOST_LISTED; i++)
        if (tracing->places.items[i].error)
            text_format(&names, "%s%s", listed++ ? ", " : "", tracing->places.items[i].name);
    say("skipped %zu of %zu, which this kernel does not let trace: %s%s", failed,
        tracing->places.count, names.data ? names.data : "", failed > listed ? ", ..." : "");
    text_free(&names);
}

/* Nothing could be attached: the reason that concerns all, or the one of a single place. */
static int say_not_attached(const struct tracing *tracing, int error, bool functions)
{
    const struct attachment *attachment = &tracing->attachment;
    struct text why = {0};

    if (error == -E2BIG && attachment->too_many) {
        say("%zu functions one by one would take about %.0f s to attach and detach on this kernel: "
            "narrow the pattern, or say --force", attachment->too_many, attachment->seconds);
        return EXIT_FAILURE;
    }
    if (error == -EINTR)
        return EXIT_FAILURE;
    bool single = attachment->failed && attachment->failed == tracing->places.count;
    if (single && functions)
        say("\"%s\" cannot be traced: the kernel keeps probes out of it, inlined it, or has no "
            "instruction there", tracing->places.items[0].name);
    else if (refusal_explain(REFUSED_PROBES, error, 0, &why), why.data)
        say("cannot trace: %s", why.data);
    text_free(&why);
    if (settings.trace.debug && attachment->log.length)
        fprintf(stderr, "%s\n", attachment->log.data);
    return EXIT_FAILURE;
}

static int attach(struct tracing *tracing, const struct linked *linked)
{
    const struct attach_request request = {
        .insns = linked->insns,
        .insn_count = linked->count,
        .program_name = "stackcount",
        .tracefs = tracing->tracefs,
        .way = tracing->way,
        .force = settings.force,
        .stop = &run_stopped,
        .progress = show_progress,
    };
    int result = attach_open(&tracing->attachment, &request, &tracing->places);
    if (result)
        return say_not_attached(tracing, result, any_of_kind(tracing, PATTERN_KERNEL_FUNCTION));
    say_skipped(tracing);
    if (settings.trace.debug)
        say("attached %zu places, functions by %s", tracing->attachment.attached,
            attach_way_name(tracing->attachment.function_way));
    return 0;
}

/* ---- The run ---- */

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Of a function's several names the report shows the one that was asked for. */
static void prefer_traced_names(struct counting *counting, struct tracing *tracing)
{
    tracing->names = calloc(tracing->places.count + 1, sizeof(*tracing->names));
    if (!tracing->names)
        return;
    for (size_t i = 0; i < tracing->places.count; i++)
        tracing->names[i] = tracing->places.items[i].name;
    qsort(tracing->names, tracing->places.count, sizeof(*tracing->names), compare_names);
    counting->traced = tracing->names;
    counting->traced_count = tracing->places.count;
}

static void print_header(struct counting *counting, const struct tracing *tracing)
{
    struct text what = {0};

    text_format(&what, "Tracing %zu functions for ", tracing->attachment.attached);
    for (size_t i = 0; i < tracing->count; i++)
        text_format(&what, "%s\"%s\"", i ? ", " : "", tracing->patterns[i].typed);
    if (!what.failed)
        counting_header(counting, what.data);
    text_free(&what);
}

/* What the kernel knows about the programs that have run. */
static void say_account(const struct counting *counting, const struct tracing *tracing)
{
    uint64_t missed = 0;

    for (size_t i = 0; i < COUNT_OF(tracing->attachment.programs); i++) {
        struct bpf_program_info info;
        int program = tracing->attachment.programs[i];
        if (program < 0 || bpf_program_info(program, &info))
            continue;
        missed += info.recursion_misses;
        if (settings.trace.debug && info.run_count)
            say("program %u: %llu runs, ns per event: %llu", info.id,
                (unsigned long long)info.run_count,
                (unsigned long long)(info.run_time_ns / info.run_count));
    }
    if (settings.trace.debug)
        say("account: %llu events in reports, %llu not counted, %llu missed by the kernel",
            (unsigned long long)counting->events, (unsigned long long)counting->losses.table_full,
            (unsigned long long)missed);
    if (missed)
        say("up to %llu events were missed: they came while a program ran on the same CPU already",
            (unsigned long long)missed);
}

static int trace(struct counting *counting, struct tracing *tracing)
{
    struct program program = {0};
    struct linked linked;
    struct text why = {0};
    int status = EXIT_FAILURE;

    build_program(counting, &program);
    if (program_link(&program, PROGRAM_LIMIT_OLD, &linked, &why)) {
        say("the program cannot be made: %s", why.data ? why.data : "out of memory");
    } else {
        if (settings.trace.debug)
            debug_program(&program, &linked);
        status = attach(tracing, &linked);
    }
    if (!status) {
        prefer_traced_names(counting, tracing);
        print_header(counting, tracing);
        status = counting_run(counting);
        say_account(counting, tracing);
        if (!settings.trace.folded && !status) {
            printf("Detaching...\n");
            fflush(stdout);
        }
    }
    attach_close(&tracing->attachment);
    text_free(&why);
    program_free(&program);
    return status;
}

static void free_tracing(struct tracing *tracing)
{
    for (size_t i = 0; i < tracing->count; i++)
        pattern_free(&tracing->patterns[i]);
    free(tracing->patterns);
    free(tracing->matched);
    free(tracing->names);
    places_free(&tracing->places);
    if (tracing->tracefs >= 0)
        close(tracing->tracefs);
}

static int check_usage(struct tracing *tracing, const struct arguments *arguments)
{
    struct text error = {0};

    if (trace_options_check(&settings.trace, &error))
        text_add(&error, "");
    else if (arguments->command)
        text_add(&error, "-- COMMAND: running a command is not there yet; -p takes a process");
    else if (!arguments->count)
        text_add(&error, "takes a PATTERN, such as vfs_read or t:sched:sched_switch");
    if (error.data) {
        say("%s (see stackcount -h)", error.data);
        text_free(&error);
        return EXIT_USAGE;
    }
    int status = parse_way(tracing);
    return status ? status : parse_patterns(tracing, arguments);
}

static int find_places(const struct counting *counting, struct tracing *tracing)
{
    tracing->tracefs = tracefs_open();
    int status = find_functions(counting, tracing);
    if (!status)
        status = find_tracepoints(counting, tracing);
    places_remove_doubles(&tracing->places);
    return status;
}

static int run(const struct arguments *arguments)
{
    struct counting counting;
    struct tracing tracing = {
        .tracefs = -1,
        .attachment = {.programs = {-1, -1, -1}, .tracefs = -1},
    };
    int status = check_usage(&tracing, arguments);

    if (!status) {
        status = counting_open(&counting, &settings.trace);
        counting.report.show_process =
            per_process() && (settings.trace.folded || settings.trace.pids.count != 1);
        counting.report.split_processes = settings.per_process;
        if (!status)
            status = find_places(&counting, &tracing);
        if (!status)
            status = trace(&counting, &tracing);
        counting_close(&counting);
    }
    free_tracing(&tracing);
    return status;
}

const struct applet stackcount_applet = {
    .name = "stackcount",
    .summary = "count the stacks that lead to an event",
    .usage = "[options] PATTERN...",
    .about = "Counts how often each stack leads to a function of the kernel or to a tracepoint. It "
             "runs until Ctrl-C, or for -D seconds, and then prints each stack, leaf first, with "
             "its process and its count, the greatest last.",
    .sections = sections,
    .examples = examples,
    .notes = notes,
    .options = options,
    .settings = &settings,
    .run = run,
};
