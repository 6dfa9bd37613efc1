/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "offwaking.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "blocked.h"
#include "counting.h"
#include "heading.h"
#include "insns/dump.h"
#include "kernel/bpf.h"
#include "kernel/refusal.h"
#include "kernel/tracefs.h"
#include "kernel/tracepoint.h"
#include "kernel/waits.h"

static const enum report_layout layouts[] = {
    [VIEW_OFFCPU] = LAYOUT_PROFILE,
    [VIEW_WAKEUP] = LAYOUT_WAKEUPTIME,
    [VIEW_OFFWAKE] = LAYOUT_OFFWAKETIME,
};
static const char *const whose[] = {
    [THREADS_ALL] = "all threads",
    [THREADS_USER] = "user threads",
    [THREADS_KERNEL] = "kernel threads",
};

struct tracing {
    const struct offwaking_wishes *wishes;
    struct counting counting;
    struct waits waits;
    struct tracepoint switches, wakings;
    int tracefs;
    struct interrupts interrupts;
    bool knows_interrupts;
    uint64_t started; /* since boot, ns */
};

static void find_fields_fail(const char *event, int why)
{
    struct text sentence = {0};

    if (why == -ENOENT) {
        say("this kernel has no tracepoint sched:%s with the fields that are needed", event);
        return;
    }
    refusal_explain(REFUSED_TRACEFS, why, 0, &sentence);
    say("cannot read the format of sched:%s: %s", event,
        sentence.data ? sentence.data : strerror(-why));
    text_free(&sentence);
}

static int find_field(const struct tracing *tracing, const char *event, const char *name,
                      int16_t *offset, uint16_t *size)
{
    struct tracefs_field field;
    int result = tracefs_find_field(tracing->tracefs, "sched", event, name, &field);

    if (result) {
        find_fields_fail(event, result);
        return result;
    }
    *offset = (int16_t)field.offset;
    *size = field.size;
    return 0;
}

static int find_fields(const struct tracing *tracing, struct offwake_wishes *wishes)
{
    uint16_t size;
    int result = find_field(tracing, "sched_switch", "prev_pid", &wishes->prev_pid, &size);

    if (!result)
        result = find_field(tracing, "sched_switch", "next_pid", &wishes->next_pid, &size);
    if (!result && tracing->wishes->view != VIEW_OFFCPU)
        result = find_field(tracing, "sched_waking", "pid", &wishes->target_pid, &size);
    if (!result)
        result = find_field(tracing, "sched_switch", "prev_state", &wishes->prev_state, &size);
    wishes->wide_state = size == sizeof(uint64_t);
    return result;
}

static void make_wishes(const struct tracing *tracing, struct offwake_wishes *wishes)
{
    const struct counting *counting = &tracing->counting;
    const struct store *store = &counting->store;

    *wishes = (struct offwake_wishes){
        .view = tracing->wishes->view,
        .filter = counting->session.filter,
        .kernel_stack = !tracing->wishes->trace->user_only,
        .user_stack = !tracing->wishes->trace->kernel_only,
        .threads = tracing->wishes->threads,
        .states = tracing->wishes->states,
        .runnable = tracing->wishes->runnable,
        .least = tracing->waits.least,
        .most = tracing->waits.most,
        .depth = store->depth,
        .control = store->control,
        .account = store->account,
        .slots = store->slots,
        .lives = counting->session.lives.map,
        .waits = tracing->waits.map,
        .counts = {store->main.counts, store->stand_in.counts},
        .spilled = {store->main.spilled, store->stand_in.spilled},
    };
}

static void debug_program(struct program *program, const char *event)
{
    struct text dump = {0};
    struct linked linked;

    if (!program_link(program, PROGRAM_LIMIT_OLD, &linked, &dump)) {
        say("the program of sched:%s, %zu instructions:", event, linked.count);
        dump_insns(&dump, linked.insns, linked.count, program);
    }
    if (!dump.failed)
        fprintf(stderr, "%s", dump.data);
    text_free(&dump);
}

static int attach_program(const struct tracing *tracing, struct tracepoint *tracepoint,
                          const char *event, struct program *program)
{
    const struct tracepoint_wishes wishes = {
        .tracefs = tracing->tracefs,
        .category = "sched",
        .name = event,
        .program_name = event,
    };
    struct text log = {0}, why = {0};

    if (tracing->wishes->trace->debug)
        debug_program(program, event);
    int result = tracepoint_open(tracepoint, &wishes, program, &log);
    if (result) {
        refusal_explain(REFUSED_PROBES, result, 0, &why);
        say("cannot trace sched:%s: %s", event, why.data ? why.data : strerror(-result));
        if (tracing->wishes->trace->debug && log.data)
            fprintf(stderr, "%s\n", log.data);
    }
    text_free(&log);
    text_free(&why);
    program_free(program);
    return result;
}

/* Wakings first: who wakes is known before anybody is seen to wait. 0 or the exit status. */
static int attach(struct tracing *tracing)
{
    struct program switches = {0}, wakings = {0};
    struct offwake_wishes wishes;
    int result = 0;

    make_wishes(tracing, &wishes);
    if (find_fields(tracing, &wishes))
        return EXIT_FAILURE;
    if (tracing->wishes->view != VIEW_OFFCPU) {
        emit_waking(&wakings, &wishes);
        result = attach_program(tracing, &tracing->wakings, "sched_waking", &wakings);
    }
    if (!result) {
        emit_switch(&switches, &wishes);
        result = attach_program(tracing, &tracing->switches, "sched_switch", &switches);
    }
    return result ? EXIT_FAILURE : 0;
}

static int open_tracefs(struct tracing *tracing)
{
    struct text why = {0};

    tracing->tracefs = tracefs_open();
    if (tracing->tracefs >= 0)
        return 0;
    refusal_explain(REFUSED_TRACEFS, tracing->tracefs, 0, &why);
    say("cannot read tracefs: %s", why.data ? why.data : strerror(-tracing->tracefs));
    text_free(&why);
    return EXIT_FAILURE;
}

static int open_waits(struct tracing *tracing)
{
    struct text why = {0};

    int result = waits_open(&tracing->waits);
    if (result) {
        refusal_explain(REFUSED_MAPS, result, waits_bytes(&tracing->waits), &why);
        say("cannot create maps: %s", why.data ? why.data : strerror(-result));
        text_free(&why);
        return EXIT_FAILURE;
    }
    if (tracing->wishes->trace->debug)
        say("map of waits: %u threads, %llu KB", tracing->waits.entries,
            (unsigned long long)waits_bytes(&tracing->waits) / 1024);
    return 0;
}

static void print_header(struct tracing *tracing)
{
    struct text line = {0};

    text_add(&line, tracing->wishes->view == VIEW_OFFCPU ? "Tracing off-CPU time (us) of "
                                                       : "Tracing blocked time (us) ");
    if (tracing->wishes->view == VIEW_OFFCPU) {
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

/* What an interrupt did is told by names that are looked up once. */
static int judge_wakers(struct tracing *tracing, struct tally *tally)
{
    int result = 0;

    if (!tracing->knows_interrupts && !tracing->wishes->trace->kernel_only &&
        tracing->counting.session.kallsyms >= 0)
        result = interrupts_find(&tracing->interrupts, tracing->counting.session.kallsyms);
    tracing->knows_interrupts = true;
    blocked_judge_wakers(&tracing->interrupts, !tracing->wishes->trace->user_only, tally);
    return result;
}

static int add_all_along(const struct tracing *tracing, struct tally *tally)
{
    const struct trace_options *trace = tracing->wishes->trace;
    const struct asleep_wishes wishes = {
        .pids = trace->pids.numbers,
        .pid_count = trace->pids.count,
        .tids = trace->tids.numbers,
        .tid_count = trace->tids.count,
        .cpu = trace->cpu,
        .cgroup = trace->cgroup,
        .states = tracing->wishes->letters,
        .user = tracing->wishes->threads != THREADS_KERNEL,
        .kernel = tracing->wishes->threads != THREADS_USER,
        .started_before = tracing->started,
    };
    const struct blocked_all_along all_along = {
        .wishes = &wishes,
        .waits = &tracing->waits,
        .time = now_ns() - tracing->counting.session.run.start,
        .kernel = !trace->user_only,
        .kallsyms = tracing->counting.session.kallsyms,
    };
    /* Who comes of a command has not been here before it. */
    if (trace->command || all_along.time < tracing->waits.least || all_along.time > tracing->waits.most)
        return 0;
    return blocked_add_all_along(&all_along, tally);
}

static int collect(void *context, bool again, struct tally *tally, struct losses *losses)
{
    struct tracing *tracing = context;
    int result = waits_collect(&tracing->waits, again, tally, losses);

    if (!result && tracing->wishes->view != VIEW_OFFCPU)
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

static void add_losses(void *context, struct text *lines)
{
    const struct tracing *tracing = context;
    const struct account *account = &tracing->counting.store.sum;
    uint64_t missed = tracepoint_missed(&tracing->switches) + tracepoint_missed(&tracing->wakings);

    if (account->waits_full || account->wakes_full)
        text_format(lines, "%llu events of threads were not seen: the map of waits has room for %u "
                    "threads, by the memory that was free; -p, -t or --cgroup select fewer\n",
                    (unsigned long long)(account->waits_full + account->wakes_full),
                    tracing->waits.entries);
    if (account->ends_unseen)
        text_format(lines, "%llu waits are not counted: the kernel did not show their threads come to "
                    "the CPU again\n", (unsigned long long)account->ends_unseen);
    if (missed)
        text_format(lines, "up to %llu switches and wakes were missed: they came while a program ran "
                    "on the same CPU already\n", (unsigned long long)missed);
}

static void say_account(const struct tracing *tracing)
{
    uint64_t missed = tracepoint_missed(&tracing->switches) + tracepoint_missed(&tracing->wakings);
    const struct waits *waits = &tracing->waits;

    if (tracing->wishes->trace->debug) {
        debug_cost(&tracing->switches, "sched_switch");
        debug_cost(&tracing->wakings, "sched_waking");
    }
    counting_say_account(&tracing->counting, waits->open, missed);
    if (waits->waiting && !tracing->wishes->unfinished)
        say("%llu %s still blocked at the end, for %.6f s in all until then, which is in no "
            "report; --unfinished shows it", (unsigned long long)waits->waiting,
            waits->waiting == 1 ? "thread was" : "threads were", (double)waits->waited / 1e9);
}

static int count(struct tracing *tracing)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    tracing->started = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    int status = counting_start(&tracing->counting);
    if (status)
        return status;
    print_header(tracing);
    status = counting_run(&tracing->counting);
    say_account(tracing);
    if (tracing->wishes->view == VIEW_WAKEUP && tracing->wishes->trace->files.plain && !status)
        status = session_detaching();
    return status;
}

static int trace(struct tracing *tracing)
{
    const struct counting_wishes wishes = {
        .key_bytes = (uint32_t)offwake_key_bytes(tracing->wishes->view),
        .value_bytes = sizeof(struct blocked),
        .usual_stacks = WAITS_USUAL_STACKS,
    };
    struct counting *counting = &tracing->counting;
    int status = counting_open(counting, tracing->wishes->trace, &wishes);

    counting->report.layout = layouts[tracing->wishes->view];
    counting->report.unit = 1000;
    counting->report.measure = (struct report_measure){"waits", "blocked", "microseconds", 0};
    counting->report.threads = true;
    counting->at_tracepoints = true;
    counting->collect = collect;
    counting->collecting = tracing;
    counting->add_losses = add_losses;
    counting->losing = tracing;
    if (!status)
        status = open_tracefs(tracing);
    if (!status)
        status = open_waits(tracing);
    if (!status)
        status = attach(tracing);
    if (!status)
        status = count(tracing);
    tracepoint_close(&tracing->switches);
    tracepoint_close(&tracing->wakings);
    waits_close(&tracing->waits);
    interrupts_free(&tracing->interrupts);
    if (tracing->tracefs >= 0)
        close(tracing->tracefs);
    return counting_close(counting, status);
}

int offwaking_run(const struct offwaking_wishes *wishes)
{
    struct tracing tracing = {
        .wishes = wishes,
        .waits = {
            .view = wishes->view,
            .least = wishes->least,
            .most = wishes->most,
            .unfinished = wishes->unfinished,
            .map = -1,
        },
        .switches = TRACEPOINT_NONE,
        .wakings = TRACEPOINT_NONE,
        .tracefs = -1,
    };

    tracing.waits.store = &tracing.counting.store;
    return trace(&tracing);
}
