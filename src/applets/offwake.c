/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* offcputime, wakeuptime, offwaketime: where threads block, and who wakes them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "applet.h"
#include "blocked.h"
#include "counting.h"
#include "heading.h"
#include "insns/dump.h"
#include "insns/offwake.h"
#include "kernel/bpf.h"
#include "kernel/refusal.h"
#include "kernel/tracefs.h"
#include "kernel/tracepoint.h"
#include "kernel/waits.h"

struct offwake_options {
    struct trace_options trace;
    uint64_t least, most; /* us */
    bool user_threads, kernel_threads, unfinished;
    struct states {
        bool given, runnable;
        uint32_t mask;
    } states;
};

static struct offwake_options settings = {.trace = TRACE_OPTIONS_DEFAULTS, .most = UINT64_MAX};

#define AT(member) offsetof(struct offwake_options, member)
#define MOST_US (UINT64_MAX / 1000 - 1)
/* Interrupts come anywhere: each stack that one wakes from is another. */
#define USUAL_STACKS 16384

/* ---- Options ---- */

/* As ps(1) shows them, and /proc/TID/stat. */
static const struct {
    char letter;
    uint32_t bit;
} letters[] = {
    {'R', 0}, {'S', 1}, {'D', 2}, {'T', 4}, {'t', 8}, {'P', 0x40}, {'I', 0x80},
};

static int add_letter(char letter, struct states *states)
{
    for (size_t i = 0; i < COUNT_OF(letters); i++)
        if (letters[i].letter == letter) {
            states->mask |= letters[i].bit;
            states->runnable = states->runnable || !letters[i].bit;
            return 0;
        }
    return -EINVAL;
}

/* "D", "D,S", "DS", or a mask as bcc has it: 2, 0 being those that can run. */
static int option_states(const struct option *option, const char *text, void *destination,
                         struct text *error)
{
    struct states *states = destination;
    uint64_t mask;
    int why = parse_number(text, 0, STATE_BLOCKED, &mask);

    (void)option;
    states->given = true;
    if (!why && !(mask & STATE_ENDING)) {
        states->mask |= (uint32_t)mask;
        states->runnable = states->runnable || !mask;
        return 0;
    }
    bool known = *text && why == -EINVAL;
    for (const char *at = text; *at && known; at++)
        known = *at == ',' || !add_letter(*at, states);
    if (known && (states->mask || states->runnable))
        return 0;
    text_format(error, "\"%s\" is no state: it takes letters of R, S, D, T, t, P and I, such as "
                "D,S, or their mask (S 1, D 2, T 4, t 8, P 0x40, I 0x80; R 0)", text);
    return -EINVAL;
}

static const struct option own_options[] = {
    OPTION_HEADING("Waits"),
    {'m', "min-block-time", "US", option_number, AT(least), 0, MOST_US,
     "waits of so many microseconds and more only"},
    {'M', "max-block-time", "US", option_number, AT(most), 0, MOST_US,
     "waits of so many microseconds and less only"},
    {0, "state", "LETTERS", option_states, AT(states), 0, 0,
     "states that threads are left in: S (sleeps), D (waits uninterruptibly), T, t (stopped, "
     "traced), P (parked), I (idle kernel thread), R (does not wait: was preempted), or a mask of "
     "theirs (default: all but R)"},
    {'u', "user-threads-only", NULL, option_flag, AT(user_threads), 0, 0,
     "threads of programs only"},
    {'k', "kernel-threads-only", NULL, option_flag, AT(kernel_threads), 0, 0,
     "threads of the kernel only"},
    {0, "unfinished", NULL, option_flag, AT(unfinished), 0, 0,
     "with the waits that had not ended when the tracing did"},
    {0},
};

static const struct option *const options[] = {own_options, trace_options, common_options, NULL};

/* What the three differ in. */
static const struct view {
    enum offwake_view view;
    enum report_layout layout;
    const char *see_help;
} views[] = {
    {VIEW_OFFCPU, LAYOUT_PROFILE, " (see offcputime -h)"},
    {VIEW_WAKEUP, LAYOUT_WAKEUPTIME, " (see wakeuptime -h)"},
    {VIEW_OFFWAKE, LAYOUT_OFFWAKETIME, " (see offwaketime -h)"},
};

/* ---- A run ---- */

struct tracing {
    const struct view *view;
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
    if (!result && tracing->view->view != VIEW_OFFCPU)
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
        .view = tracing->view->view,
        .filter = counting->session.filter,
        .kernel_stack = !settings.trace.user_only,
        .user_stack = !settings.trace.kernel_only,
        .threads = settings.user_threads ? THREADS_USER
                 : settings.kernel_threads ? THREADS_KERNEL : THREADS_ALL,
        .states = settings.states.given ? settings.states.mask : STATE_BLOCKED,
        .runnable = settings.states.runnable,
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

    if (settings.trace.debug)
        debug_program(program, event);
    int result = tracepoint_open(tracepoint, &wishes, program, &log);
    if (result) {
        refusal_explain(REFUSED_PROBES, result, 0, &why);
        say("cannot trace sched:%s: %s", event, why.data ? why.data : strerror(-result));
        if (settings.trace.debug && log.data)
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
    if (tracing->view->view != VIEW_OFFCPU) {
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
    if (settings.trace.debug)
        say("map of waits: %u threads, %llu KB", tracing->waits.entries,
            (unsigned long long)waits_bytes(&tracing->waits) / 1024);
    return 0;
}

static void print_header(struct tracing *tracing)
{
    struct text line = {0};

    text_add(&line, tracing->view->view == VIEW_OFFCPU ? "Tracing off-CPU time (us) of "
                                                       : "Tracing blocked time (us) ");
    if (tracing->view->view == VIEW_OFFCPU) {
        heading_add_whose(&line, &settings.trace,
                          settings.user_threads ? "user threads"
                          : settings.kernel_threads ? "kernel threads" : "all threads");
        text_add(&line, " ");
    }
    text_format(&line, "by %s %sstack", heading_stacks(&settings.trace),
                tracing->view->view == VIEW_OFFWAKE ? "off-CPU and waker " : "");
    heading_add_cpu(&line, &settings.trace);
    if (!line.failed)
        session_timed_header(&tracing->counting.session, line.data);
    text_free(&line);
}

/* ---- Reports ---- */

/* What an interrupt did is told by names that are looked up once. */
static int judge_wakers(struct tracing *tracing, struct tally *tally)
{
    int result = 0;

    if (!tracing->knows_interrupts && !settings.trace.kernel_only &&
        tracing->counting.session.kallsyms >= 0)
        result = interrupts_find(&tracing->interrupts, tracing->counting.session.kallsyms);
    tracing->knows_interrupts = true;
    blocked_judge_wakers(&tracing->interrupts, !settings.trace.user_only, tally);
    return result;
}

static int add_all_along(const struct tracing *tracing, struct tally *tally)
{
    const struct trace_options *trace = &settings.trace;
    char states[COUNT_OF(letters) + 1] = "";
    uint32_t mask = settings.states.given ? settings.states.mask : STATE_BLOCKED;
    size_t count = 0;

    for (size_t i = 0; i < COUNT_OF(letters); i++)
        if (letters[i].bit & mask)
            states[count++] = letters[i].letter;
    const struct asleep_wishes wishes = {
        .pids = trace->pids.numbers,
        .pid_count = trace->pids.count,
        .tids = trace->tids.numbers,
        .tid_count = trace->tids.count,
        .cpu = trace->cpu,
        .cgroup = trace->cgroup,
        .states = states,
        .user = !settings.kernel_threads,
        .kernel = !settings.user_threads,
        .started_before = tracing->started,
    };
    const struct blocked_all_along all_along = {
        .wishes = &wishes,
        .waits = &tracing->waits,
        .time = now_ns() - tracing->counting.session.run.start,
        .kernel = !trace->user_only,
        .kallsyms = tracing->counting.session.kallsyms,
    };
    if (all_along.time < tracing->waits.least || all_along.time > tracing->waits.most)
        return 0;
    return blocked_add_all_along(&all_along, tally);
}

static int collect(void *context, bool again, struct tally *tally, struct losses *losses)
{
    struct tracing *tracing = context;
    int result = waits_collect(&tracing->waits, again, tally, losses);

    if (!result && tracing->view->view != VIEW_OFFCPU)
        result = judge_wakers(tracing, tally);
    if (!result && !again && settings.unfinished)
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

static void say_account(const struct tracing *tracing)
{
    uint64_t missed = tracepoint_missed(&tracing->switches) + tracepoint_missed(&tracing->wakings);
    const struct waits *waits = &tracing->waits;

    if (settings.trace.debug) {
        debug_cost(&tracing->switches, "sched_switch");
        debug_cost(&tracing->wakings, "sched_waking");
        say("account: %llu waits in reports, %llu not counted, %llu missed by the kernel",
            (unsigned long long)tracing->counting.events,
            (unsigned long long)tracing->counting.losses.table_full, (unsigned long long)missed);
    }
    if (waits->not_seen)
        say("%llu events of threads were not seen: the map of waits has room for %u threads, by "
            "the memory that was free; -p, -t or --cgroup select fewer",
            (unsigned long long)waits->not_seen, waits->entries);
    if (waits->ends_unseen)
        say("%llu waits are not counted: the kernel did not show their threads come to the CPU again",
            (unsigned long long)waits->ends_unseen);
    if (missed)
        say("up to %llu switches and wakes were missed: they came while a program ran on the same "
            "CPU already", (unsigned long long)missed);
    if (waits->waiting && !settings.unfinished)
        say("%llu %s still blocked at the end, for %.6f s in all until then, which is in no "
            "report; --unfinished shows it", (unsigned long long)waits->waiting,
            waits->waiting == 1 ? "thread was" : "threads were", (double)waits->waited / 1e9);
}

static int count(struct tracing *tracing)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    tracing->started = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    print_header(tracing);
    int status = counting_run(&tracing->counting);
    say_account(tracing);
    if (tracing->view->view == VIEW_WAKEUP && !settings.trace.folded && !status) {
        printf("Detaching...\n");
        fflush(stdout);
    }
    return status;
}

static int open_and_count(struct tracing *tracing)
{
    const struct counting_wishes wishes = {
        .user_events = true, /* stacks by their hashes */
        .key_bytes = (uint32_t)offwake_key_bytes(tracing->view->view),
        .value_bytes = sizeof(struct blocked),
        .usual_stacks = USUAL_STACKS,
    };
    struct counting *counting = &tracing->counting;
    int status = counting_open(counting, &settings.trace, &wishes);

    counting->report.layout = tracing->view->layout;
    counting->report.unit = 1000;
    counting->report.threads = true;
    counting->at_tracepoints = true;
    counting->collect = collect;
    counting->collecting = tracing;
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

/* ---- The command line ---- */

/* All that can be wrong before the kernel is asked. 0, or -EINVAL with one line in `error`. */
static int check_usage(const struct arguments *arguments, const struct view *view,
                       struct text *error)
{
    settings.trace.command = arguments->command;
    if (trace_options_check(&settings.trace, error) ||
        trace_options_take_duration(&settings.trace, arguments, error)) {
        text_add(error, view->see_help);
        return -EINVAL;
    }
    if (settings.user_threads && settings.kernel_threads)
        text_add(error, "-u and -k exclude each other: without either all threads are traced");
    else if (settings.kernel_threads && settings.trace.user_only)
        text_add(error, "-k and -U exclude each other: threads of the kernel have no user stacks");
    else if (settings.least > settings.most)
        text_format(error, "-m %llu is more than -M %llu: no wait is both",
                    (unsigned long long)settings.least, (unsigned long long)settings.most);
    if (error->length)
        text_add(error, view->see_help);
    return error->length ? -EINVAL : 0;
}

static int run_view(const struct arguments *arguments, const struct view *view)
{
    struct tracing tracing = {
        .view = view,
        .waits = {
            .view = view->view,
            .least = settings.least * 1000,
            .most = settings.most == UINT64_MAX ? UINT64_MAX : settings.most * 1000 + 999,
            .unfinished = settings.unfinished,
            .map = -1,
        },
        .switches = TRACEPOINT_NONE,
        .wakings = TRACEPOINT_NONE,
        .tracefs = -1,
    };
    struct text error = {0};
    int status = EXIT_USAGE;

    tracing.waits.store = &tracing.counting.store;
    if (check_usage(arguments, view, &error))
        say("%s", error.data ? error.data : "out of memory");
    else
        status = open_and_count(&tracing);
    text_free(&error);
    return status;
}

static int run_offcputime(const struct arguments *arguments)
{
    return run_view(arguments, &views[0]);
}

static int run_wakeuptime(const struct arguments *arguments)
{
    return run_view(arguments, &views[1]);
}

static int run_offwaketime(const struct arguments *arguments)
{
    return run_view(arguments, &views[2]);
}

static const struct manual_row offcputime_examples[] = {
    {"offcputime 5", "where all threads blocked, for five seconds"},
    {"offcputime -p 185 -m 1000", "waits of one process of a millisecond and more"},
    {"offcputime -K --state D 10", "the kernel's part of uninterruptible waits: disks, locks"},
    {"offcputime -f -u 10 > out.folded", "threads of programs, as input for a flame graph"},
    {"offcputime --unfinished -p 185 5", "also what a hanging process hangs in"},
    {0},
};

static const struct manual_row wakeuptime_examples[] = {
    {"wakeuptime 5", "who ended the waits of all threads, for five seconds"},
    {"wakeuptime -p 185", "those of one process, until Ctrl-C"},
    {"wakeuptime -f 10 > out.folded", "input for a flame graph"},
    {0},
};

static const struct manual_row offwaketime_examples[] = {
    {"offwaketime 5", "where all threads blocked, and who woke them, for five seconds"},
    {"offwaketime -p 185 -m 1000", "waits of one process of a millisecond and more"},
    {"offwaketime -f 10 > out.folded", "both stacks on one another, as input for a flame graph"},
    {0},
};

static const struct manual_row notes[] = {
    {NULL, "A wait is from the moment that a thread leaves its CPU, blocked, until it runs again; "
     "for wakeuptime until it is woken. It counts in the report in which it ends. A thread that "
     "was preempted does not wait, unless --state R asks for it. The number shown is the thread's."},
    {NULL, "Name, numbers and stacks of a thread are those that it had when it left; a waker's "
     "those that it had when it woke. What a device or a timer does interrupts whatever thread "
     "there is: of such a waker the name is that thread's, and the stack the kernel's alone. "
     "[no waker]: nobody was seen to wake."},
    {NULL, "-p, -t, -C, --cgroup, -u, -k and --state select threads as they leave; whoever wakes "
     "them is shown."},
    {NULL, "It needs root, or CAP_BPF and CAP_PERFMON and the right to read tracefs, which need "
     "not be mounted: then it is mounted for this process alone."},
    {NULL, "Stacks of user programs are found by frame pointers: code that was compiled without "
     "them hides its callers."},
    {0},
};

static const struct manual_section sections[] = {{0}};

#define OFFWAKE_APPLET(word, sentence, paragraph) {                                                \
    .name = #word,                                                                                 \
    .summary = sentence,                                                                           \
    .usage = "[options] [SECONDS] [-- COMMAND [ARG]...]",                                          \
    .about = paragraph " It runs for so many seconds, or until Ctrl-C, and then prints the sums " \
             "in microseconds, the greatest last.",                                                \
    .sections = sections,                                                                          \
    .examples = word##_examples,                                                                   \
    .notes = notes,                                                                                \
    .options = options,                                                                            \
    .settings = &settings,                                                                         \
    .run = run_##word,                                                                             \
}

const struct applet offcputime_applet = OFFWAKE_APPLET(
    offcputime, "sum up the time that threads block, by the stacks that block",
    "Sums up how long threads are off the CPU because they wait: for a disk, a lock, a message, a "
    "timer; by the thread and the stack with which it left the CPU.");

const struct applet wakeuptime_applet = OFFWAKE_APPLET(
    wakeuptime, "sum up the time that threads block, by the stacks that wake them",
    "Sums up how long threads wait until they are woken, by who wakes them: its name and stack, "
    "with the name of the thread that waited.");

const struct applet offwaketime_applet = OFFWAKE_APPLET(
    offwaketime, "sum up the time that threads block, by both stacks: who blocks, and who wakes",
    "Sums up how long threads are off the CPU because they wait, by the thread and stack that "
    "waited, together with the thread and stack that ended it.");
