/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "snooping/snooping.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "options/applet.h"
#include "processes/process.h"
#include "session/progress.h"
#include "snooping/held.h"

/*
 * While events come, the buffer is read this often, without a wakeup for each event; and printed
 * text is written this often.
 */
#define TURN_NS 10000000
#define FLUSH_NS 100000000
/* Perf buffers wake nobody until they are half full. */
#define PERF_TURN_NS 50000000
#define FORGET_NS 1000000000
/* How many records are named at a time: limits the memory. */
#define SLICE 512
#define MOST_UNWRITTEN 65536

/* ---- Opening ---- */

static uint64_t real_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int open_collector(struct snooping *snooping)
{
    const struct collector_calls *calls = snooping->collector->calls;
    struct text text = {0};
    int result = calls->open(snooping->collector, &text);

    if (result)
        say("%s", text_or_error(&text, result));
    else if (snooping->options->debug)
        calls->describe(snooping->collector, false, &text);
    if (!result)
        say_lines(&text);
    text_free(&text);
    return result ? EXIT_FAILURE : 0;
}

static int event_fd(const struct snooping *snooping, size_t index)
{
    return snooping->collector->calls->fd(snooping->collector, index);
}

static uint64_t settled(const struct snooping *snooping)
{
    return snooping->collector->calls->settled(snooping->collector);
}

static int watch(const struct snooping *snooping, int operation, int fd, uint32_t events)
{
    struct epoll_event wanted = {.events = events, .data.fd = fd};

    return epoll_ctl(snooping->epoll, operation, fd, &wanted) ? -errno : 0;
}

/* The run watches one descriptor: this combines everything that can wake us. */
static int open_watch(struct snooping *snooping)
{
    struct processes *processes = snooping->session.processes;
    int result = 0, fd;

    snooping->epoll = epoll_create1(EPOLL_CLOEXEC);
    snooping->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (snooping->epoll < 0 || snooping->timer < 0)
        return -errno;
    if (processes && processes_fd(processes) >= 0)
        result = watch(snooping, EPOLL_CTL_ADD, processes_fd(processes), EPOLLIN);
    if (!result)
        result = watch(snooping, EPOLL_CTL_ADD, snooping->timer, EPOLLIN);
    for (size_t i = 0; !result && (fd = event_fd(snooping, i)) >= 0; i++)
        result = watch(snooping, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLONESHOT);
    run_watch(&snooping->session.run, snooping->epoll);
    return result;
}

static uint32_t depth_of(const struct snooping *snooping)
{
    struct collector_account account;

    snooping->collector->calls->account(snooping->collector, &account);
    return account.depth;
}

int snooping_open(struct snooping *snooping, const struct snooping_wishes *wishes,
                  struct collector *collector)
{
    const struct trace_options *options = wishes->options;
    const struct session_wishes session = {.options = options, .data_on_stdout = true};
    int status, result;

    *snooping = (struct snooping){
        .options = options,
        .text.options = {
            .format = wishes->format,
            .kernel = !options->user_only,
            .user = !options->kernel_only,
            .delimited = options->delimited,
            .wall_clock = options->timestamp,
            .offset = options->offset,
            .verbose = options->verbose,
            .annotations = options->annotations,
        },
        .most = wishes->most,
        .collector = collector,
        .epoll = -1,
        .timer = -1,
    };
    status = session_open(&snooping->session, &session);
    if (!status)
        status = open_collector(snooping);
    if (!status)
        status = session_follow_processes(&snooping->session, depth_of(snooping));
    if (status)
        return status;
    result = open_watch(snooping);
    if (result)
        say("cannot start: %s", strerror(-result));
    return result ? EXIT_FAILURE : 0;
}

int snooping_close(struct snooping *snooping, int status)
{
    snooping->collector->calls->close(snooping->collector);
    status = session_close(&snooping->session, status);
    timeline_free(&snooping->timeline);
    event_text_close(&snooping->text);
    text_free(&snooping->out);
    if (snooping->epoll >= 0)
        close(snooping->epoll);
    if (snooping->timer >= 0)
        close(snooping->timer);
    return status;
}

/* ---- Reading ---- */

static int take_event(void *context, const struct snoop_record *record, size_t size)
{
    struct snooping *snooping = context;

    return timeline_add(&snooping->timeline, record->time, record, size);
}

static int read_events(struct snooping *snooping)
{
    return snooping->collector->calls->read(snooping->collector, take_event, snooping);
}

/* ---- Printing ---- */

/* If somebody else's descriptor is non-blocking, waits for it. */
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

static int flush(struct snooping *snooping)
{
    struct text *out = &snooping->out;
    size_t written = 0;
    int result = out->failed ? -ENOMEM : 0;

    while (!result && written < out->length)
        result = write_some(out->data + written, out->length - written, &written);
    text_clear(out);
    snooping->flushed = now_ns();
    return result;
}

/* Names and prints the first `count` that wait. */
static int print_slice(struct snooping *snooping, size_t count)
{
    struct session *session = &snooping->session;
    const struct symbolize_wishes wishes = {
        .kallsyms = session->kallsyms,
        .preferred = snooping->traced,
        .preferred_count = snooping->traced_count,
        .processes = session->processes,
        .readable = trace_options_names(snooping->options),
        .symfs = snooping->options->symfs,
    };
    session_before_names(session);
    int result = event_text_add(&snooping->text, &snooping->timeline, count, &wishes,
                                &session->notes, &snooping->out);

    timeline_give(&snooping->timeline, count);
    snooping->printed += count;
    return result;
}

static bool has_enough(const struct snooping *snooping)
{
    return snooping->most && snooping->printed >= snooping->most;
}

/* Prints everything that nothing can precede any more; at the end nothing is held back. */
static int print_ready(struct snooping *snooping, uint64_t until)
{
    size_t ready = timeline_ready(&snooping->timeline, until);
    int result = 0;

    if (until != UINT64_MAX)
        ready = count_not_held(&snooping->timeline, ready, snooping->session.unwinding.cold);

    while (ready && !result && !has_enough(snooping)) {
        size_t slice = ready < SLICE ? ready : SLICE;
        if (snooping->most && snooping->most - snooping->printed < slice)
            slice = (size_t)(snooping->most - snooping->printed);
        result = print_slice(snooping, slice);
        ready -= slice;
        if (!result && snooping->out.length > MOST_UNWRITTEN)
            result = flush(snooping);
    }
    return result;
}

/* ---- Turns ---- */

/* Reading resets the descriptors that woke us. */
static void take_back_readable(struct snooping *snooping)
{
    struct epoll_event woken[16];
    uint64_t times;
    int count;

    do
        count = epoll_wait(snooping->epoll, woken, COUNT_OF(woken), 0);
    while (count == COUNT_OF(woken));
    (void)!read(snooping->timer, &times, sizeof(times));
}

static void wake_in(const struct snooping *snooping, uint64_t ns)
{
    const struct itimerspec when = {
        .it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)},
    };

    timerfd_settime(snooping->timer, 0, &when, NULL);
}

/*
 * While there is something to do, the timer wakes us; otherwise the next record does, for which
 * buffers are armed again.
 */
static int plan_next_turn(struct snooping *snooping, bool is_busy)
{
    bool at_once = snooping->collector->calls->wakes_at_once(snooping->collector);
    int result = 0, fd;

    if (is_busy || !at_once)
        wake_in(snooping, is_busy ? TURN_NS : PERF_TURN_NS);
    else if (snooping->out.length)
        wake_in(snooping, FLUSH_NS);
    if (is_busy && at_once)
        return 0;
    for (size_t i = 0; !result && (fd = event_fd(snooping, i)) >= 0; i++)
        result = watch(snooping, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT);
    return result;
}

/*
 * Processes that ended before the last time can be forgotten, once everything from before then is
 * printed: no later record can be theirs.
 */
static void forget(struct snooping *snooping, uint64_t now)
{
    struct processes *processes = snooping->session.processes;

    if (!processes || now - snooping->forgotten < FORGET_NS ||
        settled(snooping) < snooping->forgotten)
        return;
    processes_forget(processes);
    snooping->forgotten = now;
}

/* Part of a turn's time, for tables. */
#define MOST_TABLES_NS 20000000
/* And at the end. */
#define LAST_TABLES_NS 10000000000

static int take_turn(struct snooping *snooping)
{
    struct processes *processes = snooping->session.processes;

    take_back_readable(snooping);
    int result = processes ? processes_read(processes) : 0;
    unwinding_look(&snooping->session.unwinding, MOST_TABLES_NS);
    if (!result)
        result = read_events(snooping);
    unwinding_settle(&snooping->session.unwinding, 0);
    bool is_busy = result > 0 || snooping->collector->calls->is_behind(snooping->collector);
    if (result >= 0)
        result = print_ready(snooping, settled(snooping));
    uint64_t now = now_ns();
    if (!result && snooping->out.length && now - snooping->flushed >= FLUSH_NS)
        result = flush(snooping);
    if (!result)
        forget(snooping, now);
    is_busy = is_busy || timeline_waiting(&snooping->timeline);
    return result ? result : plan_next_turn(snooping, is_busy);
}

/* Prints everything that was recorded. */
static int finish(struct snooping *snooping)
{
    int result = snooping->collector->calls->stop(snooping->collector);

    if (!result && snooping->session.processes)
        result = processes_read(snooping->session.processes);
    while (!result && (result = read_events(snooping)) > 0)
        result = 0;
    snooping->has_all = !result;
    unwinding_settle(&snooping->session.unwinding, LAST_TABLES_NS);
    if (!result)
        result = print_ready(snooping, UINT64_MAX);
    return result ? result : flush(snooping);
}

/* Shows progress, if wanted. */
static void tick(const struct snooping *snooping)
{
    struct collector_account account;

    if (!progress_is_due())
        return;
    snooping->collector->calls->account(snooping->collector, &account);
    const struct progress_figures figures = {
        .elapsed = run_elapsed(&snooping->session.run),
        .duration = (double)snooping->options->duration / 1e9,
        .counted = true,
        .no_stacks = true,
        .events = snooping->printed,
        .lost = account.lost,
    };
    progress_show(&figures);
}

static int print_all(struct snooping *snooping)
{
    int result = 0;

    while (!result && !has_enough(snooping)) {
        enum run_event event = run_wait(&snooping->session.run);
        if (event == RUN_END)
            break;
        if (event == RUN_TICK)
            tick(snooping);
        else
            result = take_turn(snooping);
        if (!result && event == RUN_REPORT)
            result = flush(snooping);
    }
    return result ? result : finish(snooping);
}

int snooping_start(struct snooping *snooping)
{
    session_await_tables(&snooping->session);
    int result = snooping->collector->calls->start(snooping->collector);

    if (!result && !snooping->collector->calls->wakes_at_once(snooping->collector))
        wake_in(snooping, PERF_TURN_NS); /* CPUs may come online before there is any record */
    if (!result)
        return 0;
    say("cannot record events: %s", strerror(-result));
    return EXIT_FAILURE;
}

int snooping_run(struct snooping *snooping, const struct places *places, uint32_t depth)
{
    struct event_text *text = &snooping->text;
    int result = event_text_open(text, places, trace_options_names(snooping->options));

    for (size_t i = 0; i < text->place_count && snooping->values; i++)
        text->places[i].values = &snooping->values->found[attach_program_of(&places->items[i])];
    text->value_names = snooping->values ? snooping->values->asked.values : NULL;
    text->depth = depth;
    text->cold = snooping->session.unwinding.cold;
    text->has_clock = text->options.wall_clock;
    if (text->has_clock)
        text->clock_offset = real_ns() - now_ns();
    records_add_header(&snooping->out, &text->options);
    if (!result)
        result = flush(snooping);
    if (progress_is_wanted())
        run_tick(&snooping->session.run, PROGRESS_TICK_NS);
    session_shed_rights();
    run_start(&snooping->session.run);
    if (!result)
        result = print_all(snooping);
    progress_clear();
    if (!result && !snooping->printed)
        say("no events in %.1f s", run_elapsed(&snooping->session.run));
    if (!result || result == -EPIPE)
        return 0; /* the reader is gone: not an error, and nobody to tell */
    say("cannot print events: %s", strerror(-result));
    return EXIT_FAILURE;
}
