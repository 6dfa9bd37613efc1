/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "counting/counting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "counting/counting_report.h"
#include "kernel/limits.h"
#include "kernel/refusal.h"
#include "options/applet.h"
#include "processes/process.h"
#include "session/progress.h"

static int say_failure(int result)
{
    if (result == -EPIPE)
        return 0; /* nobody reads any more: not an error, and nobody to tell */
    say("cannot make a report: %s", strerror(-result));
    return EXIT_FAILURE;
}

static void debug_sizes(const struct store *store)
{
    struct text sizes = {0};

    if (store->banks.shallow_depth)
        text_format(&sizes, "%u stacks of %u frames, %u", store->wanted[BANK_SHALLOW],
                    store->banks.shallow_depth, store->wanted[BANK_DEEP]);
    else
        text_format(&sizes, "%u stacks", store->wanted[BANK_DEEP]);
    say("maps: %s of %u frames%s, %u counts; %llu KB in all, %llu KB of memory are free",
        sizes.data ? sizes.data : "", store->depth,
        store->settled.ids.buckets ? " (by ids and by hashes)" : "", store->wanted[BANK_COUNTS],
        (unsigned long long)store_bytes(store) / 1024,
        (unsigned long long)kernel_free_memory() / 1024);
    text_free(&sizes);
}

/* Larger maps may have taken the places of some. */
static void debug_growth(struct counting *counting)
{
    uint64_t bytes = store_bytes(&counting->store);

    if (counting->options->debug && bytes != counting->map_bytes)
        debug_sizes(&counting->store);
    counting->map_bytes = bytes;
}

static int open_store(struct counting *counting, const struct counting_wishes *programs)
{
    const struct trace_options *options = counting->options;
    const struct store_wishes wishes = {
        .by_id = programs->by_id,
        .stacks = options->storage,
        .depth = options->depth,
        .key_bytes = programs->key_bytes,
        .value_bytes = programs->value_bytes,
    };
    struct text why = {0};
    int result = store_open(&counting->store, &wishes);

    if (result) {
        refusal_explain(REFUSED_MAPS, result, store_bytes(&counting->store), &why);
        say("cannot create maps: %s", why.data ? why.data : strerror(-result));
        text_free(&why);
        return EXIT_FAILURE;
    }
    debug_growth(counting);
    return 0;
}

int counting_open(struct counting *counting, const struct trace_options *options,
                  const struct counting_wishes *wishes)
{
    const struct session_wishes session = {
        .options = options,
        .data_on_stdout = !options->files.plain,
        .stdout_is_free = !report_files_use_stdout(&options->files),
    };

    *counting = (struct counting){
        .options = options,
        .files = options->files,
        .report = {
            .kernel = !options->user_only,
            .user = !options->kernel_only,
            .delimited = options->delimited,
            .offset = options->offset,
            .verbose = options->verbose,
            .annotations = options->annotations,
            .timestamp = options->timestamp,
            .time_as_root = options->timestamp && options->interval,
            .functions = options->functions,
            .by = options->by,
        },
    };
    store_init(&counting->store);
    counting->program = (struct traced_program){.fd = -1};
    int result = facts_init(&counting->facts, say_as, options->line);
    counting->report.about = &counting->facts.about;
    int status = session_open(&counting->session, &session);
    if (!status && result)
        status = say_failure(result);
    if (!status)
        status = report_files_check(&counting->files);
    if (!status && report_files_have(&counting->files, REPORT_PPROF))
        traced_program_open(&counting->program, options);
    if (!status)
        status = open_store(counting, wishes);
    return status ? status : session_follow_processes(&counting->session);
}

/* ---- Reports ---- */

/* Adds what was counted since the last time to the tally. 0 or a negative errno. */
static int collect(struct counting *counting, bool again)
{
    struct processes *processes = counting->session.processes;
    struct tally *tally = &counting->tally;
    size_t before = tally->count;
    /* What the kernel tells of processes is not to pile up meanwhile. */
    int result = processes ? processes_read(processes) : 0;

    if (result)
        return result;
    result = counting->collect
                     ? counting->collect(counting->collecting, again, tally, &counting->losses)
                     : drain_counts(&counting->store, again, tally, &counting->losses);

    counting->has_all = !result && !again;
    for (size_t i = before; i < tally->count; i++)
        counting->events += tally->entries[i].events;
    return result;
}

/* Of this report: what became of the events that were seen since the last one, and the time it took. */
static void debug_report(const struct counting *counting, uint64_t began, uint64_t collected)
{
    const struct account *sum = &counting->store.sum, *last = &counting->reported;

    say("report: %llu seen = %llu counted + %llu filtered out + %llu lost; %llu stacks are kept; "
        "collected in %llu us, written in %llu us", (unsigned long long)(sum->seen - last->seen),
        (unsigned long long)(counting->store.counted - counting->counted_before),
        (unsigned long long)(sum->filtered - last->filtered),
        (unsigned long long)(store_lost(&counting->store) - counting->lost_before),
        (unsigned long long)store_stacks_kept(&counting->store),
        (unsigned long long)(collected - began) / 1000,
        (unsigned long long)(now_ns() - collected) / 1000);
}

/* At a report no program writes to what was collected: it must add up. */
static void check_account(struct counting *counting, uint64_t began, uint64_t collected)
{
    if (counting->options->debug)
        debug_report(counting, began, collected);
    counting->reported = counting->store.sum;
    counting->counted_before = counting->store.counted;
    counting->lost_before = store_lost(&counting->store);
    if (!counting->collect && store_account_gap(&counting->store))
        counting->does_not_close = true;
}

/* Prints what was counted since the last report. 0 or a negative errno. */
static int make_report(struct counting *counting, bool again)
{
    uint64_t began = now_ns();

    facts_end(&counting->facts);
    int result = collect(counting, again);
    uint64_t collected = now_ns();

    if (again)
        progress_make_way();
    else
        progress_clear();
    /* Looking addresses up takes in first what the kernel told until now. */
    if (!result)
        result = counting_write_report(counting, !again);
    if (!result)
        check_account(counting, began, collected);
    facts_begin(&counting->facts);
    tally_clear(&counting->tally);
    counting->merged = 0;
    if (counting->session.processes)
        processes_forget(counting->session.processes);
    return result;
}

/* What is missing of the whole run: one line where it matters, each kind where that is asked for. */
static void say_losses(struct counting *counting)
{
    const char *name = counting->report.measure.events;
    struct missing missing = {0};
    struct text lines = {0};

    counting_add_losses(counting, &missing);
    if (counting->options->debug)
        missing_add_shares(&missing, counting->events, name, &lines);
    else
        missing_add_summary(&missing, counting->events, name, &lines);
    const char *rest = lines.data ? lines.data : "", *line;
    for (size_t length; (line = next_line(&rest, &length));)
        say("%.*s", (int)length, line);
    text_free(&lines);
    missing_free(&missing);
    session_say_names_lost(&counting->session);
}

/* ---- Between reports ---- */

/*
 * A table that fills is emptied into the tally in time, so that its size bounds what is new within a
 * moment, and not what there is. What comes in between two looks needs room, too.
 */
#define TICK_NS 20000000
#define MOST_TICK_NS 80000000 /* where there is nothing new */
#define LOOK_NS 125000000
/* Where everything is always new, that is most of what this process does, and not of the machine. */
#define GATHER_PAUSES 4

static int merge(struct counting *counting)
{
    int result = tally_merge(&counting->tally);

    counting->merged = counting->tally.count;
    return result;
}

/* What was gathered already comes again and again: it is merged whenever it has doubled. */
static int gather(struct counting *counting)
{
    uint64_t began = now_ns();
    int result = collect(counting, true);

    debug_growth(counting);
    if (!result && counting->tally.count > counting->merged * 2)
        result = merge(counting);
    uint64_t ended = now_ns();
    counting->next_gather = ended + (ended - began) * GATHER_PAUSES;
    return result;
}

/* So many are merged in a few milliseconds: for a line that is shown every second. */
#define QUICKLY_MERGED 16384

static int show_progress(struct counting *counting)
{
    struct progress_figures figures = {
        .elapsed = run_elapsed(&counting->session.run),
        .duration = (double)counting->options->duration / 1e9,
        .counted = true,
    };

    /* With a command the terminal is the command's: what it prints would stand behind the line. */
    if (counting->options->command || !progress_is_wanted() || !progress_is_due())
        return 0;
    int result = gather(counting);
    if (!result && counting->tally.count < QUICKLY_MERGED)
        result = merge(counting);
    figures.events = counting->events;
    figures.stacks = counting->merged;
    figures.lost = store_lost(&counting->store);
    if (!result)
        progress_show(&figures);
    return result;
}

static void look_around(struct counting *counting)
{
    uint64_t now = now_ns();

    if (now < counting->next_look)
        return;
    counting->next_look = now + LOOK_NS;
    if (counting->session.processes)
        processes_look_at_cpus(counting->session.processes);
    if (counting->tick)
        counting->tick(counting->ticking);
}

static int tick(struct counting *counting)
{
    struct run *run = &counting->session.run;
    enum store_news news = store_look(&counting->store);

    look_around(counting);
    if (news != STORE_NOTHING_NEW)
        run_tick(run, TICK_NS);
    else if (run->tick < MOST_TICK_NS)
        run_tick(run, run->tick * 2);
    int result = store_settle(&counting->store);
    if (!result && news == STORE_IS_FILLING && now_ns() >= counting->next_gather)
        result = gather(counting);
    return result ? result : show_progress(counting);
}

/* ---- The run ---- */

int counting_start(struct counting *counting)
{
    int result = store_start(&counting->store);

    return result ? say_failure(result) : 0;
}

/* Not of what did not run, which must leave the files of what did; nor what would be no document. */
static bool is_reported(struct counting *counting, enum run_event event)
{
    if (event == RUN_END)
        return !command_is_not_run(&counting->session.command);
    if (!report_files_print_document(&counting->files))
        return true;
    say("no report now: stdout takes one document in this format; -o FILE takes several");
    return false;
}

int counting_run(struct counting *counting)
{
    int result = 0;

    run_tick(&counting->session.run, TICK_NS);
    session_shed_rights();
    run_start(&counting->session.run);
    facts_begin(&counting->facts);
    while (!result) {
        enum run_event event = run_wait(&counting->session.run);
        if (event == RUN_WATCHED)
            result = processes_read(counting->session.processes);
        else if (event == RUN_TICK)
            result = tick(counting);
        else if (is_reported(counting, event))
            result = make_report(counting, event == RUN_REPORT);
        if (event == RUN_END)
            break;
    }
    progress_clear();
    double elapsed = run_elapsed(&counting->session.run);
    say_losses(counting);
    if (!result && !counting->events && !command_is_not_run(&counting->session.command))
        say("no events in %.1f s", elapsed);
    int status = result ? say_failure(result) : 0;
    return counting->files.failed ? EXIT_FAILURE : status;
}

void counting_say_account(const struct counting *counting, uint64_t open, uint64_t missed)
{
    const struct store *store = &counting->store;
    int64_t gap = store_account_gap(store) - (int64_t)open;

    if (counting->options->debug)
        say("account: %llu seen = %llu counted + %llu filtered out + %llu lost + %llu not ended; %llu "
            "missed by the kernel", (unsigned long long)store->sum.seen,
            (unsigned long long)store->counted, (unsigned long long)store->sum.filtered,
            (unsigned long long)store_lost(store), (unsigned long long)open,
            (unsigned long long)missed);
    if (counting->has_all && (gap || counting->does_not_close))
        say("the account does not close: of %llu events that were seen %lld are neither counted nor "
            "known to be lost; please report that", (unsigned long long)store->sum.seen,
            (long long)gap);
}

int counting_close(struct counting *counting, int status)
{
    store_close(&counting->store);
    tally_free(&counting->tally);
    facts_free(&counting->facts);
    traced_program_close(&counting->program);
    return session_close(&counting->session, status);
}
