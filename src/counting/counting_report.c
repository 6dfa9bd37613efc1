/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "counting/counting_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/say.h"
#include "recording/write.h"
#include "symbolize/symbolize.h"
#include "symbolize/tracing_frames.h"

/* What the formats of one report are made from. */
struct writing {
    struct counting *counting;
    const struct symbols *symbols;
    struct recording_places places; /* where a recording is written */
    struct tm when;
    bool told; /* what --top left out */
};

static int write_recording(const struct writing *writing, FILE *out)
{
    const struct counting *counting = writing->counting;
    struct collector_account account;

    counting->collector->calls->account(counting->collector, &account);
    const struct recording_source source = {
        .tally = &counting->tally,
        .symbols = writing->symbols,
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
    /* Shares are of all; what people read is cut. */
    bool is_cut = format == REPORT_TEXT || format == REPORT_FOLDED;
    counting->report.top = is_cut ? counting->options->top : 0;
    int result = report_write(out, &counting->tally, writing->symbols, &counting->report,
                              &writing->when, &summary);
    if (!result && summary.left_blocks && !writing->told)
        say("--top left out %llu more stacks with %llu %s",
            (unsigned long long)summary.left_blocks, (unsigned long long)summary.left_value,
            counting->report.unit > 1 ? "us" : "events");
    writing->told = true;
    return result;
}

void counting_add_losses(const struct counting *counting, struct missing *missing)
{
    counting->collector->calls->add_losses(counting->collector, missing);
    if (counting->add_losses)
        counting->add_losses(counting->losing, missing);
}

/* What is missing until now, and of how many events the report is. */
static void finish_facts(struct counting *counting)
{
    struct missing missing = {0};
    uint64_t events = 0;

    for (size_t i = 0; i < counting->tally.count; i++)
        events += counting->tally.entries[i].events;
    counting_add_losses(counting, &missing);
    missing_add_lines(&missing, &counting->facts.losses);
    missing_free(&missing);
    facts_count(&counting->facts, events);
}

/* Only a recording is written: it needs no names of what is in files. */
static bool is_recorded_alone(const struct report_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].format != REPORT_SBX)
            return false;
    return true;
}

int counting_write_report(struct counting *counting, bool last)
{
    const struct traced_file program = {counting->program.path, counting->program.fd};
    bool mapped = report_files_have(&counting->files, REPORT_PPROF);
    bool recorded = report_files_have(&counting->files, REPORT_SBX);
    struct symbols symbols;
    struct writing writing = {.counting = counting, .symbols = &symbols, .places = {.symbols = &symbols}};
    const struct symbolize_wishes wishes = {
        .kallsyms = counting->session.kallsyms,
        .preferred = counting->traced,
        .preferred_count = counting->traced_count,
        .processes = counting->session.processes,
        .readable = trace_options_names(counting->options),
        .symfs = counting->options->symfs,
        .mapped_for = mapped ? &program : NULL,
        .located = recorded ? recording_locate : NULL,
        .locating = &writing.places,
        .without_files = is_recorded_alone(&counting->files),
    };
    const struct report_turn turn = {
        .number = ++counting->reports,
        .began = counting->facts.about.began,
        .last = last,
    };
    struct process_names names;
    time_t now = time(NULL);

    localtime_r(&now, &writing.when);
    session_before_names(&counting->session);
    int result = symbols_make(&symbols, &counting->tally, &wishes, &counting->session.notes);
    if (!result && counting->at_tracepoints)
        tracing_frames_drop(&counting->tally, &symbols);
    int named = process_names_make(&names, &counting->tally, counting->session.processes);
    if (!result)
        result = named;
    counting->report.names = &names;
    if (!result)
        finish_facts(counting);
    if (!result)
        cut_stacks_see(&counting->cut, &counting->tally, &symbols);
    if (!result)
        result = report_files_write(&counting->files, &turn, write_format, &writing);
    counting->report.names = NULL;
    process_names_free(&names);
    symbols_free(&symbols);
    free(writing.places.items);
    return result;
}
