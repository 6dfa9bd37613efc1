/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "insns/programs.h"
#include "kernel/refusal.h"
#include "kernel/task_fields.h"
#include "kernel/tracefs.h"
#include "machine/machine.h"
#include "rings/ring_source.h"
#include "run/attaching.h"
#include "run/collecting.h"
#include "run/command.h"
#include "run/run.h"

#define LOOKS_PER_SECOND 20 /* at processes' mappings, by ptrace(2) */
#define MOST_LISTED 5 /* functions that could not be traced */

const struct manual_row attaching_patterns[] = {
    {"vfs_read, p::vfs_read", "a kernel function"},
    {"vfs_read+0x10", "the instruction at this offset"},
    {"r::vfs_read", "a return from it"},
    {"sys_getppid", "a system call, whatever its function is called here: __x64_sys_getppid"},
    {"tcp_*", "all functions that match; * is the only wildcard"},
    {"t:sched:sched_switch", "a tracepoint; t:sched:* is all of a category"},
    {"c:malloc, p:c:malloc", "a library function; libraries are found as the dynamic linker does"},
    {"bash:readline", "a function of a program in PATH, if no library has that name"},
    {"/path/file:func", "a function of this file; +0x10 and * work here too"},
    {"r:c:malloc", "a return from it"},
    {"/path/file:0x1234", "the instruction at this address, as addr2line takes it"},
    {"u:lib:probe", "a USDT probe; u:lib:provider:probe, u:/path/file:*"},
    {"kprobe:f, uprobe:lib:f, ...", "also kretprobe, uretprobe, tracepoint and usdt, as in other "
     "tools; and a:b, if there is such a tracepoint"},
    {NULL, "Functions that cannot be traced are skipped, and a line says so. With -r, names are "
     "extended regular expressions that match anywhere, as in grep -E. With -p, libraries and "
     "paths are looked up in that process's mount namespace."},
    {0},
};

#define AT(member) offsetof(struct probe_options, member)

const struct option probing_options[] = {
    {0, "list", NULL, option_flag, AT(list), 0, 0,
     "print what would be traced, one pattern per line, and exit", ""},
    {0, "force", NULL, option_flag, AT(force), 0, 0,
     "trace even if there are so many functions that attaching takes long, or all programs get "
     "slower"},
    {0, "attach-by", "WAY", option_string, AT(attach), 0, 0,
     "how to probe functions: multi, pmu or tracefs (default: the first that works)"},
    {0},
};

/* "c:malloc make": not a function, but meant as a command? */
static void suggest_command(const struct find *find, struct text *error)
{
    size_t at = 1;

    while (at < find->count && (find->matched[at] ||
                                find->patterns[at].kind != PATTERN_KERNEL_FUNCTION))
        at++;
    if (at >= find->count || !command_exists(find->patterns[at].typed))
        return;
    char **words = calloc(find->count, sizeof(*words));
    for (size_t i = at; words && i < find->count; i++)
        words[i - at] = (char *)(uintptr_t)find->patterns[i].typed;
    if (words) {
        text_add(error, "; ");
        command_suggest(words, find->count - at, error);
    }
    free(words);
}

static int look_up(struct find *find, int kallsyms, uint32_t pid)
{
    struct text error = {0};

    find->kallsyms = kallsyms;
    find->pid = pid;
    int result = find_places(find, &error);
    if (result == -ENOENT && error.length)
        suggest_command(find, &error);
    if (result)
        say("%s", text_or_error(&error, result));
    else if (find->unread.length)
        say("there may be more functions: %s", find->unread.data);
    if (!result && find->left_out.length)
        say("%s", find->left_out.data);
    text_free(&error);
    return result ? EXIT_FAILURE : 0;
}

static int print_list(const struct find *find, const struct demangle_options *readable)
{
    struct text lines = {0};
    int result = list_places(&find->places, readable, &lines);

    if (!result)
        result = output_text(stdout, &lines);
    text_free(&lines);
    return output_end("print the list", result);
}

/* Prints what was found to stdout instead of tracing it. */
static int list(struct find *found, const struct trace_options *options)
{
    /* The lines are patterns, which --shorten would spoil. */
    static const struct demangle_options whole = {0};
    int kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
    found->by_calls = options->collect == COLLECT_PTRACE;
    int status = look_up(found, kallsyms, trace_options_process(options));

    if (!status)
        status = print_list(found, options->raw_names ? NULL : &whole);
    close_fd(kallsyms);
    return status;
}

/* A line on a terminal while attaching is slow. */
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

static void say_skipped(const struct attachment *attachment, const struct places *places)
{
    size_t failed = attachment->failed, listed = 0;
    struct text names = {0};

    if (!failed)
        return;
    for (size_t i = 0; i < places->count && listed < MOST_LISTED; i++)
        if (places->items[i].error && places->items[i].error != ATTACH_LEFT_OUT)
            text_format(&names, "%s%s", listed++ ? ", " : "", places->items[i].name);
    say("skipped %zu of %zu, which this kernel does not allow to be traced: %s%s", failed,
        places->count, text_string(&names), failed > listed ? ", ..." : "");
    text_free(&names);
}

static void say_left_out(const struct attachment *attachment)
{
    if (attachment->left_out)
        say("left out %zu functions that tracing itself calls (BPF, stack walks, locks, clocks), "
            "since probing them along with so many others could hang the machine; name them "
            "without a wildcard to trace them", attachment->left_out);
}

/*
 * Functions are told apart by address: without addresses, functions of the same name may be mixed
 * up.
 */
static void say_undistinguished(const struct find *find)
{
    size_t matched = 0, hidden = 0;

    for (size_t i = 0; i < find->count; i++)
        matched += find->patterns[i].kind == PATTERN_KERNEL_FUNCTION ? find->matched[i] : 0;
    for (size_t i = 0; i < find->places.count; i++)
        hidden += find->places.items[i].kind == PLACE_KERNEL_FUNCTION &&
                  !find->places.items[i].address;
    if (hidden && matched > 1)
        say("the kernel hides its addresses, so a function with several of these names counts for "
            "each, and of several with the same name only one is traced: run as root or with "
            "CAP_SYSLOG, and with kernel.kptr_restrict below 2");
}

static void say_inexact(const struct find *find)
{
    struct text pattern = {0};
    const struct place *place = exact_alternative(find, &pattern);

    if (place)
        say("\"t:%s\" may miss events on this kernel if several threads hit it on one CPU; \"%s\" "
            "misses none", place->name, pattern.data);
    text_free(&pattern);
}

/* The kernel refused each place on its own. */
static void say_none_traced(const struct places *places)
{
    const struct place *first = &places->items[0];

    if (places->count > 1)
        say("none of the %zu functions can be traced: the kernel forbids probes in them, or freed "
            "them after boot (\"%s\", ...)", places->count, first->name);
    else if (first->at_return && machine_of_kernel()->entry_patch)
        say("returns from \"%s\" cannot be traced: this kernel accepts no probes at the first "
            "instructions of functions, which that needs", first->name);
    else if (first->offset)
        say("\"%s+0x%llx\" cannot be traced: no instruction begins there, or the kernel forbids "
            "probes there", first->name, (unsigned long long)first->offset);
    else
        say("\"%s\" cannot be traced: the kernel forbids probes in it, or freed it after boot",
            first->name);
}

static void say_too_many(const struct attachment *attachment)
{
    if (attachment->seconds > 0)
        say("attaching and detaching %zu functions one by one would take about %.0f s on this "
            "kernel: narrow the pattern, or give --force", attachment->too_many,
            attachment->seconds);
    else if (attachment->too_many <= ATTACH_MOST_AT_ONCE)
        say("%zu functions are more than the %d traced in all programs without asking, which "
            "would get slower: choose a process (-p), narrow the pattern, or give "
            "--force", attachment->too_many,
            ATTACH_MOST_OF_ALL);
    else
        say("%zu functions are more than the %d traced without asking, and every call to them "
            "would get slower: narrow the pattern, or give --force",
            attachment->too_many, ATTACH_MOST_AT_ONCE);
}

/* Nothing could be attached: prints a reason for all, or the places' own. */
static int say_not_attached(const struct attachment *attachment,
                            const struct attach_request *request, const struct find *find,
                            int error)
{
    const enum attach_way way = request->way;
    const struct places *places = &find->places;
    bool user = places->count && places->items[0].kind == PLACE_USER;
    struct text why = {0};

    const bool single = attachment->failed && attachment->failed == places->count;

    if (error == -E2BIG && attachment->too_many) {
        say_too_many(attachment);
    } else if (error == -ESTALE && user) {
        say("cannot trace: a file was replaced after it was read: try again");
    } else if (find->tracefs < 0 && way == ATTACH_TRACEFS) {
        refusal_explain(REFUSED_TRACEFS, find->tracefs, 0, &why);
        say("--attach-by: %s", text_or_error(&why, find->tracefs));
    } else if (error == ATTACH_UNARMED) {
        say("\"%s\" has a semaphore, which this kernel (before Linux 4.20) does not raise: trace "
            "one running process (-p PID)", places->items[0].name);
    } else if (error == -EOPNOTSUPP && way != ATTACH_BEST) {
        say("--attach-by: this kernel has no %s", attach_way_name(way, user));
    } else if (single && find_any_of_kind(find, PATTERN_KERNEL_FUNCTION)) {
        say_none_traced(places);
    } else {
        if (request->instead && error != -EOPNOTSUPP)
            request->instead->explain(request->context, error, &why);
        else
            refusal_explain_program(user ? REFUSED_USER_PROBES : REFUSED_PROBES, error,
                                    &attachment->log, &why);
        say("cannot trace: %s", text_or_error(&why, error));
    }
    text_free(&why);
    return EXIT_FAILURE;
}

static void say_ways(const struct attachment *attachment)
{
    struct text ways = {0};

    if (attachment->kernel_way != ATTACH_BEST)
        text_format(&ways, ", kernel functions by %s",
                    attach_way_name(attachment->kernel_way, false));
    if (attachment->user_way != ATTACH_BEST)
        text_format(&ways, ", user functions by %s", attach_way_name(attachment->user_way, true));
    say("attached %zu places%s, in %.3f s", attachment->attached, text_string(&ways),
        (double)attachment->attach_ns / 1e9);
    text_free(&ways);
}

static int attach(struct probing *probing, const struct attach_request *request)
{
    struct attachment *attachment = &probing->attachment;
    const struct find *find = &probing->find;
    const bool debug = probing->options->trace.debug;
    int result = attach_open(attachment, request, &probing->find.places);

    if (debug && attachment->log.length)
        fprintf(stderr, "%s\n", attachment->log.data);
    /* The user interrupted: as at any time, the run ends with a report. */
    if (result == -EINTR && run_stopped)
        return 0;
    if (result)
        return say_not_attached(attachment, request, find, result);
    say_skipped(attachment, &find->places);
    say_left_out(attachment);
    say_undistinguished(find);
    if (!find->by_calls)
        say_inexact(find);
    if (debug)
        say_ways(attachment);
    return 0;
}

static void detach(struct attachment *attachment, bool debug)
{
    size_t attached = attachment->too_many ? 0 : attachment->attached;
    uint64_t start = now_ns();
    int result = attach_close(attachment);

    if (debug && attached)
        say("detached %zu places, in %.3f s", attached, (double)(now_ns() - start) / 1e9);
    if (result)
        say("probes were left in tracefs: %s; the next run with --attach-by tracefs removes them",
            strerror(-result));
}

/* ---- The programs ---- */

/*
 * Must forks not inherit the perf events? If the attributes of probes point into our memory (by the
 * PMUs, or without tracefs), the kernel reads those pointers in the process that forks: fork fails
 * with EFAULT, or another file is probed. And between tasks that inherited the same events, the
 * kernel swaps the events instead of switching: a task that ends takes another's user probes along.
 */
static bool is_uninherited(struct probing *probing)
{
    struct find *find = &probing->find;

    return probing->way == ATTACH_PMU || find_any_of_kind(find, PATTERN_USER_FUNCTION) ||
           find_any_of_kind(find, PATTERN_USDT) || find_tracefs(find) < 0;
}

struct ring_options probing_rings(struct probing *probing, struct session *session)
{
    struct ring_options rings = session_rings(session, &probing->options->trace);

    rings.raw = true;
    rings.uninherited = is_uninherited(probing);
    return rings;
}

static int attach_instead(struct probing *probing, struct attach_request *request)
{
    const bool by_rings = request->instead == &ring_attach;

    if (request->way == ATTACH_MULTI || (request->way && !by_rings)) {
        say("--attach-by%s", by_rings
            ? " multi: links need BPF programs, which rings do without: use pmu or tracefs"
            : ": ptrace(2) sets breakpoints instead: leave it out");
        return EXIT_USAGE;
    }
    request->force |= !by_rings; /* ptrace(2) takes no time to attach */
    request->tracefs = by_rings ? find_tracefs(&probing->find) : -1;
    return attach(probing, request);
}

struct collecting_config probing_needs(const struct probing *probing)
{
    const struct find *find = &probing->find;
    const bool functions = find_any_of_kind(find, PATTERN_USER_FUNCTION) ||
        find_any_of_kind(find, PATTERN_USDT);

    return (struct collecting_config){
        .kernel_only = predicates_any(&probing->predicates),
        .own = !trace_options_of_all(&probing->options->trace),
        .breaks = functions && find_only_programs(find),
        .calls = !functions && find_only_programs(find),
    };
}

struct ptrace_options probing_ptrace(const struct probing *probing, struct session *session)
{
    struct ptrace_options hits = session_ptrace(session, &probing->options->trace,
                                                LOOKS_PER_SECOND);

    hits.breakpoints = breakpoints_count();
    hits.values = probing->predicates.found;
    return hits;
}

/* Is there a place whose events that program gets? */
static bool needs(enum attach_program which, const struct places *places)
{
    for (size_t i = 0; i < places->count; i++)
        if (attach_program_of(&places->items[i]) == which)
            return true;
    return false;
}

void probing_capture(const struct probing *probing, struct capture *capture,
                     enum attach_program which)
{
    capture->flags = attach_variants[which].flags;
    capture->caller = attach_variants[which].caller;
    capture->condition = &probing->predicates.found[which].condition;
}

static bool has_user_returns(const struct places *places)
{
    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].kind == PLACE_USER && places->items[i].at_return)
            return true;
    return false;
}

static void say_program(const struct probing *probing, enum attach_program which,
                        struct program *program)
{
    decisions_say_program(&probing->options->trace, "the program ", attach_variants[which].what,
                          program);
}

/*
 * If places are returns of user functions, and the kernel shows how deeply these are nested: adds
 * the program that counts the returns that the kernel does not trace, in the controls' account.
 */
static int watch_nested(const struct probing *probing, const struct probing_calls *calls,
                        struct program *program, struct linked *linked, struct text *why)
{
    struct capture capture = session_capture(calls->session);

    capture.control = calls->controls->control;
    capture.account = calls->controls->account;
    if (!has_user_returns(&probing->find.places) || nesting_fields_find(&capture.nesting))
        return 0;
    emit_nested(program, &capture);
    int result = program_link(program, linked, why);
    if (!result)
        say_program(probing, ATTACH_NESTED, program);
    return result;
}

/* The instruction that tells the program which place was hit. */
static size_t find_number(const struct program *program)
{
    for (size_t i = 0; i < program->label_count; i++)
        if (!strcmp(program->labels[i].name, SNOOP_PLACE_LABEL))
            return program->labels[i].slot;
    return 0;
}

/* A program for each kind of place. */
static int build(const struct probing *probing, const struct probing_calls *calls,
                 struct program *programs, struct attach_request *request, struct text *why)
{
    int result = 0;

    for (enum attach_program which = 0; which < ATTACH_PROGRAMS && !result; which++) {
        if (!needs(which, &probing->find.places))
            continue;
        calls->build(calls->context, which, &programs[which]);
        result = program_link(&programs[which], &request->programs[which], why);
        request->number_at[which] = find_number(&programs[which]);
        if (!result)
            say_program(probing, which, &programs[which]);
    }
    return result || !calls->controls ? result
        : watch_nested(probing, calls, &programs[ATTACH_NESTED], &request->programs[ATTACH_NESTED],
                       why);
}

/* Each stack will have frames in these files. */
static void see_files(const struct user_stacks *user_stacks, const struct places *places)
{
    const char *seen = "";

    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].kind == PLACE_USER && strcmp(places->items[i].file, seen)) {
            seen = places->items[i].file;
            user_stacks_see_file(user_stacks, seen);
        }
}

static bool traces_execs(const struct places *places)
{
    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].kind == PLACE_TRACEPOINT &&
            !strcmp(places->items[i].name, "sched:sched_process_exec"))
            return true;
    return false;
}

static int attach_and_trace(struct probing *probing, const struct probing_calls *calls,
                            struct attach_request *request)
{
    struct tracepoint first[SCOPE_FIRST] = {TRACEPOINT_NONE, TRACEPOINT_NONE};

    see_files(&calls->session->user_stacks, &probing->find.places);
    if (!request->instead && traces_execs(&probing->find.places))
        scope_come_first(&calls->session->scope, find_tracefs(&probing->find), first);
    int status = request->instead ? attach_instead(probing, request) : attach(probing, request);
    if (!status)
        status = calls->trace(calls->context);
    for (size_t i = 0; i < SCOPE_FIRST; i++)
        tracepoint_close(&first[i]);
    detach(&probing->attachment, probing->options->trace.debug);
    return status;
}

int probing_trace(struct probing *probing, const struct probing_calls *calls)
{
    const enum collect_way way = calls->session->config.collecting.way;
    struct program programs[ATTACH_PROGRAMS] = {0};
    struct attach_request request = {
        .instead = way == COLLECT_RINGS    ? &ring_attach
                   : way == COLLECT_PTRACE ? &ptrace_attach : NULL,
        .context = calls->collector, /* the ring_source or ptrace_hits begins with it */
        .program_name = calls->applet,
        .numbered = calls->numbered,
        .tracefs = probing->find.tracefs,
        .way = probing->way,
        .pid = trace_options_probed(&probing->options->trace),
        .of_all = trace_options_of_all(&probing->options->trace),
        .user_memory = !probing->options->trace.kernel_only,
        .force = probing->options->force,
        .stop = &run_stopped,
        .progress = show_progress,
    };
    struct text why = {0};
    int status = EXIT_FAILURE;

    if (!request.instead && build(probing, calls, programs, &request, &why))
        say("cannot build the program: %s", why.data ? why.data : "out of memory");
    else
        status = attach_and_trace(probing, calls, &request);
    text_free(&why);
    for (size_t i = 0; i < ATTACH_PROGRAMS; i++)
        program_free(&programs[i]);
    return status;
}

/* ---- What it says ---- */

static void say_alternatives(const struct find *find, const struct trace_options *options)
{
    const bool filtered = options->pids.count || options->tids.count || options->cgroup ||
                          options->comms.count || options->uids.count || options->command;
    struct text lines = {0};

    /* Without a process, the search is in the containers of the whole machine. */
    if (!find->pid && filtered)
        return;
    if (!alternatives_find(find, &lines))
        say_lines(&lines);
    text_free(&lines);
}

void probing_say_missed(const struct probing *probing, const struct session *session,
                        uint64_t events)
{
    const struct scope *scope = &session->scope;
    const uint32_t pid =
        probing->attachment.of_process ? follow_other(&scope->follow, &scope->filter) : 0;

    if (!events)
        say_alternatives(&probing->find, &probing->options->trace);
    if (pid)
        say("user probes missed all of process %u since a thread other than its first executed a "
            "program: --attach-by tracefs misses none", pid);
}

void probing_name(struct probing *probing, struct text *heading)
{
    const struct find *find = &probing->find;
    const struct places *places = &find->places;
    const size_t attached = probing->attachment.attached;
    bool functions = true;

    probing->names = calloc(places->count + 1, sizeof(*probing->names));
    for (size_t i = 0; probing->names && i < places->count; i++)
        probing->names[i] = (struct kallsyms_name){places->items[i].name, places->items[i].address};
    if (probing->names)
        qsort(probing->names, places->count, sizeof(*probing->names), compare_strings);
    for (size_t i = 0; i < find->count; i++)
        functions = functions && (find->patterns[i].kind == PATTERN_KERNEL_FUNCTION ||
                                  find->patterns[i].kind == PATTERN_USER_FUNCTION);
    text_format(heading, "Tracing %zu %s%s for ", attached, functions ? "function" : "event",
                attached == 1 ? "" : "s");
    for (size_t i = 0; i < find->count; i++) {
        const struct pattern *pattern = &find->patterns[i];
        text_format(heading, "%s\"%s\"", i ? ", " : "", pattern->typed);
        if (pattern->is_call)
            text_format(heading, " (%s)", pattern->name.text);
    }
}

/* ---- What was typed ---- */

/* "5" or "0.5": the first word is not a duration. "." alone may be a regular expression. */
static bool is_number(const char *word)
{
    uint64_t nanoseconds;

    return parse_time(word, 1000000000, &nanoseconds) != -EINVAL;
}

static size_t first_number(const struct arguments *arguments)
{
    size_t i = 0;

    while (i < arguments->count && !is_number(arguments->words[i]))
        i++;
    return i;
}

/*
 * "c:malloc sleep 1": the index, among the first `count` words, where a command begins; `count`:
 * nowhere.
 */
static size_t first_command(char *const *words, size_t count)
{
    size_t i = 1;

    while (i < count && (strchr(words[i], ':') || !command_exists(words[i])))
        i++;
    return i < count ? i : count;
}

/* Are the words patterns, as far as can be told without asking the kernel? */
static int check_words(const struct arguments *arguments, struct text *error)
{
    const size_t number = first_number(arguments);
    const size_t command = number < arguments->count && !arguments->command
                               ? first_command(arguments->words, number) : number;

    if (command < number) {
        text_format(error, "\"%s\" is not a pattern; ", arguments->words[command]);
        command_suggest(arguments->words + command, arguments->count - command, error);
    } else if (number < arguments->count)
        text_format(error, "\"%s\" is not a pattern; did you mean -D %s?", arguments->words[number],
                    arguments->words[number]);
    return text_refusal(error);
}

int probing_check(struct probing *probing, const struct arguments *arguments, const char *option,
                  size_t most, struct text *error)
{
    const struct probe_options *options = probing->options;

    if (options->list && arguments->command)
        text_add(error, "--list: traces nothing, so it takes no command");
    else if (!arguments->count)
        text_add(error, "needs a PATTERN, such as vfs_read or t:sched:sched_switch");
    if (error->length)
        return applet_see_help(-EINVAL, error);
    if (check_words(arguments, error))
        return -EINVAL;
    unsigned way;
    int result = take_word("--attach-by: ", "multi, pmu, tracefs", options->attach, &way, error);
    probing->way = (enum attach_way)way;
    if (!result)
        result = predicates_parse(&probing->predicates, options, option, most, error);
    return result ? result : find_parse(&probing->find, arguments->words, arguments->count,
                                        options->regex, error);
}

int probing_run(struct probing *probing, int refused, struct text *error,
                const struct arguments *arguments, int (*trace)(void *context), void *context)
{
    const struct probe_options *options = probing->options;
    const int result = refused ? refused : find_translate(&probing->find);
    const int status = result        ? applet_refuse(result, error, arguments->command)
                       : options->list ? list(&probing->find, &options->trace)
                                       : trace(context);

    find_close(&probing->find);
    free(probing->names);
    return status;
}

int probing_find(struct probing *probing, struct session *session)
{
    struct find *find = &probing->find;

    if (session->config.collecting.way == COLLECT_BPF &&
        (find_any_of_kind(find, PATTERN_KERNEL_FUNCTION) ||
         find_any_of_kind(find, PATTERN_TRACEPOINT))) {
        kernel_names_open(&session->kernel_names);
        find->names = &session->kernel_names;
    }
    find->by_calls = session->config.collecting.way == COLLECT_PTRACE;
    const int status = look_up(find, session->kallsyms,
                               trace_options_process(&probing->options->trace));

    return status ? status : predicates_find(&probing->predicates, find,
                                             session->config.collecting.way == COLLECT_RINGS);
}

/* Old kernels refuse the programs that follow a command: with one, rings are the better way. */
bool walking_can(const struct find *find, const struct trace_options *options)
{
    for (size_t i = 0; i < find->count; i++)
        if (find->patterns[i].kind != PATTERN_KERNEL_FUNCTION)
            return false;
    return !options->command || options->collect == COLLECT_WALK;
}

/* Programs that walk find the caller at a function's start, whether a register has it or not. */
void walking_tell_starts(struct find *find)
{
    for (size_t i = 0; i < find->places.count; i++)
        if (!find->places.items[i].at_return && !find->places.items[i].offset)
            find->places.items[i].start = START_LINK;
    (void)find_tracefs(find);
}

void walking_build(const struct walk_counts *walk, const struct scope *scope,
                   enum attach_program which, struct program *program)
{
    struct capture capture = walk->capture;

    capture.filter = scope->filter;
    capture.at_start = which == ATTACH_KERNEL_START;
    emit_unrolled(program, &capture);
}
