/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "insns/layout.h"
#include "kernel/bpf.h"
#include "kernel/refusal.h"
#include "kernel/sampling.h"
#include "kernel/switches.h"
#include "kernel/tracefs.h"
#include "ptrace/ptrace_source.h"
#include "rings/ring_collectors.h"
#include "run/collecting.h"
#include "run/counting.h"
#include "run/blocked_time.h"
#include "run/session.h"

#define WALL_FREQUENCY 499
#define TICK_FREQUENCY 49 /* of interrupting threads, by ptrace(2) */

static const enum report_layout layouts[] = {
    [VIEW_OFFCPU] = LAYOUT_PROFILE,
    [VIEW_WAKEUP] = LAYOUT_WAKEUPTIME,
    [VIEW_OFFWAKE] = LAYOUT_OFFWAKETIME,
    [VIEW_WALL] = LAYOUT_PROFILE,
};
static const char *const whose[] = {
    [THREADS_ALL] = "all threads",
    [THREADS_USER] = "user threads",
    [THREADS_KERNEL] = "kernel threads",
};

static int note(void *context, const struct blocked_thread *thread)
{
    struct first_waits *to = context;

    if (!thread->stack)
        return 0;
    if (ARRAY_RESERVE(to->waits, to->room, to->count + 1))
        return -ENOMEM;
    struct first_wait *wait = &to->waits[to->count++];
    *wait = (struct first_wait){thread->tid, to->texts.count, 0};
    return stack_texts_add(&to->texts, thread->stack, &wait->frames);
}

static int compare(const void *one, const void *other)
{
    const struct first_wait *a = one, *b = other;

    return order_of(a->tid, b->tid);
}

static struct first_wait *find(const struct first_waits *first, uint32_t tid)
{
    const struct first_wait key = {.tid = tid};

    return first->count ? bsearch(&key, first->waits, first->count, sizeof(key), compare) : NULL;
}

static int drop(void *context, const void *key, const void *value)
{
    const struct wall *wall = value;
    struct first_wait *wait = find(context, wall->tid);

    (void)key;
    if (wait)
        wait->frames = 0;
    return 0;
}

/*
 * Called once tracing has begun: a thread that is blocked, passes the filter and is not in the map
 * of waits has been in this wait since before tracing. The map is read after all stacks: a thread
 * that is not in it even then has not left its wait meanwhile. 0 or a negative errno.
 */
static int first_waits_note(struct first_waits *first, const struct blocked_filter *filter, int map)
{
    int result = blocked_threads_list(filter, note, first);

    if (first->count)
        qsort(first->waits, first->count, sizeof(*first->waits), compare);
    const int listed = first->count
        ? bpf_list(map, sizeof(uint64_t), sizeof(struct wall), drop, first) : 0;
    return result ? result : listed;
}

static int give(const struct first_waits *first, struct tally *tally, struct tally_entry *entry)
{
    const struct first_wait *wait = find(first, entry->task.tid);

    if (!wait)
        return 0;
    return stack_texts_put(&first->texts, wait->first, wait->frames, tally, &entry->task.kernel);
}

/* Adds these stacks to entries of blocked time that have none, by `kallsyms`, /proc/kallsyms. */
static int first_waits_give(struct first_waits *first, int kallsyms, struct tally *tally)
{
    int result = 0;

    if (!first->count)
        return 0;
    if (!first->are_found)
        result = stack_texts_find(&first->texts, kallsyms);
    first->are_found = true;
    for (size_t i = 0; i < tally->count && !result; i++) {
        struct tally_entry *entry = &tally->entries[i];
        if (entry->mark == MARK_BLOCKED && entry->task.kernel.state == STACK_NONE &&
            entry->task.user.state == STACK_NONE)
            result = give(first, tally, entry);
    }
    return result;
}

static void judge(struct tally_task *waker, enum interrupt interrupt, bool bystanders)
{
    waker->interrupt = interrupt;
    waker->user = (struct stack){.state = STACK_NONE};
    waker->pid = waker->tid = 0;
    waker->generation = 0;
    waker->foreign = false;
    if (!bystanders)
        memset(waker->comm, 0, sizeof(waker->comm));
}

/*
 * If an interrupt woke a thread, the waker is the interrupt, not the thread that it interrupted: it
 * has no numbers and no user stack, and keeps that thread's name only with `bystanders`. Without
 * `kernel`, wakers lose their kernel stacks, which were only taken to tell interrupts.
 */
static void blocked_judge_wakers(const enum interrupt *interrupts, bool kernel, bool bystanders,
                                 struct tally *tally)
{
    for (size_t i = 0; i < tally->count; i++) {
        struct tally_task *waker = &tally->entries[i].waker;
        if (interrupts[i])
            judge(waker, interrupts[i], bystanders);
        if (!kernel)
            waker->kernel = (struct stack){.state = STACK_NONE};
    }
}

/* ---- Threads that /proc shows ---- */

struct blocked_all_along {
    const struct waits *waits; /* after the last report */
    uint64_t time; /* ns */
    enum tally_mark mark;
    int kallsyms;
};

static int note_thread(void *context, const struct blocked_thread *thread)
{
    struct listed_threads *listed = context;
    const size_t index = listed->count;

    if (ARRAY_RESERVE(listed->threads, listed->room, index + 1) ||
        ARRAY_RESERVE(listed->frames, listed->frames_room, index + 1))
        return -ENOMEM;
    listed->threads[index] = *thread;
    listed->threads[index].stack = NULL;
    listed->frames[index] = 0;
    listed->count++;
    return listed->kernel && thread->stack && thread->state != 'R'
               ? stack_texts_add(&listed->texts, thread->stack, &listed->frames[index]) : 0;
}

/*
 * Lists the threads anew; `kernel`: with the kernel stacks of those that do not run. 0 or a
 * negative errno.
 */
static int listed_threads_list(struct listed_threads *listed, const struct blocked_filter *filter,
                               bool kernel)
{
    listed->count = 0;
    listed->kernel = kernel;
    stack_texts_free(&listed->texts);
    return blocked_threads_list(filter, note_thread, listed);
}

static void listed_threads_free(struct listed_threads *listed)
{
    stack_texts_free(&listed->texts);
    free(listed->threads);
    free(listed->frames);
    *listed = (struct listed_threads){.count = 0};
}

static int add_thread(const struct listed_threads *listed, size_t index, size_t frame,
                      const struct blocked_all_along *all_along, struct tally *tally)
{
    const struct blocked_thread *thread = &listed->threads[index];
    struct tally_entry *entry = tally_add(tally);

    if (!entry)
        return -ENOMEM;
    entry->value = entry->longest = all_along->time;
    entry->events = 1;
    entry->mark = thread->state == 'R' ? MARK_NOT_SAMPLED : all_along->mark;
    entry->task.pid = thread->pid;
    entry->task.tid = thread->tid;
    memcpy(entry->task.comm, thread->comm, sizeof(thread->comm));
    return stack_texts_put(&listed->texts, frame, listed->frames[index], tally,
                           &entry->task.kernel);
}

/*
 * Adds listed threads that were not seen to block: with the mark of `all_along`, or, if they could
 * run, as running. Finds stacks by its `kallsyms`, /proc/kallsyms. 0 or a negative errno.
 */
static int blocked_add_all_along(struct listed_threads *listed,
                                 const struct blocked_all_along *all_along, struct tally *tally)
{
    int result = stack_texts_find(&listed->texts, all_along->kallsyms);
    size_t frame = 0;

    for (size_t i = 0; i < listed->count && !result; frame += listed->frames[i++])
        if (!waits_has_seen(all_along->waits, listed->threads[i].tid))
            result = add_thread(listed, i, frame, all_along, tally);
    return result;
}

#define BLOCKED "SDTtPI" /* as in /proc/TID/stat */

/* Samples, `frequency` times a second on each CPU. 0 or the exit status. */
static int wall_time_attach(struct wall_time *wall, const struct capture *capture,
                            const struct trace_options *options, uint64_t frequency)
{
    struct sampled *sampled = &wall->sampled;
    struct program program = {0};

    sampled->config.event = sampling_events;
    sampled->config.frequency = frequency;
    sampled->config.cpu = -1;
    emit_wall_sample(&program, capture);
    int status = sampled_load(sampled, &program, options);
    if (status)
        return status;
    int result = sampling_open(&sampled->sampling, &sampled->config);
    return result ? sampled_refuse(result, &(struct text){0}) : 0;
}

void wall_time_begin(struct wall_time *wall, const struct blocked_filter *threads,
                     struct wall_report *report)
{
    wall->threads = *threads;
    wall->threads.states = "R" BLOCKED;
    report->unplaced = &wall->threads;
}

void wall_time_look(struct wall_time *wall, int map)
{
    struct blocked_filter blocked = wall->threads;

    blocked.states = BLOCKED;
    wall->unseen = first_waits_note(&wall->first, &blocked, map);
}

/*
 * To be called before each report, as threads may end during it: those that no switch reports are
 * among the threads listed here. 0 or a negative errno.
 */
static int wall_time_list(struct wall_time *wall, struct blocked_filter *threads, bool kernel,
                          struct wall_report *report)
{
    threads->states = "R" BLOCKED;
    int result = listed_threads_list(&wall->listed, threads, kernel);
    report->listed = wall->listed.threads;
    report->listed_count = wall->listed.count;
    return result;
}

/*
 * To be called after each report: adds threads that no switch has reported, and sets the time and
 * the mark of `all_along`. 0 or a negative errno.
 */
static int wall_time_add(struct wall_time *wall, const struct wall_report *report,
                         struct blocked_all_along *all_along, struct tally *tally)
{
    all_along->time = report->ended - report->began;
    all_along->mark = MARK_BLOCKED;
    int result = first_waits_give(&wall->first, all_along->kallsyms, tally);
    return result ? result : blocked_add_all_along(&wall->listed, all_along, tally);
}

void wall_time_add_losses(struct wall_time *wall, struct losses *losses)
{
    struct sampling_stops stops = {.samples = 0};

    sampling_stops(&wall->sampled.sampling, &stops);
    sampled_add_stops(&wall->sampled, &stops, losses);
    if (wall->unseen)
        losses_add(losses, &(struct loss){.count = LOSSES_UNCOUNTED, .events = "waits"},
                   "that began before the run may have no stack: cannot list threads: %s",
                   strerror(-wall->unseen));
}

void wall_time_close(struct wall_time *wall)
{
    sampled_close(&wall->sampled);
    stack_texts_free(&wall->first.texts);
    free(wall->first.waits);
    listed_threads_free(&wall->listed);
}

struct tracing {
    const struct blocked_time_config *config;
    struct counting counting;
    struct bpf_waits collector;
    struct ring_waits rings; /* used instead if there is no bpf(2), */
    struct ptrace_times traced; /* or no perf_event_open(2) either */
    struct switches switches;
    struct wall_time wall; /* for VIEW_WALL */
    struct waiting_text waiting; /* if a flat table needs it */
    uint64_t started; /* since boot, ns */
};

/* Which waits count. */
static void select_waits(const struct tracing *tracing, struct capture *capture)
{
    capture->view = tracing->config->view;
    capture->threads = tracing->config->threads;
    capture->states = tracing->config->states;
    capture->runnable = tracing->config->runnable;
    capture->longest = tracing->config->pairs;
}

static struct capture capture_of(const struct tracing *tracing)
{
    const struct waits *waits = &tracing->collector.waits;
    struct capture capture = session_capture(&tracing->counting.session);

    store_capture(&tracing->collector.counts.store, &capture);
    select_waits(tracing, &capture);
    capture.least = waits->least;
    capture.most = waits->most;
    capture.waits = waits->map;
    capture.rests = waits->rests;
    capture.cuts = tracing->collector.counts.store.controls.cuts;
    return capture;
}

static void show(const void *options, struct program *program, const char *event)
{
    decisions_say_program(options, "the program of sched:", event, program);
}

static void say_refused(const struct switches_refusal *refusal)
{
    struct text why = {0};

    refusal_explain_program(refusal->what, refusal->error, &refusal->log, &why);
    if (refusal->no_field)
        say("this kernel has no tracepoint sched:%s with the fields needed", refusal->event);
    else if (refusal->what == REFUSED_TRACEFS)
        say("cannot read %s%s: %s", refusal->event ? "the format of sched:" : "tracefs",
            refusal->event ? refusal->event : "", text_or_error(&why, refusal->error));
    else
        say("cannot trace sched:%s: %s", refusal->event ? refusal->event : "sched_switch",
            text_or_error(&why, refusal->error));
    text_free(&why);
}

/* 0 or the exit status. */
static int attach(struct tracing *tracing)
{
    bool debug = tracing->config->trace->debug;
    const struct switches_show showing = {show, tracing->config->trace};
    struct switches_refusal refusal;
    struct capture capture = capture_of(tracing);
    int result = switches_open(&tracing->switches, &capture, &showing, &refusal);
    if (result) {
        say_refused(&refusal);
        if (debug && refusal.log.data)
            fprintf(stderr, "%s\n", refusal.log.data);
    } else if (debug) {
        say("attached to %stracepoints", tracing->switches.raw ? "raw " : "");
    }
    text_free(&refusal.log);
    if (result)
        return EXIT_FAILURE;
    return capture.view == VIEW_WALL
               ? wall_time_attach(&tracing->wall, &capture, tracing->config->trace,
                                  tracing->config->frequency ? tracing->config->frequency
                                                             : WALL_FREQUENCY)
               : 0;
}

static int attach_to_rings(struct tracing *tracing)
{
    struct switches_refusal refusal = {.what = REFUSED_TRACEFS};

    int tracefs = tracefs_open();

    refusal.error = tracefs < 0 ? tracefs
        : ring_waits_attach(&tracing->rings, tracefs, &refusal.event);
    if (tracefs >= 0) {
        close(tracefs);
        refusal.no_field = refusal.error == -ENOENT;
    }
    if (refusal.error && (tracefs < 0 || refusal.no_field)) {
        say_refused(&refusal);
    } else if (refusal.error) {
        struct text why = {0};
        ring_source_explain(&tracing->rings.counter.source, refusal.error, &why);
        say("cannot trace sched:%s: %s", refusal.event, text_or_error(&why, refusal.error));
        text_free(&why);
    }
    return refusal.error ? EXIT_FAILURE : 0;
}

static struct collector *make_rings(struct tracing *tracing)
{
    struct ring_options options = session_rings(&tracing->counting.session, tracing->config->trace);

    select_waits(tracing, &options.capture);
    ring_waits_init(&tracing->rings, &options, &tracing->collector.waits);
    return &tracing->rings.counter.source.collector;
}

/* ---- By ptrace ---- */

static enum collect_way way_of(const struct tracing *tracing)
{
    return tracing->counting.session.config.collecting.way;
}

static uint64_t ticks_of(const struct tracing *tracing)
{
    return tracing->config->frequency ? tracing->config->frequency : TICK_FREQUENCY;
}

static struct collector *make_traced(struct tracing *tracing)
{
    struct ptrace_options options = session_ptrace(&tracing->counting.session,
                                                   tracing->config->trace, ticks_of(tracing));

    options.waits = tracing->config->letters;
    options.runnable = tracing->config->runnable;
    options.all = tracing->config->view == VIEW_WALL;
    ptrace_times_init(&tracing->traced, &options);
    return &tracing->traced.source.collector;
}

/* ptrace(2) shows waits at ticks, but not when they begin and end, nor the kernel's threads. */
static int refuse_traced(const struct blocked_time_config *config)
{
    if (config->least || config->most != UINT64_MAX)
        say("%s: ptrace(2) shows waits at each tick alone, not how long each is: leave it out",
            config->least ? "-m" : "-M");
    else if (config->threads == THREADS_KERNEL)
        say("-k: ptrace(2) does not show the kernel's threads: leave it out");
    else if (!sampled_is_too_often(config->frequency))
        return 0;
    return EXIT_USAGE;
}

static void print_header(struct tracing *tracing)
{
    struct text line = {0};

    if (way_of(tracing) == COLLECT_PTRACE)
        text_format(&line, "Sampling at %llu Hertz %s", (unsigned long long)ticks_of(tracing),
                    tracing->config->view == VIEW_OFFCPU ? "off-CPU time (us) of "
                                                         : "wall-clock time (us) of ");
    else
        text_add(&line, tracing->config->view == VIEW_OFFCPU ? "Tracing off-CPU time (us) of "
                        : tracing->config->view == VIEW_WALL ? "Tracing wall-clock time (us) of "
                                                             : "Tracing blocked time (us) ");
    if (tracing->config->view == VIEW_OFFCPU || tracing->config->view == VIEW_WALL) {
        heading_add_whose(&line, tracing->config->trace, whose[tracing->config->threads]);
        text_add(&line, " ");
    }
    text_format(&line, "by %s %sstack", heading_stacks(tracing->config->trace),
                tracing->config->view == VIEW_OFFWAKE ? "off-CPU and waker " : "");
    heading_add_cpu(&line, tracing->config->trace);
    if (!line.failed)
        session_header(&tracing->counting.session, line.data, tracing->config->trace->duration);
    text_free(&line);
}

/* ---- Reports ---- */

/* Wakeups by interrupts are recognized by names of kernel functions. */
static int judge_wakers(struct tracing *tracing, struct tally *tally)
{
    struct session *session = &tracing->counting.session;
    const struct symbolize_options options = {
        .kallsyms = session->kallsyms,
        .known = &session->known,
        .kernel = &session->kernel_names,
    };
    enum interrupt *interrupts = calloc(tally->count + 1, sizeof(*interrupts));
    int result = interrupts ? interrupts_find(tally, &options, interrupts) : -ENOMEM;

    if (!result)
        blocked_judge_wakers(interrupts, !tracing->config->trace->user_only,
                             tracing->config->trace->verbose, tally);
    free(interrupts);
    return result;
}

static struct blocked_filter blocked_filter_of(const struct tracing *tracing)
{
    const struct trace_options *trace = tracing->config->trace;

    return (struct blocked_filter){
        .of = &tracing->counting.session.scope.filter,
        .cgroup = trace->cgroup,
        .states = tracing->config->letters,
        .user = tracing->config->threads != THREADS_KERNEL,
        .kernel = tracing->config->threads != THREADS_USER,
        .started_before = tracing->started,
    };
}

static int prepare(void *context)
{
    struct tracing *tracing = context;
    struct blocked_filter filter = blocked_filter_of(tracing);

    /* Switches report all of a command's threads: none of them existed before. */
    return tracing->config->trace->command
               ? 0
               : wall_time_list(&tracing->wall, &filter, !tracing->config->trace->user_only,
                                &tracing->collector.report);
}

static int add_blocked(const struct tracing *tracing, struct blocked_all_along *all_along,
                       struct tally *tally)
{
    const struct blocked_filter filter = blocked_filter_of(tracing);
    struct listed_threads listed = {.count = 0};
    int result = listed_threads_list(&listed, &filter, !tracing->config->trace->user_only);

    if (!result)
        result = blocked_add_all_along(&listed, all_along, tally);
    listed_threads_free(&listed);
    return result;
}

static int add_all_along(struct tracing *tracing, struct tally *tally)
{
    const struct waits *waits = &tracing->collector.waits;
    struct blocked_all_along all_along = {
        .waits = waits,
        .time = now_ns() - tracing->counting.session.run.start,
        .mark = MARK_ALL_ALONG,
        .kallsyms = tracing->counting.session.kallsyms,
    };

    if (tracing->config->trace->command)
        return 0;
    if (tracing->config->view == VIEW_WALL)
        return wall_time_add(&tracing->wall, &tracing->collector.report, &all_along, tally);
    return all_along.time < waits->least || all_along.time > waits->most
               ? 0 : add_blocked(tracing, &all_along, tally);
}

static int complete(void *context, bool again, struct tally *tally)
{
    struct tracing *tracing = context;
    int result = 0;

    if (tracing->config->view == VIEW_WALL)
        return add_all_along(tracing, tally);
    if (tracing->config->view != VIEW_OFFCPU)
        result = judge_wakers(tracing, tally);
    if (!result && !again && tracing->config->unfinished)
        result = add_all_along(tracing, tally);
    return result;
}

static void add_losses(void *context, struct losses *losses)
{
    struct tracing *tracing = context;

    losses_add_recursion(losses, "switches and wakeups", switches_missed(&tracing->switches));
    if (tracing->config->view == VIEW_WALL)
        wall_time_add_losses(&tracing->wall, losses);
}

static void say_account(const struct tracing *tracing)
{
    const struct waits *waits = &tracing->collector.waits;

    if (tracing->config->trace->debug) {
        say_cost(tracing->switches.points[SWITCHES_SWITCH].program, "sched_switch");
        say_cost(tracing->switches.points[SWITCHES_WAKING].program, "sched_waking");
    }
    ptrace_source_say(&tracing->traced.source);
    counting_say_account(&tracing->counting, switches_missed(&tracing->switches));
    if (waits->waiting && !tracing->config->unfinished)
        say("%llu %s still blocked at the end, for %.6f s so far, which no report includes; "
            "--unfinished shows it", (unsigned long long)waits->waiting,
            waits->waiting == 1 ? "thread was" : "threads were", (double)waits->waited / 1e9);
}

static int count(struct tracing *tracing)
{
    tracing->started = clock_ns(CLOCK_BOOTTIME);
    /* In a pid namespace /proc has other numbers than programs see. */
    const bool looks = tracing->config->view == VIEW_WALL && way_of(tracing) != COLLECT_PTRACE &&
                       !tracing->config->trace->command &&
                       !tracing->counting.session.scope.filter.in_namespace;
    const struct blocked_filter threads = blocked_filter_of(tracing);
    if (looks && access("/proc/self/stat", F_OK))
        say("threads that are blocked all the time are left out, because /proc is not mounted: "
            "mount -t proc proc /proc");
    if (looks)
        wall_time_begin(&tracing->wall, &threads, &tracing->collector.report);
    int status = counting_start(&tracing->counting);
    if (status)
        return status;
    /* With a minimum time, shorter waits have no stack, either. */
    if (looks && !tracing->config->trace->user_only && !tracing->config->least)
        wall_time_look(&tracing->wall, tracing->collector.waits.map);
    print_header(tracing);
    status = counting_run(&tracing->counting);
    say_account(tracing);
    if (tracing->config->view == VIEW_WAKEUP && tracing->config->trace->files.plain && !status)
        status = session_detaching();
    return status;
}

/* Adds to reports what programs and rings do not see. */
static void complete_reports(struct tracing *tracing)
{
    struct counting *counting = &tracing->counting;

    if (tracing->config->view == VIEW_WALL) {
        counting->prepare = prepare;
        counting->tick = sampled_look;
        counting->ticking = &tracing->wall.sampled;
    }
    counting->complete = complete;
    counting->completing = tracing;
    counting->add_losses = add_losses;
    counting->losing = tracing;
}

int blocked_time_run(const struct blocked_time_config *asked)
{
    static struct tracing own; /* too large for a small stack */
    struct tracing *tracing = &own;
    const struct store_config config = {
        .stacks = asked->trace->storage,
        .depth = asked->trace->depth,
        .key_bytes = (uint32_t)offwake_key_bytes(asked->view),
        .value_bytes = asked->view == VIEW_WALL ? (uint32_t)sizeof(struct walled)
                                                : (uint32_t)offwake_value_bytes(asked->pairs),
    };
    struct counting *counting = &tracing->counting;
    const struct waits waits = {
        .view = asked->view,
        .least = asked->least,
        .most = asked->most,
        .unfinished = asked->unfinished,
    };

    tracing->config = asked;
    tracing->switches = (struct switches)SWITCHES_NONE;
    tracing->wall = (struct wall_time)WALL_TIME_NONE;
    struct trace_options *options = asked->trace;
    const struct collecting_config collecting = {
        .programs = waits.view == VIEW_WALL,
        .traces = waits.view == VIEW_WALL || waits.view == VIEW_OFFCPU,
        .waits = true,
        .own = !trace_options_of_all(options),
    };
    struct session_config session = {
        .options = options,
        .wakers = waits.view == VIEW_WAKEUP || waits.view == VIEW_OFFWAKE,
    };
    int status = collecting_choose(&session.collecting, options, &collecting);
    const enum collect_way way = session.collecting.way;
    if (!status && way == COLLECT_PTRACE)
        status = refuse_traced(tracing->config);
    if (status)
        return status;
    bpf_waits_init(&tracing->collector, &config, &waits);
    status = counting_open(counting, &session,
                           way == COLLECT_PTRACE  ? make_traced(tracing)
                           : way == COLLECT_RINGS ? make_rings(tracing)
                                                  : &tracing->collector.counts.collector);

    counting->report.layout = layouts[waits.view];
    counting->report.unit = 1000;
    counting->report.measure = (struct report_measure){"waits", "blocked", "microseconds", 0};
    if (waits.view == VIEW_WALL)
        counting->report.measure = (struct report_measure){"stretches", "wall", "microseconds", 0};
    counting->report.pairs = tracing->config->pairs;
    counting->report.waiting = &tracing->waiting;
    counting->at_tracepoints = true;
    if (way == COLLECT_PTRACE) {
        counting->report.measure.events = "samples";
        counting->texts = &tracing->traced.source.texts;
    } else
        complete_reports(tracing);
    if (!status && counting->session.kallsyms >= 0 &&
        (report_files_have(&counting->files, REPORT_FLAT) ||
         report_files_have(&counting->files, REPORT_SBX)))
        (void)waiting_text_find(&tracing->waiting, counting->session.kallsyms); /* or by names */
    if (!status)
        status = way == COLLECT_PTRACE ? 0 : way == COLLECT_RINGS ? attach_to_rings(tracing)
            : attach(tracing);
    if (!status)
        status = count(tracing);
    switches_close(&tracing->switches);
    wall_time_close(&tracing->wall);
    return counting_close(counting, status);
}
