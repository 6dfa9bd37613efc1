/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "counting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "applet.h"
#include "escape.h"
#include "kernel/refusal.h"
#include "symbols/process.h"
#include "symbols/symbolize.h"

/* The inode of the initial pid namespace, the same in every kernel. */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFC

/* In a container pids are numbered anew: the kernel is told by whose numbers to go. */
static void find_namespace(struct event_filter *filter)
{
    struct stat about;

    if (stat("/proc/self/ns/pid", &about) || about.st_ino == INITIAL_PID_NAMESPACE)
        return;
    filter->in_namespace = true;
    filter->namespace_device = (uint64_t)major(about.st_dev) << 20 | minor(about.st_dev);
    filter->namespace_inode = about.st_ino;
}

static int open_run(struct counting *counting)
{
    const struct trace_options *options = counting->options;
    bool by_tid = !options->pids.count && options->tids.count;
    const struct run_wishes wishes = {
        .duration = options->duration,
        .interval = options->interval,
        .pids = by_tid ? options->tids.numbers : options->pids.numbers,
        .pid_count = by_tid ? options->tids.count : options->pids.count,
    };
    uint32_t missing = 0;
    int result = run_open(&counting->run, &wishes, &missing);

    if (result == -ESRCH)
        say("there is no %s %u%s", by_tid ? "thread" : "process", missing,
            counting->filter.in_namespace ? " that can be seen from this pid namespace: pids are "
                                            "taken as they are numbered in it" : "");
    else if (result)
        say("cannot start: %s", strerror(-result));
    return result ? EXIT_FAILURE : 0;
}

static int open_store(struct counting *counting, const struct counting_wishes *programs)
{
    const struct trace_options *options = counting->options;
    const struct store_wishes wishes = {
        .by_hash = programs->user_events,
        .by_id = programs->kernel_events,
        .stacks = options->storage,
        .depth = options->depth,
        .intervals = options->interval != 0,
    };
    struct text why = {0};
    int result = store_open(&counting->store, &wishes);

    if (result) {
        refusal_explain(REFUSED_MAPS, result, store_bytes(&counting->store), &why);
        say("cannot create maps: %s", why.data ? why.data : strerror(-result));
        text_free(&why);
        return EXIT_FAILURE;
    }
    if (options->debug)
        say("maps: %u stacks (%u by their ids, %u by their hashes) of %u frames, %u counts; %llu KB "
            "in all", counting->store.stacks, counting->store.main.stack_entries,
            counting->store.main.spilled_entries, counting->store.depth,
            counting->store.main.count_entries,
            (unsigned long long)store_bytes(&counting->store) / 1024);
    return 0;
}

/* Is the depth one that this kernel gives? */
static int check_depth(const struct trace_options *options)
{
    uint64_t limit = store_depth_limit();

    if (options->depth <= limit)
        return 0;
    say("--depth: \"%llu\" is more than this kernel gives: it takes 1 to %llu "
        "(sysctl kernel.perf_event_max_stack)", (unsigned long long)options->depth,
        (unsigned long long)limit);
    return EXIT_USAGE;
}

/* Is there such a CPU? Where /sys does not tell, it is taken for one. */
static int check_cpu(const struct trace_options *options)
{
    static const char all[] = "/sys/devices/system/cpu";
    char one[64];

    snprintf(one, sizeof(one), "%s/cpu%lld", all, (long long)options->cpu);
    if (options->cpu < 0 || access(all, F_OK) || !access(one, F_OK))
        return 0;
    say("there is no CPU %lld", (long long)options->cpu);
    return EXIT_FAILURE;
}

/*
 * Who has what mapped is followed from before the first event, and whose event it is from then on is
 * told by the event itself. Without either right names of processes that exec or end may be missing.
 */
static int open_processes(struct counting *counting)
{
    const struct trace_options *options = counting->options;
    const struct processes_wishes wishes = {
        .pids = options->pids.numbers,
        .pid_count = options->pids.count,
    };

    if (options->kernel_only)
        return 0;
    if (processes_open(&counting->processes, &wishes)) {
        say("cannot start: out of memory");
        return EXIT_FAILURE;
    }
    int listening = processes_listening(counting->processes);
    int lives = lives_open(&counting->lives);
    if (options->debug && listening)
        say("processes are looked up in /proc alone: %s", strerror(-listening));
    if (options->debug && lives)
        say("execs and ends of processes are not counted: %s", strerror(-lives));
    processes_begin(counting->processes);
    run_watch(&counting->run, processes_fd(counting->processes));
    return 0;
}

static int open_cgroup(struct counting *counting)
{
    const char *path = counting->options->cgroup;
    int map = path ? store_open_cgroup(path) : 0;

    if (map >= 0) {
        counting->filter.cgroup = map;
        return 0;
    }
    if (map == -EBADF || map == -EINVAL)
        say("--cgroup: \"%s\" is no directory of cgroup v2, such as there are below /sys/fs/cgroup",
            path);
    else
        say("--cgroup: \"%s\": %s", path, strerror(-map));
    return EXIT_FAILURE;
}

int counting_open(struct counting *counting, const struct trace_options *options,
                  const struct counting_wishes *wishes)
{
    *counting = (struct counting){
        .options = options,
        .report = {
            .format = options->folded ? REPORT_FOLDED : REPORT_TEXT,
            .kernel = !options->user_only,
            .user = !options->kernel_only,
            .delimited = options->delimited,
            .offset = options->offset,
            .verbose = options->verbose,
            .annotations = options->annotations,
            .timestamp = options->timestamp,
            .time_as_root = options->timestamp && options->interval,
            .top = options->top,
        },
        .filter = {
            .pids = options->pids.numbers,
            .pid_count = options->pids.count,
            .tids = options->tids.numbers,
            .tid_count = options->tids.count,
            .cpu = options->cpu,
        },
        .kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC),
    };
    store_init(&counting->store);
    lives_init(&counting->lives);
    find_namespace(&counting->filter);
    int status = check_depth(options);
    if (!status)
        status = check_cpu(options);
    if (!status)
        status = open_run(counting);
    if (!status)
        status = open_store(counting, wishes);
    if (!status)
        status = open_cgroup(counting);
    return status ? status : open_processes(counting);
}

void counting_header(struct counting *counting, const char *what)
{
    struct text raw = {0}, line = {0};
    FILE *out = counting->options->folded ? stderr : stdout;

    text_format(&raw, "%s... Hit %s to end.", what, counting->run.by_enter ? "Enter" : "Ctrl-C");
    if (!raw.failed)
        escape_bytes(&line, raw.data, raw.length);
    if (!raw.failed && !line.failed)
        fprintf(out, "%s\n", line.data);
    /* What is wrong with stdout shows when there is something to report. */
    fflush(out);
    text_free(&raw);
    text_free(&line);
}

/* ---- Reports ---- */

static int write_report(struct counting *counting)
{
    const struct symbolize_wishes wishes = {
        .kallsyms = counting->kallsyms,
        .preferred = counting->traced,
        .preferred_count = counting->traced_count,
        .processes = counting->processes,
        .symfs = counting->options->symfs,
    };
    struct symbols symbols;
    struct report_summary summary;
    time_t now = time(NULL);
    struct tm when = {0};

    localtime_r(&now, &when);
    int result = symbols_make(&symbols, &counting->tally, &wishes, &counting->notes);
    if (!result)
        result = report_write(stdout, &counting->tally, &symbols, &counting->report, &when,
                              &summary);
    symbols_free(&symbols);
    if (!result && summary.left_blocks)
        say("--top left out %llu more stacks with %llu events",
            (unsigned long long)summary.left_blocks, (unsigned long long)summary.left_value);
    return result;
}

/* Drains what was counted since the last report and prints it. 0 or a negative errno. */
static int make_report(struct counting *counting, bool again)
{
    tally_clear(&counting->tally);
    int result = store_collect(&counting->store, again, &counting->tally, &counting->losses);

    for (size_t i = 0; i < counting->tally.count; i++)
        counting->events += counting->tally.entries[i].value;
    /* Looking addresses up takes in first what the kernel told until now. */
    if (!result)
        result = write_report(counting);
    if (counting->processes)
        processes_forget(counting->processes);
    return result;
}

/* Why frames have no names that could have. */
static void say_names_lost(const struct counting *counting)
{
    const struct symbolize_notes *notes = &counting->notes;
    struct processes_lost lost = {0};

    if (counting->processes)
        lost = processes_lost(counting->processes);
    if (lost.records)
        say("%llu records of what processes did were lost: some user frames may have no name, or "
            "that of an earlier program", (unsigned long long)lost.records);
    if (lost.forgotten)
        say("%llu ended programs were forgotten before the report: their frames have no names; "
            "shorter intervals (-i) help", (unsigned long long)lost.forgotten);
    if (lost.files)
        say("%llu files were not opened, for want of descriptors: their functions have no names; "
            "raise the limit (ulimit -n)", (unsigned long long)lost.files);
    if (lives_missed(&counting->lives))
        say("%llu execs and ends of processes were missed by the kernel: frames of those may have "
            "wrong names", (unsigned long long)lives_missed(&counting->lives));
    if (notes->refused_map.length)
        say("names of a just-in-time compiler are ignored: %s", notes->refused_map.data);
    if (notes->changed_file.length)
        say("%s was written to since it was mapped: its functions have no names",
            notes->changed_file.data);
    if (notes->unopened_file.length)
        say("functions of a file have no names%s: %s",
            notes->more_unopened ? ", and those of others" : "", notes->unopened_file.data);
    if (notes->kernel_hidden && counting->kallsyms < 0)
        say("/proc/kallsyms cannot be read, so the kernel's functions have no names: is /proc "
            "mounted?");
    else if (notes->kernel_hidden)
        say("the kernel hides its addresses, so its functions have no names: run as root or with "
            "CAP_SYSLOG, and with kernel.kptr_restrict below 2");
}

static void say_losses(const struct counting *counting)
{
    const struct losses *losses = &counting->losses;

    if (losses->table_full)
        say("%llu events were not counted: the table of %u counts was full; raise "
            "--stack-storage-size", (unsigned long long)losses->table_full,
            counting->store.main.count_entries);
    if (losses->slots_taken)
        say("%llu events were not counted: more than %d programs were interrupted on a CPU at once",
            (unsigned long long)losses->slots_taken, SLOTS_PER_CPU);
    if (losses->walks_failed)
        say("%llu events are counted without their stack: the kernel could not walk it",
            (unsigned long long)losses->walks_failed);
    if (losses->stacks_lost)
        say("%llu events are counted without their stack: stack storage was full; raise "
            "--stack-storage-size (it was %u)", (unsigned long long)losses->stacks_lost,
            counting->store.stacks);
    say_names_lost(counting);
}

static int say_failure(int result)
{
    if (result == -EPIPE)
        return 0; /* nobody reads any more: not an error, and nobody to tell */
    say("cannot make a report: %s", strerror(-result));
    return EXIT_FAILURE;
}

int counting_run(struct counting *counting)
{
    int result = store_start(&counting->store);

    run_start(&counting->run);
    while (!result) {
        enum run_event event = run_wait(&counting->run);
        if (event == RUN_WATCHED)
            result = processes_read(counting->processes);
        else
            result = make_report(counting, event == RUN_REPORT);
        if (event == RUN_END)
            break;
    }
    double elapsed = run_elapsed(&counting->run);
    say_losses(counting);
    if (!result && !counting->events)
        say("no events in %.1f s", elapsed);
    return result ? say_failure(result) : 0;
}

void counting_close(struct counting *counting)
{
    store_close(&counting->store);
    if (counting->filter.cgroup)
        close(counting->filter.cgroup);
    lives_close(&counting->lives);
    processes_close(counting->processes);
    symbolize_notes_free(&counting->notes);
    run_close(&counting->run);
    tally_free(&counting->tally);
    if (counting->kallsyms >= 0)
        close(counting->kallsyms);
}
