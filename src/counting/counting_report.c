/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "counting/counting_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "recording/write.h"
#include "report/blocks.h"
#include "symbolize/symbolize.h"
#include "symbolize/tracing_frames.h"
#include "view/terminal.h"

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
    struct collector_account account;

    counting->collector->calls->account(counting->collector, &account);
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
    /* Shares are of everything; only text for people is cut. */
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

void counting_add_losses(const struct counting *counting, struct missing *missing)
{
    counting->collector->calls->add_losses(counting->collector, missing);
    if (counting->add_losses)
        counting->add_losses(counting->losing, missing);
}

/* The losses so far, and the report's number of events. */
static void finish_facts(struct counting *counting)
{
    struct missing missing = {0};
    uint64_t events = 0;

    for (size_t i = 0; i < counting->tally.count; i++)
        events += counting->tally.entries[i].events;
    counting_add_losses(counting, &missing);
    missing_add_lines(&missing, &counting->facts.losses);
    if (counting->files.unwritten)
        text_format(&counting->facts.losses, "%llu earlier reports could not be written\n",
                    (unsigned long long)counting->files.unwritten);
    missing_free(&missing);
    facts_count(&counting->facts, events);
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
    const struct symbolize_wishes wishes = {
        .kallsyms = counting->session.kallsyms,
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
    int result = symbols_make(&writing->symbols, &counting->tally, &wishes, &counting->session.notes);
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

int counting_write_report(struct counting *counting, bool last)
{
    const struct report_turn turn = {
        .number = ++counting->reports,
        .began = counting->facts.about.began,
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
