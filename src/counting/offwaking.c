/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "counting/offwaking.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "collect/bpf_waits.h"
#include "counting/blocked.h"
#include "counting/counting.h"
#include "counting/wall_time.h"
#include "kernel/bpf.h"
#include "kernel/tracefs.h"
#include "kernel/refusal.h"
#include "kernel/switches.h"
#include "rings/ring_waits.h"
#include "session/collecting.h"
#include "session/decisions.h"
#include "session/heading.h"

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

struct tracing {
    const struct offwaking_wishes *wishes;
    struct counting counting;
    struct bpf_waits collector;
    struct ring_waits rings; /* used instead if there is no bpf(2) */
    struct switches switches;
    struct wall_time wall; /* for VIEW_WALL */
    struct interrupts interrupts;
    struct waiting_text waiting; /* if a flat table needs it */
    bool knows_interrupts;
    uint64_t started; /* since boot, ns */
};

static void make_wishes(const struct tracing *tracing, struct offwake_wishes *wishes)
{
    const struct scope *scope = &tracing->counting.session.scope;
    const struct store *store = &tracing->collector.counts.store;
    const struct waits *waits = &tracing->collector.waits;

    *wishes = (struct offwake_wishes){
        .view = tracing->wishes->view,
        .filter = scope->filter,
        .kernel_stack = !tracing->wishes->trace->user_only,
        .user_stack = !tracing->wishes->trace->kernel_only,
        .threads = tracing->wishes->threads,
        .states = tracing->wishes->states,
        .runnable = tracing->wishes->runnable,
        .least = waits->least,
        .most = waits->most,
        .longest = tracing->wishes->pairs,
        .depth = store->depth,
        .control = store->controls.control,
        .account = store->controls.account,
        .slots = store->controls.slots,
        .lives = scope->lives.maps,
        .waits = waits->map,
        .cuts = store->controls.cuts,
        .rests = waits->rests,
        .banks = store->banks,
        .unwind = unwinding_wishes(&tracing->counting.session.unwinding),
    };
}

static void show(struct program *program, const char *event, bool listing)
{
    struct text what = {0}, why = {0};
    struct linked linked;

    text_format(&what, "the program of sched:%s", event);
    if (program_link(program, PROGRAM_LIMIT_OLD, &linked, &why))
        say("%s: %s", what.data ? what.data : "", why.data ? why.data : "");
    else if (!what.failed)
        decisions_say_program(what.data, program, &linked, listing);
    text_free(&what);
    text_free(&why);
}

static void show_size(struct program *program, const char *event)
{
    show(program, event, false);
}

static void show_listing(struct program *program, const char *event)
{
    show(program, event, true);
}

static void say_refused(const struct switches_refusal *refusal)
{
    struct text why = {0};

    refusal_explain_program(refusal->what, refusal->error, &refusal->log, &why);
    if (refusal->no_field)
        say("this kernel has no tracepoint sched:%s with the fields needed",
            refusal->event);
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
    bool debug = tracing->wishes->trace->debug;
    struct switches_refusal refusal;
    struct offwake_wishes wishes;

    make_wishes(tracing, &wishes);
    int result = switches_open(&tracing->switches, &wishes,
                               tracing->wishes->trace->dump_program ? show_listing
                               : debug ? show_size : NULL, &refusal);
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
    return wishes.view == VIEW_WALL
               ? wall_time_attach(&tracing->wall, &wishes, tracing->wishes->trace, tracing->wishes->frequency)
               : 0;
}

static int attach_to_rings(struct tracing *tracing)
{
    struct switches_refusal refusal = {.what = REFUSED_TRACEFS};

    if (tracing->wishes->view == VIEW_WALL) {
        say("--collect rings: walltime needs BPF programs");
        return EXIT_FAILURE;
    }
    int tracefs = tracefs_open();

    refusal.error = tracefs < 0 ? tracefs : ring_waits_attach(&tracing->rings, tracefs, &refusal.event);
    if (tracefs >= 0) {
        close(tracefs);
        refusal.no_field = refusal.error == -ENOENT;
    }
    if (refusal.error && (tracefs < 0 || refusal.no_field)) {
        say_refused(&refusal);
    } else if (refusal.error) {
        struct text why = {0};
        ring_source_explain(&tracing->rings.source, refusal.error, &why);
        say("cannot trace sched:%s: %s", refusal.event, text_or_error(&why, refusal.error));
        text_free(&why);
    }
    return refusal.error ? EXIT_FAILURE : 0;
}

static struct collector *make_rings(struct tracing *tracing)
{
    const struct trace_options *trace = tracing->wishes->trace;
    const struct ring_waits_wishes wishes = {
        .scope = &tracing->counting.session.scope,
        .unwind = &tracing->counting.session.unwinding.rings,
        .view = tracing->wishes->view,
        .threads = tracing->wishes->threads,
        .states = tracing->wishes->states,
        .runnable = tracing->wishes->runnable,
        .kernel = !trace->user_only,
        .user = !trace->kernel_only,
        .depth = trace->depth,
        .stacks = trace->storage,
    };

    ring_waits_init(&tracing->rings, &wishes, &tracing->collector.waits);
    return &tracing->rings.collector;
}

static void print_header(struct tracing *tracing)
{
    struct text line = {0};

    text_add(&line, tracing->wishes->view == VIEW_OFFCPU ? "Tracing off-CPU time (us) of "
                    : tracing->wishes->view == VIEW_WALL ? "Tracing wall-clock time (us) of "
                                                         : "Tracing blocked time (us) ");
    if (tracing->wishes->view == VIEW_OFFCPU || tracing->wishes->view == VIEW_WALL) {
        heading_add_whose(&line, tracing->wishes->trace,
                          whose[tracing->wishes->threads]);
        text_add(&line, " ");
    }
    text_format(&line, "by %s %sstack", heading_stacks(tracing->wishes->trace),
                tracing->wishes->view == VIEW_OFFWAKE ? "off-CPU and waker " : "");
    heading_add_cpu(&line, tracing->wishes->trace);
    if (!line.failed)
        session_timed_header(&tracing->counting.session, line.data);
    text_free(&line);
}

/* ---- Reports ---- */

/* Interrupts' wakeups are recognized by names, which are looked up once. */
static int judge_wakers(struct tracing *tracing, struct tally *tally)
{
    int result = 0;

    if (!tracing->knows_interrupts && tracing->counting.session.kallsyms >= 0)
        result = interrupts_find(&tracing->interrupts, tracing->counting.session.kallsyms);
    tracing->knows_interrupts = true;
    blocked_judge_wakers(&tracing->interrupts, !tracing->wishes->trace->user_only,
                         tracing->wishes->trace->verbose, tally);
    return result;
}

static struct asleep_wishes wish_asleep(const struct tracing *tracing)
{
    const struct trace_options *trace = tracing->wishes->trace;

    return (struct asleep_wishes){
        .pids = trace->pids.numbers,
        .pid_count = trace->pids.count,
        .tids = trace->tids.numbers,
        .tid_count = trace->tids.count,
        .comms = trace->comms.names,
        .comm_count = trace->comms.count,
        .uids = trace->uids.numbers,
        .uid_count = trace->uids.count,
        .cpu = trace->cpu,
        .cgroup = trace->cgroup,
        .states = tracing->wishes->letters,
        .user = tracing->wishes->threads != THREADS_KERNEL,
        .kernel = tracing->wishes->threads != THREADS_USER,
        .started_before = tracing->started,
    };
}

static int add_all_along(struct tracing *tracing, struct tally *tally)
{
    const struct trace_options *trace = tracing->wishes->trace;
    const struct waits *waits = &tracing->collector.waits;
    struct asleep_wishes wishes = wish_asleep(tracing);
    struct blocked_all_along all_along = {
        .wishes = &wishes,
        .waits = waits,
        .time = now_ns() - tracing->counting.session.run.start,
        .mark = MARK_ALL_ALONG,
        .kernel = !trace->user_only,
        .kallsyms = tracing->counting.session.kallsyms,
    };

    /* A command's descendants did not exist before it. */
    if (trace->command)
        return 0;
    if (tracing->wishes->view == VIEW_WALL)
        return wall_time_add(&tracing->wall, &tracing->collector.walling, &all_along, tally);
    return all_along.time < waits->least || all_along.time > waits->most
               ? 0 : blocked_add_all_along(&all_along, tally);
}

static int complete(void *context, bool again, struct tally *tally)
{
    struct tracing *tracing = context;
    int result = 0;

    if (tracing->wishes->view == VIEW_WALL)
        return add_all_along(tracing, tally);
    if (tracing->wishes->view != VIEW_OFFCPU)
        result = judge_wakers(tracing, tally);
    if (!result && !again && tracing->wishes->unfinished)
        result = add_all_along(tracing, tally);
    return result;
}

static void debug_cost(const struct tracepoint *tracepoint, const char *event)
{
    struct bpf_program_info info;

    if (tracepoint->program >= 0 && !bpf_program_info(tracepoint->program, &info) &&
        info.run_count)
        say("program %u of sched:%s: %llu runs, ns per event: %llu", info.id, event,
            (unsigned long long)info.run_count,
            (unsigned long long)(info.run_time_ns / info.run_count));
}

static void add_losses(void *context, struct missing *missing)
{
    struct tracing *tracing = context;

    missing_add_recursion(missing, "switches and wakeups", switches_missed(&tracing->switches));
    if (tracing->wishes->view == VIEW_WALL)
        wall_time_add_losses(&tracing->wall, missing);
}

static void say_account(const struct tracing *tracing)
{
    const struct waits *waits = &tracing->collector.waits;

    if (tracing->wishes->trace->debug) {
        debug_cost(&tracing->switches.switches, "sched_switch");
        debug_cost(&tracing->switches.wakings, "sched_waking");
    }
    counting_say_account(&tracing->counting, switches_missed(&tracing->switches));
    if (waits->waiting && !tracing->wishes->unfinished)
        say("%llu %s still blocked at the end, for %.6f s so far, which no report includes; "
            "--unfinished shows it", (unsigned long long)waits->waiting,
            waits->waiting == 1 ? "thread was" : "threads were", (double)waits->waited / 1e9);
}

static int count(struct tracing *tracing)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    tracing->started = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    /* In a pid namespace /proc has other numbers than programs see. */
    const bool looks = tracing->wishes->view == VIEW_WALL && !tracing->wishes->trace->command &&
                       !tracing->counting.session.scope.filter.in_namespace;
    const struct asleep_wishes threads = wish_asleep(tracing);
    if (looks && access("/proc/self/stat", F_OK))
        say("threads that are blocked all the time are left out, because /proc is not mounted: mount -t proc proc /proc");
    if (looks)
        wall_time_begin(&tracing->wall, &threads, &tracing->collector.walling);
    int status = counting_start(&tracing->counting);
    if (status)
        return status;
    /* With a minimum time, shorter waits have no stack, either. */
    if (looks && !tracing->wishes->trace->user_only && !tracing->wishes->least)
        wall_time_look(&tracing->wall, tracing->collector.waits.map);
    print_header(tracing);
    status = counting_run(&tracing->counting);
    say_account(tracing);
    if (tracing->wishes->view == VIEW_WAKEUP && tracing->wishes->trace->files.plain && !status)
        status = session_detaching();
    return status;
}

static int trace(struct tracing *tracing)
{
    const struct store_wishes wishes = {
        .stacks = tracing->wishes->trace->storage,
        .depth = tracing->wishes->trace->depth,
        .key_bytes = (uint32_t)offwake_key_bytes(tracing->wishes->view),
        .value_bytes = tracing->wishes->view == VIEW_WALL
                           ? (uint32_t)sizeof(struct walled)
                           : (uint32_t)offwake_value_bytes(tracing->wishes->pairs),
    };
    struct counting *counting = &tracing->counting;
    const struct waits waits = {
        .view = tracing->wishes->view,
        .least = tracing->wishes->least,
        .most = tracing->wishes->most,
        .unfinished = tracing->wishes->unfinished,
    };

    bpf_waits_init(&tracing->collector, &wishes, &waits);
    collecting_choose(tracing->wishes->trace, &(struct collecting_wishes){.programs = tracing->wishes->view == VIEW_WALL});
    tracing->wishes->trace->wakers = tracing->wishes->view == VIEW_WAKEUP || tracing->wishes->view == VIEW_OFFWAKE;
    const bool by_rings = tracing->wishes->trace->by_rings;
    int status = counting_open(counting, tracing->wishes->trace,
                               by_rings ? make_rings(tracing) : &tracing->collector.counts.collector);

    counting->report.layout = layouts[tracing->wishes->view];
    counting->report.unit = 1000;
    counting->report.measure = (struct report_measure){"waits", "blocked", "microseconds", 0};
    if (tracing->wishes->view == VIEW_WALL) {
        counting->report.measure = (struct report_measure){"stretches", "wall", "microseconds", 0};
        counting->tick = sampled_look;
        counting->ticking = &tracing->wall.sampled;
    }
    counting->report.pairs = tracing->wishes->pairs;
    counting->report.waiting = &tracing->waiting;
    counting->at_tracepoints = true;
    counting->complete = complete;
    counting->completing = tracing;
    counting->add_losses = add_losses;
    counting->losing = tracing;
    if (!status && counting->session.kallsyms >= 0 &&
        (report_files_have(&counting->files, REPORT_FLAT) || report_files_have(&counting->files, REPORT_SBX)))
        (void)waiting_text_find(&tracing->waiting, counting->session.kallsyms); /* or by names */
    if (!status)
        status = by_rings ? attach_to_rings(tracing) : attach(tracing);
    if (!status)
        status = count(tracing);
    switches_close(&tracing->switches);
    wall_time_close(&tracing->wall);
    interrupts_free(&tracing->interrupts);
    return counting_close(counting, status);
}

int offwaking_run(const struct offwaking_wishes *wishes)
{
    struct tracing tracing = {.wishes = wishes, .switches = SWITCHES_NONE, .wall = WALL_TIME_NONE};

    return trace(&tracing);
}
