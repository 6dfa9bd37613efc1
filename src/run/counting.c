/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/util.h"
#include "find/library.h"
#include "kernel/bpf.h"
#include "processes/process.h"
#include "recording/write.h"
#include "report/blocks.h"
#include "run/command.h"
#include "run/counting.h"
#include "run/progress.h"
#include "symbolize/kernel_frames.h"
#include "symbolize/symbolize.h"

static int say_error(int result)
{
    if (result == -EPIPE)
        return 0; /* the reader is gone: not an error, and no line would be read */
    say("cannot make a report: %s", strerror(-result));
    return EXIT_FAILURE;
}

/*
 * The link leads to the file, whatever its path is by now; the path is as in mappings. O_PATH never
 * waits, and the reader opens it for reading.
 */
static void open_of_process(struct traced_program *program, uint32_t pid)
{
    char link[32], path[PATH_MAX];

    snprintf(link, sizeof(link), "/proc/%u/exe", pid);
    const ssize_t length = readlink(link, path, sizeof(path) - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    program->path = strndup(path, length_without_deleted(path));
    program->fd = open(link, O_PATH | O_CLOEXEC);
}

/* Looks for it now, while it exists. traced_program_close afterwards. */
static void traced_program_open(struct traced_program *program, const struct trace_options *options)
{
    uint32_t pid = trace_options_process(options);

    *program = (struct traced_program){.fd = -1};
    if (options->command) {
        program->path = path_walk_find(options->command[0]);
        if (program->path)
            program->fd = open(program->path, O_PATH | O_CLOEXEC);
    } else if (pid) {
        open_of_process(program, pid);
    }
}

static void traced_program_close(struct traced_program *program)
{
    close_fd(program->fd);
    free(program->path);
    *program = (struct traced_program){.fd = -1};
}

/* Says the collector's size, at first and when it has grown. */
static void debug_size(struct counting *counting, bool again)
{
    uint64_t bytes = collector_account(counting->collector).bytes;
    struct text lines = {0};

    if (counting->options->debug && bytes != counting->bytes)
        counting->collector->calls->describe(counting->collector, again, &lines);
    counting->bytes = bytes;
    say_lines(&lines);
    text_free(&lines);
}

static int open_collector(struct counting *counting)
{
    struct text why = {0};
    int result = counting->collector->calls->open(counting->collector, &why);

    if (result)
        say("%s%s", text_or_error(&why, result), counting->session.config.collecting.traces_own
            ? "; -p PID and -- COMMAND work even so" : "");
    else
        debug_size(counting, false);
    text_free(&why);
    return result ? EXIT_FAILURE : 0;
}

int counting_open(struct counting *counting, const struct session_config *config,
                  struct collector *collector)
{
    const struct trace_options *options = config->options;
    struct session_config session = *config;

    session.data_on_stdout = !options->files.plain;
    session.stdout_is_free = !report_files_use_stdout(&options->files);
    *counting = (struct counting){
        .options = options,
        .files = options->files,
        .collector = collector,
        .report = {
            .kernel = !options->user_only,
            .user = !options->kernel_only,
            .delimited = options->delimited,
            .offset = options->offset,
            .verbose = options->verbose,
            .annotations = options->annotations,
            .inverted = options->inverted,
            .timestamp = options->timestamp,
            .time_as_root = options->timestamp && options->interval,
            .functions = options->functions,
            .narrow = options->narrow,
            .by = options->by,
        },
    };
    counting->program = (struct traced_program){.fd = -1};
    int result = metadata_init(&counting->metadata, say_as, options->line);
    counting->report.about = &counting->metadata.about;
    int shown = live_open(&counting->live, options);
    int status = session_open(&counting->session, &session);
    if (!status)
        status = shown;
    if (counting->live.drawn) {
        counting->session.run.keys = terminal_keys();
        counting->session.run.by_enter = false;
    }
    if (!status && result)
        status = say_error(result);
    if (!status)
        status = report_files_check(&counting->files);
    if (!status && (report_files_have(&counting->files, REPORT_PPROF) ||
                    report_files_have(&counting->files, REPORT_SBX)))
        traced_program_open(&counting->program, options);
    if (!status)
        status = open_collector(counting);
    return status ? status
        : session_follow_processes(&counting->session, collector_account(collector).depth);
}

/* ---- Reports ---- */

/* What a report's formats are made from. */
struct writing {
    struct counting *counting;
    struct symbols symbols;
    struct process_names names;
    struct recording_places places; /* if a recording is written */
    struct tm when;
    bool told; /* what --top left out */
};

static int write_recording(const struct writing *writing, FILE *out)
{
    struct counting *counting = writing->counting;
    const struct collector_account account = collector_account(counting->collector);
    const struct recording_source source = {
        .tally = &counting->tally,
        .symbols = &writing->symbols,
        .places = writing->places.items,
        .options = &counting->report,
        .waiting = counting->report.waiting,
        .when = &writing->when,
        .top = counting->options->top,
        .readable = trace_options_names(counting->options),
        .notes = &counting->session.notes,
        .program = counting->program.path,
        .kallsyms = counting->session.kallsyms,
        .account = {account.seen, account.counted, account.filtered, account.lost},
    };

    return writing->places.failed ? -ENOMEM : recording_write(out, &source);
}

static int write_format(void *context, FILE *out, enum report_format format)
{
    struct writing *writing = context;
    struct counting *counting = writing->counting;
    struct report_summary summary;

    if (format == REPORT_SBX)
        return write_recording(writing, out);
    counting->report.format = format;
    counting->report.width = out == stdout ? terminal_width(STDOUT_FILENO) : 0;
    /* Shares are of everything; only text is cut. */
    bool is_cut = format == REPORT_TEXT || format == REPORT_FOLDED;
    counting->report.top = is_cut ? counting->options->top : 0;
    int result = report_write(out, &counting->tally, &writing->symbols, &counting->report,
                              &writing->when, &summary);
    if (!result && summary.left_blocks && !writing->told)
        say("--top left out %llu more stacks with %llu %s",
            (unsigned long long)summary.left_blocks, (unsigned long long)summary.left_value,
            blocks_left_name(&counting->report));
    writing->told = true;
    return result;
}

/* Adds the losses of the run so far. */
static void counting_add_losses(const struct counting *counting, struct losses *losses)
{
    counting->collector->calls->add_losses(counting->collector, losses);
    if (counting->add_losses)
        counting->add_losses(counting->losing, losses);
}

/* The losses so far, and the report's number of events. */
static void finish_facts(struct counting *counting)
{
    struct losses losses = {0};
    uint64_t events = 0;

    for (size_t i = 0; i < counting->tally.count; i++)
        events += counting->tally.entries[i].events;
    counting_add_losses(counting, &losses);
    losses_add_lines(&losses, &counting->metadata.losses);
    if (counting->files.unwritten)
        text_format(&counting->metadata.losses, "%llu earlier reports could not be written\n",
                    (unsigned long long)counting->files.unwritten);
    losses_free(&losses);
    metadata_count(&counting->metadata, events);
}

/* Only a recording is written: it needs no names from files. */
static bool is_recorded_alone(const struct report_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].format != REPORT_SBX)
            return false;
    return true;
}

/* Names everything in the tally. 0 or a negative errno; end_writing() after either. */
static int begin_writing(struct writing *writing, struct counting *counting)
{
    const struct traced_file program = {counting->program.path, counting->program.fd};
    bool mapped = report_files_have(&counting->files, REPORT_PPROF);
    bool recorded = report_files_have(&counting->files, REPORT_SBX);
    const struct symbolize_options config = {
        .kallsyms = counting->session.kallsyms,
        .known = &counting->session.known,
        .kernel = &counting->session.kernel_names,
        .texts = counting->texts,
        .preferred = counting->traced,
        .preferred_count = counting->traced_count,
        .processes = counting->session.processes,
        .readable = trace_options_names(counting->options),
        .symfs = counting->options->symfs,
        .mapped_for = mapped ? &program : NULL,
        .located = recorded ? recording_locate : NULL,
        .locating = &writing->places,
        .without_files = is_recorded_alone(&counting->files),
    };
    time_t now = time(NULL);

    *writing = (struct writing){.counting = counting, .places = {.symbols = &writing->symbols}};
    localtime_r(&now, &writing->when);
    session_before_names(&counting->session);
    int result = symbols_make(&writing->symbols, &counting->tally, &config,
                              &counting->session.notes);
    if (!result && counting->at_tracepoints)
        tracing_frames_drop(&counting->tally, &writing->symbols);
    int named = process_names_make(&writing->names, &counting->tally, counting->session.processes);
    counting->report.names = &writing->names;
    return result ? result : named;
}

static void end_writing(struct writing *writing)
{
    writing->counting->report.names = NULL;
    process_names_free(&writing->names);
    symbols_free(&writing->symbols);
    free(writing->places.items);
}

/* Names what is in the tally, and writes it to wherever reports go. 0 or a negative errno. */
static int counting_write_report(struct counting *counting, bool last)
{
    const struct report_turn turn = {
        .number = ++counting->reports,
        .began = counting->metadata.about.began,
        .last = last,
    };
    struct writing writing;
    int result = begin_writing(&writing, counting);

    if (!result)
        finish_facts(counting);
    if (!result)
        cut_stacks_see(&counting->cut, &counting->tally, &writing.symbols);
    if (!result)
        result = report_files_write(&counting->files, &turn, write_format, &writing);
    end_writing(&writing);
    return result;
}

int counting_print_report(struct counting *counting, FILE *out)
{
    struct writing writing;
    int result = begin_writing(&writing, counting);

    for (size_t i = 0; i < counting->files.count && !result; i++)
        if (!counting->files.items[i].path)
            result = write_format(&writing, out, counting->files.items[i].format);
    end_writing(&writing);
    return result;
}

/* Adds what was counted since the last time to the tally. 0 or a negative errno. */
static int collect(struct counting *counting, bool again)
{
    struct processes *processes = counting->session.processes;
    struct tally *tally = &counting->tally;
    size_t before = tally->count;
    /* Process events must not pile up meanwhile. */
    int result = processes ? processes_read(processes) : 0;

    if (!result && counting->prepare)
        result = counting->prepare(counting->completing);
    if (!result)
        result = counting->collector->counter->collect(counting->collector, again, tally);
    if (!result && counting->complete)
        result = counting->complete(counting->completing, again, tally);
    counting->has_all = !result && !again;
    for (size_t i = before; i < tally->count; i++)
        counting->events += tally->entries[i].events;
    return result;
}

/* About this report: what became of the events seen since the last one, and how long it took. */
static void debug_report(const struct collector_account *last, const struct collector_account *now,
                         uint64_t began, uint64_t collected)
{
    say("report: %llu seen = %llu counted + %llu filtered out + %llu lost; %llu stacks are kept; "
        "collected in %llu us, written in %llu us", (unsigned long long)(now->seen - last->seen),
        (unsigned long long)(now->counted - last->counted),
        (unsigned long long)(now->filtered - last->filtered),
        (unsigned long long)(now->lost - last->lost), (unsigned long long)now->stacks,
        (unsigned long long)(collected - began) / 1000,
        (unsigned long long)(now_ns() - collected) / 1000);
}

/* At a report no program writes to what was collected: it must add up. */
static void check_account(struct counting *counting, uint64_t began, uint64_t collected)
{
    const struct collector_account account = collector_account(counting->collector);

    if (counting->options->debug)
        debug_report(&counting->reported, &account, began, collected);
    counting->reported = account;
    if (account.unknown)
        counting->does_not_close = true;
}

/* How long a report, including the last one, waits for tables of what just started. */
#define TABLES_NS 2000000000
#define LAST_TABLES_NS 10000000000

/* Prints what was counted since the last report. 0 or a negative errno. */
static int make_report(struct counting *counting, bool again)
{
    uint64_t began = now_ns();

    metadata_end(&counting->metadata);
    if (!again && counting->end)
        counting->end(counting->losing);
    int result = collect(counting, again);
    uint64_t collected = now_ns();

    if (!result) {
        user_stacks_settle(&counting->session.user_stacks, again ? TABLES_NS : LAST_TABLES_NS);
        result = user_stacks_complete(&counting->session.user_stacks, &counting->tally, true);
    }
    tally_freeze(&counting->tally);

    if (again)
        progress_make_way();
    else
        progress_clear();
    /* Looking addresses up first handles what the kernel has reported until now. */
    if (!result)
        result = counting_write_report(counting, !again);
    if (!result)
        check_account(counting, began, collected);
    metadata_begin(&counting->metadata);
    tally_clear(&counting->tally);
    if (counting->session.processes)
        processes_forget(counting->session.processes);
    return result;
}

/* The whole run's losses: one line if it matters, each kind if asked for. */
static void say_losses(struct counting *counting)
{
    const char *name = counting->report.measure.events;
    struct losses losses = {0};
    struct text lines = {0};

    counting_add_losses(counting, &losses);
    if (counting->options->debug)
        losses_add_shares(&losses, counting->events, name, &lines);
    else
        losses_add_summary(&losses, counting->events, name, &lines);
    cut_stacks_add_lines(&counting->cut, counting->options->debug, &lines);
    user_stacks_add_lines(&counting->session.user_stacks, counting->options->debug, &lines);
    say_lines(&lines);
    text_free(&lines);
    losses_free(&losses);
    session_say_names_lost(&counting->session);
}

/* ---- Between reports ---- */

/*
 * A table that fills up is emptied into the tally in time, so that its size limits what is new
 * within a moment, not the total. It also needs room for what comes between two looks.
 */
#define TICK_NS 20000000
#define MOST_TICK_NS 80000000 /* if there is nothing new */
#define LOOK_NS 125000000
/* If everything is always new, this is most of what this process does, but not of the machine. */
#define GATHER_PAUSES 4

/* The same stacks come again and again: what is new is added up. */
static int gather(struct counting *counting)
{
    uint64_t began = now_ns();
    int result = collect(counting, true);

    debug_size(counting, true);
    user_stacks_settle(&counting->session.user_stacks, 0);
    if (!result)
        result = user_stacks_complete(&counting->session.user_stacks, &counting->tally, false);
    if (!result)
        result = tally_merge(&counting->tally);
    uint64_t ended = now_ns();
    counting->next_gather = ended + (ended - began) * GATHER_PAUSES;
    return result;
}

/* While stacks wait for tables, each event has a stack of its own: these soon fill the store. */
static int gather_in_time(struct counting *counting)
{
    int result = 0;

    if (user_stacks_are_waiting(&counting->session.user_stacks)) {
        bpf_begin_unpreempted();
        result = gather(counting);
        bpf_end_unpreempted();
    } else if (now_ns() >= counting->next_gather) {
        result = gather(counting);
    }
    return result;
}

static int show_progress(struct counting *counting)
{
    struct progress_figures figures = {
        .elapsed = run_elapsed(&counting->session.run),
        .duration = (double)counting->options->duration / 1e9,
        .counted = true,
    };

    /* With a command the terminal is the command's: its output would follow the line. */
    if (counting->options->command || !progress_is_wanted() || !progress_is_due())
        return 0;
    int result = gather(counting);
    figures.events = counting->events;
    figures.stacks = counting->tally.count;
    figures.lost = collector_account(counting->collector).lost;
    if (!result)
        progress_show(&figures);
    return result;
}

/* What has been counted so far, if it is to be shown. */
static int show_live(struct counting *counting)
{
    int result = 0;

    if (live_is_due(&counting->live)) {
        result = gather(counting);
        if (!result)
            result = live_show(&counting->live, counting,
                               collector_account(counting->collector).lost);
    }
    live_look(&counting->live);
    return result;
}

static void look_around(struct counting *counting)
{
    uint64_t now = now_ns();

    if (now < counting->next_look)
        return;
    counting->next_look = now + LOOK_NS;
    if (counting->session.processes)
        processes_look_at_cpus(counting->session.processes, false);
    if (counting->tick)
        counting->tick(counting->ticking);
}

static int tick(struct counting *counting)
{
    struct run *run = &counting->session.run;
    enum tally_news news = counting->collector->counter->look(counting->collector);

    look_around(counting);
    user_stacks_look(&counting->session.user_stacks, TICK_NS);
    if (news != NOTHING_NEW)
        run->tick = TICK_NS;
    else if (run->tick < MOST_TICK_NS)
        run->tick *= 2;
    int result = counting->collector->counter->settle(counting->collector);
    if (!result && news == IS_FILLING)
        result = gather_in_time(counting);
    if (!result)
        result = show_live(counting);
    return result ? result : show_progress(counting);
}

/* ---- The run ---- */

int counting_start(struct counting *counting)
{
    session_await_tables(&counting->session);
    int result = counting->collector->calls->start(counting->collector);

    return result ? say_error(result) : 0;
}

/*
 * No report if the command did not run, so that files of earlier runs stay; nor if a second report
 * on stdout would spoil a document.
 */
static bool is_reported(struct counting *counting, enum run_event event)
{
    if (event == RUN_END)
        return !command_is_not_run(&counting->session.command);
    if (counting->options->live) {
        counting->live.due = 0;
        return false;
    }
    if (!report_files_print_document(&counting->files))
        return true;
    say("no report now: stdout takes only one document in this format; use -o FILE");
    return false;
}

/* Starts making tables for what is new at once. */
static int take_told(struct counting *counting)
{
    int result = processes_read(counting->session.processes);

    user_stacks_look(&counting->session.user_stacks, 0);
    return result;
}

int counting_run(struct counting *counting)
{
    counting->session.run.tick = TICK_NS;
    session_shed_rights(&counting->session);
    int result = counting->collector->counter->settle(counting->collector);
    run_start(&counting->session.run);
    metadata_begin(&counting->metadata);
    while (!result) {
        enum run_event event = run_wait(&counting->session.run);
        if (event == RUN_WATCHED)
            result = take_told(counting);
        else if (event == RUN_KEYS)
            event = live_read_keys(&counting->live) ? RUN_END : event;
        else if (event == RUN_TICK)
            result = tick(counting);
        if (event == RUN_END)
            live_close(&counting->live);
        if ((event == RUN_END || event == RUN_REPORT) && is_reported(counting, event))
            result = make_report(counting, event == RUN_REPORT);
        if (event == RUN_END)
            break;
    }
    progress_clear();
    double elapsed = run_elapsed(&counting->session.run);
    say_losses(counting);
    if (!result && !counting->events && !command_is_not_run(&counting->session.command))
        say("no events in %.1f s", elapsed);
    int status = result ? say_error(result) : 0;
    return counting->files.failed ? EXIT_FAILURE : status;
}

void counting_say_account(const struct counting *counting, uint64_t missed)
{
    const struct collector_account account = collector_account(counting->collector);

    if (counting->options->debug)
        say("account: %llu seen = %llu counted + %llu filtered out + %llu lost + %llu not ended; "
            "%llu missed by the kernel", (unsigned long long)account.seen,
            (unsigned long long)account.counted,
            (unsigned long long)account.filtered, (unsigned long long)account.lost,
            (unsigned long long)account.open, (unsigned long long)missed);
    if (counting->has_all && (account.unknown || counting->does_not_close))
        say("the account does not add up: of %llu events seen, %lld are neither counted nor known "
            "to be lost; please report this", (unsigned long long)account.seen,
            (long long)account.unknown);
}

int counting_close(struct counting *counting, int status)
{
    live_close(&counting->live);
    counting->collector->calls->close(counting->collector);
    tally_free(&counting->tally);
    metadata_free(&counting->metadata);
    traced_program_close(&counting->program);
    return session_close(&counting->session, status);
}
