/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Applets treat all collectors alike: two collectors of made-up events, without a kernel, and the
 * reports and events that applets make from them.
 */
#include "collect/collector.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "base/reading.h"
#include "run/counting.h"
#include "run/event_printer.h"
#include "test.h"

#define COMM "made-up"

/* Generated code in anonymous memory, with names in a JIT's perf map. */
static uint64_t code;
static char map_path[64];

static bool make_code_up(void)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    code = (uintptr_t)memory;
    snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", (int)getpid());
    FILE *map = memory == MAP_FAILED ? NULL : fopen(map_path, "w");
    return map && fprintf(map, "%llx 10 made_up_leaf\n%llx 10 made_up_root\n", (unsigned long long)code,
                          (unsigned long long)code + 16) > 0 && !fclose(map);
}

static void stack_of(uint64_t frames[2])
{
    frames[0] = code + 4;
    frames[1] = code + 20;
}

/* ---- A collector that counts ---- */

struct counter {
    struct collector collector;
    struct text calls; /* in order, a letter each */
    unsigned collected;
    uint64_t counted, lost;
};

static struct counter *counter_of(struct collector *collector)
{
    return (struct counter *)collector;
}

static int open_counter(struct collector *collector, struct text *why)
{
    (void)why;
    text_add(&counter_of(collector)->calls, "o");
    return 0;
}

static int refuse(struct collector *collector, struct text *why)
{
    (void)collector;
    text_add(why, "cannot make anything up: I have no idea");
    return -ENOENT;
}

static int start_counter(struct collector *collector)
{
    text_add(&counter_of(collector)->calls, "s");
    return 0;
}

/* Each report has seven events, one without a stack, and an eighth that is lost. */
static int collect(struct collector *collector, bool again, struct tally *tally)
{
    struct counter *counter = counter_of(collector);
    uint64_t frames[2];

    stack_of(frames);
    text_add(&counter->calls, again ? "a" : "e");
    for (unsigned i = 0; i < 2; i++) {
        struct tally_entry *entry = tally_add(tally);
        if (!entry)
            return -ENOMEM;
        entry->value = entry->events = i ? 6 : 1;
        entry->task.pid = entry->task.tid = (uint32_t)getpid();
        memcpy(entry->task.comm, COMM, sizeof(COMM));
        if (i && tally_add_stack(tally, &entry->task.user, frames, COUNT_OF(frames)))
            return -ENOMEM;
    }
    counter->collected++;
    counter->counted += 7;
    counter->lost++;
    return 0;
}

static enum tally_news look(struct collector *collector)
{
    (void)collector;
    return NOTHING_NEW;
}

static int settle(struct collector *collector)
{
    (void)collector;
    return 0;
}

static void account(struct collector *collector, struct collector_account *account)
{
    const struct counter *counter = (const struct counter *)collector;

    *account = (struct collector_account){
        .seen = counter->counted + counter->lost,
        .counted = counter->counted,
        .lost = counter->lost,
        .bytes = 4096,
        .depth = 2,
    };
}

static void add_losses(const struct collector *collector, struct losses *losses)
{
    const struct counter *counter = (const struct counter *)collector;

    losses_add(losses, &(struct loss){.count = counter->lost, .beside = true},
               "were forgotten: it happens");
}

static void describe(const struct collector *collector, bool again, struct text *lines)
{
    (void)collector, (void)again;
    text_add(lines, "made up\n");
}

static void close_counter(struct collector *collector)
{
    text_add(&counter_of(collector)->calls, "c");
}

#define COUNTER_CALLS \
    .start = start_counter, .account = account, .add_losses = add_losses, .describe = describe, \
    .close = close_counter

static const struct collector_calls counter_calls = {.open = open_counter, COUNTER_CALLS};
static const struct collector_calls refusing_calls = {.open = refuse, COUNTER_CALLS};
static const struct counter_calls counting_calls = {.look = look, .settle = settle, .collect = collect};

/* ---- Runs, and their messages ---- */

static char scratch[] = "/tmp/collector.XXXXXX";

static char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", scratch, name);
    return path;
}

static int redirect(int fd, const char *name)
{
    int kept = dup(fd), to = open(path_of(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    fflush(stdout);
    dup2(to, fd);
    close(to);
    return kept;
}

static void put_back(int fd, int kept)
{
    fflush(stdout);
    dup2(kept, fd);
    close(kept);
}

/* A file's text, which the caller frees. */
static struct text text_of(const char *name)
{
    struct text text = {0};

    CHECK_NUMBER(read_file(AT_FDCWD, path_of(name), 1 << 20, &text), 0);
    return text;
}

static bool holds(const char *name, const char *what)
{
    struct text text = text_of(name);
    bool found = text.data && strstr(text.data, what);

    if (!found)
        printf("  %s: \"%s\"\n", name, text.data ? text.data : "");
    text_free(&text);
    return found;
}

static void count_with(struct counter *counter, struct trace_options *options, int *status)
{
    static char *line[] = {(char *)"collector", NULL};
    AUTO_TEXT error = {0};
    struct counting counting;

    options->line = line;
    CHECK_NUMBER(trace_options_choose_files(options, &error), 0);
    int out = redirect(STDOUT_FILENO, "out"), err = redirect(STDERR_FILENO, "err");
    *status = counting_open(&counting, &(struct session_config){
        .options = options,
        .collecting.way = COLLECT_BPF,
    }, &counter->collector);
    counting.report.show_process = true;
    counting.report.measure = (struct report_measure){.events = "events"};
    if (!*status)
        *status = counting_start(&counting);
    if (!*status)
        *status = counting_run(&counting);
    if (!*status)
        counting_say_account(&counting, 0);
    *status = counting_close(&counting, *status);
    put_back(STDERR_FILENO, err);
    put_back(STDOUT_FILENO, out);
}

TEST(a_report_of_it)
{
    struct trace_options options = TRACE_OPTIONS_DEFAULTS;
    struct counter counter = {.collector = {.calls = &counter_calls, .counter = &counting_calls}};
    struct text out;
    int status;

    options.user_only = options.folded = true;
    options.duration = 20000000;
    count_with(&counter, &options, &status);
    CHECK_NUMBER(status, 0);
    CHECK_STRING(counter.calls.data, "osec");
    out = text_of("out");
    CHECK_STRING(out.data, COMM ";[no user stack] 1\n" COMM ";made_up_root;made_up_leaf 6\n");
    text_free(&out);
    CHECK(holds("err", "1 of 8 events, 12 %, were forgotten: it happens"));
    text_free(&counter.calls);
}

/* Every report has what was collected for it, and the account adds up. */
TEST(reports_at_intervals)
{
    struct trace_options options = TRACE_OPTIONS_DEFAULTS;
    struct counter counter = {.collector = {.calls = &counter_calls, .counter = &counting_calls}};
    unsigned lines = 0;
    struct text out;
    int status;

    options.user_only = options.folded = options.debug = true;
    options.duration = 600000000; /* long enough for two, even if this process waits for a CPU */
    options.interval = 30000000;
    count_with(&counter, &options, &status);
    CHECK_NUMBER(status, 0);
    CHECK(counter.collected >= 2);
    out = text_of("out");
    for (const char *at = out.data; at && (at = strstr(at, "made_up_leaf 6\n")); at++)
        lines++;
    CHECK_NUMBER(lines, counter.collected);
    text_free(&out);
    CHECK(!strncmp(counter.calls.data, "osa", 3));
    CHECK_STRING(counter.calls.data + counter.calls.length - 2, "ec");
    CHECK(holds("err", "made up\n"));
    char whole[128];
    snprintf(whole, sizeof(whole), "account: %u seen = %u counted + 0 filtered out + %u lost",
             counter.collected * 8, counter.collected * 7, counter.collected);
    CHECK(holds("err", whole));
    text_free(&counter.calls);
}

TEST(a_refusal)
{
    struct trace_options options = TRACE_OPTIONS_DEFAULTS;
    struct counter counter = {.collector = {.calls = &refusing_calls, .counter = &counting_calls}};
    int status;

    options.folded = true;
    options.duration = 20000000;
    count_with(&counter, &options, &status);
    CHECK_NUMBER(status, EXIT_FAILURE);
    CHECK_STRING(counter.calls.data, "c");
    CHECK(holds("err", "cannot make anything up: I have no idea\n"));
    text_free(&counter.calls);
}

/* ---- A collector of single events ---- */

struct events {
    struct collector collector;
    int fds[2]; /* a pipe; each byte is an event */
    uint64_t handed;
};

static int open_events(struct collector *collector, struct text *why)
{
    struct events *events = (struct events *)collector;

    (void)why;
    return pipe2(events->fds, O_NONBLOCK | O_CLOEXEC);
}

static int start_events(struct collector *collector)
{
    return write(((struct events *)collector)->fds[1], "12", 2) == 2 ? 0 : -EIO;
}

/* Out of order: the later ones first. */
static int read_events(struct collector *collector, collector_take *take, void *context)
{
    struct events *events = (struct events *)collector;
    union {
        struct snoop_record record;
        char room[SNOOP_RECORD_BYTES(1, 2)];
    } event = {.record = {.tid = 7, .cpu = 3, .comm = COMM, .kernel_bytes = -ENOENT}};
    int count = 0, result = 0;
    char byte;

    event.record.pid = (uint32_t)getpid();
    while (!result && read(events->fds[0], &byte, 1) == 1) {
        event.record.time = 5000000000 - 1000000 * events->handed++;
        event.record.user_bytes = 2 * sizeof(uint64_t);
        stack_of(event.record.frames);
        result = take(context, &event.record, sizeof(event.room));
        count++;
    }
    return result ? result : count;
}

static int event_fd(const struct collector *collector, size_t index)
{
    return index ? -1 : ((const struct events *)collector)->fds[0];
}

static uint64_t settled(const struct collector *collector)
{
    return ((const struct events *)collector)->handed ? UINT64_MAX : 0;
}

static bool is_behind(const struct collector *collector)
{
    (void)collector;
    return false;
}

static int stop(struct collector *collector)
{
    (void)collector;
    return 0;
}

static void account_events(struct collector *collector, struct collector_account *account)
{
    *account = (struct collector_account){.seen = ((const struct events *)collector)->handed};
    account->counted = account->seen;
    account->depth = 2;
}

static void add_no_losses(const struct collector *collector, struct losses *losses)
{
    (void)collector, (void)losses;
}

static void close_events(struct collector *collector)
{
    close(((struct events *)collector)->fds[0]);
    close(((struct events *)collector)->fds[1]);
}

static const struct collector_calls events_calls = {
    .open = open_events,
    .start = start_events,
    .account = account_events,
    .add_losses = add_no_losses,
    .describe = describe,
    .close = close_events,
};

static const struct event_source_calls delivering_calls = {
    .fd = event_fd,
    .read = read_events,
    .settled = settled,
    .is_behind = is_behind,
    .stop = stop,
};

TEST(events_one_by_one)
{
    static char *line[] = {(char *)"collector", NULL};
    struct trace_options options = TRACE_OPTIONS_DEFAULTS;
    struct event_printer_config config = {
        .session = {.options = &options, .collecting.way = COLLECT_RINGS, .data_on_stdout = true},
        .most = 2,
    };
    struct events events = {
        .collector = {.calls = &events_calls, .events = &delivering_calls, .wakes_at_once = true}};
    struct place place = {.kind = PLACE_TRACEPOINT, .name = (char *)"made:up"};
    struct places places = {.items = &place, .count = 1};
    struct event_printer printer;

    options.user_only = options.debug = true;
    options.line = line;
    options.duration = 10000000000;
    int out = redirect(STDOUT_FILENO, "out"), err = redirect(STDERR_FILENO, "err");
    int status = event_printer_open(&printer, &config, &events.collector);
    if (!status)
        status = event_printer_start(&printer);
    if (!status)
        status = event_printer_run(&printer, &places);
    event_printer_say_losses(&printer, 0);
    status = event_printer_close(&printer, status);
    put_back(STDERR_FILENO, err);
    put_back(STDOUT_FILENO, out);
    CHECK_NUMBER(status, 0);
    struct text text = text_of("out");
    const char *first = text.data ? strstr(text.data, "0.000000") : NULL;
    const char *second = first ? strstr(first, "0.001000") : NULL;
    CHECK(first && second && strstr(first, "made_up_leaf") < second);
    CHECK(second && strstr(second, "made_up_root") && strstr(second, "made:up") && strstr(second, COMM));
    text_free(&text);
    CHECK(holds("err", "account: 2 seen = 2 recorded + 0 filtered out + 0 lost; 2 printed"));
}

int main(void)
{
    if (!mkdtemp(scratch) || !make_code_up())
        return 1;
    run_tests();
    unlink(path_of("out"));
    unlink(path_of("err"));
    rmdir(scratch);
    unlink(map_path);
    return tests_done();
}
