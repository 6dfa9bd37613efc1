/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "processes/process.h"
#include "run/progress.h"
#include "run/event_printer.h"
#include "store/recorder.h"

/*
 * While events come, the buffer is read this often, without a wakeup for each event; and printed
 * text is written this often.
 */
#define TURN_NS 10000000
#define FLUSH_NS 100000000
/* Perf buffers send no wakeup until they are half full. */
#define PERF_TURN_NS 50000000
#define FORGET_NS 1000000000
/* How many records are named at a time: limits the memory. */
#define SLICE 512
#define MOST_UNWRITTEN 65536

/* ---- Opening ---- */

static int open_collector(struct event_printer *printer)
{
    const struct collector_calls *calls = printer->collector->calls;
    struct text text = {0};
    int result = calls->open(printer->collector, &text);

    if (result)
        say("%s", text_or_error(&text, result));
    else if (printer->options->debug)
        calls->describe(printer->collector, false, &text);
    if (!result)
        say_lines(&text);
    text_free(&text);
    return result ? EXIT_FAILURE : 0;
}

static int event_fd(const struct event_printer *printer, size_t index)
{
    return printer->collector->events->fd(printer->collector, index);
}

static uint64_t settled(const struct event_printer *printer)
{
    return printer->collector->events->settled(printer->collector);
}

static int watch(const struct event_printer *printer, int operation, int fd, uint32_t events)
{
    struct epoll_event wanted = {.events = events, .data.fd = fd};

    return epoll_ctl(printer->epoll, operation, fd, &wanted) ? -errno : 0;
}

/* The run watches one descriptor: this combines everything that can wake us. */
static int open_watch(struct event_printer *printer)
{
    struct processes *processes = printer->session.processes;
    int result = 0, fd;

    printer->epoll = epoll_create1(EPOLL_CLOEXEC);
    printer->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (printer->epoll < 0 || printer->timer < 0)
        return -errno;
    if (processes && processes_fd(processes) >= 0)
        result = watch(printer, EPOLL_CTL_ADD, processes_fd(processes), EPOLLIN);
    if (!result)
        result = watch(printer, EPOLL_CTL_ADD, printer->timer, EPOLLIN);
    for (size_t i = 0; !result && (fd = event_fd(printer, i)) >= 0; i++)
        result = watch(printer, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLONESHOT);
    printer->session.run.watched = printer->epoll;
    return result;
}

int event_printer_open(struct event_printer *printer, const struct event_printer_config *config,
                       struct collector *collector)
{
    const struct trace_options *options = config->session.options;
    int status, result;

    *printer = (struct event_printer){
        .options = options,
        .text.options = {
            .format = config->format,
            .kernel = !options->user_only,
            .user = !options->kernel_only,
            .delimited = options->delimited,
            .wall_clock = options->timestamp,
            .offset = options->offset,
            .verbose = options->verbose,
            .annotations = options->annotations,
        },
        .most = config->most,
        .collector = collector,
        .epoll = -1,
        .timer = -1,
    };
    status = session_open(&printer->session, &config->session);
    if (!status)
        status = open_collector(printer);
    if (!status)
        status = session_follow_processes(&printer->session, collector_account(collector).depth);
    if (status)
        return status;
    result = open_watch(printer);
    if (result)
        say("cannot start: %s", strerror(-result));
    return result ? EXIT_FAILURE : 0;
}

int event_printer_close(struct event_printer *printer, int status)
{
    printer->collector->calls->close(printer->collector);
    status = session_close(&printer->session, status);
    timeline_free(&printer->timeline);
    event_text_close(&printer->text);
    text_free(&printer->out);
    close_fd(printer->epoll);
    close_fd(printer->timer);
    return status;
}

/* ---- Reading ---- */

static int take_event(void *context, const struct snoop_record *record, size_t size)
{
    struct event_printer *printer = context;

    return timeline_add(&printer->timeline, record->time, record, size);
}

static int read_events(struct event_printer *printer)
{
    return printer->collector->events->read(printer->collector, take_event, printer);
}

/* ---- Printing ---- */

/*
 * Events are held for this long if their stacks wait for the tables of a program that just
 * started.
 */
#define MOST_HELD_NS 2000000000

static bool is_waiting(const struct snoop_record *record, const struct deferred *deferred)
{
    const uint32_t kernel = snoop_record_frames(record->kernel_bytes);
    const uint32_t user = snoop_record_frames(record->user_bytes);

    return user && deferred_is_waiting(deferred, record->frames[kernel + user - 1]);
}

/* How many of the `ready` events come before the first that is held. */
static size_t count_not_held(const struct event_printer *printer, size_t ready)
{
    const struct deferred *deferred = printer->session.user_stacks.deferred;
    const uint64_t now = now_ns();
    size_t size, count = 0;

    if (!deferred)
        return ready;
    processes_hold(printer->session.processes);
    for (; count < ready && deferred_waiting(deferred); count++) {
        const struct snoop_record *record = timeline_bytes(&printer->timeline, count, &size);
        if (now - record->time < MOST_HELD_NS && is_waiting(record, deferred))
            break;
    }
    if (!deferred_waiting(deferred))
        count = ready;
    processes_release(printer->session.processes);
    return count;
}

/* A descriptor shared with others may be non-blocking: waits for it. */
static int write_some(const char *bytes, size_t length, size_t *written)
{
    ssize_t count = write(STDOUT_FILENO, bytes, length);
    struct pollfd one = {.fd = STDOUT_FILENO, .events = POLLOUT};

    if (count < 0 && errno == EAGAIN)
        (void)poll(&one, 1, -1);
    else if (count < 0 && errno != EINTR)
        return -errno;
    *written += count > 0 ? (size_t)count : 0;
    return 0;
}

static int flush(struct event_printer *printer)
{
    struct text *out = &printer->out;
    size_t written = 0;
    int result = out->failed ? -ENOMEM : 0;

    while (!result && written < out->length)
        result = write_some(out->data + written, out->length - written, &written);
    text_clear(out);
    printer->flushed = now_ns();
    return result;
}

/* Names and prints the first `count` that wait. */
static int print_slice(struct event_printer *printer, size_t count)
{
    struct session *session = &printer->session;
    const struct symbolize_options config = {
        .kallsyms = session->kallsyms,
        .known = &session->known,
        .kernel = &session->kernel_names,
        .preferred = printer->traced,
        .preferred_count = printer->traced_count,
        .processes = session->processes,
        .readable = trace_options_names(printer->options),
        .symfs = printer->options->symfs,
    };
    session_before_names(session);
    int result = event_text_add(&printer->text, &printer->timeline, count, &config,
                                &session->notes, &printer->out);

    timeline_give(&printer->timeline, count);
    printer->printed += count;
    return result;
}

static bool has_enough(const struct event_printer *printer)
{
    return printer->most && printer->printed >= printer->most;
}

/* Prints all events that no earlier one can still precede; at the end holds nothing back. */
static int print_ready(struct event_printer *printer, uint64_t until)
{
    size_t ready = timeline_ready(&printer->timeline, until);
    int result = 0;

    if (until != UINT64_MAX)
        ready = count_not_held(printer, ready);

    while (ready && !result && !has_enough(printer)) {
        size_t slice = ready < SLICE ? ready : SLICE;
        if (printer->most && printer->most - printer->printed < slice)
            slice = (size_t)(printer->most - printer->printed);
        result = print_slice(printer, slice);
        ready -= slice;
        if (!result && printer->out.length > MOST_UNWRITTEN)
            result = flush(printer);
    }
    return result;
}

/* ---- Turns ---- */

/* Reading resets the descriptors that woke us. */
static void take_back_readable(struct event_printer *printer)
{
    struct epoll_event woken[16];
    uint64_t times;
    int count;

    do
        count = epoll_wait(printer->epoll, woken, COUNT_OF(woken), 0);
    while (count == COUNT_OF(woken));
    (void)!read(printer->timer, &times, sizeof(times));
}

static void wake_in(const struct event_printer *printer, uint64_t ns)
{
    const struct itimerspec when = {
        .it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)},
    };

    timerfd_settime(printer->timer, 0, &when, NULL);
}

/*
 * While there is something to do, the timer wakes us; otherwise the next record does, for which
 * buffers are armed again.
 */
static int plan_next_turn(struct event_printer *printer, bool is_busy)
{
    bool at_once = printer->collector->wakes_at_once;
    int result = 0, fd;

    if (is_busy || !at_once)
        wake_in(printer, is_busy ? TURN_NS : PERF_TURN_NS);
    else if (printer->out.length)
        wake_in(printer, FLUSH_NS);
    if (is_busy && at_once)
        return 0;
    for (size_t i = 0; !result && (fd = event_fd(printer, i)) >= 0; i++)
        result = watch(printer, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT);
    return result;
}

/*
 * Forgets processes that had ended by the last call, once all records from before that call are
 * printed: no later record can be theirs.
 */
static void forget(struct event_printer *printer, uint64_t now)
{
    struct processes *processes = printer->session.processes;

    if (!processes || now - printer->forgotten < FORGET_NS || settled(printer) < printer->forgotten)
        return;
    processes_forget(processes);
    printer->forgotten = now;
}

/* Part of a turn's time, for tables. */
#define MOST_TABLES_NS 20000000
/* And at the end. */
#define LAST_TABLES_NS 10000000000

static int take_turn(struct event_printer *printer)
{
    struct processes *processes = printer->session.processes;

    take_back_readable(printer);
    int result = processes ? processes_read(processes) : 0;
    user_stacks_look(&printer->session.user_stacks, MOST_TABLES_NS);
    if (!result)
        result = read_events(printer);
    user_stacks_settle(&printer->session.user_stacks, 0);
    bool is_busy = result > 0 || printer->collector->events->is_behind(printer->collector);
    if (result >= 0)
        result = print_ready(printer, settled(printer));
    uint64_t now = now_ns();
    if (!result && printer->out.length && now - printer->flushed >= FLUSH_NS)
        result = flush(printer);
    if (!result)
        forget(printer, now);
    is_busy = is_busy || timeline_waiting(&printer->timeline);
    return result ? result : plan_next_turn(printer, is_busy);
}

/* Prints everything that was recorded. */
static int finish(struct event_printer *printer)
{
    int result = printer->collector->events->stop(printer->collector);

    if (!result && printer->session.processes)
        result = processes_read(printer->session.processes);
    while (!result && (result = read_events(printer)) > 0)
        result = 0;
    printer->has_all = !result;
    user_stacks_settle(&printer->session.user_stacks, LAST_TABLES_NS);
    if (!result)
        result = print_ready(printer, UINT64_MAX);
    return result ? result : flush(printer);
}

/* Shows progress, if wanted. */
static void tick(const struct event_printer *printer)
{
    if (printer->session.processes)
        processes_look_at_cpus(printer->session.processes, false);
    if (!progress_is_wanted() || !progress_is_due())
        return;
    const struct progress_figures figures = {
        .elapsed = run_elapsed(&printer->session.run),
        .duration = (double)printer->options->duration / 1e9,
        .counted = true,
        .no_stacks = true,
        .events = printer->printed,
        .lost = collector_account(printer->collector).lost,
    };
    progress_show(&figures);
}

static int print_all(struct event_printer *printer)
{
    int result = 0;

    while (!result && !has_enough(printer)) {
        enum run_event event = run_wait(&printer->session.run);
        if (event == RUN_END)
            break;
        if (event == RUN_TICK)
            tick(printer);
        else
            result = take_turn(printer);
        if (!result && event == RUN_REPORT)
            result = flush(printer);
    }
    return result ? result : finish(printer);
}

int event_printer_start(struct event_printer *printer)
{
    session_await_tables(&printer->session);
    int result = printer->collector->calls->start(printer->collector);

    if (!result && !printer->collector->wakes_at_once)
        wake_in(printer, PERF_TURN_NS); /* CPUs may come online before there is any record */
    if (!result)
        return 0;
    return fail_saying("cannot record events: %s", strerror(-result));
}

int event_printer_run(struct event_printer *printer, const struct places *places)
{
    struct event_text *text = &printer->text;
    int result = event_text_open(text, places, trace_options_names(printer->options));

    for (size_t i = 0; i < text->place_count && printer->values; i++)
        text->places[i].values = &printer->values->found[attach_program_of(&places->items[i])];
    text->value_names = printer->values ? printer->values->asked.values : NULL;
    text->depth = collector_account(printer->collector).depth;
    text->deferred = printer->session.user_stacks.deferred;
    text->has_clock = text->options.wall_clock;
    if (text->has_clock)
        text->clock_offset = clock_ns(CLOCK_REALTIME) - now_ns();
    records_add_header(&printer->out, &text->options);
    if (!result)
        result = flush(printer);
    printer->session.run.tick = PROGRESS_TICK_NS;
    session_shed_rights(&printer->session);
    run_start(&printer->session.run);
    if (!result)
        result = print_all(printer);
    progress_clear();
    if (!result && !printer->printed)
        say("no events in %.1f s", run_elapsed(&printer->session.run));
    if (!result || result == -EPIPE)
        return 0; /* the reader is gone: not an error, and no line would be read */
    return fail_saying("cannot print events: %s", strerror(-result));
}

/* What became of the events seen: printed if asked for, or if it does not add up. */
static void say_account(const struct event_printer *printer, uint64_t missed)
{
    const struct collector_account account = collector_account(printer->collector);

    if (printer->options->debug)
        say("account: %llu seen = %llu recorded + %llu filtered out + %llu lost; %llu printed; "
            "%llu missed by the kernel", (unsigned long long)account.seen,
            (unsigned long long)account.counted, (unsigned long long)account.filtered,
            (unsigned long long)account.lost, (unsigned long long)printer->printed,
            (unsigned long long)missed);
    if (printer->has_all && account.unknown)
        say("the account does not add up: of %llu events seen, %lld are neither recorded nor "
            "known to be lost; please report this", (unsigned long long)account.seen,
            (long long)account.unknown);
}

void event_printer_say_losses(const struct event_printer *printer, uint64_t missed)
{
    const struct loss kept = {.count = missed, .at_most = true, .beside = true};
    const struct loss late = {.count = printer->timeline.late};
    struct losses losses = {0};
    struct text lines = {0};

    printer->collector->calls->add_losses(printer->collector, &losses);
    losses_add(&losses, &kept, "were missed: they hit while a BPF program was already running "
                                "on that CPU");
    losses_add(&losses, &late, "are out of order: this machine's clock went back");
    losses_add_lines(&losses, &lines);
    user_stacks_add_lines(&printer->session.user_stacks, printer->options->debug, &lines);
    say_lines(&lines);
    text_free(&lines);
    losses_free(&losses);
    say_account(printer, missed);
    session_say_names_lost(&printer->session);
}

int timeline_add(struct timeline *timeline, uint64_t time, const void *bytes, size_t size)
{
    size_t whole = (size + 7) & ~(size_t)7;

    if (ARRAY_RESERVE(timeline->entries, timeline->room, timeline->count + 1) ||
        ARRAY_RESERVE(timeline->bytes, timeline->bytes_room, timeline->used + whole))
        return -ENOMEM;
    if (size)
        memcpy(timeline->bytes + timeline->used, bytes, size);
    timeline->entries[timeline->count++] =
        (struct timeline_entry){.time = time, .at = timeline->used, .size = size};
    timeline->used += whole;
    timeline->is_sorted = false;
    timeline->late += time < timeline->last;
    return 0;
}

/* What was added first comes first in `bytes`. */
static int compare_entries(const void *left, const void *right)
{
    const struct timeline_entry *a = left, *b = right;

    return order_of(a->time, b->time) ?: order_of(a->at, b->at);
}

size_t timeline_ready(struct timeline *timeline, uint64_t until)
{
    struct timeline_entry *waiting = timeline->entries + timeline->given;
    size_t count = timeline_waiting(timeline), ready = 0;

    if (!count)
        return 0;
    if (!timeline->is_sorted)
        qsort(waiting, count, sizeof(*waiting), compare_entries);
    timeline->is_sorted = true;
    while (ready < count && waiting[ready].time <= until)
        ready++;
    return ready;
}

const void *timeline_bytes(const struct timeline *timeline, size_t index, size_t *size)
{
    const struct timeline_entry *entry = &timeline->entries[timeline->given + index];

    *size = entry->size;
    return timeline->bytes + entry->at;
}

/* Moves what waits to the front, in order, so that its memory is reused. */
static void compact(struct timeline *timeline)
{
    size_t count = timeline_waiting(timeline), used = 0;
    char *bytes = timeline->used ? malloc(timeline->used) : NULL;

    if (!bytes)
        return; /* not fatal */
    for (size_t i = 0; i < count; i++) {
        struct timeline_entry entry = timeline->entries[timeline->given + i];
        memcpy(bytes + used, timeline->bytes + entry.at, entry.size);
        entry.at = used;
        used += (entry.size + 7) & ~(size_t)7;
        timeline->entries[i] = entry;
    }
    free(timeline->bytes);
    timeline->bytes = bytes;
    timeline->bytes_room = timeline->used;
    timeline->count = count;
    timeline->given = 0;
    timeline->used = used;
}

void timeline_give(struct timeline *timeline, size_t count)
{
    if (!count)
        return;
    timeline->last = timeline->entries[timeline->given + count - 1].time;
    timeline->given += count;
    if (timeline->given == timeline->count)
        timeline->given = timeline->count = timeline->used = 0;
    else if (timeline->given > timeline->count / 2)
        compact(timeline);
}

void timeline_free(struct timeline *timeline)
{
    free(timeline->entries);
    free(timeline->bytes);
    *timeline = (struct timeline){0};
}
